#!/usr/bin/env python3
"""What a new user got wrong on the first day: each message points at what is to be changed, says
what it is to be, and is not followed by others that it causes."""

import json
import os
import unittest

from cli_testing import MODEL, CliTestCase, png

TABLE = """cgrun: 1
model: houses
data:
  train: {format: csv, file: train.csv, label: sold, missing: drop, categories: [town, roof]}
  test: {format: csv, file: test.csv, label: sold, missing: drop}
inputs:
  features: {shape: [2]}
  town: {type: int32, shape: []}
  roof: {type: int32, shape: []}
  sold: {type: int32, shape: []}
paths:
  judge:
    ops:
      - place: {op: embedding, in: town, entries: 4, units: 3}
      - top: {op: embedding, in: roof, entries: 3, units: 2}
      - {op: concat, in: [features, place, top]}
      - {op: linear, units: 6, activation: relu}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, sold]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.01}}
"""
HEAD = "rooms,age,town,roof,sold\n"
TOWNS, ROOFS, SOLD = ("Rome", "Oslo", "Bonn"), ("flat", "steep"), ("yes", "no")


def houses(count):
    return HEAD + "".join(f"{i % 5},{i % 7},{TOWNS[i % 3]},{ROOFS[i % 2]},{SOLD[i % 2]}\n"
                          for i in range(count))


class HousesTestCase(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("houses.yaml", TABLE)
        self.write("train.csv", houses(30))
        self.write("test.csv", houses(9))


class TablesTest(HousesTestCase):
    def errors(self, *changes, verb="check"):
        text = TABLE
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        return self.refuses(verb, self.write("wrong.yaml", text))

    def count_errors(self, text):
        return text.count("error: ")

    def test_names_that_others_give_lead_to_ours(self):
        def named(old, new):
            return self.errors((old, new))

        units = "{op: linear, units: 2"
        for theirs, ours in (("xavier_uniform", "glorot_uniform"), ("kaiming_normal", "he_normal"),
                             ("{normal: {std: 0.1}}", "deviation")):
            self.assertIn(f"help: write '{ours}'", named(units, f"{units}, init: {theirs}"))
        for theirs, ours in (("mnist", "idx"), ("image_folder", "images")):
            self.assertIn(f"help: write '{ours}'", named("format: csv", f"format: {theirs}"))
        self.assertIn("help: write 'conv'", named("op: concat", "op: convolve"))

    def test_what_training_data_lack_is_no_error_of_other_data(self):
        for change in (("file: train.csv", "file: nope.csv"), ("[town, roof]", "[town, rof]"),
                       ("train.csv, label: sold", "train.csv, label: sould")):
            for verb in ("check", "train"):
                error = self.errors(change, verb=verb)
                self.assertEqual(self.count_errors(error), 1, error)
                self.assertIn("wrong.yaml:4:", error)
        self.write("train.csv", houses(30).replace("2,2,", "2,two,"))
        error = self.errors()
        self.assertEqual(self.count_errors(error), 1, error)
        self.assertIn("train.csv:4:3: error: column 'age': 'two' is not a number", error)
        # What does not depend on them is told with them.
        error = self.errors(("file: train.csv", "file: nope.csv"), ("file: test.csv", "fil: test.csv"))
        self.assertIn("unknown option 'fil'", error)

    def test_columns_of_texts_are_an_error_each(self):
        error = self.errors((", categories: [town, roof]", ""), ("  town: {type: int32, shape: []}\n", ""),
                            ("  roof: {type: int32, shape: []}\n", ""))
        self.assertEqual(error.count("train.csv:"), 2, error)
        self.assertIn("train.csv:2:5: error: column 'town': 'Rome' is not a number; and 29 more such "
                      "cells: 'Oslo' in line 3, 'Bonn' in line 4, 'Rome' in line 5, …\n", error)
        self.assertIn("`categories: [town]`", error)

    def test_gaps_as_others_write_them(self):
        self.write("train.csv", houses(30).replace("\n1,2,", "\n1,n/a,", 1))
        self.assertIn("help: if that is a gap, leave it empty or write `NA`, `NaN` or `?`", self.errors())

    def test_columns_that_no_input_takes(self):
        error = self.errors(("  town: {type: int32, shape: []}\n", ""))
        self.assertIn("the data has 4 fields (features, town, roof, sold) and the model 3 inputs", error)
        self.assertIn("help: `inputs` lacks `town: {type: int32, shape: []}`\n", error)

    def test_a_table_without_its_label(self):
        error = self.errors(("train.csv, label: sold", "train.csv"))
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
        self.write("train.csv", houses(30).replace("flat,yes", "flat,maybe", 3))
        for old, new, place, source, what, help_text in (
                ("entries: 4", "entries: 2", "wrong.yaml:14:21", "train.csv:2:5",
                 "the 2 entries of embedding", "write `entries: 4` here, or check the data: train.csv:2:5"),
                ("units: 2}\n    loss", "units: 1}\n    loss", "wrong.yaml:18:22", "train.csv:8:15",
                 "the only class of softmax_cross_entropy", "write `units: 3` here")):
            error = self.errors((old, new), ("test.csv, label", "train.csv, label"))
            self.assertIn(f"{place}: error: {source}: sample", error)
            self.assertIn(what, error)
            self.assertIn(help_text, error)
            self.assertEqual(error.count(place), 1, error)

    def test_an_input_that_does_not_fit_is_told_alone(self):
        error = self.errors(("features: {shape: [2]}", "features: {shape: [3]}"))
        self.assertEqual(self.count_errors(error), 1, error)
        self.assertIn("wrong.yaml:7:3: error: input 'features' is f32[3]", error)
        error = self.errors(("sold: {type: int32, shape: []}", "sold: {type: int32, shape: [2]}"))
        self.assertEqual(self.count_errors(error), 1, error)
        (self.folder / "photos").mkdir()
        for name in ("a", "b"):
            (self.folder / "photos" / name).mkdir()
            (self.folder / "photos" / name / "1.png").write_bytes(png(4, 4, bytes(16)))
        self.write("photos.yaml", MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: images, folder: photos}")
            .replace("shape: [1, 4, 4]", "shape: [4, 4, 1]"))
        self.assertIn("photos.yaml:7:3: error: input 'image' is [4, 4, 1], but an image is",
                      self.refuses("check", "photos.yaml"))


