#!/usr/bin/env python3
"""Mistakes in tables of training data, their columns and labels, and in the models that read them."""

import unicodedata
import unittest

from cli_testing import HOUSES, MODEL, TABLE, HousesTestCase, MistakesTestCase, png

DATA = "format: csv, file: rows.csv, label: kind"


class ColumnsTest(HousesTestCase):
    def test_what_training_data_lack_is_no_error_of_other_data(self):
        for change in (("file: train.csv", "file: nope.csv"), ("[town, roof]", "[town, rof]"),
                       ("train.csv, label: sold", "train.csv, label: sould")):
            for verb in ("check", "train"):
                error = self.errors(HOUSES, change, verb=verb)
                self.assertEqual(error.count("error: "), 1, error)
                self.assertIn("wrong.yaml:4:", error)
        self.write("train.csv", self.houses(30).replace("2,2,", "2,two,"))
        error = self.errors(HOUSES)
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("train.csv:4:3: error: column 'age': 'two' is not a number", error)
        # An error of the test data that does not depend on the training data is still reported.
        error = self.errors(HOUSES, ("file: train.csv", "file: nope.csv"), ("file: test.csv", "fil: test.csv"))
        self.assertIn("unknown option 'fil'", error)

    def test_columns_of_texts_are_an_error_each(self):
        error = self.errors(HOUSES, (", categories: [town, roof]", ""), ("  town: {type: int32, shape: []}\n", ""),
                            ("  roof: {type: int32, shape: []}\n", ""))
        self.assertEqual(error.count("train.csv:"), 2, error)
        self.assertIn("train.csv:2:5: error: column 'town': 'Rome' is not a number; and 29 more such "
                      "cells: 'Oslo' in line 3, 'Bonn' in line 4, 'Rome' in line 5, …\n", error)
        self.assertIn("`categories: [town]`", error)

    def test_gaps_as_others_write_them(self):
        self.write("train.csv", self.houses(30).replace("\n1,2,", "\n1,n/a,", 1))
        self.assertIn("help: if that is a gap, leave it empty or write `NA`, `NaN` or `?`", self.errors(HOUSES))

    def test_columns_that_no_input_takes(self):
        error = self.errors(HOUSES, ("  town: {type: int32, shape: []}\n", ""))
        self.assertIn("the data has 4 fields (features, town, roof, sold) and the model 3 inputs", error)
        self.assertIn("help: `inputs` lacks `town: {type: int32, shape: []}`\n", error)

    def test_a_table_without_its_label(self):
        error = self.errors(HOUSES, ("train.csv, label: sold", "train.csv"))
        self.assertIn("help: write a number here; if this is the label, `label: sold` says so", error)
        self.write("train.csv", "a,b\n1,2\n3,4\n")
        self.write("numbers.yaml", MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: csv, file: train.csv}"))
        self.assertIn("`label: COLUMN` in `data.train` says which column is the label",
                      self.refuses("check", "numbers.yaml"))

    def test_images_and_lines_without_their_labels(self):
        (self.folder / "images").write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 4]) +
                                             bytes(32))
        self.write("lines.txt", "a b\nc d\n")
        for data, text, change in (
                ("{format: idx, images: images}", "`labels: FILE` in `data.train`", ("", "")),
                ("{format: lines, file: lines.txt, length: 4}",
                 "`label: first` or `label: last` in `data.train`",
                 ("image: {type: uint8, shape: [1, 4, 4]}", "text: {type: int32, shape: [4]}"))):
            self.write("unlabelled.yaml", MODEL.replace(
                "{format: synthetic, samples: 65, classes: 3}", data).replace(*change).replace(
                "in: image", "in: text" if change[0] else "in: image"))
            error = self.refuses("check", "unlabelled.yaml")
            self.assertIn(f"help: {text}", error)
            self.assertIn("error: no field of the data feeds input 'label'" if not change[0] else
                          "input 'label' is int32[], but the data's 'next' is int32[4]", error)

    def test_an_operator_that_is_too_small_is_pointed_at(self):
        self.write("train.csv", self.houses(30).replace("flat,yes", "flat,maybe", 3))
        for old, new, place, source, what, help_text in (
                ("entries: 4", "entries: 2", "wrong.yaml:14:21", "train.csv:2:5",
                 "the 2 entries of embedding", "write `entries: 4` here, or check the data: train.csv:2:5"),
                ("units: 2}\n    loss", "units: 1}\n    loss", "wrong.yaml:18:22", "train.csv:8:15",
                 "the only class of softmax_cross_entropy", "write `units: 3` here")):
            error = self.errors(HOUSES, (old, new), ("test.csv, label", "train.csv, label"))
            self.assertIn(f"{place}: error: {source}: sample", error)
            self.assertIn(what, error)
            self.assertIn(help_text, error)
            self.assertEqual(error.count(place), 1, error)

    def test_an_input_that_does_not_fit_is_told_alone(self):
        error = self.errors(HOUSES, ("features: {shape: [2]}", "features: {shape: [3]}"))
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("wrong.yaml:7:3: error: input 'features' is f32[3]", error)
        error = self.errors(HOUSES, ("sold: {type: int32, shape: []}", "sold: {type: int32, shape: [2]}"))
        self.assertEqual(error.count("error: "), 1, error)
        (self.folder / "photos").mkdir()
        for name in ("a", "b"):
            (self.folder / "photos" / name).mkdir()
            (self.folder / "photos" / name / "1.png").write_bytes(png(4, 4, bytes(16)))
        self.write("photos.yaml", MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: images, folder: photos}")
            .replace("shape: [1, 4, 4]", "shape: [4, 4, 1]"))
        self.assertIn("photos.yaml:7:3: error: input 'image' is [4, 4, 1], but an image is",
                      self.refuses("check", "photos.yaml"))


