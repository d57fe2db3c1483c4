#!/usr/bin/env python3
"""Runs take no more memory than planned, whatever the shapes of their tensors, on the host's own
devices."""

import json
import math
import random
import resource
import unittest

from cli_testing import (IMAGES, SANITIZED, TABLE, CliTestCase, ControlGroup, npy, png,
                         write_zeros_as_safetensors)
from memory_testing import DEEP

MIB = 2**20

CHAIN = """cgrun: 1
model: chain
data:
  train: {{format: synthetic, samples: {samples}, classes: 2}}
  test: {{format: synthetic, samples: {samples}, classes: 2, seed: 9}}
inputs:
  image: {{type: f32, shape: [{features}]}}
  label: {{type: int32, shape: []}}
paths:
  classify:
    ops:
{layers}      - logits: {{op: linear, units: 2}}
    loss: {{op: softmax_cross_entropy, in: [logits, label]}}
    metrics: {metrics}
train: {{epochs: 1, batch: {batch}, optimizer: {{op: sgd, lr: 0.01, momentum: 0.9}}}}
"""


def chain(units, features=16, batch=8, samples=None, metrics="{}"):
    layers = "".join(f"      - {{op: linear{', in: image' * (i == 0)}, units: {n}}}\n"
                     for i, n in enumerate(units))
    return CHAIN.format(layers=layers, features=features, batch=batch, metrics=metrics,
                        samples=samples or 2 * batch)


