#!/usr/bin/env python3
"""What a newcomer met who wrote model files as other programs have them: one mistake, one message,
and none that hides another."""

import json
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, png


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

    def test_a_help_does_not_lead_into_the_next_error(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        optimizer = "optimizer: {op: sgd, lr: 0.1}"
        self.assertIn("help: write `optimizer: {op: adam, lr: 0.01}`\n",
                      self.errors(TABLE, (optimizer, "lr: 0.01, optimizer: Adam")))
        self.assertIn("help: write `optimizer: {op: adam, lr: …}`\n",
                      self.only(TABLE, (optimizer, "optimizer: Adam")))
        self.assertIn("behind this one: `- {op: clip, min: 0, max: 6}`\n",
                      self.only(TABLE, ("units: 2", "units: 2, activation: ReLU6")))
        self.assertIn("help: write `{op: clip, min: 0, max: 6}`\n",
                      self.only(TABLE, ("    loss:", "      - ReLU6\n    loss:")))
        self.assertIn("help: write `clip: {norm: 1.0}`",
                      self.only(TABLE, ("batch: 2", "batch: 2, clip: 1.0")))
        loss = "    loss: {op: softmax_cross_entropy, in: [logits, label]}\n"
        self.assertIn("help: its operators go under `ops`: `classify: {ops: […], loss: …}`\n",
                      self.only(TABLE, ("    ops:\n", ""), ("      - logits", "    - logits"),
                                (loss, "")))
        self.assertIn("help: write `false`\n",
                      self.only(TABLE, ("label: kind", "label: kind, header: None")))
        self.assertIn("`missing` says what becomes of them",
                      self.only(TABLE, ("label: kind", "label: kind, na_values: 0")))
        self.assertIn("help: write `loss`: it is that of `valid`\n",
                      self.only(TABLE, ("kind}}", "kind}, valid: {split: 0.5}}"),
                                ("epochs: 1", "epochs: 1, early_stop: {metric: val_loss, patience: 2}")))
        self.write("rows.csv", "a,b,kind\n1,2,1\n3,4,2\n5,6,2\n")
        self.assertIn("or `classes: [1, 2]` in `data.train` makes them names\n", self.only(TABLE))
        self.write("named.yaml", TABLE.replace("label: kind", "label: kind, classes: [1, 2]"))
        self.cgrun("check", "named.yaml")

    def test_a_table_to_predict_is_told_apart_from_that_of_training(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.cgrun("train", self.write("good.yaml", TABLE), "--out", "run", "--quiet")
        predict = ("predict", "good.yaml", "--weights", "run", "new.csv")
        for table, part in (("a;b\n1;2\n", "`--set 'data.train.delimiter=;'`"),
                            ("a\tb\n1\t2\n", "`--set 'data.train.delimiter=tab'`"),
                            ("1.5,2\n3,4\n", "or `--set data.train.header=false` where they stand in "
                             "the order of the training data's"),
                            ("a\n1\n", "the training data have 2 columns of features, and this table "
                             "1 column in all")):
            self.write("new.csv", table)
            error = self.refuses(*predict)
            self.assertIn(part, error)
            self.assertNotIn("`columns` names", error)
        self.write("new.csv", "x,y\n1,2\n")
        self.assertIn("give the column of these values that name", self.refuses(*predict))
        self.write("new.csv", "1.5,2\n3,4\n")
        self.cgrun(*predict, "--set", "data.train.header=false")
        self.write("new.csv", "a;b\n1;2\n")
        self.cgrun(*predict, "--set", "data.train.delimiter=;")
        self.write("rows.csv", "a;b;kind\n1;2;x\n3;4;y\n")
        self.write("good.yaml", TABLE.replace("label: kind", "label: kind, delimiter: ;"))
        self.cgrun("train", "good.yaml", "--out", "run", "--force", "--quiet")
        self.write("new.csv", "a,b\n1,2\n")
        self.assertIn("`--set 'data.train.delimiter=\",\"'`", self.refuses(*predict))
        self.cgrun(*predict, "--set", 'data.train.delimiter=","')

    def test_saving_is_said_by_its_key(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.write("good.yaml", TABLE.replace("train: {", "train: {save_every: 3, "))
        self.assertIn("checkpoint_every", self.refuses("check", "good.yaml"))

    def test_a_list_of_images_that_lie_elsewhere_is_one_error(self):
        for i in range(2):
            path = self.folder / f"photos/cat/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(4, 4, range(16)))
        train = "{format: synthetic, samples: 65, classes: 3}"
        listed = (train, "{format: images, folder: photos, labels: list.csv}")
        self.write("list.csv", "".join(f"{i}.png,cat\n" for i in range(2000)))
        error = self.only(MODEL, listed)
        self.assertIn("'photos' holds no image '0.png'; and 1999 more such lines: '1.png' in line 2", error)
        self.assertIn("help: 'photos/cat/0.png' is there: images of a list lie in the folder itself", error)
        self.write("list.csv", "cat/0.png,cat\ncat/1.png,cat\n")
        self.assertIn("help: 'photos/cat/0.png' is there: ", self.only(MODEL, listed))

    def test_what_became_of_gaps_is_noted(self):
        self.write("rows.csv", "a,b,kind\n1,,x\n3,4,y\n5,6,\n7,8,y\n")
        self.write("gaps.yaml", TABLE.replace("kind}", "kind, missing: mean, missing_label: drop}"))
        notes = ["'rows.csv': 1 of its 4 rows is left out, with no label: line 4",
                 "'rows.csv': 1 gap is filled with the mean of its column"]
        for verb in (("check",), ("train", "--dry-run")):
            error = self.cgrun(verb[0], "gaps.yaml", *verb[1:]).stderr
            for note in notes:
                self.assertEqual(error.count(f"note: {note}\n"), 1, error)
            self.assertNotIn("note:", self.cgrun(verb[0], "gaps.yaml", *verb[1:], "--quiet").stderr)
        result = json.loads(self.cgrun("check", "gaps.yaml", "--json").stdout)
        self.assertEqual(result["notes"], notes)

    def test_columns_of_other_sizes_may_be_standardized(self):
        self.write("rows.csv", "year,y\n" + "".join(f"{1900 + i},{i % 7}\n" for i in range(60)))
        text = (TABLE.replace("label: kind", "label: y").replace("units: 2", "units: 1")
                .replace("shape: [2]", "shape: [1]").replace("{type: int32, shape: []}", "{shape: [1]}")
                .replace("softmax_cross_entropy", "squared_error").replace("epochs: 1", "epochs: 9"))
        error = self.cgrun("train", self.write("years.yaml", text), "--quiet", status=1).stderr
        self.assertIn("--set train.optimizer.lr=…; so do columns of about the same size: --set "
                      "data.train.standardize=true\n", error)
        self.cgrun("train", "years.yaml", "--quiet", "--force", "--set", "data.train.standardize=true")

    def test_a_model_with_validation_data_needs_no_test_data(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n")
        self.write("good.yaml", TABLE)
        self.assertIn("there is no test data", self.cgrun("check", "good.yaml").stderr)
        done = self.cgrun("check", "good.yaml", "--set", "data.valid.split=0.5")
        self.assertEqual(done.stderr, "")
        self.assertIn("good.yaml: no errors, no warnings.\n", done.stdout)

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


if __name__ == "__main__":
    unittest.main()
