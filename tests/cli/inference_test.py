#!/usr/bin/env python3
"""Models without a loss: they are planned and measured as `cgrun predict` runs them; and boxes."""

import json
import struct
import unittest

from cli_testing import CliTestCase, npy_of_floats

MODEL = """cgrun: 1
model: forward
data:
  train: {format: synthetic, samples: 4}
keep: [h]
inputs:
  x: {shape: [16]}
paths:
  p:
    mode: forward
    ops:
      - h: {op: linear, in: x, units: 16}
      - y: {op: linear, units: 32}
"""
STATE = 4 * (16 * 16 + 16 + 16 * 32 + 32)

BOXES = """cgrun: 1
inputs:
  score: {shape: [1, 2, 3]}
  deltas: {shape: [4, 2, 3]}
paths:
  find:
    mode: forward
    ops:
      - regions: {op: region_proposals, in: [score, deltas], strides: [16], scales: [16],
                  ratios: [1], count: 3}
      - {op: roi_align, in: [regions, score], size: 1, strides: [16]}
      - means: {op: reshape, shape: [3]}
    out: [regions, means]
"""


class InferenceTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("forward.yaml", MODEL)

    def json(self, *arguments):
        return json.loads(self.cgrun(*arguments, "--json").stdout)

    def test_the_plan_is_that_of_predictions(self):
        plan = self.json("plan", "forward.yaml", "--batch", 3)
        self.assertEqual((plan["mode"], plan["batch"]), ("infer", 3))
        self.assertEqual([entry["name"] for entry in plan["entries"]], ["predict"])
        self.assertEqual(sum(zone["persistent_bytes"] for zone in plan["zones"]), STATE)
        x, h, y = 16, 16, 32
        self.assertEqual(plan["data_bytes"], 4 * 3 * (2 * x + h + y) + 4 * 3 * h,
                         "x as its file holds it and as it is fed, outputs, what is kept; none for checkpoints")
        kept = [buffer["values"] for buffer in plan["buffers"] if buffer.get("kept")]
        self.assertEqual(kept, [["p.h"]])
        text = self.cgrun("plan", "forward.yaml").stdout
        self.assertIn("inference, batch 1", text)
        self.assertIn("predictions read samples as they go", text)

    def test_checks_find_nothing_missing(self):
        done = self.cgrun("check", "forward.yaml")
        self.assertIn("no errors, no warnings", done.stdout)

    def test_it_is_measured(self):
        result = self.json("bench", "forward.yaml", "--threads", 1, "--rounds", 1, "--steps", 1)
        self.assertEqual(result["mode"], "infer")
        self.assertGreater(len(result["cases"]), 3)
        for case in result["cases"]:
            self.assertGreater(case["peak_bytes"], STATE, case["name"])

    def test_boxes_are_predicted(self):
        self.write("boxes.yaml", BOXES)
        for name, numbers in (("score", [.1, .9, .3, .2, .8, .7]), ("deltas", [0] * 24)):
            (self.folder / f"{name}.npy").write_bytes(npy_of_floats([len(numbers) // 6, 2, 3], numbers))
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", 2) + b"{}")
        told = self.json("predict", "boxes.yaml", "--weights", "w.safetensors", "score=score.npy",
                         "deltas=deltas.npy")
        [found] = told["predictions"]
        self.assertEqual(found["outputs"]["regions"]["values"],
                         [8, 0, 24, 8, 8, 8, 24, 24, 24, 8, 40, 24])
        for mean, wanted in zip(found["outputs"]["means"]["values"], (0.5, 0.5, 0.675), strict=True):
            self.assertAlmostEqual(mean, wanted, places=5)


if __name__ == "__main__":
    unittest.main()
