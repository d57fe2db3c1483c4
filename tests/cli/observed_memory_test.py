#!/usr/bin/env python3
"""Tests the memory of a process, as seen from outside. It is no more than the process measures
itself, and that is no more than planned.

    CGRUN_TEXT_MB=200 tests/cli/observed_memory_test.py      the size of the text that is trained on
"""

import json
import math
import os
import unittest

from cli_testing import IMAGES, MODEL, ROOT, SANITIZED, TABLE, CliTestCase, npy, png
from memory_testing import DEEP, FLAT, KIB, MIB

SAMPLE = 256 * KIB  # what a process may take between two looks at its own memory
TEXT_MB = int(os.environ.get("CGRUN_TEXT_MB", "24"))
TEXT = """cgrun: 1
model: text
data:
  train: {format: text, file: text.txt, length: 64}
inputs:
  text: {type: uint8, shape: [64]}
  next: {type: uint8, shape: [64]}
paths:
  predict:
    ops:
      - {op: cast, in: text, to: f32}
      - y: {op: linear, units: 64}
      - z: {op: cast, in: next, to: f32}
    loss: {op: squared_error, in: [y, z]}
train: {steps: 3, batch: 32, optimizer: {op: sgd, lr: 0.000001}}
"""


@unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
class ObservedMemoryTest(CliTestCase):
    def holds(self, *arguments, **options):
        """Runs a verb, whose memory is as it says. Returns what it says."""
        done = self.watched(*arguments, "--json", **options)
        result = json.loads(done.stdout)
        planned, measured = result["planned_peak_bytes"], result["measured_peak_bytes"]
        self.assertLessEqual(measured, planned, arguments)
        self.assertLessEqual(done.most_anonymous, min(measured + SAMPLE, planned), arguments)
        self.assertGreater(done.most_anonymous, measured / 2, arguments)
        return result

    def train_eval_and_predict(self, model, sample, *flags, split="test"):
        for threads in (1, 2):
            more = [*flags, "--threads", threads]
            self.holds("train", model, *more, "--out", "run", "--force", "--set", "train.checkpoint_every=1")
            self.holds("eval", model, *more, "--weights", "run", "--split", split)
            self.holds("predict", model, sample, *more, "--weights", "run")

    def test_of_small_models(self):
        samples = {"flat.yaml": (FLAT, [1, 12, 12], "test"), "deep.yaml": (DEEP, [3, 32, 32], "train"),
                   "small.yaml": (MODEL, [1, 4, 4], "test")}
        for name, (model, shape, split) in samples.items():
            self.write(name, model)
            (self.folder / "x.npy").write_bytes(npy([3, *shape], bytes(3 * math.prod(shape))))
            self.train_eval_and_predict(name, "x.npy", split=split)

    def test_of_tables(self):
        self.write("table.yaml", TABLE.replace("batch: 2", "batch: 64"))
        self.write("rows.csv", "a,b,kind\n" + "1.5,2.5,0\n2.5,1.5,1\n" * 20_000)
        self.train_eval_and_predict("table.yaml", "rows.csv", "--limit-batches", 20, split="train")

    def test_of_images_that_are_decoded(self):
        for kind, size in (("cat", 1500), ("dog", 16)):
            folder = self.folder / "photos" / kind
            folder.mkdir(parents=True)
            (folder / "a.png").write_bytes(png(size, size, bytes(3 * size * size)))
        self.write("photos.yaml", IMAGES.replace("batch: 4", "batch: 2"))
        self.train_eval_and_predict("photos.yaml", "photos/cat/a.png", split="train")

    def test_of_a_shipped_model(self):
        (self.folder / "x.npy").write_bytes(npy([2, 1, 8, 8], bytes(128)))
        self.train_eval_and_predict(ROOT / "models/lenet.yaml", "x.npy", "--limit-batches", 5, "--set",
                                    "train.epochs=1")

    def test_of_eager_runs(self):
        done = self.watched("train", "small.yaml", "--mode", "eager", "--json")
        self.assertLessEqual(done.most_anonymous, json.loads(done.stdout)["measured_peak_bytes"] + SAMPLE)

    def test_a_capped_run_writes_its_checkpoints_from_the_arena(self):
        """Guards against a copy of the state for each checkpoint."""
        sets = {"train": {"format": "synthetic", "samples": 64, "classes": 10},
                "test": {"format": "synthetic", "samples": 4, "classes": 10, "seed": 1}}
        flags = [ROOT / "models/resnet18-cifar.yaml", "--threads", 1, "--batch", 32, "--set", "data=" + json.dumps(sets)]
        plan = json.loads(self.cgrun("plan", *flags, "--json").stdout)
        cap = plan["total_bytes"] - plan["arena_bytes"] // 24
        capped = json.loads(self.cgrun("plan", *flags, "--memory", cap, "--json").stdout)
        self.assertLessEqual(capped["total_bytes"], cap)
        self.assertLess(capped["arena_bytes"], plan["arena_bytes"])
        result = self.holds("train", *flags, "--memory", cap, "--set", "train.epochs=1", "--set",
                            "train.checkpoint_every=1", "--out", "run")
        self.assertLessEqual(result["planned_peak_bytes"], cap)
        checkpoints = list((self.folder / "run").glob("checkpoint-*.safetensors"))
        self.assertEqual(len(checkpoints), 3)  # of the start and of two steps
        states = checkpoints[0].stat().st_size
        self.assertGreater(states, 80 * MIB)
        for told in (plan, capped):
            self.assertLess(told["data_bytes"], states // 6)

    def test_a_text_under_a_cap(self):
        with open(self.folder / "text.txt", "wb") as file:
            for _ in range(TEXT_MB):
                file.write(b"to be or not to be, that is the question:\n" * 23_810)
        self.write("text.yaml", TEXT)
        cap = 16 * MIB if TEXT_MB < 100 else 64 * MIB
        self.assertGreater((self.folder / "text.txt").stat().st_size, cap)
        hashes = set()
        for flags in (("--memory", cap), ()):
            result = self.holds("train", "text.yaml", "--threads", 1, "--out", "run", "--force", *flags)
            hashes.add(result["weights_hash"])
            if flags:
                self.assertLessEqual(result["planned_peak_bytes"], cap)
        self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    unittest.main()
