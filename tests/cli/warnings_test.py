#!/usr/bin/env python3
"""Runs that are not wrong, and of which nobody can want the result: check and train say so."""

import json
import unittest

from cli_testing import MODEL, CliTestCase

NORMED = MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n      - bn: {op: batch_norm}\n")
SINGLE = "'classify.bn' normalises a single value of each channel in "


class WarningsTest(CliTestCase):
    def told(self, verb, text, *flags):
        """What a verb warns of."""
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
        self.assertIn("no better than to name the most frequent class", told)
        text = self.cgrun("train", "m.yaml", "--force").stdout
        self.assertRegex(text, r"test .*accuracy [\d.]+  \(the most frequent class alone: 0\.75")

    def test_a_run_that_learns_is_not_told_of(self):
        self.write("rows.csv", "a,b,kind\n" + "".join(f"{i % 2},{i % 5},{'odd' if i % 2 else 'even'}\n" for i in range(40)))
        self.assertNotIn("most frequent class", self.told("train", self.model("lr: 0.5"), "--force"))

    def test_an_output_without_a_row_for_each_sample(self):
        model = MODEL.replace("    loss:", "      - total: {op: reduce_sum, axes: [0]}\n    loss:").replace(
            "  classify:\n", "  classify:\n    out: total\n", 1)
        told = self.told("check", model)
        self.assertIn("the prediction classify.total", told)
        self.assertIn("without a row for each sample: `cgrun predict` cannot use it", told)


if __name__ == "__main__":
    unittest.main()
