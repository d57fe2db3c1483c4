#!/usr/bin/env python3
"""Mistakes in data: each is told at its own place, once, with what mends it."""

import math
import os
import re
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, npy_of_floats, png

TRAIN = "{format: synthetic, samples: 65, classes: 3}"
TEST = "  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n"


class DataMistakesTest(CliTestCase):
    def images(self, shape="[3, 8, 8]", data="folder: photos"):
        """A model of images in folders of classes, which are there."""
        for name, shade in (("dark", 10), ("light", 200)):
            for i in range(2):
                path = self.folder / f"photos/{name}/{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(png(8, 8, [shade] * 192))
        text = MODEL.replace(TRAIN, f"{{format: images, {data}}}").replace(TEST, "")
        self.write("images.yaml", text.replace("[1, 4, 4]", shape).replace("units: 3", "units: 2"))

    def arrays(self, x):
        (self.folder / "x.npy").write_bytes(x)
        text = MODEL.replace(TRAIN, "{format: npy, x: x.npy}").replace(TEST, "")
        text = text.replace("  image: {type: uint8, shape: [1, 4, 4]}\n  label: {type: int32, "
                            "shape: []}", "  x: {shape: [2]}")
        start, end = text.index("      - pixels"), text.index("train:\n")
        self.write("arrays.yaml", text[:start] + "      - y: {op: linear, in: x, units: 1}\n"
                   "    loss: {op: squared_error, in: [y, 1]}\n" + text[end:])

    def labelled_arrays(self, labels, label="{type: int32, shape: []}", sizes=None):
        """Writes a model that classifies arrays into two classes."""
        count = 4
        (self.folder / "x.npy").write_bytes(npy_of_floats([count, 2], range(2 * count)))
        (self.folder / "y.npy").write_bytes(npy_of_floats(sizes or [count], labels))
        text = TABLE.replace("{format: csv, file: rows.csv, label: kind}",
                             "{format: npy, features: x.npy, label: y.npy}")
        self.write("arrays.yaml", text.replace("{type: int32, shape: []}", label))

    def table(self, rows, header="size,weight,kind\n", **changes):
        text = TABLE
        for old, new in changes.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("table.yaml", text)
        self.write("rows.csv", header + rows)

    def test_numbers_that_are_not_finite_are_told_before_training(self):
        self.arrays(npy_of_floats([3, 2], [0, 1, 2, math.nan, math.inf, 3]))
        for verb in ("train", "check", "plan"):
            error = self.refuses(verb, "arrays.yaml")
            self.assertIn("arrays.yaml:4:27: error: 'x.npy': sample 1 holds NaN at [1]; and 1 more "
                          "sample has numbers that are not finite\n", error)
            self.assertIn("help: nothing can be learned from such a number: leave the sample out",
                          error)
            self.assertEqual(error.count("error: "), 1, error)
        self.assertFalse((self.folder / "runs").exists())

    def test_axes_in_another_order_are_refused_by_all_verbs(self):
        x = npy_of_floats([3, 16, 3], range(144))
        self.arrays(x)
        model = (self.folder / "arrays.yaml").read_text()
        use = "      - y: {op: linear, in: x, units: 1}\n"

        def shaped(shape):
            self.write("arrays.yaml", model.replace("x: {shape: [2]}", f"x: {{shape: {shape}}}").replace(
                use, "      - {op: flatten, in: x}\n      - y: {op: linear, units: 1}\n"))

        for shape in ("[16, 3]", "[48]", "[1, 16, 3]", "[16, 1, 3]"):
            shaped(shape)
            self.cgrun("train", "arrays.yaml", "--out", "run", "--force", "--quiet")
            self.cgrun("check", "arrays.yaml", "--device", "reference")
            self.cgrun("predict", "arrays.yaml", "x.npy", "--weights", "run")
        shaped("[3, 16]")
        for verb in ("train", "check"):
            error = self.refuses(verb, "arrays.yaml")
            self.assertIn("error: input 'x' is f32[3, 16], but the data's 'x' is f32[16, 3]\n", error)
            self.assertIn("help: the data have these axes in another order: `{op: transpose, in: x, "
                          "perm: [0, 2, 1]}` makes [3, 16] of them, and for the input write `x: {type: "
                          "f32, shape: [16, 3]}`\n", error)
        error = self.refuses("predict", "arrays.yaml", "x.npy", "--weights", "run")
        self.assertIn("error: 'x.npy' holds [3, 16, 3], but input 'x' is f32[3, 16]\n", error)
        self.assertIn("help: it has these axes in another order: in NumPy, `x.transpose(0, 2, 1)`\n",
                      error)
        shaped("[4, 12]")
        self.assertIn("error: input 'x' is f32[4, 12], but the data's 'x' is f32[16, 3]\n",
                      self.refuses("train", "arrays.yaml"))

    def test_images_of_numpy_have_their_axes_told_apart(self):
        self.arrays(npy_of_floats([2, 4, 2, 3], range(48)))
        model = (self.folder / "arrays.yaml").read_text()
        for shape, help_text in (
                ("[3, 4, 2]", "channels come last in the data; images are [channels, height, width] "
                 "behind `{op: transpose, in: x, perm: [0, 3, 1, 2]}`, and "),
                ("[3, 2, 4]", "help: the data have these axes in another order: `{op: transpose, in: "
                 "x, perm: [0, 3, 2, 1]}` makes [3, 2, 4] of them, and ")):
            self.write("arrays.yaml", model.replace("{shape: [2]}", f"{{shape: {shape}}}"))
            error = self.refuses("train", "arrays.yaml")
            self.assertIn(f"input 'x' is f32{shape}, but the data's 'x' is f32[4, 2, 3]\n", error)
            self.assertIn(help_text + "for the input write `x: {type: f32, shape: [4, 2, 3]}`", error)

    def test_one_hot_labels_are_to_be_indices(self):
        self.labelled_arrays([0, 1, 1, 0, 1, 0, 0, 1], sizes=[4, 2])
        for verb in ("train", "check"):
            error = self.refuses(verb, "arrays.yaml")
            self.assertIn("error: input 'label' is int32[], but the data's 'label' is int32[2]\n", error)
            self.assertIn("help: labels are class indices: of one-hot rows, `argmax` over the last axis "
                          "makes them, in NumPy `y.argmax(-1)`; for other data write `label: {type: "
                          "int32, shape: [2]}`\n", error)

    def test_a_class_of_too_many_is_told_by_its_folder(self):
        for decode, place in (("ahead", "photos/light"), ("stream", "photos/light/0.png")):
            self.images(data=f"folder: photos, decode: {decode}")
            text = (self.folder / "images.yaml").read_text()
            self.write("images.yaml", text.replace("units: 2", "units: 1"))
            error = self.refuses("train", "images.yaml")
            self.assertIn(f"error: '{place}' has the label 1, but the only class of "
                          "softmax_cross_entropy is 0, as its logits have one unit; and 1 more sample "
                          "has such labels", error)

    def test_a_path_is_the_same_in_all_messages(self):
        self.images()
        text = (self.folder / "images.yaml").read_text()
        for wrong, told in (("folder: photos", "'photos/light' has the label 1"),
                            ("folder: photoz", "cannot open 'photoz'"),
                            ("folder: photos, classes: [dark]", "'photos': the folder 'light' is none")):
            self.write("models/deep/images.yaml", text.replace("units: 2", "units: 1").replace(
                "folder: photos", wrong.replace("photo", "../../photo")))
            self.assertIn(told, self.refuses("train", "models/deep/images.yaml"))

    def test_an_input_that_no_memory_holds_is_told_once_where_it_stands(self):
        self.images("[3, 2000000, 2000000]")
        for verb in ("train", "check"):
            error = self.refuses(verb, "images.yaml")
            self.assertIn("images.yaml:6:3: error: input 'image' is [3, 2000000, 2000000]: to make "
                          "one such sample takes 10.9 TiB, more than the ", error)
            self.assertEqual(error.count("error: "), 1, error)

    def test_an_image_without_one_of_its_axes_is_told_at_the_input(self):
        self.images("[3, 24]")
        error = self.refuses("train", "images.yaml")
        self.assertIn("images.yaml:6:3: error: input 'image' is [3, 24], but an image is", error)
        self.assertIn("help: for example `shape: [3, 24, 24]`", error)

    def test_labels_that_name_no_class_are_told_by_their_lines(self):
        self.table("1,2,0\n3,4,7\n5,6,1\n7,8,2\n")
        for verb in ("train", "check"):
            error = self.refuses(verb, "table.yaml")
            self.assertIn("error: rows.csv:3:5: sample 1 has the label 7, but the 2 classes of "
                          "softmax_cross_entropy are 0 to 1, as its logits have 2 units; and 1 more "
                          "sample has such labels: 2 (rows.csv:5:5)\n", error)
        self.images(data="folder: photos/dark, labels: labels.csv")
        self.write("labels.csv", "name,label\n0.png,1\n1.png,3\n")
        error = self.refuses("train", "images.yaml")
        self.assertIn("error: labels.csv:3:7: sample 1 has the label 3, but", error)
        self.assertIn("or check the data: labels.csv:3:7\n", error)

    def test_an_id_without_an_entry_is_told_with_its_text_and_place(self):
        use = "      - logits: {op: linear, in: features, units: 2}\n"
        self.write("ids.yaml", TABLE.replace("label: kind", "label: kind, categories: [colour]").replace(
            "{shape: [2]}", "{shape: [1]}\n  colour: {type: int32, shape: []}").replace(
                use, "      - e: {op: embedding, in: colour, entries: 2, units: 2}\n"
                "      - {op: concat, in: [features, e], axis: 1}\n"
                "      - logits: {op: linear, units: 2}\n"))
        self.write("rows.csv", "size,colour,kind\n1,red,0\n2,green,1\n3,blue,0\n")
        self.write("words.yaml", TABLE.replace(
            "{format: csv, file: rows.csv, label: kind}",
            "{format: lines, file: rows.txt, length: 3, label: first}").replace(
                "features: {shape: [2]}", "text: {type: int32, shape: [3]}").replace(
                    use, "      - {op: embedding, in: text, entries: 4, units: 2}\n"
                    "      - flatten\n      - logits: {op: linear, units: 2}\n"))
        self.write("rows.txt", "0\ta b\n1\tb zebra a\n")
        for verb in ("train", "check"):
            error = self.refuses(verb, "ids.yaml")
            self.assertIn("error: rows.csv:2:3: sample 0 has the id 3 ('red'), but the 2 entries of "
                          "embedding are 0 to 1; and 1 more sample has such ids: 2 (rows.csv:3:3)\n",
                          error)
            self.assertIn("help: write `entries: 4` here, or check the data: rows.csv:2:3\n", error)
            error = self.refuses(verb, "words.yaml")
            self.assertIn("error: rows.txt:2:5: sample 1 has the id 4 ('zebra'), but the 4 entries of "
                          "embedding are 0 to 3\n", error)
            self.assertIn("help: write `entries: 5` here, or check the data: rows.txt:2:5\n", error)

    def test_labels_that_are_too_many_are_listed(self):
        self.table("1,2,cat\n3,4,dog\n5,6,catt\n7,8,cat\n")
        for verb in ("train", "check"):
            error = self.refuses(verb, "table.yaml")
            self.assertIn("rows.csv:3:5: sample 1 has the label 2 ('dog'), but the 2 classes", error)
            self.assertIn("; the labels are 'cat', 'catt', 'dog'\n", error)
            self.assertEqual(error.count("error: "), 1, error)

    def test_units_without_a_class_are_warned_of(self):
        self.table("1,2,cat\n3,4,dog\n5,6,cat\n", units=("units: 2", "units: 4"))
        for verb, *flags in (["check"], ["train", "--dry-run"]):
            shown = self.cgrun(verb, "table.yaml", *flags).stderr
            self.assertIn("table.yaml:10:22: warning: the logits have 4 units, but the labels of "
                          "the training data are 0 to 1\n", shown)
            self.assertIn("help: write `units: 2` here", shown)

    def test_paths_of_a_model_file_start_at_its_folder(self):
        self.write("models/net.yaml", MODEL + "weights: start.safetensors\n")
        self.write("models/init.yaml", MODEL.replace(
            "units: 3", "units: 3, init: {file: start.npy}"))
        for verb in ("train", "check", "eval"):
            error = self.refuses(verb, "models/net.yaml")
            self.assertIn("cannot open 'models/start.safetensors': No such file or directory\n", error)
            self.assertRegex(error, r"help: relative paths in a model file start at its folder: this "
                             r"is '/.*/models/start\.safetensors'\n")
        error = self.refuses("train", "models/init.yaml")
        self.assertIn("models/init.yaml:14:53: error: ", error)
        self.assertRegex(error, r"help: relative paths in a model file start at its folder: this is "
                         r"'/.*/models/start\.npy'\n")

    def test_a_link_that_leads_nowhere_is_said_to(self):
        self.images()
        os.symlink("gone.png", self.folder / "photos/dark/2.png")
        self.assertIn("help: 'photos/dark/2.png' is a link to 'gone.png', which is not there\n",
                      self.refuses("train", "images.yaml"))
        os.symlink("nowhere", self.folder / "start.safetensors")
        self.write("small.yaml", MODEL + "weights: start.safetensors\n")
        self.assertIn("help: 'start.safetensors' is a link to 'nowhere', which is not there\n",
                      self.refuses("train", "small.yaml"))

    def test_a_table_without_names_is_seen(self):
        self.table("3,4,dog\n", header="1.5,2,cat\n")
        error = self.refuses("train", "table.yaml")
        self.assertIn("rows.csv:1:1: warning: the first line is taken for the names", error)
        self.assertIn("error: 'rows.csv' has no column 'kind'\n", error)
        self.assertIn("help: the first line looks like values, not names: `header: false` says that "
                      "there are no names, and columns are counted then: from 1, -1 is the last\n",
                      error)
        self.table("3,4,dog\n", header="1.5,2,cat\n",
                   label=("label: kind", "label: -1, header: false"))
        self.cgrun("train", "table.yaml", "--dry-run")

    def test_bytes_that_are_no_text_are_not_printed(self):
        self.table("")
        (self.folder / "rows.csv").write_bytes(png(2, 2, [0, 1, 2, 3]))
        error = self.refuses("train", "table.yaml")
        self.assertIn("table.yaml:3:35: error: 'rows.csv': this is no text, but binary data\n", error)
        self.assertIn("a spreadsheet can be saved as CSV", error)
        self.table("")
        (self.folder / "rows.csv").write_bytes("size,weight,kind\n1,2,caf\xe9\n1,2,1\n".encode(
            "latin-1"))
        self.assertIn("\n    1,2,caf?\n", self.refuses("train", "table.yaml"))

    def test_images_that_are_broken_are_told_at_once_with_help(self):
        self.images()
        whole = (self.folder / "photos/dark/0.png").read_bytes()
        for name, content in (("2", whole[:20]), ("3", whole[:-6]), ("4", b""), ("5", b"hello")):
            (self.folder / f"photos/dark/{name}.png").write_bytes(content)
        error = self.refuses("train", "images.yaml")
        self.assertEqual(re.findall(r"(?m)^photos/dark/(\d)\.png: error: ", error), list("2345"))
        self.assertEqual(error.count("help: copy or fetch the file again, or leave it out\n"), 3)
        self.assertIn("help: the ending of its name does not make it one", error)

    def test_broken_images_of_all_sets_are_told_at_once(self):
        self.images()
        text = (self.folder / "images.yaml").read_text()
        self.write("images.yaml", text.replace("folder: photos}\n", "folder: photos}\n  test: {format: "
                                               "images, folder: others}\n"))
        whole = (self.folder / "photos/dark/0.png").read_bytes()
        for name, content in (("photos/dark/2", whole[:20]), ("others/dark/0", whole),
                              ("others/light/0", b"hello"), ("others/bright/0", whole[:20])):
            path = self.folder / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for verb in ("train", "check"):
            error = self.refuses(verb, "images.yaml")
            self.assertEqual(re.findall(r"(?m)^([a-z/]+\d\.png): error: ", error),
                             ["others/bright/0.png", "others/light/0.png", "photos/dark/2.png"])
            self.assertEqual(error.count("error: "), 3, error)  # classes are those of other data

    def test_check_tells_of_all_images_that_a_stream_cannot_read(self):
        self.images(data="folder: photos, decode: stream")
        for name in ("dark/1", "light/0"):
            path = self.folder / f"photos/{name}.png"
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        error = self.refuses("check", "images.yaml")
        self.assertEqual(re.findall(r"' cannot be read: '(photos/[a-z]+/\d\.png)' is damaged", error),
                         ["photos/dark/1.png", "photos/light/0.png"])

    def test_a_class_that_a_test_set_has_not(self):
        self.images()
        text = (self.folder / "images.yaml").read_text()
        self.write("images.yaml", text.replace("folder: photos}\n", "folder: photos}\n  test: {format: "
                                               "images, folder: others}\n"))
        path = self.folder / "others/dark/0.png"
        path.parent.mkdir(parents=True)
        path.write_bytes(png(8, 8, [10] * 192))
        error = self.refuses("train", "images.yaml")
        self.assertIn("error: 'others' has no folder 'light', but the classes of the training data do\n",
                      error)
        self.assertIn("help: put its images there; where there are none, an empty folder says so\n", error)
        (self.folder / "others/light").mkdir()
        self.cgrun("train", "images.yaml", "--out", "run")
        self.assertIn("1 sample", self.cgrun("eval", "images.yaml", "--weights", "run").stdout)

    def test_a_table_of_data_is_no_plan(self):
        self.table("1,2,0\n")
        error = self.refuses("plan", "rows.csv")
        self.assertIn("rows.csv:1:1: error: this seems to be a table of data, not a list of buffers, "
                      "whose first line names the columns id, lower, upper and size\n", error)
        self.assertIn("`data: {train: {format: csv, file: rows.csv, label: COLUMN}}`", error)
        self.assertEqual(error.count("error: "), 1, error)

    def test_predicting_an_image_by_a_model_of_tables(self):
        self.table("1,2,0\n3,4,1\n")
        self.cgrun("train", "table.yaml", "--out", "run", "--quiet")
        (self.folder / "a.png").write_bytes(png(2, 2, [0, 1, 2, 3]))
        error = self.refuses("predict", "table.yaml", "a.png", "--weights", "run")
        self.assertIn("'a.png' is an image, but this model takes tables (.csv, .tsv) with the "
                      "columns of its training data\n", error)
        self.assertIn("help: for example `cgrun predict MODEL rows.csv`, a row a sample", error)

    def test_a_header_that_training_had_and_the_table_to_predict_has_not(self):
        self.table("1,2,dog\n3.5,4,cat\n")
        self.cgrun("train", "table.yaml", "--out", "run", "--quiet")
        predict = ("predict", "table.yaml", "--weights", "run")
        rows = self.write("rows-alone.csv", "1,2,dog\n3.5,4,cat\n")
        error = self.refuses(*predict, self.write("alone.csv", "1.5,2,dog\n3.5,4,cat\n"))
        self.assertIn("`--set data.train.header=false` where they stand in the order of the training "
                      "data's\n", error)
        self.cgrun(*predict, rows, "--set", "data.train.header=false",
                   "--set", "data.train.columns=[1, 2]")

    def test_a_header_that_training_had_not_and_the_table_to_predict_has(self):
        self.table("3,4,dog\n", header="1.5,2,cat\n",
                   label=("label: kind", "label: -1, header: false"))
        self.cgrun("train", "table.yaml", "--out", "run", "--quiet")
        predict = ("predict", "table.yaml", "--weights", "run")
        for table in ("size,weight\n1,2\n", "size,weight,kind\n1,2,dog\n"):
            self.write("new.csv", table)
            error = self.refuses(*predict, "new.csv")
            self.assertIn("new.csv:1:1: error: column '1': 'size' is not a number; and 1 more such "
                          "cell: 'weight' in line 1\n", error)
            self.assertIn("help: if the first line holds names: `--set data.train.header=true`, where "
                          "the columns stand in the order of the training data's\n", error)
            self.cgrun(*predict, "new.csv", "--set", "data.train.header=true")


if __name__ == "__main__":
    unittest.main()
