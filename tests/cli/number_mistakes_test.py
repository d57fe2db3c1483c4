#!/usr/bin/env python3
"""Values of a model file that are no numbers: one error says so, and how the number is written."""

import unittest

from cli_testing import MODEL, TABLE, MistakesTestCase


class NumberMistakesTest(MistakesTestCase):
    def test_numbers_that_are_none(self):
        def told(old, new):
            error = self.refuses("train", self.write("wrong.yaml", MODEL.replace(old, new)))
            self.assertEqual(error.count("error: "), 1, error)
            return error

        for rate, what in (("fast", "a number, not 'fast'"), ("-0.1", "at least 0, not '-0.1'")):
            self.assertIn(f"'lr' must be {what}\n", told("lr: 0.05", f"lr: {rate}"))
            self.assertIn("help: lr: learning rate, before its schedule\n", told("lr: 0.05", f"lr: {rate}"))
        self.assertIn("help: write `lr: 0.05`, with a point\n", told("lr: 0.05", "lr: 0,05"))
        self.assertIn("help: write 0.001, with a point\n",
                      told("optimizer: {op: sgd, lr: 0.05, momentum: 0.9}",
                           "optimizer:\n    op: sgd\n    lr: 0,001"))
        error = told("batch: 20", "batch: 16.5")
        self.assertIn("'batch' must be an integer, not '16.5'\n", error)
        self.assertIn("help: a whole number, such as 17\n", error)
        self.assertIn("help: begin with the line `cgrun: 1`\n", told("cgrun: 1\n", ""))

    def test_numbers_and_optimizers_get_one_message(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        error = self.only(TABLE, ("units: 2", "units: 2,5"))
        self.assertIn("'units' must be an integer, not '2,5'", error)
        self.assertIn("help: a whole number, such as 3\n", error)
        self.assertIn("help: a whole number, such as 1\n",
                      self.only(TABLE, ("units: 2", "units: 0,5")))
        self.assertIn("'epochs' must be an integer, not '2,5'",
                      self.only(TABLE, ("epochs: 1", "epochs: 2,5")))
        for number in ("1,234,567,8", "1,234,56", "1,000,00"):
            self.assertIn("help: write the number without commas\n",
                          self.only(TABLE, ("units: 2", f"units: {number}")))
        self.assertIn("help: write `lr: 0.05`, with a point\n",
                      self.only(TABLE, ("lr: 0.1", "lr: 0,05")))
        self.assertIn("help: write `units: 1234567`\n",
                      self.only(TABLE, ("units: 2", "units: 1,234,567")))
        for key, wrong in (("samples: 65", "samples: 0,5"), ("classes: 3}", "classes: 2,5}")):
            self.assertIn("but must be an integer from 1 to ", self.only(MODEL, (key, wrong)))
        self.assertIn("option 'header' cannot be '0,5'",
                      self.only(TABLE, ("label: kind", "label: kind, header: 0,5")))
        self.assertIn("help: write `optimizer: {op: sgd, lr: 0.1}`\n",
                      self.only(MODEL, ("{op: sgd, lr: 0.05, momentum: 0.9}", "sgd")))
        error = self.only(MODEL, ("shape: [1, 4, 4]", "shape: (1, 4, 4)"))
        self.assertIn("help: write `shape: [1, 4, 4]`\n", error)

    def test_characters_that_only_look_like_those_of_a_number(self):
        for number, note in (("1\u00a0000", "U+00A0, a no-break space"), ("1\u2009000", "U+2009, a thin"),
                             ("1\u202f000", "U+202F, a narrow no-break space")):
            error = self.marked(number, "units: 3", f"units: {number}")
            self.assertIn("help: write 1000: '", error)
            self.assertIn(note, error)
        self.assertIn("write `units: 3`", self.marked(":", "units: 3", "units:\u00a03"))
        minus = ": '\u2212' is U+2212, a minus sign"
        self.helps("write 1e-3" + minus, "1e", "lr: 0.05", "lr: 1e\u22123")
        self.helps("write `scale: -3.5`, with a point" + minus, "\u2212", "scale: 1/255",
                   "scale: \u22123,5")
        no_blank = ": no blank stands between the thousands of a number"
        self.helps("write 1234.5" + no_blank, "1 234", "lr: 0.05", "lr: 1 234.5")
        self.helps("write `lr: 1234.5`, with a point" + no_blank, "1 234", "lr: 0.05", "lr: 1 234,5")
        self.helps("write 1e-3", "10^", "lr: 0.05", "lr: 10^-3")
        table = TABLE.replace("label: kind", "label: kind, delimiter: ;")
        self.write("rows.csv", "a;b;kind\n-3,5;\u22122;x\n1 234.5;4;y\n7,5;1\u2009000;y\n")
        self.write("rows.yaml", table)
        error = self.refuses("check", "rows.yaml")
        self.assertEqual(error.count("error: "), 4, error)
        for part in ("'-3,5' is not a number; and 1 more such cell: '7,5' in line 4",
                     "help: write 1234.5: no mark stands between", "help: write -2; '\u2212' is U+2212",
                     "help: write 1000; '\u2009' is U+2009, a thin space"):
            self.assertIn(part, error)


if __name__ == "__main__":
    unittest.main()
