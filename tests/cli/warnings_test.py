#!/usr/bin/env python3
"""Models and settings that are not wrong, but whose result nobody can want: `check` and `train` warn
of them."""

import json
import unittest

from cli_testing import MODEL, TABLE, CliTestCase

NORMED = MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n      - bn: {op: batch_norm}\n")
SINGLE = "'classify.bn' normalises a single value of each channel in "
TWO_PATHS = """cgrun: 1
model: two
data: {train: {format: synthetic, samples: 24, classes: 3}}
inputs:
  image: {type: f32, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  first: {in: x, ops: [{op: flatten}, {op: linear, units: 3}]}
  second: {in: x, ops: [{op: flatten}, {op: linear, units: 3}]}
  both: {in: x, ops: [{network: first}, {op: linear, units: 3}]}
paths:
  one:
    ops: [{logits: {network: both, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
  two:
    trains: [first, second]
    ops: [{logits: {network: second, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 8, optimizer: {op: sgd, lr: 0.1}}
"""


class WarningsTest(CliTestCase):
    def told(self, verb, text, *flags):
        """Returns what a verb warns of."""
        self.write("m.yaml", text)
        return self.cgrun(verb, "m.yaml", *flags).stderr

    def model(self, rate):
        """A classifier of the rows of rows.csv, which is evaluated on them."""
        return MODEL.split("data:")[0] + f"""data:
  train: {{format: csv, file: rows.csv, label: kind}}
  test: {{format: csv, file: rows.csv, label: kind}}
inputs:
  features: {{shape: [2]}}
  label: {{type: int32, shape: []}}
paths:
  classify:
    ops:
      - h: {{op: linear, in: features, units: 8, activation: relu}}
      - logits: {{op: linear, units: 2}}
    loss: {{op: softmax_cross_entropy, in: [logits, label]}}
    metrics: {{accuracy: {{in: [logits, label]}}}}
train: {{epochs: 20, batch: 8, optimizer: {{op: sgd, {rate}}}}}
"""

    def test_a_batch_norm_of_one_sample(self):
        for batch, text in ((16, "the last batch of an epoch, which has one sample"), (1, "every batch")):
            model = NORMED.replace("batch: 20", f"batch: {batch}").replace("epochs: 2", "epochs: 1")
            for verb, flags in (("check", ()), ("train", ("--force",))):
                with self.subTest(f"{verb}, batch {batch}"):
                    told = self.told(verb, model, *flags)
                    self.assertIn(SINGLE + text, told)
                    self.assertIn("m.yaml:14:", told)

    def test_a_batch_norm_of_several_values_is_not_told_of(self):
        for model in (NORMED, NORMED.replace("      - bn: {op: batch_norm}\n", "").replace(
                "      - {op: flatten}\n", "      - bn: {op: batch_norm}\n      - {op: flatten}\n").replace(
                    "batch: 20", "batch: 16")):
            self.assertNotIn(SINGLE, self.told("check", model))

    def test_a_frozen_batch_norm_is_not_told_of(self):
        self.assertNotIn(SINGLE, self.told("check", NORMED.replace("{op: batch_norm}", "{op: batch_norm, frozen: true}")
                                           .replace("batch: 20", "batch: 16")))

    def test_a_run_that_diverges_to_chance(self):
        # All samples of one class but a few: whatever is learned at such a rate is no better.
        self.write("rows.csv", "a,b,kind\n" + "".join(
            f"{i % 7},{i % 5},{'rare' if i % 4 == 0 else 'usual'}\n" for i in range(40)))
        told = self.told("train", self.model("lr: 50, momentum: 0.9"), "--force")
        summary = json.loads((self.folder / "runs/small/summary.json").read_text())
        self.assertEqual(summary["most_frequent_class"]["test"], 0.75)
        self.assertLessEqual(summary["test"]["accuracy"], 0.75)
        self.assertRegex(told, "warning: .*no better than to name the most frequent class each time: a smaller "
                               "learning rate or longer training may help")
        text = self.cgrun("train", "m.yaml", "--force").stdout
        self.assertRegex(text, r"test .*accuracy [\d.]+  \(the most frequent class alone: 0\.75")

    def test_the_share_is_that_of_the_samples_evaluated(self):
        self.write("rows.csv", "a,b,kind\n" + "".join(
            f"{i % 7},{i % 5},{'rare' if i % 10 == 0 else 'usual'}\n" for i in range(40)))
        self.told("train", self.model("lr: 0.1").replace("  test:", "  valid: {split: 0.1}\n  test:"), "--force")
        share = json.loads((self.folder / "runs/small/summary.json").read_text())["most_frequent_class"]
        self.assertEqual(share["test"], 0.9)
        self.assertIn(share["valid"], (0.5, 0.75, 1))  # of four samples

    def test_synthetic_labels_have_a_share(self):
        told = self.told("train", MODEL.replace("lr: 0.05", "lr: 50"), "--force")
        share = json.loads((self.folder / "runs/small/summary.json").read_text())["most_frequent_class"]["test"]
        self.assertEqual(share * 40, round(share * 40))
        self.assertGreater(share, 1 / 3)
        self.assertRegex(told, "note: .*no better than to name the most frequent class each time, as the labels of "
                               "synthetic data are random")
        self.assertNotIn("warning", told)
        self.assertNotIn("may help", told)

    def test_a_run_that_learns_is_not_told_of(self):
        self.write("rows.csv", "a,b,kind\n" + "".join(
            f"{i % 2},{i % 5},{'odd' if i % 2 else 'even'}\n" for i in range(40)))
        self.assertNotIn("most frequent class", self.told("train", self.model("lr: 0.5"), "--force"))

    def test_an_output_without_a_row_for_each_sample(self):
        model = MODEL.replace("    loss:", "      - total: {op: reduce_sum, axes: [0]}\n    loss:").replace(
            "  classify:\n", "  classify:\n    out: total\n", 1)
        told = self.told("check", model)
        self.assertIn("the prediction classify.total", told)
        self.assertIn("without a row for each sample: `cgrun predict` cannot use it", told)
        self.write("total.yaml", model)
        self.cgrun("train", "total.yaml", "--out", "total", "--quiet")
        error = self.refuses("predict", "total.yaml", "x.npy", "--weights", "total")
        self.assertIn("the prediction classify.total is f32[3], without a row for each sample", error)

    def test_warnings_of_a_model_file_are_told_in_full_once(self):
        self.write("twice.yaml", MODEL.replace("units: 3}\n", "units: 3}\n      - p: {op: softmax}\n").replace(
            "in: [logits, label]}\n    metrics", "in: [p, label]}\n    metrics"))
        what = "warning: 'softmax_cross_entropy' applies softmax itself: here it is applied twice\n"
        train = self.cgrun("train", "twice.yaml", "--out", "run").stderr
        self.assertIn(what, train)
        self.assertIn("help: give it what the softmax reads", train)
        for arguments in (["eval", "twice.yaml", "--weights", "run"],
                          ["train", "--resume", "run", "--set", "train.epochs=3"]):
            told = self.cgrun(*arguments).stderr
            self.assertRegex(told, r"(?m)^\S+\.yaml:\d+:\d+: " + what)
            self.assertNotIn("give it what the softmax reads", told)
            self.assertNotIn("^~~", told)

    def test_a_batch_larger_than_the_data_is_warned_of(self):
        shown = self.cgrun("train", "small.yaml", "--batch", "200", "--dry-run").stderr
        self.assertIn("warning: a batch of 200 is more than the training data has: 65 samples", shown)
        shown = self.cgrun("train", "small.yaml", "--batch", "65", "--dry-run").stderr
        self.assertNotIn("warning", shown)

    def test_a_softmax_of_one_number_is_warned_of(self):
        text = MODEL.replace("units: 3", "units: 1").replace("units: 1}", "units: 1, activation: softmax}").replace(
            "    metrics: {accuracy: {in: [logits, label]}}\n", "")
        self.write("one.yaml", text.replace("softmax_cross_entropy, in: [logits, label]",
                                            "squared_error, in: [logits, 0.5]"))
        self.assertIn("'softmax' along an axis of one number is always 1",
                      self.cgrun("train", "one.yaml", "--dry-run").stderr)
        self.assertNotIn("always 1", self.cgrun("train", "small.yaml", "--dry-run").stderr)


