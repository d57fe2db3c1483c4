#!/usr/bin/env python3
"""`train --resume`: which settings, paths and data may differ from those that the run began
with, and how those that may not are told."""

import shutil
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, png

LONGER = ("--set", "train.epochs=3", "--quiet")


def rows(names="a,b,kind", delimiter=",", swap=()):
    """A table of 16 rows of two classes; those of `swap` have the other one."""
    lines = [f"{i % 5}{delimiter}{i}.5{delimiter}{'xy'[(i % 2) ^ (i in swap)]}" for i in range(16)]
    return "\n".join([names, *lines]) + "\n"


class ResumeSettingsTest(CliTestCase):
    def test_settings_that_differ_stand_in_lines(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.write("other.yaml", MODEL.replace("units: 3", "units: 4").replace("classes: 3", "classes: 4")
                   .replace("small", "other").replace("[1, 4, 4]", "[1, 5, 5]").replace("0.05", "0.1"))
        error = self.refuses("train", "other.yaml", "--resume", "run")
        self.assertIn("error: the run in 'run' was started with other settings, then → now:\n"
                      "      data.test.classes: 3 → 4\n      data.train.classes: 3 → 4\n"
                      "      inputs.image.shape: [1, 4, 4] → [1, 5, 5]\n      model: small → other\n"
                      "      paths.classify.ops.logits.units: 3 → 4\n      train.optimizer.lr: 0.05 → 0.1\n", error)
        many = [argument for i in range(12)
                for argument in ("--set", f"inputs.more{i}={{shape: [1]}}")]
        self.assertRegex(self.refuses("train", "--resume", "run", *many), r"\n      and \d+ more\n")

    def test_settings_that_differ_have_both_values(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")

        def refused(*settings):
            return self.refuses("train", "--resume", "run", *(f"--set={setting}" for setting in settings))
        for setting, change in (
                ("train.batch=32", "'train.batch': 20 → 32"),
                ("train.clip.norm=1", "'train.clip': none → {norm: 1}"),
                ("paths.classify.ops[0].pixels.scale=1/99", "'paths.classify.ops.pixels.scale': 1/255 → 1/99"),
                ("paths.classify.ops.logits.units=4", "'paths.classify.ops.logits.units': 3 → 4")):
            self.assertIn(f"error: the run in 'run' was started with another {change}\n", refused(setting))
        self.assertIn("started with other settings, then → now:\n      train.batch: 20 → 32\n"
                      "      train.optimizer.lr: 0.05 → 0.5\n", refused("train.batch=32", "train.optimizer.lr=0.5"))
        whole = ", ".join(["{op: flatten}"] + 4 * ["{op: linear, units: 16}"] + ["{logits: {op: linear, units: 3}}"])
        error = refused(f"paths.classify.ops=[{{pixels: {{op: normalize, in: image, scale: 1/255}}}}, {whole}]")
        self.assertIn("another 'paths.classify.ops': 3 items → 7 items\n", error)

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


if __name__ == "__main__":
    unittest.main()