class PlannedMemoryTest(CliTestCase):
    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("a sanitizer takes memory of its own")

    def holds(self, model, *flags):
        """Trains a model, which takes no more than planned; both in bytes."""
        self.write("model.yaml", model)
        result = json.loads(self.cgrun("train", "model.yaml", "--force", "--json", *flags).stdout)
        planned, measured = result["planned_peak_bytes"], result["measured_peak_bytes"]
        self.assertLessEqual(measured, planned, model)
        return planned, measured

    # OpenBLAS keeps a copy of the rows of one operand, as many as there are, on one thread.
    def test_products_of_wide_matrices(self):
        random.seed(7)
        sizes = (8, 200, 330, 500, 1200, 2000)
        shapes = [(2000, 2000), (330, 500), (1200,)]
        shapes += [random.choices(sizes, k=random.randint(1, 3)) for _ in range(5)]
        for units in shapes:
            for threads in ("1", "2"):
                with self.subTest(units=units, threads=threads):
                    model = chain(units, features=random.choice(sizes), batch=1000)
                    planned, measured = self.holds(model, "--threads", threads)
                    self.assertLess(planned - measured, 2 * MIB)

    def test_numbers_of_each_sample(self):
        model = chain((4,), batch=4096, samples=500_000, metrics="{auc: {in: [logits, label]}}")
        for flags in ((), ("--mode", "eager")):
            self.write("model.yaml", model)
            self.cgrun("train", "model.yaml", "--force", "--out", "run", "--limit-batches", "3", *flags)
        planned, measured = self.holds(model, "--limit-batches", "3")
        self.assertGreater(measured, 4 * 8 * 500_000)
        self.assertLess(planned - measured, 2 * MIB)

    def test_images_of_all_sizes_are_measured(self):
        for kind, size in (("cat", 2500), ("dog", 16)):
            folder = self.folder / "photos" / kind
            folder.mkdir(parents=True)
            (folder / "a.png").write_bytes(png(size, size, bytes(3 * size * size)))
        planned, measured = self.holds(IMAGES.replace("batch: 4", "batch: 2"), "--threads", "2")
        pixels = 3 * 2500 * 2500
        self.assertGreater(measured, pixels)
        self.assertLess(planned, 2 * 4 * pixels)  # the small image needs no arena of that size

    def test_predictions_are_measured_with_their_text(self):
        self.write("model.yaml", TABLE.replace("batch: 2", "batch: 64"))
        self.write("rows.csv", "a,b,kind\n" + "1.5,2.5,0\n2.5,1.5,1\n" * 30_000)
        self.cgrun("train", "model.yaml", "--out", "run", "--limit-batches", "3")
        predict = ("predict", "model.yaml", "rows.csv", "--weights", "run")
        self.cgrun(*predict, "--json", "found.json")
        text = (self.folder / "found.json").read_text()
        found = json.loads(text)
        self.assertEqual(len(found["predictions"]), 60_000)
        self.assertGreater(found["measured_peak_bytes"], len(text))
        self.assertLessEqual(found["measured_peak_bytes"], found["planned_peak_bytes"])
        if why_not := ControlGroup.why_not("memory", 64 * MIB):
            self.skipTest(why_not)
        with ControlGroup("memory", 48 * MIB) as group:
            done = self.cgrun(*predict, status=2, preexec_fn=group.join)
        self.assertRegex(done.stderr, r"the run takes [\d.]+ MiB, more than what the control group leaves, [\d.]+ MiB: base ")
        self.assertRegex(done.stderr, r"help: a control group of [\d.]+ MiB is enough; fewer files or samples")

    def test_a_model_that_only_predicts_does_so_in_the_container_of_its_plan(self):
        self.write("wide.yaml", """cgrun: 1
model: wide
inputs: {image: {type: uint8, shape: [3, 2048, 2048]}}
paths:
  forward:
    mode: forward
    ops:
      - numbers: {op: cast, in: image, to: f32}
      - conv: {op: conv, in: numbers, filters: 2, kernel: 8, stride: 8}
      - pool: {op: global_avg_pool}
""")
        shape = [3, 2048, 2048]
        (self.folder / "image.npy").write_bytes(npy(shape, bytes(math.prod(shape))))
        write_zeros_as_safetensors(self.folder / "zeros.safetensors", {
            "forward.conv.weight": [2, 3, 8, 8], "forward.conv.bias": [2]})
        flags = ("--batch", "1", "--threads", "1")
        container = json.loads(self.cgrun("plan", "wide.yaml", *flags, "--json").stdout)["container_bytes"]
        if why_not := ControlGroup.why_not("memory", container):
            self.skipTest(why_not)
        with ControlGroup("memory", container) as group:
            self.cgrun("predict", "wide.yaml", "image.npy", "--weights", "zeros.safetensors", *flags,
                       preexec_fn=group.join)

    # As `train` does without a cap.
    def test_other_verbs_look_for_a_plan_that_fits(self):
        self.write("model.yaml", chain((1200, 1200, 1200), batch=2000))
        plan = ("plan", "model.yaml", "--threads", "1")
        container = json.loads(self.cgrun(*plan, "--json").stdout)["container_bytes"]
        if why_not := ControlGroup.why_not("memory", container):
            self.skipTest(why_not)
        with ControlGroup("memory", container) as group:
            done = self.cgrun("check", "model.yaml", "--threads", "1", preexec_fn=group.join)
            self.assertRegex(done.stdout, r"gradients  not checked: that takes about .* in f64, and")
            done = self.cgrun("bench", "model.yaml", "--threads", "1", "--rounds", "1", "--steps", "1",
                              status=2, preexec_fn=group.join)
            self.assertRegex(done.stderr, r"6 cases take more than .* together, and .*\nhelp: `--isolate`")
        with ControlGroup("memory", container // 2) as group:
            self.assertIn("`cgrun train` looks for a plan that fits",
                          self.cgrun(*plan, preexec_fn=group.join).stderr)
            for verb in ("check", "bench", "train"):
                done = self.cgrun(verb, "model.yaml", "--threads", "1", status=2,
                                  preexec_fn=group.join)
                self.assertIn("more than what the control group leaves", done.stderr)
                self.assertIn("most is held by", done.stderr)

    def benches(self, before, *flags, **options):
        return self.cgrun("bench", "deep.yaml", "--threads", 1, "--rounds", 1, "--steps", 1, *flags,
                          preexec_fn=before, **options)

    def each_limit(self, share):
        """Limits that leave so much of the arena of deep.yaml, as functions for a child to call first."""
        plan = json.loads(self.cgrun("plan", "deep.yaml", "--threads", "1", "--json").stdout)
        less = int((1 - share) * plan["arena_bytes"])
        addresses = plan["address_space_bytes"] - less
        yield lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
        if why_not := ControlGroup.why_not("memory", 2**30):
            print(why_not)
            return
        with ControlGroup("memory", plan["container_bytes"] - less) as group:
            yield group.join

    def test_a_benchmark_runs_the_case_that_fits(self):
        self.write("deep.yaml", DEEP.replace("batch: 24", "batch: 64").replace("samples: 48", "samples: 64"))
        for before in self.each_limit(0.7):
            for flags in ((), ("--isolate",), ("--dry-run",)):
                done = self.benches(before, *flags, "--json")
                self.assertRegex(done.stderr, r"(?m)^cap: .* run a second time; .*\nthe other cases do not fit into memory")
                names = [case["name"] for case in json.loads(done.stdout)["cases"]]
                self.assertEqual(names, ["graph, memory, capped"])
            self.benches(before, "--out", "bench", "--force")
            self.assertIn("graph, memory, capped", (self.folder / "bench/bench.txt").read_text())
            error = self.benches(before, "--only", "eager", status=2).stderr
            self.assertRegex(error, "error: case 'eager' is not run: without a cap, graph mode does not fit into memory, .*\n"
                                    "help: its cases are 'graph, memory, capped'\n")

    def test_a_benchmark_of_cases_that_fit_one_by_one_says_so(self):
        self.write("deep.yaml", DEEP.replace("batch: 24", "batch: 64").replace("samples: 48", "samples: 64"))
        for before in self.each_limit(1.3):
            error = self.benches(before, status=2).stderr
            self.assertRegex(error, r"error: 6 cases take more than .* together, .*\nhelp: `--isolate` runs each")
            done = self.benches(before, "--dry-run", "--json")
            self.assertRegex(done.stderr, r"note: 6 cases take more than .* together, .*: `--isolate` runs each")
            self.assertEqual(len(json.loads(done.stdout)["cases"]), 6)
            done = self.benches(before, "--isolate", "--json")
            result = json.loads(done.stdout)
            left_out = result.get("left_out", [])  # eager mode may take more
            self.assertEqual(len(result["cases"]) + len(left_out), 6)
            for case in left_out:
                self.assertEqual(case["reason"], "it does not fit, as its process has said")
                self.assertRegex(done.stderr, r"error: (no memory for .*|case '.*' is not run: .*|case '.*': .*)\nhelp: ")


if __name__ == "__main__":
    unittest.main()
