#!/usr/bin/env python3
"""`batch: auto` and --batch auto: the largest batch that fits under a cap, and what is told of it."""

import json
import re
import unittest

from memory_testing import FLAT, GRAIN, KIB, MIB, MemoryTestCase

BATCH_LINE = re.compile(r"batch: (\d+): ([\d.]+) MiB of ([\d.]+) MiB, [\d.]+ [KM]?i?B to spare; "
                        r"a batch of (\d+) would take ([\d.]+) MiB")


class BatchAutoTest(MemoryTestCase):
    def test_a_batch_that_was_found_runs_within_the_cap_and_its_plan(self):
        total = self.plan("--batch", "2000", model="flat.yaml")["total_bytes"]
        batches = []
        for more in (-40, -3, 0, 3, 50, 200):  # KiB
            cap = total + more * KIB
            done = self.cgrun("train", "flat.yaml", "--batch", "auto", "--memory", cap, "--out",
                              f"run{more}")
            found = BATCH_LINE.search(done.stderr)
            self.assertIsNotNone(found, done.stderr)
            summary = self.summary(f"run{more}")
            self.assertEqual(summary["batch"], int(found[1]))
            self.assertEqual(summary["batch"] + 1, int(found[4]))
            shown = [found[2], found[3], found[5]]  # numbers that differ look different
            full = summary["planned_peak_bytes"] == cap
            self.assertEqual(len(set(shown)), 2 if full else 3, shown)
            self.assertEqual(sorted(shown, key=float), shown)
            self.assertLess(abs(float(found[2]) * MIB - summary["planned_peak_bytes"]), 0.06 * MIB)
            self.assertLessEqual(summary["planned_peak_bytes"], cap)
            self.assertLessEqual(summary["measured_peak_bytes"], summary["planned_peak_bytes"])
            batches.append(summary["batch"])
        self.assertGreater(batches[-1], batches[0])

    def test_verbs_that_do_not_train_look_for_no_batch(self):
        self.cgrun("train", "flat.yaml", "--out", "run", "--quiet")
        self.write("auto.yaml", FLAT.replace("batch: 32", "batch: auto\n  memory: 1MiB"))
        for arguments in (["eval", "auto.yaml", "--weights", "run"], ["summary", "auto.yaml"],
                          ["graph", "auto.yaml"]):
            self.assertNotIn("batch", self.cgrun(*arguments).stderr)
        self.refuses("plan", "auto.yaml")

    def test_a_resumed_run_keeps_the_batch_that_was_found(self):
        cap = self.plan("--batch", "100", model="flat.yaml")["total_bytes"] + MIB  # for the search
        self.write("auto.yaml", FLAT.replace("batch: 32", f"batch: auto\n  memory: {cap}"))
        self.cgrun("train", "auto.yaml", "--out", "part", "--quiet")
        # Another search may find another one: bases differ by pages.
        found = self.summary("part")["batch"]
        self.cgrun("train", "auto.yaml", "--out", "whole", "--set", "train.steps=6", "--quiet",
                   "--batch", found)
        done = self.cgrun("train", "auto.yaml", "--resume", "part", "--set", "train.steps=6")
        self.assertNotIn("batch:", done.stderr)
        weights = [(self.folder / name / "checkpoint-6.safetensors").read_bytes()
                   for name in ("whole", "part")]
        self.assertEqual(*weights)
        self.assertEqual(self.summary("part")["batch"], self.summary("whole")["batch"])

    def test_a_refusal_names_a_batch_that_fits(self):
        """Guards against a help that names a batch which does not fit either."""
        # This cap is below what recomputing can do for a batch of 24, and above what a smaller
        # batch takes.
        cap = self.plan("--batch", "2")["total_bytes"] + MIB
        error = self.refuses("train", "deep.yaml", "--memory", cap, "--out", "run")
        found = re.search(r"`--batch (\d+)` takes about [\d.]+ MiB, and ([\d.]+) times as many steps an "
                          r"epoch; `--batch auto` looks for the largest batch that fits", error)
        self.assertIsNotNone(found, error)
        self.assertAlmostEqual(24 / int(found[1]), float(found[2]), places=2)
        self.cgrun("train", "deep.yaml", "--memory", cap, "--out", "run", "--batch", found[1],
                   "--quiet")
        self.cgrun("train", "deep.yaml", "--memory", cap, "--out", "auto", "--batch", "auto",
                   "--quiet")

    def test_a_capped_run_goes_on_with_its_model_file(self):
        cap = self.plan("--batch", "100", model="flat.yaml")["total_bytes"] + MIB  # for the search
        flags = ["--memory", cap, "--seed", "5"]
        longer = ["--set", "train.steps=6"]
        self.cgrun("train", "flat.yaml", *flags, "--out", "part", "--quiet", "--batch", "auto")
        found = self.summary("part")["batch"]
        self.cgrun("train", "flat.yaml", *flags, *longer, "--out", "whole", "--quiet", "--batch",
                   found)
        error = self.refuses("train", "flat.yaml", "--resume", "part", "--batch", "7")
        self.assertIn("was started with another 'train.batch'", error)
        self.assertIn("`cgrun train --resume part`, without a model file, takes those", error)
        self.cgrun("train", "flat.yaml", "--resume", "part", *longer, "--quiet")
        weights = [(self.folder / name / "checkpoint-6.safetensors").read_bytes()
                   for name in ("whole", "part")]
        self.assertEqual(*weights)
        # The setting of the resumption belongs to the run now.
        error = self.refuses("train", "flat.yaml", "--resume", "part")
        self.assertIn("is finished: it has done 6 steps, which is its whole length", error)

    def test_the_largest_batch_is_found_and_one_more_does_not_fit(self):
        cap = self.plan("--batch", "17")["total_bytes"]
        done = self.cgrun("plan", "deep.yaml", "--batch", "auto", "--memory", str(cap), "--json")
        plan = json.loads(done.stdout)
        self.assertLessEqual(plan["total_bytes"], cap)
        self.assertGreaterEqual(plan["batch"], 16)
        batch = plan["batch"]
        self.assertRegex(done.stderr, rf"batch: {batch}: .*; a batch of {batch + 1} would take")
        self.assertRegex(done.stderr, r"where most is held by \S+ [\d.]+ [KM]iB, ")
        more = self.plan("--batch", str(plan["batch"] + 1))
        self.assertGreater(more["total_bytes"], cap - GRAIN)

    def test_the_batch_that_fits_with_more_computed_again_is_said(self):
        cap = self.plan("--batch", "17")["total_bytes"]
        done = self.cgrun("plan", "deep.yaml", "--batch", "auto", "--memory", cap, "--json")
        found = json.loads(done.stdout)["batch"]
        larger = re.search(r"with more recomputed, a batch of (\d+) fits, for steps that take "
                           r"(at most (\d+) % longer|hardly longer): `--batch \1`\n", done.stderr)
        self.assertIsNotNone(larger, done.stderr)
        self.assertGreater(int(larger[1]), found)
        plan = self.plan("--batch", larger[1], "--memory", cap)
        self.assertLessEqual(plan["total_bytes"], cap)
        again = self.cgrun("plan", "deep.yaml", "--batch", "auto", "--memory", cap, "--quiet")
        self.assertNotIn("with more", again.stderr)

    def test_larger_batches_are_tried_though_one_more_does_not_fit(self):
        cap = self.plan("--batch", "40")["total_bytes"]  # of 48 samples
        done = self.cgrun("plan", "deep.yaml", "--batch", "auto", "--memory", str(cap), "--json")
        self.assertRegex(done.stderr, r"a batch of 4\d would take .*; 48 would not fit either\n")

    def test_a_batch_may_have_all_samples(self):
        done = self.cgrun("train", "deep.yaml", "--batch", "auto", "--out", "run")
        self.assertIn("batch: 48, the most that there is to try", done.stderr)
        resolved = (self.folder / "run/model.yaml").read_text()
        self.assertRegex(resolved, r"batch: 48\b")

    def test_no_batch_fits_where_one_sample_is_too_much(self):
        error = self.refuses("train", "deep.yaml", "--batch", "auto", "--memory", "1MiB")
        takes = re.search(r"a batch of one sample takes ([\d.]+) MiB", error)
        enough = re.search(r"`--memory ([\d.]+)MiB` is enough for it", error)
        # The cap is the figure, rounded up to a tenth, or from 100 MiB on to a whole one.
        self.assertLess(abs(float(enough[1]) - float(takes[1])), 0.16 if float(takes[1]) < 100 else 1.6)

    def test_a_batch_of_all_samples_says_how_long_an_epoch_is(self):
        error = self.cgrun("train", "small.yaml", "--batch", "auto", "--dry-run").stderr
        self.assertRegex(error, r"batch: 65, the most that there is to try: .*; an epoch is then one "
                         r"step: .* `--batch N` or a cap, `--memory SIZE`, gives\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
