#!/usr/bin/env python3
"""`eval --split valid` scores a run on the samples that the run kept apart."""

import json
import unittest

from cli_testing import SPLIT, CliTestCase


class SplitsTest(CliTestCase):
    def train(self, *flags, text=SPLIT):
        """Trains into `run`; its loss on what it kept apart."""
        self.write("part.yaml", text)
        self.cgrun("train", "part.yaml", "--out", "run", "--force", "--quiet", *flags)
        return json.loads((self.folder / "run/summary.json").read_text())["valid"]["loss"]

    def evaluate(self, *flags, split="valid"):
        """The loss, and what was said of the run."""
        done = self.cgrun("eval", "part.yaml", "--split", split, "--json", *flags)
        return json.loads(done.stdout)["metrics"]["loss"], done.stderr

    def test_a_run_is_scored_on_what_it_kept_apart(self):
        """Guards against scoring a run on samples that it learned from, as its seed or split was another."""
        last = ("--weights", "run/checkpoint-16.safetensors")
        loss = self.train("--seed", "5")
        for weights in (last, ("--weights", "run")):
            of_run, told = self.evaluate(*weights)
            self.assertIn("taken from the run run: seed 5\n", told)
            self.assertNotIn("warning", told)
            if weights == last:
                self.assertEqual(of_run, loss)
        self.assertEqual(self.evaluate(*last, "--seed", "5"), (loss, ""))
        other, told = self.evaluate(*last, "--seed", "0")
        self.assertNotEqual(other, loss)
        self.assertIn("warning: 'valid' may hold samples that the run run learned from: it was started "
                      "with seed 5 and data.valid.split 0.2, this is chosen by seed 0 and "
                      "data.valid.split 0.2\n", told)
        self.assertNotIn("warning", self.evaluate(*last, "--seed", "0", split="test")[1])

    def test_a_part_that_the_command_line_chose(self):
        last = ("--weights", "run/checkpoint-14.safetensors")
        loss = self.train("--set", "data.valid.split=0.3")
        self.assertEqual(self.evaluate(*last), (loss, "taken from the run run: data.valid.split 0.3\n"))
        self.assertIn("warning: 'valid' may hold samples",
                      self.evaluate(*last, "--set", "data.valid.split=0.2")[1])
        # The file has no `valid` at all.
        self.write("part.yaml", SPLIT.replace("  valid: {split: 0.2}\n", ""))
        self.assertEqual(self.evaluate(*last), (loss, "taken from the run run: data.valid.split 0.3\n"))

    def test_where_the_file_says_what_the_run_did(self):
        loss = self.train()
        self.assertEqual(self.evaluate("--weights", "run/checkpoint-16.safetensors"), (loss, ""))
        # Files of its own are what they are.
        self.write("part.yaml", SPLIT.replace("{split: 0.2}", "{format: synthetic, samples: 20, "
                                              "classes: 3, seed: 3}"))
        self.assertEqual(self.evaluate("--weights", "run")[1], "")
        # Nothing is known of weights that lie elsewhere.
        (self.folder / "run/best.safetensors").rename(self.folder / "alone.safetensors")
        self.write("part.yaml", SPLIT)
        self.assertEqual(self.evaluate("--weights", "alone.safetensors", "--seed", "1")[1], "")

    def test_a_part_that_the_run_did_not_keep_apart(self):
        self.write("part.yaml", SPLIT.replace("  valid: {split: 0.2}\n", ""))
        self.cgrun("train", "part.yaml", "--out", "run", "--quiet")
        self.write("part.yaml", SPLIT)
        self.assertIn("it was started with seed 0 and no data.valid.split, this is chosen by",
                      self.evaluate("--weights", "run")[1])

    def test_a_compiled_program_does_the_same(self):
        loss = self.train("--seed", "5")
        self.cgrun("compile", "part.yaml", "-o", "part.cgb")
        done = self.cgrun("eval", "part.cgb", "--split", "valid", "--json", "--weights",
                          "run/checkpoint-16.safetensors")
        self.assertEqual(json.loads(done.stdout)["metrics"]["loss"], loss)
        self.assertIn("taken from the run run: seed 5\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
