#!/usr/bin/env python3
"""One run tells all errors of a model file and its data: none hides another, and each is told once."""

import unittest

from cli_testing import MODEL, TABLE, MistakesTestCase

DATA = "format: csv, file: rows.csv, label: kind"


class AllErrorsTest(MistakesTestCase):
    def test_errors_of_all_sections_come_at_once(self):
        text = MODEL.replace("epochs: 2", "epoch: 2").replace("units: 3", "unit: 3").replace(
            "op: sgd", "op: sdg").replace("samples: 65", "sampels: 65").replace(
            "in: image", "in: imge")
        self.write("wrong.yaml", text)
        for verb in ("train", "plan", "check"):
            error = self.refuses(verb, "wrong.yaml")
            for message in ("unknown key 'epoch'", "'linear' has no key 'unit'",
                            "there is no optimizer 'sdg'", "unknown option 'sampels'",
                            "there is no value 'imge'"):
                self.assertIn(message, error)

    def test_an_unknown_key_hides_nothing(self):
        error = self.errors(TABLE, ("model: table", "modle: table"), ("label: kind", "lable: kind"),
                            ("rows.csv", "nothere.csv"), ("in: features", "in: feature"))
        for part in ("unknown key 'modle'", "cannot open 'nothere.csv'", "unknown option 'lable'",
                     "there is no value 'feature'"):
            self.assertIn(part, error)
        error = self.errors(TABLE, ("inputs:\n", "input:\n"))
        self.assertNotIn("there is no value", error)

    def test_an_unknown_format_hides_nothing(self):
        whole = "format: csv, file: rows.csv, label: kind"
        error = self.errors(TABLE, (whole, "format: cvs, file: nothere.csv, lable: kind, header: 3"))
        for part in ("unknown data format 'cvs'", "cannot open 'nothere.csv'",
                     "unknown option 'lable' for data of format 'csv'", "option 'header' cannot be"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 4, error)
        error = self.errors(TABLE, (whole, "format: parquet, file: nothere.csv, hue: 3, samples: 4"))
        for part in ("unknown data format 'parquet'", "cannot open 'nothere.csv'",
                     "no data format has an option 'hue'"):
            self.assertIn(part, error)
        self.assertEqual(error.count("error: "), 3, error)
        error = self.errors(TABLE, (whole, "format: , file: nothere.csv"))
        self.assertIn("'train' needs 'format'", error)
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

    def test_files_that_are_missing_are_told_in_the_first_round(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        two = ("data: {train: {format: csv, file: rows.csv, label: kind}}",
               "data:\n  train: {format: csv, file: rows.csv, label: kind}\n"
               "  test: {format: csv, file: nowhere/test.csv, label: kind}")
        missing = "cannot open 'nowhere/test.csv'"
        for wrong in (("in: features", "in: feature"), ("inputs:", "input:"),
                      ("epochs: 1", "epochs: 1, epochs: 2")):
            self.assertIn(missing, self.errors(TABLE, two, wrong))
        self.assertIn(missing, self.errors(TABLE, two, ("in: features", "in: feature"),
                                           ("batch: 2", "batch: auto, memory: 1GiB")))
        folder = ("{format: csv, file: nowhere/test.csv, label: kind}", "{format: images, root: nowhere}")
        error = self.errors(TABLE, two, folder)
        for part in ("unknown option 'root'", "cannot open 'nowhere'"):
            self.assertIn(part, error)
        weights = ("model: table", "model: table\nweights: nowhere.safetensors")
        for wrong in (("in: features", "in: feature"), ("model: table", "modle: table")):
            self.assertIn("cannot open 'nowhere.safetensors'", self.errors(TABLE, weights, wrong))

    def test_options_of_data_are_told_beside_inputs_of_no_form(self):
        inputs = TABLE[TABLE.index("inputs:"):TABLE.index("paths:")]
        for wrong in ("inputs: [features, label]\n", "input:\n  features: {shape: [2]}\n"):
            options = "format: csv, path: rows.csv, target: kind"
            error = self.errors(TABLE, (DATA, options), (inputs, wrong))
            for part in ("unknown option 'path'", "unknown option 'target'", "input"):
                self.assertIn(part, error)
        # An option that may be the name of an input is not unknown.
        self.write("rows.csv", "a,b,kind\n0,0,yes\n1,1,no\n")
        lists = DATA + ", categories: [a], a: [x, y]"
        error = self.errors(TABLE, (DATA, lists), (inputs, "inputs: [a, features, label]\n"))
        self.assertNotIn("unknown option", error)

    def test_data_that_failed_are_not_missing(self):
        self.write("table.yaml", TABLE)
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.write("bad.csv", "a,kind\n1,x\n")
        error = self.refuses("check", "table.yaml", "--set",
                             "train.early_stop={metric: loss, patience: 3}", "--set",
                             "data.valid={format: csv, file: bad.csv, label: kind}")
        self.assertIn("'bad.csv' has no column 'b'", error)
        self.assertNotIn("looks at the data of `valid`", error)

    def test_a_file_without_train_is_one_error(self):
        text = MODEL[:MODEL.index("train:\n  epochs")]
        error = self.refuses("train", self.write("bare.yaml", text))
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("bare.yaml: error: the file does not say how to train: it has no 'train'\n", error)

    def test_plan_and_compile_find_what_train_finds(self):
        for flags, text in (
                (["--set", "data.train.clases=4"], "unknown option 'clases'"),
                (["--set", "data.train.format=synthetik"], "did you mean 'synthetic'?"),
                (["--set", "train.optimizer.schedule=cosin"], "there is no schedule 'cosin'"),
                (["--set", "train.optimizer.schedule={step: {evry: 2}}"], "no argument 'evry'")):
            self.assertIn(text, self.refused_alike(*flags))


if __name__ == "__main__":
    unittest.main()
