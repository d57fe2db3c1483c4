#!/usr/bin/env python3
"""Checkpoints hold the whole state of a run: one that is killed twice and resumed ends with the same
bits."""

import json
import shutil
import signal
import struct
import subprocess
import time
import unittest

from cli_testing import CGRUN, CliTestCase, devices
from resume_testing import without_seconds

# Each key here is state that a run keeps between two batches: steps of three batches, images changed
# by chance, a rate that falls where `valid` stays, and an end where it stays for long.
MODEL = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 330, classes: 3}
  valid: {split: 0.1}
inputs:
  image: {type: uint8, shape: [3, 10, 10]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - padded: {op: pad, in: image, axes: [2, 3], before: [1, 1], after: [1, 1]}
      - {op: random_crop, size: 10}
      - {op: random_flip, axes: [-1]}
      - {op: random_rotate, degrees: 10}
      - {op: color_jitter, brightness: 0.2, contrast: 0.2}
      - {op: normalize, scale: 1/255}
      - {op: conv, filters: 4, kernel: 3, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.3}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics:
      accuracy: {in: [logits, label]}
      recall: {in: [logits, label], average: none}
train:
  epochs: 60
  batch: 9
  accumulate: 3
  eval_every: 4
  checkpoint_every: 1
  clip: {norm: 1}
  early_stop: {metric: accuracy, patience: 11}
  optimizer:
    op: adam
    lr: 0.02
    schedule: {plateau: {metric: accuracy, factor: 0.5, patience: 2, warmup: 0.5}}
"""


def scalars(path):
    """Returns the records of a file for TensorBoard, without their times."""
    data, records = path.read_bytes(), []
    while data:
        size = struct.unpack("<Q", data[:8])[0]
        event = data[12:12 + size]
        records.append(event[:1] + event[9:])  # the time is the first field, of eight bytes
        data = data[12 + size + 4:]
    return records


class ResumedStateTest(CliTestCase):
    """Kills a run twice in the midst of an epoch, at steps that differ from time to time."""

    def setUp(self):
        super().setUp()
        self.write("model.yaml", MODEL)

    def kill_after(self, step, *arguments):
        """Returns whether the run was killed before its end, with a checkpoint of `step` or later."""
        command = [str(CGRUN), *map(str, arguments), "--quiet"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and self.newest() < step:
                time.sleep(0.001)
            process.kill()
        return process.returncode == -signal.SIGKILL and 0 < self.newest()

    def newest(self):
        steps = [int(path.stem.split("-")[1])
                 for path in (self.folder / "killed").glob("checkpoint-*.safetensors")]
        return max(steps, default=0)

    def assert_continues(self, *flags):
        begin = ["train", "model.yaml", "--threads", 1, *flags]
        self.cgrun(*begin, "--out", "whole", "--force", "--quiet")
        whole = json.loads((self.folder / "whole/summary.json").read_text())
        for _ in range(10):  # where the machine is busy, a run may end before its kill
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            killed = (self.kill_after(14, *begin, "--out", "killed") and
                      self.kill_after(self.newest() + 5, "train", "--resume", "killed"))
            if killed and self.newest() < whole["steps"]:
                break
        killed_at = self.newest()
        self.assertLess(killed_at, whole["steps"], flags)
        self.cgrun("train", "--resume", "killed", "--quiet")
        run = json.loads((self.folder / "killed/summary.json").read_text())
        self.assertEqual(run["resumed_at_step"], killed_at)
        for key in ("weights_hash", "steps", "epochs", "stopped_early", "train", "valid"):
            self.assertEqual(run[key], whole[key], f"{flags}: {key}")
        self.assertEqual(run["best"]["value"], whole["best"]["value"], flags)
        last = f"checkpoint-{whole['steps']}.safetensors"
        for name in (last, "best.safetensors"):
            self.assertEqual((self.folder / "killed" / name).read_bytes(),
                             (self.folder / "whole" / name).read_bytes(), f"{flags}: {name}")
        logs = [without_seconds((self.folder / out / "metrics.csv").read_text())
                for out in ("killed", "whole")]
        self.assertEqual(*logs, flags)
        files = [[path for path in (self.folder / out).iterdir() if "tfevents" in path.name]
                 for out in ("killed", "whole")]
        self.assertEqual([len(found) for found in files], [1, 1])
        events = [scalars(found[0]) for found in files]
        self.assertEqual(*events, flags)
        self.assertEqual(len(events[0]), len(logs[0]))  # the version, then a record a line
        return whole, logs[0]

    def test_reference_graph(self):
        whole, log = self.assert_continues("--device", "reference")
        self.assertTrue(whole["stopped_early"])
        self.assertGreater(whole["epochs"], 2)
        rates = [float(line[2]) for line in log[1:]]
        self.assertEqual(max(rates), 0.02)
        self.assertLess(min(rates), 0.02)

    def test_reference_eager(self):
        self.assert_continues("--device", "reference", "--mode", "eager")

    def test_cpu_graph(self):
        self.assert_continues("--device", devices("cpu", "blas")[0])

    def test_cpu_eager(self):
        self.assert_continues("--device", devices("cpu", "blas")[0], "--mode", "eager")

    # 10 of 33 batches an epoch: 4 steps, of which the last has one batch.
    def test_fewer_batches_an_epoch(self):
        whole, _ = self.assert_continues("--device", devices("cpu", "blas")[0],
                                         "--limit-batches", 10)
        self.assertEqual(whole["steps"] // 4, whole["epochs"] - (whole["steps"] % 4 > 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
