#!/usr/bin/env python3
"""What a newcomer met who wrote model files as other programs have them: one mistake, one message,
and none that hides another."""

import unittest

from cli_testing import MODEL, TABLE, CliTestCase


class FifthDayTest(CliTestCase):
    def errors(self, text, *changes):
        """What `check` says of a model with `changes`, pairs of texts."""
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("wrong.yaml", text)
        return self.refuses("check", "wrong.yaml")

    def only(self, text, *changes):
        """The same, of one error."""
        error = self.errors(text, *changes)
        self.assertEqual(error.count("error: "), 1, error)
        return error

    def test_an_unknown_key_hides_nothing(self):
        error = self.errors(TABLE, ("model: table", "modle: table"), ("label: kind", "lable: kind"),
                            ("rows.csv", "nothere.csv"), ("in: features", "in: feature"))
        for part in ("unknown key 'modle'", "cannot open 'nothere.csv'", "unknown option 'lable'",
                     "there is no value 'feature'"):
            self.assertIn(part, error)
        error = self.errors(TABLE, ("inputs:\n", "input:\n"))
        self.assertNotIn("there is no value", error)

    def test_numbers_and_optimizers_get_one_message(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        error = self.errors(TABLE, ("units: 2", "units: 2,5"))
        self.assertNotIn("must be an integer", error)
        self.assertIn("a comma ends a value: 'units' is 2 here", error)
        self.assertIn("help: write `optimizer: {op: sgd, lr: 0.1}`\n",
                      self.only(MODEL, ("{op: sgd, lr: 0.05, momentum: 0.9}", "sgd")))
        error = self.only(MODEL, ("shape: [1, 4, 4]", "shape: (1, 4, 4)"))
        self.assertIn("help: write `shape: [1, 4, 4]`\n", error)


if __name__ == "__main__":
    unittest.main()
