"""A small model whose runs are stopped, damaged and resumed, and a test case that does so."""

import json
import subprocess

from cli_testing import CGRUN, CliTestCase

MODEL = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 650, classes: 3}
  valid: {split: 0.1}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 12, 12]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 4, kernel: 3, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.3}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  epochs: 4
  batch: 20
  checkpoint_every: 7
  keep_last: 2
  keep_best: accuracy
  optimizer: {op: adam, lr: 0.003, schedule: {cosine: {warmup: 1}}}
"""
STEPS = 4 * 30  # 585 samples, the last batch has 5


def without_seconds(csv):
    """The columns that a run repeats: all but the seconds, and the samples in them."""
    return [[cell for i, cell in enumerate(line.split(",")) if i not in (3, 4)]
            for line in csv.splitlines()]


class ResumeTestCase(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", MODEL)

    def train(self, out, *arguments, **options):
        return self.cgrun("train", "model.yaml", "--out", out, "--quiet", "--threads", 1, *arguments,
                          **options)

    def resume(self, out, *arguments, **options):
        return self.cgrun("train", "--resume", out, "--quiet", *arguments, **options)

    def checkpoints(self, out):
        return sorted(int(path.name.split("-")[1].split(".")[0])
                      for path in (self.folder / out).glob("checkpoint-*.safetensors"))

    def start(self, *arguments):
        return subprocess.Popen([str(CGRUN), *map(str, arguments), "--quiet", "--threads", "1"],
                                cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def assert_same(self, out, whole):
        """The run in `out` is the uninterrupted one: weights, best model, log."""
        for name in (f"checkpoint-{STEPS}.safetensors", "best.safetensors"):
            self.assertEqual((self.folder / out / name).read_bytes(),
                             (self.folder / whole / name).read_bytes(), name)
        hashes = [json.loads((self.folder / run / "summary.json").read_text())["weights_hash"]
                  for run in (out, whole)]
        self.assertEqual(hashes[0], hashes[1])
        logs = [without_seconds((self.folder / run / "metrics.csv").read_text())
                for run in (out, whole)]
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(len(logs[0]), 1 + 4)
