#!/usr/bin/env python3
"""--memory: a cap that holds, to the same bits, or a refusal that says why."""

import gzip
import json
import math
import os
import re
import subprocess
import time
import unittest

from cli_testing import CGRUN, ROOT, SANITIZED, devices
from memory_testing import DEEP, GRAIN, KIB, MIB, MemoryTestCase

# Two towers of small operators, which run side by side.
TOWERS = """cgrun: 1
model: towers
data:
  train: {format: synthetic, samples: 96, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - x: flatten
      - {op: linear, in: x, units: 150, activation: tanh}
      - {op: linear, units: 150, activation: tanh}
      - a: {op: linear, units: 4}
      - {op: linear, in: x, units: 150, activation: relu}
      - {op: linear, units: 150, activation: relu}
      - b: {op: linear, units: 4}
      - logits: {op: add, in: [a, b]}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {steps: 3, batch: 32, optimizer: {op: adam, lr: 0.01}}
"""
ENOUGH = re.compile(r"(?:help: | {6})`--memory ([\d.]+)MiB` is enough")


class MemoryTest(MemoryTestCase):
    def test_plans_keep_their_cap_and_never_grow_with_a_smaller_one(self):
        free = self.plan()
        before = free["arena_bytes"]
        for cap in self.caps(free, (1.5, 0.9, 0.8, 0.7, 0.6, 0.5)):
            plan = self.plan("--memory", str(cap))
            self.assertLessEqual(plan["total_bytes"], cap)
            self.assertLessEqual(plan["arena_bytes"], before)
            before = plan["arena_bytes"]
        self.assertLess(before, 0.51 * free["arena_bytes"])

    def test_runs_keep_it_and_no_bit_changes(self):
        for device in devices("reference", "cpu"):
            free, weights = self.train(f"free-{device}", "--device", device)
            plan = self.plan("--device", device, "--threads", "1")
            for cap in self.caps(plan, (0.85, 0.7)):
                name = f"{device}-{cap}"
                summary, same = self.train(name, "--device", device, "--memory", str(cap))
                self.assertEqual(same, weights, name)
                self.assertLess(summary["planned_peak_bytes"], free["planned_peak_bytes"])
                self.assertLessEqual(summary["measured_peak_bytes"], cap)
                self.assertGreater(summary["slowdown"], -0.1)  # as measured, on any machine
                self.assertGreater(summary["expected_slowdown"], 0)
                error = summary["expected_slowdown"] - summary["slowdown"]
                self.assertAlmostEqual(summary["slowdown_error"], error, places=12)
            self.assertNotIn("slowdown", free)

    def test_data_in_memory_counts_once(self):
        lines = "".join(",".join(["0.5"] * 100) + ",1\n" for _ in range(60000))
        self.write("table.csv", ",".join(f"x{i}" for i in range(100)) + ",y\n" + lines)
        self.write("table.yaml", """cgrun: 1
model: table
data: {train: {format: csv, file: table.csv, label: y}}
inputs: {features: {type: f32, shape: [100]}, label: {type: f32, shape: [1]}}
paths:
  p:
    ops: [y: {op: linear, in: features, units: 1}]
    loss: {op: squared_error, in: [y, label]}
train: {epochs: 1, batch: 16, optimizer: {op: sgd, lr: 0.01}}
""")
        plan = json.loads(self.cgrun("plan", "table.yaml", "--json").stdout)
        self.assertGreater(plan["data_bytes"], 20 * MIB)
        cap = plan["total_bytes"] + 2 * MIB
        found = self.cgrun("plan", "table.yaml", "--batch", "auto", "--memory", cap, "--json")
        self.assertGreaterEqual(json.loads(found.stdout)["batch"], 16)

    def refused_data(self, model, *flags):
        """The error of data that a cap refuses, and the most memory that was resident until then."""
        with subprocess.Popen([str(CGRUN), "train", self.write("large.yaml", model), "--memory", "64MiB",
                               *flags], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
            error = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 2, error)
        return error, usage.ru_maxrss * KIB

    def test_data_larger_than_the_cap_are_not_read(self):
        """Guards against reading all of a compressed file before it is refused."""
        # Lines of text cannot lie in a file.
        with gzip.open(self.folder / "large.txt.gz", "wb", compresslevel=1) as file:
            for _ in range(100):
                file.write(b"word\n" * 200000)
        error, resident = self.refused_data("""cgrun: 1
data: {train: {format: lines, file: large.txt.gz, length: 2}}
inputs: {text: {type: int32, shape: [2]}}
paths:
  p:
    ops: [x: {op: cast, in: text, to: f32}, y: {op: linear, in: x, units: 1}, z: {op: mul, in: [y, 0]}]
    loss: {op: squared_error, in: [y, z]}
train: {optimizer: {op: sgd, lr: 0.01}}
""")
        self.assertIn("large.txt.gz' inflates to more than the cap of 64 MiB", error)
        self.assertLess(resident, 90 * MIB)  # of it 40 are code and libraries

    def test_caps_hold_on_two_threads(self):
        # The caps are the bytes that a plan promises, and a little less, which needs less rounding
        # or a smaller arena.
        for name in ("lenet", "char-rnn"):
            command = ("train", ROOT / f"models/{name}.yaml", "--threads", 2, "--quiet", "--force",
                       "--limit-batches", 6, "--set", "train.epochs=1", "--out", "run")
            self.cgrun(*command)
            total = self.summary("run")["planned_peak_bytes"]
            for less in (0, 150 * KIB):
                try:
                    self.cgrun(*command, "--memory", total - less)
                except AssertionError as error:  # a plan may not fit into less than it takes
                    self.assertIn("more than the cap", str(error))
                    continue
                self.assertLessEqual(self.summary("run")["measured_peak_bytes"], total - less, name)

    def test_what_is_said_to_be_enough_is_enough(self):
        for model in ("flat.yaml", "deep.yaml"):
            for flags in ((), ("--batch", "auto")):
                error = self.refuses("train", model, "--memory", "2MiB", "--out", "run", *flags)
                for enough in ENOUGH.findall(error):
                    self.cgrun("train", model, "--memory", f"{enough}MiB", "--out", "enough",
                               "--force", "--quiet", *flags)
                    cap = float(enough) * MIB
                    self.assertLessEqual(self.summary("enough")["measured_peak_bytes"], cap)
                    # And not much more than that: the base of the next process may be rounded up,
                    # and the way to the least leaves pages more behind than that to a cap.
                    planned = self.summary("enough")["planned_peak_bytes"]
                    if not flags:
                        self.assertLessEqual(cap - planned, 2 * GRAIN + MIB / 10 + 1)

    def test_what_does_not_help_is_not_offered(self):
        error = self.refuses("train", "flat.yaml", "--memory", "2MiB", "--out", "run")
        self.assertIn("the run takes", error)
        self.assertIn("more than the cap of 2 MiB; recomputing more, as far as it was tried, takes no less", error)
        self.assertNotIn("recomputed", error)
        self.assertNotIn("longer", error)

    def test_every_verb_says_the_same_total(self):
        for model in ("flat.yaml", "deep.yaml"):
            plan = self.plan(model=model)
            totals = {"plan": plan["total_bytes"],
                      "compared": self.plan("--compare", model=model)["total_bytes"],
                      "capped": self.plan("--memory", "1GiB", model=model)["total_bytes"]}
            for name, flags in (("run", ()), ("capped run", ("--memory", "1GiB"))):
                self.cgrun("train", model, "--out", name, "--force", "--quiet", *flags)
                totals[name] = self.summary(name)["planned_peak_bytes"]
                measured = self.summary(name)["measured_peak_bytes"]
                self.assertLessEqual(measured, totals[name], (model, name))
                self.assertGreaterEqual(measured, totals[name] - 2 * MIB, (model, name))
            # The measured fixed memory may be rounded to the next grain.
            self.assertLessEqual(max(totals.values()) - min(totals.values()), GRAIN, totals)

    def test_the_peak_never_grows_with_a_smaller_cap(self):
        free = self.plan()
        before = free["total_bytes"]
        for cap in self.caps(free, (0.95, 0.85, 0.77, 0.71, 0.66, 0.61, 0.57, 0.53)):
            total = self.plan("--memory", cap)["total_bytes"]
            self.assertLessEqual(total, min(cap, before + GRAIN))
            before = total

    def test_an_evaluation_is_refused_where_it_takes_more(self):
        self.cgrun("train", "flat.yaml", "--out", "run", "--quiet")
        evaluate = ["eval", "flat.yaml", "--weights", "run", "--split", "train"]
        total = json.loads(self.cgrun(*evaluate, "--json").stdout)["planned_peak_bytes"]
        self.cgrun(*evaluate, "--memory", f"{total + GRAIN}B")
        errors = self.refuses(*evaluate, "--memory", f"{total // 2}B")
        self.assertIn("more than the cap", errors)
        self.assertIn("help: `--memory ", errors)
        for verb in (["predict", "flat.yaml", "a.npy"], ["generate", "flat.yaml"]):
            self.assertIn("has no flag '--memory'\nhelp: it is a flag of verbs that train, evaluate "
                          "or plan; a smaller `--batch` takes less",
                          self.refuses(*verb, "--memory", "1GiB"))
        for verb in ("predict", "generate", "graph", "summary"):
            self.assertNotIn("--memory SIZE", self.cgrun(verb, "--help").stdout)
            self.assertIn("'--memory'", self.refuses(verb, "flat.yaml", "--memory", "1GiB"))
        self.assertIn("--memory SIZE", self.cgrun("eval", "--help").stdout)

    def test_a_dry_run_writes_nothing_and_minds_no_folder(self):
        self.cgrun("train", "flat.yaml", "--out", "run", "--quiet")
        before = sorted(path.name for path in (self.folder / "run").iterdir())
        done = self.cgrun("train", "flat.yaml", "--out", "run", "--dry-run")
        self.assertIn("nothing was run", done.stdout)
        self.assertEqual(sorted(path.name for path in (self.folder / "run").iterdir()), before)

    def test_what_a_cap_costs_is_said_before_the_start(self):
        cap = self.caps(self.plan(), (0.7,))[0]
        done = self.cgrun("train", "deep.yaml", "--memory", str(cap), "--out", "run")
        self.assertRegex(done.stderr, r"cap: [\d.]+ MiB of [\d.]+ MiB, instead of [\d.]+ MiB: \d+ "
                                      r"operators of a step run a second time; steps take about "
                                      r"[\d.]+ % longer")
        done = self.cgrun("train", "deep.yaml", "--memory", "10GiB", "--out", "free")
        self.assertRegex(done.stderr, r"of the 10 GiB that it may, .* to spare: the cap costs "
                                      r"nothing")

    def cap_that_costs(self, total, *flags):
        """Nearly the largest one: by as much below it as bases of the same run may differ."""
        step = 64 * KIB
        for cap in range(total, total // 2, -step):
            done = self.cgrun("plan", *flags, "--memory", str(cap))
            if "the cap costs nothing" not in done.stderr:
                return str(cap - step)
        return self.fail("no cap costs anything")

    def test_parallel_streams_are_the_first_to_go(self):
        """They take of the process: without them the arena can be as it is, to the same bits."""
        self.write("towers.yaml", TOWERS)
        for device in devices("blas", "cpu"):
            flags = ("towers.yaml", "--device", device, "--threads", "16")
            free = self.plan(*flags[1:], model=flags[0])
            cap = self.cap_that_costs(free["total_bytes"], *flags)
            self.cgrun("train", *flags, "--out", f"free-{device}")
            for _ in range(10):  # bases are rounded, and that of a run may be a step below the plan's
                done = self.cgrun("train", *flags, "--out", f"capped-{device}", "--memory", cap, "--force")
                if "the cap costs nothing" not in done.stderr:
                    break
                cap = str(int(cap) - 64 * KIB)
            self.assertRegex(done.stderr, r"cap: .*: no operators run side by side; .* to spare")
            self.assertLessEqual(self.summary(f"capped-{device}")["measured_peak_bytes"], int(cap))
            capped = self.plan(*flags[1:], "--memory", cap, model=flags[0])
            self.assertEqual(capped["arena_bytes"], free["arena_bytes"])
            # And are not back in a run that goes on.
            part = f"part-{device}"
            self.cgrun("train", *flags, "--out", part, "--memory", cap, "--set", "train.steps=2")
            self.cgrun("train", "towers.yaml", "--resume", part, "--set", "train.steps=3")
            self.assertLessEqual(self.summary(part)["measured_peak_bytes"], int(cap))
            whole = self.folder / f"free-{device}" / "checkpoint-3.safetensors"
            self.assertEqual((self.folder / part / "checkpoint-3.safetensors").read_bytes(),
                             whole.read_bytes())
            weights = [(self.folder / f"{name}-{device}" / "checkpoint-3.safetensors").read_bytes()
                       for name in ("free", "capped")]
            self.assertEqual(*weights)

    def test_a_refusal_knows_what_parallel_streams_take(self):
        self.write("towers.yaml", TOWERS)
        for device in devices("blas", "cpu"):
            flags = ("towers.yaml", "--device", device, "--threads", "8")
            for batch in ((), ("--batch", "1"), ("--batch", "auto")):
                error = self.refuses("plan", *flags, *batch, "--memory", "3MiB")
                least = min(float(size) for size in re.findall(r"`--memory ([\d.]+)MiB` is enough",
                                                               error))
                if batch != ("--batch", "auto"):
                    self.assertRegex(error, r"with (operators one by one|what a|fewer threads)")
                self.cgrun("plan", *flags, *batch, "--memory", f"{least}MiB")

    def test_a_profile_keeps_a_cap(self):
        """Guards against a trace of operators that takes memory beyond the cap."""
        cap = self.caps(self.plan(), (0.7,))[0]
        for name, *flags in (("brief", "-v"), ("full", "--profile")):
            self.cgrun("train", "deep.yaml", "--memory", str(cap), "--out", name, *flags)
            self.assertLessEqual(self.summary(name)["measured_peak_bytes"], cap)

    def test_it_is_not_for_eager_mode(self):
        error = self.refuses("train", "deep.yaml", "--memory", "1GiB", "--mode", "eager")
        self.assertIn("eager mode plans nothing that a cap on memory could hold", error)

    def test_the_benchmark_has_a_case_of_it(self):
        cap = self.caps(self.plan(), (0.7,))[0]
        done = self.cgrun("bench", "deep.yaml", "--memory", cap, "--rounds", "1", "--steps", "1",
                          "--json", "-")
        cases = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
        capped, free = cases["graph, memory, capped"], cases["graph, memory"]
        self.assertLess(capped["peak_bytes"], free["peak_bytes"])

    def test_the_model_file_can_give_the_cap(self):
        cap = self.caps(self.plan(), (0.7,))[0]
        self.write("capped.yaml", DEEP.replace("batch: 24", f"batch: 24\n  memory: {cap}"))
        done = self.cgrun("plan", "capped.yaml", "--json")
        self.assertLessEqual(json.loads(done.stdout)["total_bytes"], cap)
        self.cgrun("compile", "capped.yaml", "-o", "capped.cgb")

    def test_what_does_not_fit_is_refused_with_what_would_help(self):
        begin = time.monotonic()
        error = self.refuses("train", "deep.yaml", "--memory", "9MiB", "--out", "run")
        seconds = time.monotonic() - begin
        self.assertRegex(error, r"the run takes [\d.]+ MiB, or [\d.]+ MiB with what a quick "
                                r"search recomputes, more than the cap of 9 MiB\n")
        mib = r" +[\d.]+ MiB"
        for row in (r"      +as it is  recomputed\n",
                    rf"      arena{mib}{mib}  most is held by classify\.\S+ [\d.]+ MiB",
                    rf"      data{mib}{mib}  decoded data \S+ MiB, buffers of the loaders|"
                    r"      data .* buffers of the loaders [\d.]+ \w+, state copy",
                    rf"      base{mib}{mib}  the process itself",
                    rf"      total{mib}{mib}\n", r"      a step +100 % +[1-9]\d\d %  of its time"):
            self.assertRegex(error, row)
        self.assertRegex(error, r"help: `--memory [\d.]+MiB` is enough, for steps that take "
                                r"(at most [1-9]\d* % longer|hardly longer)\n      `--memory [\d.]+MiB` is enough for steps as they are\n")
        self.assertIn("--batch auto", error)
        self.assertFalse((self.folder / "run").exists())
        self.assertLess(seconds, 10)
        enough = ENOUGH.search(error)[1] + "MiB"
        self.cgrun("train", "deep.yaml", "--memory", enough, "--out", "run", "--quiet")

    @unittest.skipIf(SANITIZED, "takes minutes")
    def test_what_runs_again_does_so_before_the_state_that_it_reads_changes(self):
        images = "data={train: {format: synthetic, samples: 128, classes: 1000}}"
        done = self.cgrun("plan", ROOT / "models/inception-v3.yaml", "--memory", "470MiB", "--set", images, status=2)
        self.assertNotIn("internal error", done.stderr)
        self.assertIn(" is enough, for steps that take at most", done.stderr)

    def test_a_refusal_says_the_cap_as_it_was_written_and_one_sample_as_a_cap_can_ask_for_it(self):
        """Guards against figures that hold the base's rounding, and so exceed a cap that is enough."""
        for cap, written in (("2.04MiB", "2.04 MiB"), ("2100kB", "2.1 MB"), ("1234KiB", "1.21 MiB")):
            error = self.refuses("train", "flat.yaml", "--memory", cap, "--out", "run")
            self.assertIn(f", more than the cap of {written}; ", error)
            self.assertRegex(error, r"a smaller batch hardly helps: without its samples the run takes "
                                    r"[\d.]+ MiB already\n")
        one = None
        for cap in range(60, 120):  # in twentieths of a MiB, from what is too little without a sample
            error = self.refuses("train", "deep.yaml", "--memory", f"{cap / 20}MiB", "--out", "run")
            one = re.search(r"one sample takes about ([\d.]+) MiB", error)
            if one:
                break
        one = float(one[1])
        enough = math.ceil(100 * one + 1) / 100
        self.cgrun("plan", "deep.yaml", "--batch", "1", "--memory", f"{enough}MiB")
        takes, base = (float(re.search(rf"(?m)^ +{row} +([\d.]+) MiB", error)[1])
                       for row in ("total", "base"))
        self.assertLess(one, takes)
        self.assertLess(abs(base * 16 - round(base * 16)), 0.16)  # of 64 KiB


if __name__ == "__main__":
    unittest.main(verbosity=2)