class PredictionsTest(HousesTestCase):
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
        self.write("one.yaml", TABLE.replace(", categories: [town, roof]", "").replace(
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


class ModelFilesTest(CliTestCase):
    def errors(self, old, new, verb="check"):
        self.assertIn(old, MODEL)
        return self.refuses(verb, self.write("wrong.yaml", MODEL.replace(old, new, 1)))

    def only(self, old, new):
        error = self.errors(old, new)
        self.assertEqual(error.count("error: "), 1, error)
        return error

    def test_a_missing_blank_or_colon_is_said_to_be(self):
        flatten, linear = "{op: flatten}", "{op: linear, units: 3}"
        for old, new, place in ((linear, "{op:linear, units: 3}", "14:20"),
                                (linear, "{op: linear, units:3}", "14:35"),
                                (flatten, "{op:flatten}", "13:12"),
                                ("shape: [1, 4, 4]", "shape:[1, 4, 4]", "7:29"),
                                ("- pixels: {", "- pixels:{", "12:15"),
                                ("train:\n  epochs: 2", "train:\n  epochs:2", "18:9"),
                                ("model: small", "model:small", "2:6")):
            error = self.only(old, new)
            self.assertIn(f"wrong.yaml:{place}: error: ", error)
            self.assertIn("a blank is missing behind this ':'\n", error)
            self.assertIn("behind a key stand a colon and a blank", error)
        for old, new, key in (("model: small", "model small", "model"),
                              ("  classify:", "  classify", "classify"),
                              ("    ops:", "    ops", "ops"), ("- pixels: {", "- pixels {", "pixels"),
                              ("epochs: 2", "epochs 2", "epochs"), (linear, "{op: linear, units 3}", "units"),
                              ("train:\n", "train\n", "train")):
            error = self.only(old, new)
            self.assertIn(f"a ':' is missing behind '{key}'\n", error)
            self.assertIn(f"help: write `{key}:", error)

    def test_a_key_under_another_name_is_not_missing_as_well(self):
        self.assertIn("unknown key 'layers' in 'classify'", self.only("    ops:", "    layers:"))
        self.assertIn("write 'loss'", self.only("    loss:", "    criterion:"))
        self.assertIn("did you mean 'optimizer'?", self.only("  optimizer:", "  optimiser:"))
        path = "  prepare:\n    mode: forwards\n    ops: [{op: normalize, in: image}]\n  classify:\n"
        self.assertIn("did you mean 'forward'?", self.only("  classify:\n", path))

    def test_what_an_unknown_operator_makes_is_not_missing_as_well(self):
        read = "\n      - {op: relu, in: wide}"
        for item in ("- wide: {op: convx, in: pixels}", "- wide: {in: pixels}",
                     "- wide: {op:flatten, in: pixels}",
                     "- {op: flatten, name: wide}", "- wide: {network: none, in: pixels}"):
            self.only("- {op: flatten}", item + read)
        self.assertIn("its name stands before it: `wide: {op: …}`",
                      self.only("- {op: flatten}", "- {op: flatten, name: wide}" + read))

    def test_what_other_programs_have_as_one_operator(self):
        for name, part in (("lstm", "unroll"), ("GRU", "unroll"), ("nn.LSTM", "unroll"), ("rnn", "unroll"),
                           ("attention", "matmul"), ("transformer", "layer_norm")):
            error = self.only("{op: flatten}", f"{{op: {name}}}")
            self.assertIn(f"there is no operator '{name}'", error)
            self.assertIn("help: there is none: ", error)
            self.assertIn(part, error)
        for key, part in (("bn: true", "`- batch_norm`"), ("dropout: 0.5", "`- {op: dropout, rate: 0.5}`"),
                          ("pool: 2", "max_pool"), ("norm: batch", "batch_norm")):
            error = self.only("{op: linear, units: 3}", "{op: linear, units: 3, " + key + "}")
            self.assertIn("it is an operator of its own, behind this one", error)
            self.assertIn(part, error)

    def test_what_other_programs_have_and_this_one_has_not(self):
        for name, part in (("Conv1d", "`kernel: [1, 3]`"), ("silu", "x · sigmoid(x)"),
                           ("Sequential", "leave it out"), ("GroupNorm", "`layer_norm`"),
                           ("elu", "`leaky_relu`"), ("einsum", "`matmul`")):
            self.assertIn(part, self.only("{op: flatten}", f"{{op: {name}}}"))
        error = self.only("{op: linear, units: 3}", "{op: linear, units: 3, activation: swish}")
        self.assertIn("there is no activation 'swish'", error)
        self.assertIn("x · sigmoid(x)", error)
        error = self.only("{op: linear, units: 3}", "{op: linear, units: 3, bias: True}")
        self.assertIn("must be true or false, not 'True'", error)
        self.assertIn("help: write `true`", error)

    def test_an_operator_that_stands_as_a_name(self):
        for item in ("flatten: {}", "flatten: 2", "flatten: {axis: 1}"):
            self.assertIn("if 'flatten' is the operator, write `{op: flatten, …}`",
                          self.only("{op: flatten}", item))

    def test_a_label_that_is_no_input(self):
        error = self.errors("  label: {type: int32, shape: []}\n", "")
        self.assertIn("there is no value 'label' before this place", error)
        self.assertIn("what the data feed is an input: `inputs: {label: {type: int32, shape: []}}`", error)

    def test_keys_that_are_not_indented(self):
        data = "  train: {format: synthetic, samples: 65, classes: 3}\n"
        error = self.errors(data, "  train:\n  format: synthetic\n  samples: 65\n")
        self.assertIn("unknown key 'format' in 'data'", error)
        self.assertIn("help: if it belongs to 'train', which is empty, indent it deeper than that", error)
        metrics = "    metrics: {accuracy: {in: [logits, label]}}\n"
        loss = "    loss: {op: softmax_cross_entropy, in: [logits, label]}\n"
        error = self.only(loss + metrics, metrics + loss[2:])
        self.assertIn("'loss' is a key of a path, and stands among the paths", error)
        self.assertIn("help: indent it deeper than 'classify'", error)

    def test_a_split_without_its_name(self):
        data = "  train: {format: synthetic, samples: 65, classes: 3}\n"
        error = self.only(data, data + "  valid: 0.2\n")
        self.assertIn("help: write `valid: {split: 0.2}`", error)
        self.assertIn("`train: {format: images, folder: FOLDER}`", self.errors(data, "  train: photos\n"))

    def test_a_path_without_a_loss(self):
        error = self.only("    loss: {op: softmax_cross_entropy, in: [logits, label]}\n", "")
        self.assertIn("needs 'loss'", error)
        self.assertIn("`loss: {op: softmax_cross_entropy, in: [logits, label]}`", error)

    def test_the_batch_in_a_shape(self):
        error = self.only("{op: flatten}", "{op: reshape, shape: [-1, 7]}")
        self.assertIn("leave the -1 out where it stands for the batch", error)
        self.write("wrong.yaml", MODEL.replace("{op: flatten}", "{op: reshape, shape: [-1, 16]}"))
        self.assertIn(": the -1 stands for 1 here: this makes [N, 1, 16]",
                      self.refuses("check", "wrong.yaml"))
        self.write("right.yaml", MODEL.replace("{op: flatten}", "{op: reshape, shape: [-1]}"))
        self.assertNotIn("warning", self.cgrun("check", "right.yaml").stderr)


class CommandLineTest(CliTestCase):
    def test_flags_for_threads(self):
        for flags in (["--workers", "1000"], ["--workers=-1"], ["--num-workers", "x"]):
            error = self.refuses("train", "small.yaml", *flags)
            self.assertIn("samples ahead; `--threads N`, 1 to 1024, is for the kernels", error)
        self.assertIn("--threads must be 1 to 1024, not '-1'",
                      self.refuses("train", "small.yaml", "--threads", "-1"))

    def test_ranges_of_numbers_are_short(self):
        self.assertIn("error: --temperature must be a number from 0 to 100, not '400'\n",
                      self.refuses("generate", "small.yaml", "--temperature", "400"))

    def test_a_device_that_is_not_there(self):
        done = self.cgrun("devices")
        if "built without CUDA" not in done.stdout:
            print("a device that is not there: not tested, as this build has CUDA")
            return
        for flags in (["--device", "cuda"], ["--set", "device=cuda"]):
            self.assertIn("or use --device cpu\n", self.refuses("train", "small.yaml", *flags))
        self.write("gpu.yaml", MODEL + "device: cuda\n")
        self.assertRegex(self.refuses("train", "gpu.yaml"), r"gpu\.yaml:\d+:9: error: .*\n +device: cuda\n")
        for right, wrong, told in (("{op: flatten}", "{op: flaten}", "there is no operator 'flaten'"),
                                   ("epochs: 2", "epochs: two", "'epochs' must be an integer")):
            self.write("gpu.yaml", MODEL.replace(right, wrong) + "device: cuda\n")
            for verb in ("train", "check", "plan"):
                error = self.refuses(verb, "gpu.yaml")
                self.assertIn(told, error)
                self.assertIn("error: device 'cuda' is not in this build: built without CUDA\n", error)
                self.assertEqual(error.count("error: "), 2, error)

    def test_a_cap_that_is_less_than_the_data(self):
        self.write("much.csv", "a,y\n" + 100_000 * "1,2\n")
        self.write("much.yaml", "cgrun: 1\ndata: {train: {format: csv, file: much.csv, label: y}}\n"
                   "inputs: {x: {shape: [1]}, y: {shape: []}}\n"
                   "paths: {fit: {ops: [line: {op: linear, in: x, units: 1}, out: {op: reshape, shape: []}], "
                   "loss: {op: squared_error, in: [out, y]}}}\n"
                   "train: {optimizer: {op: sgd, lr: 0.1}}\n")
        error = self.refuses("train", "much.yaml", "--memory", "100KiB")
        self.assertRegex(error, r"more than the cap of 100 KiB")
        self.assertRegex(error, r"(?m)^ +data +[\d.]+ (KiB|MiB) +buffers of the loaders")  # the rest streams

    def test_what_the_command_line_changes(self):
        done = self.refuses("check", "small.yaml", "--set", "paths.classify.ops.logits.units=2")
        self.assertIn("note: the command line changes this file, which is shown without that: "
                      "--set paths.classify.ops.logits.units=2\n", done)

    def test_which_weights_are_taken(self):
        self.cgrun("train", "small.yaml", "--quiet", "--out", "run", "--set", "train.epochs=1")
        (self.folder / "x.png").write_bytes(png(4, 4, bytes(16)))
        predict = ["predict", "small.yaml", "x.png", "--weights", "run", "--dry-run"]
        self.assertRegex(self.cgrun(*predict).stderr,
                         r"weights: run/checkpoint-\d+\.safetensors: step \d+ of epoch 1\n")
        (self.folder / "run" / "summary.json").unlink()  # as after a kill
        self.assertRegex(self.cgrun(*predict).stderr, r"step \d+ of epoch 1; the run did not come to its end\n")

    def test_warnings_of_a_model_file_are_told_in_full_once(self):
        self.write("twice.yaml", MODEL.replace("units: 3}\n", "units: 3}\n      - p: {op: softmax}\n").replace(
            "in: [logits, label]}\n    metrics", "in: [p, label]}\n    metrics"))
        what = "warning: 'softmax_cross_entropy' applies softmax itself: here it is applied twice\n"
        train = self.cgrun("train", "twice.yaml", "--out", "run").stderr
        self.assertIn(what, train)
        self.assertIn("help: give it what the softmax reads", train)
        for arguments in (["eval", "twice.yaml", "--weights", "run"],
                          ["train", "--resume", "run", "--set", "train.epochs=3"]):
            told = self.cgrun(*arguments).stderr
            self.assertRegex(told, r"(?m)^\S+\.yaml:\d+:\d+: " + what)
            self.assertNotIn("give it what the softmax reads", told)
            self.assertNotIn("^~~", told)

    def test_wordings_of_a_run(self):
        self.write("uneven.yaml", MODEL.replace("samples: 65", "samples: 67"))
        plan = self.cgrun("plan", "uneven.yaml").stdout
        self.assertIn("  train.7: for the last batch of a pass over the data, with as many samples.\n", plan)
        self.assertIn("(train.7: for the last batch",
                      self.cgrun("train", "uneven.yaml", "--dry-run").stdout)
        done = self.cgrun("train", "uneven.yaml", "--memory", "1GiB")
        self.assertRegex(done.stderr, r"cap: the run takes [\d.]+ MiB of the 1 GiB that it may, [\d.]+ "
                                      r"MiB to spare: the cap costs nothing\n")
        self.assertRegex(done.stdout, r"0 after step 1: the run takes no more memory the longer it is|"
                                      r"unknown: a sanitizer")
        # Nobody allocates, and libraries do not either: they take what was set aside.
        self.assertNotRegex(done.stdout, r"allocations? of libraries")
        done = self.cgrun("train", "uneven.yaml", "--mode", "eager", "--force")
        self.assertRegex(done.stdout, r"allocations +(\d+ after step 1, to prepare operators when they run for "
                                      r"the first time, as those of the last batch: the run takes no more|"
                                      r"unknown: a sanitizer)")

    def test_bf16_is_warned_of_where_nothing_multiplies_it(self):
        slow = "--precision bf16: warning: device 'cpu' has no kernels here that multiply bf16"
        old = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "XDG_CACHE_HOME": str(self.folder / "cache")}
        few = ["small.yaml", "--device", "cpu", "--threads", 1]
        for verb in (["train", "--dry-run"], ["plan"], ["bench", "--rounds", 1, "--steps", 1],
                     ["bench", "--isolate", "--rounds", 1, "--steps", 1]):
            told = self.cgrun(verb[0], *few, *verb[1:], "--precision", "bf16", env=old).stderr
            self.assertEqual(told.count(slow), 1, verb)
            self.assertIn("steps are probably slower than in f32\nhelp: `--precision f32`, or a", told)
            self.assertNotIn("bf16", self.cgrun(verb[0], *few, *verb[1:], env=old).stderr, verb)
        version = self.cgrun("--version").stdout
        here = self.cgrun("train", *few, "--dry-run", "--precision", "bf16").stderr
        self.assertEqual(slow in here, "_BF16" not in version and "_AMX" not in version)


if __name__ == "__main__":
    unittest.main()
