#!/usr/bin/env python3
"""--memory and `batch: auto`: a cap that holds, to the same bits, or a refusal that says why."""

import json
import time
import unittest

from cli_testing import CGRUN, CliTestCase

# Ten layers whose results the backward pass wants, and most of all of them at once.
DEEP = """cgrun: 1
model: deep
data:
  train: {format: synthetic, samples: 48, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 32, 32]}
  label: {type: int32, shape: []}
blocks:
  layer:
    in: x
    ops:
      - {op: conv, in: x, filters: 16, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {block: layer, repeat: 10}
      - global_avg_pool
      - flatten
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train:
  steps: 3
  batch: 24
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""
MIB = 2**20


SANITIZED = b"__asan_init" in CGRUN.read_bytes()


@unittest.skipIf(SANITIZED, "under a sanitizer most of the process's memory is the sanitizer's")
class MemoryTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("deep.yaml", DEEP)

    def plan(self, *flags):
        return json.loads(self.cgrun("plan", "deep.yaml", "--json", *flags).stdout)

    def train(self, name, *flags):
        self.cgrun("train", "deep.yaml", "--out", name, "--quiet", "--threads", "1", *flags)
        summary = json.loads((self.folder / name / "summary.json").read_text())
        weights = (self.folder / name / "checkpoint-3.safetensors").read_bytes()
        return summary, weights

    def caps(self, free, shares):
        """Caps that leave the arena these shares of what it takes freely."""
        beside = free["total_bytes"] - free["arena_bytes"]
        return [beside + int(share * free["arena_bytes"]) for share in shares]

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
        for device in ("reference", "cpu"):
            free, weights = self.train(f"free-{device}", "--device", device)
            plan = self.plan("--device", device, "--threads", "1")
            for cap in self.caps(plan, (0.85, 0.7)):
                name = f"{device}-{cap}"
                summary, same = self.train(name, "--device", device, "--memory", str(cap))
                self.assertEqual(same, weights, name)
                self.assertLess(summary["planned_peak_bytes"], free["planned_peak_bytes"])
                # What is measured may differ from what is planned by a MiB.
                self.assertLessEqual(summary["measured_peak_bytes"], cap + MIB)

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

    def test_what_a_cap_costs_is_said_before_the_start(self):
        cap = self.caps(self.plan(), (0.7,))[0]
        done = self.cgrun("train", "deep.yaml", "--memory", str(cap), "--out", "run")
        self.assertRegex(done.stderr, r"cap: [\d.]+ MiB of [\d.]+ MiB, instead of [\d.]+ MiB: \d+ "
                                      r"operators of a step run a second time; steps take about "
                                      r"[\d.]+ % longer")
        done = self.cgrun("train", "deep.yaml", "--memory", "10GiB", "--out", "free")
        self.assertIn("of 10.0 GiB, as it is", done.stderr)

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
        error = self.refuses("train", "deep.yaml", "--memory", "6MiB", "--out", "run")
        seconds = time.monotonic() - begin
        self.assertRegex(error, r"the run takes [\d.]+ MiB, or [\d.]+ MiB with all computed again "
                                r"that helps \(arena .*, data .*, base .*\), more than the cap of "
                                r"6.00 MiB")
        self.assertRegex(error, r"help: `--memory \d+MiB` is enough")
        self.assertRegex(error, r"most is held by classify\.\S+ [\d.]+ MiB")
        self.assertFalse((self.folder / "run").exists())
        self.assertLess(seconds, 10)
        enough = error.split("--memory ")[-1].split("`")[0]
        self.cgrun("train", "deep.yaml", "--memory", enough, "--out", "run", "--quiet")

    def test_the_largest_batch_is_found_and_one_more_does_not_fit(self):
        cap = self.plan("--batch", "17")["total_bytes"]
        done = self.cgrun("plan", "deep.yaml", "--batch", "auto", "--memory", str(cap), "--json")
        plan = json.loads(done.stdout)
        self.assertLessEqual(plan["total_bytes"], cap)
        self.assertGreaterEqual(plan["batch"], 16)
        self.assertRegex(done.stderr, rf"batch: {plan['batch']}: .*; one more would take")
        more = self.plan("--batch", str(plan["batch"] + 1))
        self.assertGreater(more["total_bytes"], cap - MIB // 4)

    def test_a_batch_may_have_all_samples(self):
        done = self.cgrun("train", "deep.yaml", "--batch", "auto", "--out", "run")
        self.assertIn("batch: 48, the most that there is to try", done.stderr)
        resolved = (self.folder / "run/model.yaml").read_text()
        self.assertRegex(resolved, r"batch: 48\b")

    def test_no_batch_fits_where_one_sample_is_too_much(self):
        error = self.refuses("train", "deep.yaml", "--batch", "auto", "--memory", "1MiB")
        self.assertIn("a batch of one sample takes", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
