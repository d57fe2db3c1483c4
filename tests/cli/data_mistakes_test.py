#!/usr/bin/env python3
"""Mistakes in data: each is told at its own place, once, with what mends it."""

import math
import os
import re
import struct
import unittest

from cli_testing import MODEL, CliTestCase, png

TRAIN = "{format: synthetic, samples: 65, classes: 3}"
TEST = "  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n"

TABLE = """cgrun: 1
model: table
data: {train: {format: csv, file: rows.csv, label: kind}}
inputs:
  features: {shape: [2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - logits: {op: linear, in: features, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
"""


def npy(sizes, values):
    """An .npy file of float32."""
    shape = "".join(f"{size}, " for size in sizes)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape})}}".ljust(117) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.encode() +
            struct.pack(f"<{len(values)}f", *values))


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

    def table(self, rows, header="size,weight,kind\n", **changes):
        text = TABLE
        for old, new in changes.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("table.yaml", text)
        self.write("rows.csv", header + rows)

    def test_numbers_that_are_not_finite_are_told_before_training(self):
        self.arrays(npy([3, 2], [0, 1, 2, math.nan, math.inf, 3]))
        for verb in ("train", "check", "plan"):
            error = self.refuses(verb, "arrays.yaml")
            self.assertIn("arrays.yaml:4:27: error: 'x.npy': sample 1 holds NaN at [1]; and 1 more "
                          "sample has numbers that are not finite\n", error)
            self.assertIn("help: nothing can be learned from such a number: leave the sample out",
                          error)
            self.assertEqual(error.count("error: "), 1, error)
        self.assertFalse((self.folder / "runs").exists())

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

    def test_a_misspelt_label_is_told_where_it_stands(self):
        self.table("1,2,cat\n3,4,dog\n5,6,catt\n7,8,cat\n")
        for verb in ("train", "check"):
            error = self.refuses(verb, "table.yaml")
            self.assertIn("rows.csv:4:5: error: only sample 2 has the label 'catt'; with it there "
                          "are 3 classes, but softmax_cross_entropy has 2\n    5,6,catt\n", error)
            self.assertIn("help: did you mean 'cat', the label of 2 samples?", error)
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
        self.assertIn("help: `header: false` says that there are no names; columns are called by "
                      "their numbers then: -1 is the last\n", error)
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


if __name__ == "__main__":
    unittest.main()