class UnusedPartsTest(CliTestCase):
    def test_what_a_path_does_not_use_it_does_not_train(self):
        self.write("two.yaml", TWO_PATHS)
        for verb, *flags in (("train", "--dry-run"), ("check",)):
            told = self.cgrun(verb, "two.yaml", *flags).stderr
            self.assertEqual(told.count("warning: path"), 1, told)
            self.assertNotIn("no gradient", told)
            self.assertIn("two.yaml:16:14: warning: path 'two' trains 'first', but its loss does not "
                          "depend on it\n", told)
            self.assertIn("help: take it out of `trains`, or use 'first' in the path\n", told)
        self.write("two.yaml", TWO_PATHS.replace("[first, second]", "second"))
        self.assertNotIn("warning", self.cgrun("train", "two.yaml", "--dry-run").stderr)

    def test_what_nothing_uses_is_told(self):
        def unused(op):
            parts = ("networks: {idle: {in: x, ops: [{op: %s}]}}\n"
                     "blocks: {spare: {in: x, ops: [{op: %s}]}}\npaths:" % (op, op))
            return self.write("idle.yaml", MODEL.replace("paths:", parts))

        warnings = self.cgrun("train", unused("relu"), "--dry-run").stderr
        for part in ("network 'idle'", "block 'spare'"):
            self.assertIn(f"warning: nothing uses {part}", warnings)
        error = self.refuses("train", unused("gruu"))
        self.assertEqual(error.count("'gruu'"), 2, error)
        self.write("used.yaml", MODEL.replace("paths:", "networks: {flat: {in: x, ops: [flatten]}}\npaths:")
                   .replace("{op: flatten}", "{network: flat}"))
        self.assertNotIn("nothing uses", self.cgrun("train", "used.yaml", "--dry-run").stderr)

    def test_a_file_without_train_is_told(self):
        text = MODEL[:MODEL.index("train:\n  epochs")]
        error = self.cgrun("check", self.write("given.yaml", text), "--device", "reference").stderr
        self.assertIn("given.yaml: warning: this file has no `train:`: it can be planned and "
                      "evaluated, but not trained\n", error)
        self.assertIn("for example `train: {", error)
        self.assertIn("for example `train: {", self.refuses("train", "given.yaml"))


class SettingsTest(CliTestCase):
    def warnings(self, text):
        """Returns what both `check` and `train` warn of."""
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
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.write("more.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        text = TABLE.replace("data: {train: {format: csv, file: rows.csv, label: kind}}",
                             "data:\n  train: {format: csv, file: rows.csv, label: kind}\n"
                             "  test: {format: csv, file: ./FILE, label: kind}")
        told = self.warnings(text.replace("FILE", "rows.csv"))
        self.assertIn("odd.yaml:5:18: warning: `test` has the samples of `train`: what it measures says "
                      "nothing of others\n", told)
        self.assertNotIn("warning", self.warnings(text.replace("FILE", "more.csv")))


if __name__ == "__main__":
    unittest.main()
