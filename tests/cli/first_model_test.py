#!/usr/bin/env python3
"""Mistakes in a first model of one's own that nothing told of, or not in plain words."""

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
ONE = MODEL.replace("units: 3", "units: 1")


class FirstModelTest(CliTestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "a.png").write_bytes(png(4, 4, range(16)))

    def test_one_score_is_measured_by_what_takes_it(self):
        for score, label in (("units: 1}", "{shape: [1]}"),
                             ("units: 1}\n      - logits: {op: reshape, shape: []}", "{shape: []}")):
            text = ONE.replace("{type: int32, shape: []}", label).replace("softmax_cross", "binary_cross")
            if "reshape" in score:
                text = text.replace("- logits: {op: linear", "- {op: linear")
            self.write("one.yaml", text.replace("units: 1}", score))
            error = self.refuses("check", "one.yaml")
            self.assertIn("accuracy: needs the logits of two classes or more, and ", error)
            self.assertIn("`precision`, `recall`, `f1` and `auc` take one score", error)

    def test_a_softmax_of_one_number_is_warned_of(self):
        text = ONE.replace("units: 1}", "units: 1, activation: softmax}").replace(
            "    metrics: {accuracy: {in: [logits, label]}}\n", "")
        self.write("one.yaml", text.replace("softmax_cross_entropy, in: [logits, label]",
                                            "squared_error, in: [logits, 0.5]"))
        self.assertIn("'softmax' along an axis of one number is always 1",
                      self.cgrun("train", "one.yaml", "--dry-run").stderr)
        self.assertNotIn("always 1", self.cgrun("train", "small.yaml", "--dry-run").stderr)

    def test_a_target_that_lacks_an_axis(self):
        text = ONE.replace("{type: int32, shape: []}", "{shape: []}").replace(
            "    metrics: {accuracy: {in: [logits, label]}}\n", "")
        for loss in ("binary_cross_entropy", "squared_error"):
            self.write("one.yaml", text.replace("softmax_cross_entropy", loss))
            self.assertIn("help: `shape: [1]` makes an input of the model [N, 1]",
                          self.refuses("check", "one.yaml"))

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

    def test_flags_of_other_programs(self):
        for verb in ("train", "eval"):
            for flag, help_text in (("--learning-rate", "`--set train.optimizer.lr=3`"),
                                    ("--max-epochs", "`--set train.epochs=3`"),
                                    ("--test", "`--set data.test.file=3`"),
                                    ("--valid", "`--set data.valid.file=3`"),
                                    ("--output", "write '--out'")):
                self.assertIn(help_text, self.refuses(verb, "small.yaml", flag, "3"), (verb, flag))

    def test_swapping_is_offered_where_it_can_be_enough(self):
        error = self.refuses("train", "small.yaml", "--memory", "10KiB")
        self.assertIn("more than the cap of 10 KiB", error)
        self.assertNotIn("--swap", error)


if __name__ == "__main__":
    unittest.main()
