#!/usr/bin/env python3
"""What new users met who came back to a run: it is scored on what it has not seen, keeps its record,
and says why it ended."""

import json
import unittest

from cli_testing import MODEL, CliTestCase

SPLIT = MODEL.replace("samples: 65, classes: 3}", "samples: 200, classes: 3}\n  valid: {split: 0.2}")
STOPPING = SPLIT.replace("epochs: 2", "epochs: 40").replace(
    "op: sgd, lr: 0.05, momentum: 0.9}",
    "op: sgd, lr: 1.0e-20}\n  early_stop: {metric: accuracy, patience: 3}")
TABLE = """cgrun: 1
model: homes
data:
  train: {format: csv, file: homes.csv, label: price, categories: [town], standardize: true}
inputs:
  town: {type: int32, shape: []}
  features: {shape: [2]}
  label: {shape: [1]}
paths:
  predict:
    ops:
      - place: {op: embedding, in: town, entries: 4, units: 2}
      - {op: concat, in: [features, place]}
      - y: {op: linear, units: 1}
    loss: {op: squared_error, in: [y, label]}
train: {epochs: 2, batch: 4, optimizer: {op: adam, lr: 0.1}}
"""
ROWS = "area,year,town,price\n84,1978,Oslo,3\n52,2003,Rome,2\n120,1931,Bonn,2\n67,1965,Oslo,3\n"


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


class TablesTest(CliTestCase):
    def test_the_order_of_the_inputs_is_of_no_account(self):
        self.write("homes.csv", ROWS)
        self.write("new.csv", "town,area,year\nRome,60,1990\nOslo,70,2000\n")
        town, features = "  town: {type: int32, shape: []}\n", "  features: {shape: [2]}\n"
        self.assertIn(town + features, TABLE)
        self.write("homes.yaml", TABLE)
        self.cgrun("train", "homes.yaml", "--out", "run", "--quiet")
        self.cgrun("compile", "homes.yaml", "-o", "homes.cgb")
        self.write("other.yaml", TABLE.replace(town + features, features + town))
        shown = {self.cgrun("predict", model, "new.csv", "--weights", "run").stdout
                 for model in ("homes.yaml", "homes.cgb", "other.yaml")}
        self.assertEqual(len(shown), 1, shown)
        self.assertIn("new.csv[1]", shown.pop())


class SettingsTest(CliTestCase):
    def warnings(self, text):
        """What `check` and `train` warn of, which is the same."""
        self.write("odd.yaml", text)
        told = [self.cgrun(*command).stderr for command in (
            ("check", "odd.yaml", "--device", "reference"), ("train", "odd.yaml", "--dry-run"))]
        self.assertEqual(*[[line for line in text.splitlines() if "warning: " in line]
                           for text in told])
        return told[0]

    def test_rates_that_nobody_means(self):
        told = self.warnings(MODEL.replace("lr: 0.05", "lr: 0"))
        self.assertIn("odd.yaml:20:28: warning: with `lr: 0` nothing is learned\n", told)
        told = self.warnings(MODEL.replace("lr: 0.05", "lr: 1000000000000"))
        self.assertIn("odd.yaml:20:28: warning: a learning rate of 1000000000000 makes numbers of any "
                      "size", told)
        for rate in ("5", "1000", "1.0e-9"):
            self.assertNotIn("warning", self.warnings(MODEL.replace("lr: 0.05", f"lr: {rate}")))

    def test_colours_are_changed_before_they_are_normalized(self):
        text = MODEL.replace("      - pixels: {op: normalize, in: image, scale: 1/255}\n",
                             "      - {op: normalize, in: image, scale: 1/255ATTRIBUTES}\n"
                             "      - {op: random_flip, axes: [-1]}\n"
                             "      - {op: color_jitter, brightness: 0.2}\n")
        for attributes in (", mean: 0.5, std: 0.25", ", std: 0.25"):
            told = self.warnings(text.replace("ATTRIBUTES", attributes))
            self.assertIn("odd.yaml:14:14: warning: 'color_jitter' is for pixels of uint8 or from 0 to "
                          "1, and here 'normalize' has taken", told)
            self.assertEqual(told.count("warning: "), 1, told)
        self.assertNotIn("warning", self.warnings(text.replace("ATTRIBUTES", "")))

    def test_test_data_that_are_the_training_data(self):
        self.write("homes.csv", ROWS)
        self.write("more.csv", ROWS)
        text = TABLE.replace("inputs:", "  test: {format: csv, file: ./FILE, label: price, categories: "
                             "[town], standardize: true}\ninputs:")
        told = self.warnings(text.replace("FILE", "homes.csv"))
        self.assertIn("odd.yaml:5:18: warning: `test` has the samples of `train`: what it measures says "
                      "nothing of others\n", told)
        self.assertNotIn("warning", self.warnings(text.replace("FILE", "more.csv")))


if __name__ == "__main__":
    unittest.main()
