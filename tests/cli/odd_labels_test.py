#!/usr/bin/env python3
"""Tables with labels that are rare or odd, names that look the same, and lists of a model file that
YAML does not take for one: what is wrong is named, not what stands beside it."""

import unicodedata
import unittest

from cli_testing import TABLE, CliTestCase

ITEM = "      - logits: {op: linear, in: features, units: 2}\n"
TRAIN = "train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}\n"
DATA = "format: csv, file: rows.csv, label: kind"


class OddLabelsTest(CliTestCase):
    def errors(self, *changes):
        """What `check` says of the table's model with `changes`, pairs of texts."""
        text = TABLE
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("wrong.yaml", text)
        return self.refuses("check", "wrong.yaml")

    def labels(self, labels):
        rows = "".join(f"{i % 7},{i % 5},{label}\n" for i, label in enumerate(labels))
        self.write("rows.csv", "a,b,kind\n" + rows)

    def test_rare_labels_are_named_whatever_is_wrong_with_each(self):
        labels = ["yes", "no"] * 100
        labels[15], labels[38] = "nein", "Yes"
        self.labels(labels)
        error = self.errors()
        self.assertIn("rows.csv:17:5: error: 4 labels are found, 'no' (99 samples), 'yes' (99 "
                      "samples), 'Yes' (1 sample, line 40), 'nein' (1 sample, line 17), but "
                      "softmax_cross_entropy has 2 classes\n", error)
        self.assertIn("help: 'Yes' seems to be 'yes'; check those that are rare. If each is a "
                      "class of its own, wrong.yaml:10:22 is to have `units: 4`\n", error)
        labels[38] = "yess"
        self.labels(labels)
        self.assertIn("'yess' (1 sample, line 40), but", self.errors())
        labels[15] = "YES"
        self.labels(labels)
        error = self.errors()
        for line, label in ((17, "YES"), (40, "yess")):
            self.assertRegex(error, f"rows.csv:{line}:5: error: only .* has the label '{label}'")
        self.labels(["yes", "no", "perhaps"] * 20)
        self.assertIn("has the label 2 ('yes'), but the 2 classes", self.errors())

    def test_labels_that_are_measures_are_counted(self):
        self.labels([f"{i}.25" for i in range(40)] + ["254234.00"])
        error = self.errors()
        self.assertIn("rows.csv:2:5: error: 40 of the 41 labels are not whole numbers\n", error)
        self.assertIn("`label: {type: f32, shape: []}`\n", error)

    def test_a_label_among_the_columns_is_pointed_at(self):
        self.labels(["yes", "no"])
        error = self.errors((DATA, DATA + ", columns: [a, kind]"))
        self.assertIn("error: column 'kind' is the label too\n", error)
        line, caret = error.split("is the label too\n")[1].splitlines()[:2]
        self.assertEqual(line[caret.index("^"):].split("]")[0], "kind", error)
        self.assertIn("help: leave it out of `columns`", error)

    def test_a_name_that_looks_the_same_is_told_apart(self):
        table = "Fläche,b,kind\n1,2,yes\n3,4,no\n"
        for of_file, form in (("NFD", "NFC"), ("NFC", "NFD")):
            self.write("rows.csv", unicodedata.normalize(of_file, table))
            name = unicodedata.normalize(form, "Fläche")
            error = self.errors((DATA, DATA + f", columns: [{name}, b]"))
            self.assertIn(f"'rows.csv' has no column '{name}'\n", error)
            self.assertIn("has the same letters, encoded otherwise: ", error)
            same = unicodedata.normalize(of_file, "Fläche")
            right = TABLE.replace(DATA, DATA + f", columns: [{same}, b]")
            self.cgrun("check", self.write("right.yaml", right))

    def test_options_of_data_are_told_beside_inputs_of_no_form(self):
        inputs = TABLE[TABLE.index("inputs:"):TABLE.index("paths:")]
        for wrong in ("inputs: [features, label]\n", "input:\n  features: {shape: [2]}\n"):
            options = "format: csv, path: rows.csv, target: kind"
            error = self.errors((DATA, options), (inputs, wrong))
            for part in ("unknown option 'path'", "unknown option 'target'", "input"):
                self.assertIn(part, error)
        # What may be the name of an input is no unknown option.
        self.labels(["yes", "no"])
        lists = DATA + ", categories: [a], a: [x, y]"
        error = self.errors((DATA, lists), (inputs, "inputs: [a, features, label]\n"))
        self.assertNotIn("unknown option", error)

    def test_items_of_lists_and_equals_signs(self):
        more = "     - more: {op: linear, units: 2}\n"
        error = self.errors((ITEM, ITEM + more))
        self.assertIn("wrong.yaml:11:6: error: this is not YAML: this '-' does not stand below the "
                      "'-' before it\n", error)
        self.assertIn("in line 10 in column 7, and this one in column 6\n", error)
        error = self.errors((ITEM, ITEM.rstrip() + ", {op: softmax}\n"))
        self.assertIn("nothing can stand behind this '}', which ends the value\n", error)
        self.assertIn("in a line of its own: `- {op: softmax}`\n", error)
        glued = "train:\n  epochs: 1\n  batch=32\n  optimizer: {op: sgd, lr: 1}\n"
        error = self.errors((TRAIN, glued))
        self.assertIn("wrong.yaml:14:3: error: this is not YAML: a ':' and no '=' stands behind "
                      "'batch'\n", error)
        self.assertIn("help: write `batch: 32`", error)


if __name__ == "__main__":
    unittest.main()
