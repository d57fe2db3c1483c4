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
        error = self.only(TABLE, ("units: 2", "units: 2,5"))
        self.assertIn("a comma ends a value: 'units' is 2 here", error)
        self.assertIn("help: write `units: 0.5`, with a point\n",
                      self.only(TABLE, ("units: 2", "units: 0,5")))
        self.assertIn("help: write `units: 1234567`\n",
                      self.only(TABLE, ("units: 2", "units: 1,234,567")))
        self.assertIn("help: write `samples: 0.5`, with a point\n",
                      self.only(MODEL, ("samples: 65", "samples: 0,5")))
        self.assertIn("help: write `optimizer: {op: sgd, lr: 0.1}`\n",
                      self.only(MODEL, ("{op: sgd, lr: 0.05, momentum: 0.9}", "sgd")))
        error = self.only(MODEL, ("shape: [1, 4, 4]", "shape: (1, 4, 4)"))
        self.assertIn("help: write `shape: [1, 4, 4]`\n", error)

    def test_an_unknown_format_hides_nothing(self):
        whole = "format: csv, file: rows.csv, label: kind"
        error = self.errors(TABLE, (whole, "format: cvs, file: nothere.csv, lable: kind, header: 3"))
        for part in ("unknown data format 'cvs'", "cannot open 'nothere.csv'",
                     "unknown option 'lable' for data of format 'csv'", "option 'header' cannot be"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 4, error)
        error = self.errors(TABLE, (whole, "format: parquet, file: nothere.csv, hue: 3, samples: 4"))
        for part in ("unknown data format 'parquet'", "cannot open 'nothere.csv'",
                     "data of no format have an option 'hue'"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 3, error)
        error = self.errors(TABLE, (whole, "file: nothere.csv"))
        self.assertIn("'train' needs 'format'", error)
        self.assertIn("cannot open 'nothere.csv'", error)

    def test_keys_and_values_of_data_are_told_in_one_round(self):
        self.write("photos/dark/0.png", "no picture")
        train = "{format: synthetic, samples: 65, classes: 3}"
        wrong = "{format: images, folder: photos, resize: fit, decode: lazy, size: 64%s}"
        error = self.errors(MODEL, (train, wrong % ", transform_param: {mirror: true}"))
        for part in ("option 'resize' cannot be 'fit'", "option 'decode' cannot be 'lazy'",
                     "unknown option 'size'", "unknown option 'transform_param'", "`random_flip`"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 4, error)
        error = self.errors(MODEL, (train, wrong % ""), ("model: small", "modle: small"))
        self.assertEqual(error.count("error: "), 4, error)
        error = self.errors(MODEL, (train, wrong % ", labels: {a: b}"))
        self.assertIn("'labels' must be one value", error)
        self.assertEqual(error.count("error: "), 4, error)

    def test_what_looks_at_validation_data_is_told_with_the_rest(self):
        keys = "epochs: 2\n  keep_best: acuracy\n  early_stop: {patience: 0}"
        error = self.errors(MODEL, ("epochs: 2", keys))
        for part in ("there is no metric 'acuracy'", "'keep_best' looks at the data of `valid`",
                     "'early_stop' needs 'metric'", "'early_stop' looks at the data of `valid`",
                     "'patience' must be at least 1"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 5, error)
        error = self.errors(MODEL, ("epochs: 2", keys), ("  test: {", "  validation: {"))
        self.assertNotIn("looks at", error)
        self.errors(MODEL, ("epochs: 2", "epochs: 2\n  keep_best: accuracy"),
                    ("cross_entropy, in: [logits, label]", "cross_entropy, in: [logits, lable]"))
        for verb in ("check", "train"):
            error = self.refuses(verb, "wrong.yaml")
            self.assertIn("'keep_best' looks at the data of `valid`", error)
            self.assertIn("there is no value 'lable'", error)
            self.assertEqual(error.count("error: "), 2, error)

    def test_tables_say_what_is_to_be_done_with_them(self):
        self.write("rows.csv", "5,3,setosa\n4,3,setosa\n")
        error = self.only(TABLE, ("kind", "species"))
        self.assertIn("if these are values: `header: false` says that there are no names", error)
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,\n,6,y\n")
        self.assertIn("help: a sample needs its label: `missing_label: drop` leaves such lines out\n",
                      self.only(TABLE, ("label: kind", "label: kind, missing: mean")))
        self.write("good.yaml", TABLE.replace("label: kind",
                                              "label: kind, missing: mean, missing_label: drop"))
        self.cgrun("check", "good.yaml")
        self.write("rows.csv", "a,b,kind\n1,\"1,234,567\",x\n3,4,y\n")
        self.assertIn("help: write 1234567: no mark stands between the thousands of a number\n",
                      self.only(TABLE))


if __name__ == "__main__":
    unittest.main()
