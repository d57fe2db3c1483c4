"""Models of runs under a cap on memory, and a test case that plans and trains them."""

import json
import unittest

from cli_testing import SANITIZED, CliTestCase

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
# Little in the arena, so that the process itself is most of a run, and more samples than fit.
FLAT = """cgrun: 1
model: flat
data:
  train: {format: synthetic, samples: 4000, classes: 4}
  test: {format: synthetic, samples: 200, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 12, 12]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - {op: linear, units: 64, activation: relu}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  steps: 3
  batch: 32
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""
MIB = 2**20
KIB = 2**10
GRAIN = 512 * KIB  # of a planned base


@unittest.skipIf(SANITIZED, "under a sanitizer most of the process's memory is the sanitizer's")
class MemoryTestCase(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("deep.yaml", DEEP)
        self.write("flat.yaml", FLAT)

    def plan(self, *flags, model="deep.yaml"):
        return json.loads(self.cgrun("plan", model, "--json", *flags).stdout)

    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def train(self, name, *flags):
        self.cgrun("train", "deep.yaml", "--out", name, "--quiet", "--threads", "1", *flags)
        summary = json.loads((self.folder / name / "summary.json").read_text())
        weights = (self.folder / name / "checkpoint-3.safetensors").read_bytes()
        return summary, weights

    def caps(self, free, shares):
        """Caps that leave the arena these shares of what it takes freely."""
        beside = free["total_bytes"] - free["arena_bytes"]
        return [beside + int(share * free["arena_bytes"]) for share in shares]
