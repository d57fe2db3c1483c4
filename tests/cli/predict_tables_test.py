#!/usr/bin/env python3
"""`cgrun predict` of tables: which columns it reads, and what it says of those that do not fit."""

import json
import struct
import unittest

from cli_testing import HOUSES, TABLE, CliTestCase, HousesTestCase, npy, png, read_npy

# A classifier of a table whose columns have semicolons between them.
SEMICOLONS = """cgrun: 1
data: {train: {format: csv, file: train.csv, label: kind, delimiter: ";", missing: mean}}
inputs:
  x: {shape: [2]}
  kind: {type: int32, shape: []}
paths:
  tell:
    ops:
      - z: {op: linear, in: x, units: 2}
    loss: {op: softmax_cross_entropy, in: [z, kind]}
train: {epochs: 40, batch: 4, optimizer: {op: sgd, lr: 0.5}}
"""


class PredictTablesTest(CliTestCase):
    def train_table(self):
        self.write("table.yaml", SEMICOLONS)
        rows = [f"{i % 3 - 1};{'warm' if i % 2 else 'cold'};{(i % 2) * 4 - 2}" for i in range(12)]
        self.write("train.csv", "\n".join(["a;kind;b", *rows]))
        self.cgrun("train", "table.yaml", "--quiet")

    def table_names(self, *arguments):
        result = json.loads(self.cgrun("predict", "table.yaml", *arguments, "--json").stdout)
        return [(item.get("index"), item["outputs"]["z"]["classes"][0]["name"])
                for item in result["predictions"]]

    def save(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name

    def test_gaps_take_the_mean_of_what_was_trained_on(self):
        self.write("table.yaml", SEMICOLONS.replace(
            "missing: mean}", "missing: mean}, valid: {split: 0.5}"))
        rows = [f"0;{'warm' if i % 2 else 'cold'};{1000 ** (i % 3)}" for i in range(12)]
        self.write("train.csv", "\n".join(["a;kind;b", *rows]))
        self.cgrun("train", "table.yaml", "--quiet", "--out", "run")
        self.write("gap.csv", "a;kind;b\n0;warm;\n0;cold;\n0;warm;5\n")
        self.cgrun("predict", "table.yaml", "gap.csv", "--weights", "run", "--out", "gaps", "--keep",
                   "x")
        test = ["--set", "data.test={format: csv, file: gap.csv, label: kind, delimiter: ';', "
                "missing: mean}"]
        self.cgrun("eval", "table.yaml", "--weights", "run", *test, "--keep", "x", "--out", "kept",
                   "--batch", "3")
        kept = list((self.folder / "kept").rglob("x.npy"))
        self.assertEqual(len(kept), 1)
        self.assertEqual(read_npy(self.folder / "gaps/x.npy"), read_npy(kept[0]))

    def test_tables_are_read_as_the_models_data(self):
        self.train_table()
        expected = [(0, "warm"), (1, "cold"), (2, "warm")]
        with_label = self.write("with.csv", "a;kind;b\n0;;2\n0;never seen;-2\n1;warm;2\n")
        without = self.write("without.csv", "a;b\n0;2\n0;-2\n1;2\n")
        self.assertEqual(self.table_names(with_label), expected)
        self.assertEqual(self.table_names(without), expected)
        # A gap is the mean of the training data, 0, and not that of these rows.
        gap = self.write("gap.csv", "a;b\n0;2\n0;3\n0;\n-1;\n")
        self.cgrun("predict", "table.yaml", gap, "--out", "gaps")
        zero = self.write("zero.csv", "a;b\n0;2\n0;3\n0;0\n-1;0\n")
        self.cgrun("predict", "table.yaml", zero, "--out", "zeros")
        self.assertEqual(read_npy(self.folder / "gaps/z.npy"), read_npy(self.folder / "zeros/z.npy"))
        self.write("many/1.csv", "a;b\n0;2\n")
        self.write("many/2.csv", "a;b\n0;-2\n")
        self.assertEqual(self.table_names("many"), [(None, "warm"), (None, "cold")])

    def test_columns_by_number_and_tables_without_names(self):
        self.train_table()
        self.write("numbers.yaml", SEMICOLONS.replace("label: kind", "label: 2, header: false")
                   .replace("table.yaml", "numbers.yaml"))
        weights = ("--weights", "runs/table")
        rows = ["0;{}2", "0;{}-2"]
        for name, middle in (("three.csv", "x;"), ("two.csv", "")):
            self.write(name, "\n".join(row.format(middle) for row in rows))
            result = json.loads(self.cgrun("predict", "numbers.yaml", name, *weights, "--json").stdout)
            self.assertEqual([item["outputs"]["z"]["classes"][0]["class"]
                              for item in result["predictions"]], [1, 0], name)

    def test_mistakes_in_tables(self):
        self.train_table()
        for text, message in (("a;b\n0;x\n", "bad.csv:2:3: error: column 'b': 'x' is not a number"),
                              ("a;b\n0;1\n0\n", "bad.csv:3:1: error: this line has 1 field,"),
                              ("a\n0\n", "'bad.csv' has no column 'b', which the training data have"),
                              ("a;b\n", "holds no samples below its header"),
                              ("", "bad.csv")):
            self.assertIn(message, self.refuses("predict", "table.yaml", self.write("bad.csv", text)))
        self.write("good.csv", "a;b\n0;2\n")
        done = self.cgrun("predict", "table.yaml", "bad.csv", "good.csv", "--json", status=2)
        self.assertEqual(len(json.loads(done.stdout)["predictions"]), 1)
        (self.folder / "train.csv").unlink()
        self.write("gap.csv", "a;b\n0;\n")
        self.assertEqual(len(self.table_names("gap.csv")), 1, "the weights keep the means")
        self.assertEqual(self.table_names("good.csv"), [(None, "warm")])

    def test_values_that_are_not_finite(self):
        self.train_table()
        rows = [0.0, 2.0] + [float("nan"), 0.0] * 7 + [float("inf"), -1.0]
        array = self.save("x.npy", npy([9, 2], struct.pack("<18f", *rows), "<f4"))
        done = self.cgrun("predict", "table.yaml", array, "--json", "--out", "out", status=1)
        result = json.loads(done.stdout)
        self.assertEqual(len(result["predictions"]), 9)
        self.assertEqual(len(result["warnings"]), 0)
        self.assertEqual(len(result["errors"]), 6)
        self.assertIn("'x.npy[1]': its prediction 'z' is not finite, as its input 'x' holds NaN or "
                      "infinity\n", done.stderr)
        self.assertEqual(done.stderr.count("'x.npy[1]'"), 1)
        self.assertIn("3 more samples have such predictions", done.stderr)
        self.assertNotIn("'x.npy[0]'", done.stderr)
        self.assertEqual(read_npy(self.folder / "out/z.npy")[0], (9, 2))
        whole = self.save("y.npy", npy([1, 2], struct.pack("<2f", 0, 2), "<f4"))
        self.assertEqual(self.cgrun("predict", "table.yaml", whole, "--quiet").stderr, "")

    def test_json_where_nothing_can_be_predicted(self):
        self.train_table()
        for arguments in (("none.csv",), ("none.npy", "none.png")):
            done = self.cgrun("predict", "table.yaml", *arguments, "--json", status=2)
            result = json.loads(done.stdout)
            self.assertEqual((result["model"], result["samples"], result["predictions"]),
                             ("table", 0, []))
            self.assertEqual([error["file"] for error in result["errors"]], list(arguments))

    def test_a_table_of_other_fields_than_the_predictions_read(self):
        self.write("table.yaml", SEMICOLONS.replace(
            "train: {epochs", "  judge:\n    mode: forward\n    ops:\n"
            "      - known: {op: one_hot, in: kind, classes: 2}\n"
            "      - wrong: {op: sub, in: [tell.z, known]}\ntrain: {epochs"))
        self.write("train.csv", "a;kind;b\n" + "0;cold;1\n0;warm;3\n" * 4)
        self.cgrun("train", "table.yaml", "--quiet")
        error = self.refuses("predict", "table.yaml", "train.csv")
        self.assertIn("'train.csv' has 'features', but the predictions read 'x' and 'kind'\n", error)
        self.assertIn("let `out:` of a path name a value that does not depend on 'kind' (", error)
        self.cgrun("predict", "table.yaml", "train.csv", "--set", "paths.tell.out=z")

        self.write("towns.yaml", SEMICOLONS.replace("label: kind", "label: kind, categories: [town]")
                   .replace("  kind: {", "  town: {type: int32, shape: []}\n  kind: {")
                   .replace("      - z: {op: linear, in: x,",
                            "      - t: {op: one_hot, in: town, classes: 3}\n"
                            "      - {op: concat, in: [x, t]}\n      - z: {op: linear,"))
        self.write("train.csv", "a;town;kind;b\n" + "0;Oslo;cold;1\n0;Rome;warm;3\n" * 4)
        self.cgrun("train", "towns.yaml", "--quiet")
        error = self.refuses("predict", "towns.yaml", "x=train.csv", "town=train.csv")
        self.assertIn("has 'features' and 'town', but is to feed 'x' alone\n", error)
        self.assertIn("a table without `NAME=` before it feeds all that the predictions read", error)
        self.cgrun("predict", "towns.yaml", "train.csv")

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

    def test_lines_that_are_passed_over_are_told(self):
        told = (": warning: 1 line without a sample is passed over: the numbers of predictions count "
                "samples, from 0, not lines\n")
        self.write("table.yaml", TABLE)
        self.write("rows.csv", "a,b,kind\n0.9,0.1,x\n0.1,0.9,y\n")
        self.cgrun("train", "table.yaml", "--quiet")
        self.write("rows.csv", "a,b\n0.9,0.1\n\n0.1,0.9\n\n")
        done = self.cgrun("predict", "table.yaml", "rows.csv")
        self.assertIn("rows.csv:3:1" + told, done.stderr)
        self.write("rows.csv", "a,b\n0.9,0.1\n0.1,0.9\n\n")
        self.assertNotIn(told, self.cgrun("predict", "table.yaml", "rows.csv").stderr)


class PredictHousesTest(HousesTestCase):
    def setUp(self):
        super().setUp()
        self.cgrun("train", "houses.yaml", "--quiet")

    def test_a_gap_cannot_be_dropped(self):
        self.write("new.csv", "rooms,age,town,roof\n1,2,Rome,flat\n,3,Oslo,flat\n4,,Oslo,flat\n")
        error = self.refuses("predict", "houses.yaml", "new.csv")
        self.assertIn("new.csv:3:1: error: column 'rooms' has no value here\n"
                      "    ,3,Oslo,flat\n    ^\n", error)
        self.assertIn("new.csv:4:3: error: column 'age' has no value here", error)
        self.assertIn("help: every row is predicted, whatever `missing` drops in training: put a value "
                      "here, or fill such gaps by `--set data.train.missing=mean`", error)
        for filler in ("mean", "zero", "5"):
            self.cgrun("predict", "houses.yaml", "new.csv", "--set", f"data.train.missing={filler}")
        done = self.cgrun("predict", "houses.yaml", "new.csv", "--json", status=2)
        self.assertEqual([(error["file"], error["line"], error["column"])
                          for error in json.loads(done.stdout)["errors"]],
                         [("new.csv", 3, 1), ("new.csv", 4, 3)])

    def test_errors_show_their_lines(self):
        self.write("new.csv", "rooms,age,town,roof\n1,2,Rome,flat\nx,3,Oslo,flat\n1,y,Rome,flat\n")
        error = self.refuses("predict", "houses.yaml", "new.csv")
        self.assertIn("new.csv:3:1: error: column 'rooms': 'x' is not a number\n    x,3,Oslo,flat\n    ^\n",
                      error)
        self.assertIn("new.csv:4:3: error: column 'age': 'y' is not a number", error)
        self.write("new.csv", "rooms,age,town,roof\n1,2,Rome,flat\n1,2\n")
        error = self.refuses("predict", "houses.yaml", "new.csv")
        self.assertIn("new.csv:3:1: error: this line has 2 fields, but the first one has 4\n"
                      "    1,2\n    ^~~\n", error)

    def test_unknown_categories_are_told_once(self):
        self.write("new.csv", "rooms,age,town,roof\n1,2,Rome,flat\n1,3,Paris,flat\n4,1,Paris,flat\n"
                              "1,1,Wien,flat\n")
        done = self.cgrun("predict", "houses.yaml", "new.csv", "--json")
        told = ("new.csv:3:5: warning: column 'town': 'Paris' is none of the categories of the training "
                "data: it is read as unknown, with the id 0; and 2 more such cells: 'Paris' in line 4, "
                "'Wien' in line 5\n    1,3,Paris,flat\n        ^~~~~\n")
        self.assertEqual(done.stderr.count("warning: "), 1, done.stderr)
        self.assertIn(told, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(len(report["predictions"]), 4)
        self.assertEqual(len(report["warnings"]), 1)
        self.assertIn("'Paris' is none of the categories", report["warnings"][0])
        self.write("known.csv", "rooms,age,town,roof\n1,2,Rome,flat\n")
        self.assertNotIn("warning", self.cgrun("predict", "houses.yaml", "known.csv").stderr)

    def test_a_file_of_another_kind(self):
        (self.folder / "photo.png").write_bytes(png(4, 4, bytes(16)))
        self.write("notes.txt", "a text\n")
        self.write("new.csv", "rooms,age\n1,2\n")
        tables = "this model takes tables (.csv, .tsv) with the columns of its training data"
        images = "this model takes images (.jpg, .png), or arrays (.npy) of uint8[1, 4, 4]"
        for name in ("photo.png", "notes.txt"):
            self.assertIn("takes: tables (.csv, .tsv) with the columns",
                          self.refuses("predict", "houses.yaml", name))
        self.cgrun("train", "small.yaml", "--quiet")
        self.assertIn(f"error: 'notes.txt' is no image, table or array by its name: {images}\n",
                      self.refuses("predict", "small.yaml", "notes.txt"))
        self.assertIn(f"error: 'new.csv' is a table of 2 columns, but {images}\n",
                      self.refuses("predict", "small.yaml", "new.csv"))
        self.write("one.yaml", HOUSES.replace(", categories: [town, roof]", "").replace(
            "label: sold", "label: sold, columns: [rooms, age]").replace(
            "  town: {type: int32, shape: []}\n  roof: {type: int32, shape: []}\n", "").replace(
            "      - place: {op: embedding, in: town, entries: 4, units: 3}\n"
            "      - top: {op: embedding, in: roof, entries: 3, units: 2}\n"
            "      - {op: concat, in: [features, place, top]}\n", "").replace(
            "{op: linear, units: 6", "{op: linear, in: features, units: 6").replace(
            "model: houses", "model: one"))
        self.cgrun("train", "one.yaml", "--quiet")
        self.assertIn(f"error: 'photo.png' is an image, but {tables}\n",
                      self.refuses("predict", "one.yaml", "photo.png"))


if __name__ == "__main__":
    unittest.main()
