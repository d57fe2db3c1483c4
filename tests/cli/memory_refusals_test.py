#!/usr/bin/env python3
"""Plans of more memory than a cap or the machine has: what is said, and which way out is offered."""

import unittest

from cli_testing import CliTestCase


class MemoryRefusalsTest(CliTestCase):
    def test_a_cap_that_is_less_than_the_data(self):
        self.write("much.csv", "a,y\n" + 100_000 * "1,2\n")
        self.write("much.yaml", "cgrun: 1\ndata: {train: {format: csv, file: much.csv, label: y}}\n"
                   "inputs: {x: {shape: [1]}, y: {shape: []}}\n"
                   "paths: {fit: {ops: [line: {op: linear, in: x, units: 1}, out: {op: reshape, shape: []}], "
                   "loss: {op: squared_error, in: [out, y]}}}\n"
                   "train: {optimizer: {op: sgd, lr: 0.1}}\n")
        error = self.refuses("train", "much.yaml", "--memory", "100KiB")
        self.assertRegex(error, r"more than the cap of 100 KiB")
        self.assertRegex(error, r"(?m)^ +data +[\d.]+ (KiB|MiB) +buffers of the loaders")  # the rest streams

    def test_swapping_is_offered_where_it_can_be_enough(self):
        error = self.refuses("train", "small.yaml", "--memory", "10KiB")
        self.assertIn("more than the cap of 10 KiB", error)
        self.assertNotIn("--swap", error)

    def test_a_plan_of_more_memory_than_there_is_says_so(self):
        done = self.cgrun("plan", "small.yaml", "--set",
                          "paths.classify.ops.logits.units=1000000000")
        self.assertRegex(done.stderr, "this takes .*, and a process here may take .*: `cgrun train` looks")


if __name__ == "__main__":
    unittest.main()
