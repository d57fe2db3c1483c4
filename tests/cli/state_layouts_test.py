#!/usr/bin/env python3
"""Weights lie as their kernels read them, and everybody else sees them plain."""

import re
import unittest

from cli_testing import CliTestCase

MODEL = """
cgrun: 1
model: two
data:
  train: {format: synthetic, samples: 64, classes: 10}
inputs:
  image: {type: uint8, shape: [64, 28, 28]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255, mean: 0.5, std: 0.29}
      - conv1: {op: conv, filters: 128, kernel: 3, padding: 1}
      - relu
      - conv2: {op: conv, filters: 128, kernel: 3, padding: 1}
      - relu
      - conv3: {op: conv, filters: 128, kernel: 3, padding: 1}
      - relu
      - global_avg_pool
      - flatten
      - logits: {op: linear, units: 10}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 16, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
"""
WEIGHTS = ("classify.conv1.weight", "classify.conv2.weight", "classify.conv3.weight")
KINDS = {"sgd": [], "adam": ["--set", "train.optimizer={op: adam, lr: 0.001}"], "clip": ["--set", "train.clip={norm: 1}"],
         "accumulate": ["--set", "train.accumulate=2"], "bf16": ["--precision", "bf16"]}


class StateLayoutsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("two.yaml", MODEL)
        devices = self.cgrun("devices").stdout
        if "oneDNN" not in devices:
            self.skipTest("this build has no oneDNN, whose convolutions want weights in blocks")

    def listing(self, *flags):
        self.cgrun("compile", "two.yaml", "--device", "cpu", "--threads", "1", "-o", "two.cgb", *flags)
        return self.cgrun("disasm", "two.cgb").stdout

    def test_weights_and_what_is_updated_beside_them_are_in_blocks(self):
        for name, flags in KINDS.items():
            if name == "bf16":  # its weight gradients come in another layout than its weights are read in
                continue
            listing = self.listing(*flags)
            state = listing[listing.index("\nstate\n"):].split("\n\n")[0]
            for weight in WEIGHTS:
                lines = [line for line in state.splitlines() if f" {weight}" in line]
                self.assertGreaterEqual(len(lines), 2, (name, state))
                for line in lines:
                    self.assertRegex(line, r" [ABa-d0-9]*\d+[ab]$", (name, line))
                self.assertNotRegex(listing, rf"\n.* forward .*{re.escape(weight)}\.reorder", name)

    def test_files_are_plain(self):
        for name, flags in KINDS.items():
            for folder, more in (("laid", []), ("plain", ["--disable-pass", "layouts"])):
                self.cgrun("train", "two.yaml", "--device", "cpu", "--threads", "1", "--out", folder, "--force", *flags, *more)
            self.assertEqual((self.folder / "laid/checkpoint-0.safetensors").read_bytes(),
                             (self.folder / "plain/checkpoint-0.safetensors").read_bytes(), name)

    def test_a_run_goes_on_from_plain_files_to_the_same_bits(self):
        flags = ["--device", "cpu", "--threads", "1", "--set", "train.epochs=2"]
        whole = self.cgrun("train", "two.yaml", "--out", "whole", *flags).stdout
        self.cgrun("train", "two.yaml", "--device", "cpu", "--threads", "1", "--out", "part")
        part = self.cgrun("train", "--resume", "part", "--set", "train.epochs=2").stdout
        hashes = [re.search(r"hash (\w+)", text).group(1) for text in (whole, part)]
        self.assertEqual(*hashes)
        self.cgrun("compile", "two.yaml", "--device", "cpu", "--threads", "1", "--set", "train.epochs=2", "-o", "two.cgb")
        compiled = self.cgrun("train", "two.cgb", "--threads", "1", "--out", "compiled").stdout
        self.assertIn(hashes[0], compiled)


if __name__ == "__main__":
    unittest.main()
