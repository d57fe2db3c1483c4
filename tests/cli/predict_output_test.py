#!/usr/bin/env python3
"""Tests `cgrun predict` with several outputs, and its tables: `--csv`."""

import unittest

from cli_testing import MODEL, CliTestCase, png

FLAT = MODEL.replace("- {op: flatten}", "- flat: {op: flatten}")
LOGITS = "      - logits: {op: linear, units: 3}\n"
HEADS = (FLAT.replace("logits: {op: linear,", "logits: {op: linear, in: flat,")
         .replace(LOGITS.replace("linear,", "linear, in: flat,"),
                  LOGITS.replace("linear,", "linear, in: flat,") +
                  "      - value: {op: linear, in: flat, units: 1}\n")
         .replace("    loss: {op: softmax_cross_entropy, in: [logits, label]}\n",
                  "    loss: [{op: softmax_cross_entropy, in: [logits, label]}, "
                  "{op: squared_error, in: [value, 0.5]}]\n"))


class PredictOutputTest(CliTestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "a.png").write_bytes(png(4, 4, range(16)))

    def test_predictions_say_what_they_leave_out(self):
        self.write("heads.yaml", HEADS)
        self.cgrun("train", "heads.yaml", "--out", "run", "--quiet")
        predict = ("predict", "heads.yaml", "a.png", "--weights", "run")
        self.assertIn("note: this is 'value' alone, the last output; a loss reads `logits`, too: "
                      "`out: [logits, value]` of path 'classify' predicts all\n", self.cgrun(*predict).stderr)
        both = self.cgrun(*predict, "--set", "paths.classify.out=[logits, value]", "--csv", "both.csv")
        self.assertNotIn("alone", both.stderr)
        head, row = (self.folder / "both.csv").read_text().splitlines()
        self.assertRegex(head, r"^file,index,logits\.class,logits\.probability,value$")
        self.assertRegex(row, r"^a\.png,,[0-2],0\.\d+,[-+.e0-9]+$")

    def test_a_table_says_which_outputs_it_has_no_place_for(self):
        self.write("heads.yaml", HEADS.replace("value: {op: linear, in: flat, units: 1}",
                                               "value: {op: linear, in: flat, units: 1001}"))
        self.cgrun("train", "heads.yaml", "--out", "run", "--quiet")
        predict = ("predict", "heads.yaml", "a.png", "--weights", "run", "--csv", "out.csv")
        for _ in range(2):  # over its own
            self.assertIn("note: 'out.csv' is without 'value', of more than 1,000 values a sample",
                          self.cgrun(*predict).stderr)
        self.assertEqual((self.folder / "out.csv").read_text(), "file,index\na.png,\n")

    def test_predictions_as_a_table(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        predict = ("predict", "small.yaml", "a.png", "a.png", "--weights", "run")
        self.cgrun(*predict, "--csv", "out.csv", "--top", "2")
        lines = (self.folder / "out.csv").read_text().splitlines()
        self.assertEqual(lines[0], "file,index,class[0],probability[0],class[1],probability[1]")
        self.assertEqual(len(lines), 3)
        self.cgrun(*predict, "--csv", "out.csv")  # its own
        self.write("mine.csv", "file,label\na.png,7\n")
        self.assertIn("'mine.csv' exists and is not a table of predictions",
                      self.refuses(*predict, "--csv", "mine.csv"))
        error = self.refuses(*predict, "--csv", "a.png")
        self.assertIn("'a.png' would be written over, but it is what is read", error)
        for name, help_text in (("res.csv", "`--csv res.csv` writes a table"), ("res.npy", "`--csv FILE`"),
                                ("res.json", "`--json res.json` writes")):
            error = self.refuses(*predict, "--out", name)
            self.assertIn(f"'{name}' is called like a file", error)
            self.assertIn(help_text, error)
            self.assertIn("`--out res` is a folder", error)
        self.assertIn("`--out runs/x/res` is a folder", self.refuses(*predict, "--out", "runs/x/res.csv"))


if __name__ == "__main__":
    unittest.main()
