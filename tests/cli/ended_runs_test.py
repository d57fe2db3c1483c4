#!/usr/bin/env python3
"""A run that is finished or was stopped early says why it ended, and `--resume` leaves its record alone."""

import json
import unittest

from cli_testing import MODEL, SPLIT, CliTestCase

STOPPING = SPLIT.replace("epochs: 2", "epochs: 40").replace(
    "op: sgd, lr: 0.05, momentum: 0.9}",
    "op: sgd, lr: 1.0e-20}\n  early_stop: {metric: accuracy, patience: 3}")


class EndedRunsTest(CliTestCase):
    def files(self, folder):
        return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir()}

    def test_a_run_that_stopped_early_says_why_and_keeps_its_record(self):
        self.write("stop.yaml", STOPPING)
        done = self.cgrun("train", "stop.yaml", "--out", "run")
        self.assertRegex(done.stdout, r"32 in 4 epochs, .*, stopped early: 'accuracy' of `valid` was "
                         r"best after step 8 of epoch 1, 0\.\d+, and no better in 3 evaluations since")
        before = self.files("run")
        summary = json.loads(before["summary.json"])
        stop = summary["early_stop"]
        self.assertEqual((stop["metric"], stop["step"], stop["epoch"], stop["evaluations_since"]),
                         ("accuracy", 8, 1, 3))
        self.assertEqual(stop["value"], summary["best"]["value"])
        for flags in ((), ("--set", "train.epochs=60"), ("--dry-run",)):
            error = self.refuses("train", "--resume", "run", *flags)
            self.assertIn("error: the run in 'run' stopped early, after 32 steps, 4 epochs: 'accuracy' "
                          "of `valid` was best after step 8 of epoch 1, 0.", error)
            self.assertNotIn("rate jumps", error)
            self.assertEqual(self.files("run"), before)
        error = self.refuses("train", "--resume", "run", "--set", "train.early_stop.patience=9")
        self.assertIn("started with another 'train.early_stop.patience': 3 → 9\n", error)
        self.assertEqual(self.files("run"), before)
        # The way out that is offered is one.
        offer = ("run/model.yaml --weights run --out DIR --set train.early_stop.patience=N`")
        self.assertIn("begin a new run with its weights, which may wait longer: `cgrun train " + offer,
                      error)
        self.cgrun("train", "run/model.yaml", "--weights", "run", "--out", "on", "--set",
                   "train.early_stop.patience=5", "--quiet")
        self.assertEqual(json.loads(self.files("on")["summary.json"])["epochs"], 6)

    def test_the_evaluations_within_epochs_count(self):
        self.write("stop.yaml", STOPPING + "  eval_every: 3\n")
        done = self.cgrun("train", "stop.yaml", "--out", "run", "--json")
        stop = json.loads(done.stdout)["early_stop"]
        self.assertEqual((stop["step"], stop["epoch"], stop["evaluations_since"]), (3, 1, 3))
        self.assertEqual(json.loads(done.stdout)["steps"], 12)

    def test_a_finished_run_keeps_its_record(self):
        for length in ("epochs: 2", "steps: 5", "time: 1s"):
            self.write("small.yaml", MODEL.replace("epochs: 2", length))
            self.cgrun("train", "small.yaml", "--out", "run", "--force", "--quiet")
            before = self.files("run")
            self.assertIn("is finished: ", self.refuses("train", "--resume", "run"))
            self.assertEqual(self.files("run"), before)

    def test_the_best_model_is_told_as_the_run_is_stopped(self):
        def metric(text):
            self.write("stop.yaml", text)
            done = self.cgrun("train", "stop.yaml", "--out", "run", "--force", "--json")
            return json.loads(done.stdout)["best"]["metric"]

        self.assertEqual(metric(STOPPING), "accuracy")
        self.assertEqual(metric(STOPPING + "  keep_best: loss\n"), "loss")
        self.assertEqual(metric(SPLIT), "loss")


if __name__ == "__main__":
    unittest.main()