class NamesTest(MistakesTestCase):
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

    def test_a_name_that_looks_the_same_is_told_apart(self):
        table = "Fläche,b,kind\n1,2,yes\n3,4,no\n"
        for of_file, form in (("NFD", "NFC"), ("NFC", "NFD")):
            self.write("rows.csv", unicodedata.normalize(of_file, table))
            name = unicodedata.normalize(form, "Fläche")
            error = self.errors(TABLE, (DATA, DATA + f", columns: [{name}, b]"))
            self.assertIn(f"'rows.csv' has no column '{name}'\n", error)
            self.assertIn("has the same letters, encoded otherwise: ", error)
            same = unicodedata.normalize(of_file, "Fläche")
            right = TABLE.replace(DATA, DATA + f", columns: [{same}, b]")
            self.cgrun("check", self.write("right.yaml", right))


class LabelsTest(MistakesTestCase):
    def labels(self, labels):
        rows = "".join(f"{i % 7},{i % 5},{label}\n" for i, label in enumerate(labels))
        self.write("rows.csv", "a,b,kind\n" + rows)

    def test_labels_that_are_measures_are_counted(self):
        self.labels([f"{i}.25" for i in range(40)] + ["254234.00"])
        error = self.errors(TABLE)
        self.assertIn("rows.csv:2:5: error: 40 of the 41 labels are not whole numbers\n", error)
        self.assertIn("`label: {type: f32, shape: []}`\n", error)

    def test_a_label_among_the_columns_is_pointed_at(self):
        self.labels(["yes", "no"])
        error = self.errors(TABLE, (DATA, DATA + ", columns: [a, kind]"))
        self.assertIn("error: column 'kind' is the label too\n", error)
        line, caret = error.split("is the label too\n")[1].splitlines()[:2]
        self.assertEqual(line[caret.index("^"):].split("]")[0], "kind", error)
        self.assertIn("help: leave it out of `columns`", error)


if __name__ == "__main__":
    unittest.main()
