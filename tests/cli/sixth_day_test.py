#!/usr/bin/env python3
"""What a newcomer met who resumed runs, moved projects and predicted from tables with gaps."""

import json
import shutil
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, png

LONGER = ("--set", "train.epochs=3", "--quiet")


def rows(names="a,b,kind", delimiter=",", swap=()):
    """A table of 16 rows of two classes; those of `swap` have the other one."""
    lines = [f"{i % 5}{delimiter}{i}.5{delimiter}{'xy'[(i % 2) ^ (i in swap)]}" for i in range(16)]
    return "\n".join([names, *lines]) + "\n"


class ResumeTest(CliTestCase):
    def test_quotes_are_no_other_setting(self):
        self.write("it's (old).csv", rows("Fläche,Zimmer,kind"))
        self.write("semicolons.csv", rows("a;b;kind", ";"))
        for data in ("file: it's (old).csv, label: kind, columns: [Fläche, Zimmer]",
                     "file: semicolons.csv, label: kind, delimiter: ;",
                     "file: 'semicolons.csv', label: \"kind\", delimiter: ';'"):
            text = TABLE.replace("file: rows.csv, label: kind", data)
            self.write("quotes.yaml", text)
            self.cgrun("train", "quotes.yaml", "--quiet", "--force")
            done = self.cgrun("train", "quotes.yaml", "--resume", "runs/table", *LONGER)
            self.assertEqual(done.stderr, "", data)
            self.write("quotes.yaml", text.replace("label: ", "header: true, label: "))
            self.assertNotIn("data.train.columns", self.refuses(
                "train", "quotes.yaml", "--resume", "runs/table", "--set", "train.batch=3"))

    def test_a_place_with_an_umlaut_is_no_other_setting(self):
        for i in range(4):
            path = self.folder / f"Bilder für mich/{'ab'[i % 2]}/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(4, 4, range(i, i + 16)))
        images = "{format: images, folder: ../Bilder für mich}"
        text = (MODEL.replace("{format: synthetic, samples: 65, classes: 3}", images)
                .replace("  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "")
                .replace("units: 3", "units: 2").replace("batch: 20", "batch: 2"))
        self.write("Käse/photos.yaml", text)
        self.cgrun("train", "Käse/photos.yaml", "--quiet")
        done = self.cgrun("train", "Käse/photos.yaml", "--resume", "runs/small", *LONGER)
        self.assertEqual(done.stderr, "")

    def move(self):
        """Trains, and moves the data and the model file."""
        self.write("old/rows.csv", rows())
        self.write("old/table.yaml", TABLE)
        self.cgrun("train", "old/table.yaml", "--quiet")
        shutil.move(self.folder / "old", self.folder / "new")

    def test_a_run_goes_on_where_its_data_were_moved(self):
        self.move()
        error = self.refuses("train", "--resume", "runs/table", *LONGER)
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("old/rows.csv'", error)
        self.assertIn("`cgrun train MODEL.yaml --resume runs/table`", error)
        done = self.cgrun("train", "new/table.yaml", "--resume", "runs/table", "--set",
                          "train.epochs=3")
        self.assertIn("note: the run began with other paths: 'data.train.file'\n", done.stderr)
        self.assertNotIn("warning: ", done.stderr)
        done = self.cgrun("train", "--resume", "runs/table", "--set", "train.epochs=4")
        self.assertNotIn("note: the run began", done.stderr)

    def test_a_setting_may_name_the_new_place(self):
        self.move()
        place = f"data.train.file={self.folder}/new/rows.csv"
        self.cgrun("train", "--resume", "runs/table", *LONGER, "--set", place)
        self.cgrun("train", "--resume", "runs/table", "--set", "train.epochs=4", "--quiet")

    def test_other_data_in_the_new_place_are_told_apart(self):
        self.move()
        resume = ("train", "new/table.yaml", "--resume", "runs/table", *LONGER)
        self.write("new/rows.csv", rows(swap=[3, 4]))
        self.assertIn("as many samples, but with other labels\n", self.refuses(*resume))
        self.write("new/rows.csv", rows() + "1,2,x\n")
        self.assertIn("trained with: they differ in the means of their columns\n",
                      self.refuses(*resume))
        self.write("new/rows.csv", rows().replace("a,b,kind\n0,0.5,x\n1,1.5,y\n2,2.5,x",
                                                  "a,b,kind\n2,0.5,x\n1,1.5,y\n0,2.5,x"))
        error = self.cgrun(*resume).stderr
        self.assertIn("with: as many samples with the same labels, but others\n", error)

    def test_what_is_no_moved_place_is_refused(self):
        self.move()
        error = self.refuses("train", "new/table.yaml", "--resume", "runs/table", "--set",
                             "data.train.standardize=true", *LONGER)
        self.assertIn("another 'data.train.standardize': none → true", error)
        self.assertNotIn("note: ", error)

    def test_a_program_is_not_resumed(self):
        self.write("rows.csv", rows())
        self.write("table.yaml", TABLE)
        self.cgrun("compile", "table.yaml", "-o", "table.cgb")
        self.cgrun("train", "table.cgb", "--out", "run", "--quiet")
        error = self.refuses("train", "table.cgb", "--resume", "run")
        self.assertIn("'table.cgb' is a compiled program, and a run is resumed without one", error)
        self.assertNotIn("disasm", error)
        self.cgrun("train", "--resume", "run", *LONGER)
        self.cgrun("train", "table.cgb", "--weights", "run", "--out", "again", "--quiet")


class WeightsOfOthersTest(CliTestCase):
    def test_weights_of_a_model_of_images_do_not_fit_a_table(self):
        for i in range(4):
            path = self.folder / f"photos/{'ab'[i % 2]}/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(4, 4, range(i, i + 16)))
        self.write("photos.yaml", MODEL.replace("model: small", "model: photos")
                   .replace("{format: synthetic, samples: 65, classes: 3}",
                            "{format: images, folder: photos}")
                   .replace("  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "")
                   .replace("units: 3", "units: 2"))
        self.cgrun("train", "photos.yaml", "--quiet")
        self.write("rows.csv", "a,town,kind\n1,Ulm,x\n2,Bonn,y\n3,Ulm,x\n4,Bonn,y\n")
        self.write("new.csv", "a,town\n1,Ulm\n")
        text = (TABLE.replace("label: kind", "label: kind, categories: [town]")
                .replace("  features: {shape: [2]}\n",
                         "  features: {shape: [1]}\n  categories: {type: int32, shape: [1]}\n")
                .replace("      - logits: {op: linear, in: features, units: 2}",
                         "      - {op: embedding, in: categories, entries: 3, units: 2}\n"
                         "      - town: {op: flatten}\n"
                         "      - both: {op: concat, in: [features, town]}\n"
                         "      - logits: {op: linear, units: 2}"))
        self.write("table.yaml", text)
        self.cgrun("check", "table.yaml")
        error = self.refuses("predict", "table.yaml", "new.csv", "--weights", "runs/photos")
        self.assertIn(" does not fit this model:", error)
        self.assertIn("help: these are the weights of model 'photos', whose data are 'images', not "
                      "'csv': ", error)
        self.assertNotIn("the categories are those", error)


class GapsTest(CliTestCase):
    def test_predictions_tell_of_gaps_that_are_filled(self):
        self.write("rows.csv", rows())
        self.write("test.csv", rows().replace("0,0.5,x", ",0.5,x"))
        self.write("new.csv", "a,b\n1,\n,2\n3,4\n")
        self.write("table.yaml", TABLE.replace("label: kind}", "label: kind, missing: mean}, test: "
                                               "{format: csv, file: test.csv, label: kind, "
                                               "missing: mean}"))
        self.cgrun("train", "table.yaml", "--quiet")
        note = "'new.csv': 2 gaps are filled with the means of their columns"
        done = self.cgrun("predict", "table.yaml", "new.csv")
        self.assertEqual(done.stderr.count(f"note: {note}\n"), 1, done.stderr)
        self.assertEqual(self.cgrun("predict", "table.yaml", "new.csv", "--quiet").stderr, "")
        result = json.loads(self.cgrun("predict", "table.yaml", "new.csv", "--json").stdout)
        self.assertEqual(result["notes"], [note])
        self.write("whole.csv", "a,b\n1,2\n")
        done = self.cgrun("predict", "table.yaml", "whole.csv", "--json")
        self.assertNotIn("notes", json.loads(done.stdout))
        self.assertNotIn("note: ", done.stderr)

        note = "note: 'test.csv': 1 gap is filled with the mean of its column\n"
        self.assertEqual(self.cgrun("eval", "table.yaml").stderr.count(note), 1)
        done = self.cgrun("eval", "table.yaml", "--split", "train")
        self.assertNotIn("note: ", done.stderr)


class LeftOutTest(CliTestCase):
    def test_samples_that_fill_no_batch_are_counted_in_each_set(self):
        self.write("memory.yaml", """cgrun: 1
model: memory
data:
  train: {format: synthetic, samples: 11}
  valid: {format: synthetic, samples: 9, seed: 1}
  test: {format: synthetic, samples: 6, seed: 2}
inputs:
  x: {shape: [1]}
  h: {shape: [1]}
paths:
  step:
    ops:
      - y: {op: linear, in: x, units: 1}
      - next: {op: add, in: [y, h]}
    loss: {op: squared_error, in: [next, x]}
update: {next: h}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.1}}
""")
        done = self.cgrun("train", "memory.yaml")
        self.assertRegex(done.stdout, r"left out +3 samples of the training data, 1 of 'valid', 2 of "
                                      r"'test': rows of a batch go on")
        summary = json.loads((self.folder / "runs/memory/summary.json").read_text())
        for key, count in (("left_out_samples", 3), ("valid_left_out_samples", 1),
                           ("test_left_out_samples", 2)):
            self.assertEqual(summary[key], count, key)
        self.assertRegex(self.cgrun("eval", "memory.yaml").stdout, r"left out +2 samples of 'test': ")
        result = json.loads(self.cgrun("eval", "memory.yaml", "--split", "valid", "--json").stdout)
        self.assertEqual((result["samples"], result["left_out_samples"]), (8, 1))
        whole = self.cgrun("eval", "memory.yaml", "--batch", "3").stdout
        self.assertNotIn("left out", whole)


if __name__ == "__main__":
    unittest.main()
