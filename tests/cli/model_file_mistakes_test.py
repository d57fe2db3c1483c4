#!/usr/bin/env python3
"""Mistakes in the form of a model file, its keys, lists and operators: each is told alone, at its place."""

import unittest

from cli_testing import MODEL, TABLE, MistakesTestCase

ITEM = "      - logits: {op: linear, in: features, units: 2}\n"
TRAIN = "train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}\n"
LOSS = "{op: softmax_cross_entropy, in: [logits, label]}"
ONE = MODEL.replace("units: 3", "units: 1")


class FormTest(MistakesTestCase):
    def test_a_missing_blank_or_colon_is_said_to_be(self):
        flatten, linear = "{op: flatten}", "{op: linear, units: 3}"
        for old, new, place in ((linear, "{op:linear, units: 3}", "14:20"),
                                (linear, "{op: linear, units:3}", "14:35"),
                                (flatten, "{op:flatten}", "13:12"),
                                ("shape: [1, 4, 4]", "shape:[1, 4, 4]", "7:29"),
                                ("- pixels: {", "- pixels:{", "12:15"),
                                ("train:\n  epochs: 2", "train:\n  epochs:2", "18:9"),
                                ("model: small", "model:small", "2:6")):
            error = self.only(MODEL, (old, new))
            self.assertIn(f"wrong.yaml:{place}: error: ", error)
            self.assertIn("a blank is missing behind this ':'\n", error)
            self.assertIn("behind a key stand a colon and a blank", error)
        for old, new, key in (("model: small", "model small", "model"),
                              ("  classify:", "  classify", "classify"),
                              ("    ops:", "    ops", "ops"), ("- pixels: {", "- pixels {", "pixels"),
                              ("epochs: 2", "epochs 2", "epochs"), (linear, "{op: linear, units 3}", "units"),
                              ("train:\n", "train\n", "train")):
            error = self.only(MODEL, (old, new))
            self.assertIn(f"a ':' is missing behind '{key}'\n", error)
            self.assertIn(f"help: write `{key}:", error)

    def test_keys_that_are_not_indented(self):
        data = "  train: {format: synthetic, samples: 65, classes: 3}\n"
        error = self.errors(MODEL, (data, "  train:\n  format: synthetic\n  samples: 65\n"))
        self.assertIn("unknown key 'format' in 'data'", error)
        self.assertIn("help: if it belongs to 'train', which is empty, indent it deeper than that", error)
        metrics = "    metrics: {accuracy: {in: [logits, label]}}\n"
        loss = "    loss: {op: softmax_cross_entropy, in: [logits, label]}\n"
        error = self.only(MODEL, (loss + metrics, metrics + loss[2:]))
        self.assertIn("'loss' is a key of a path, and stands among the paths", error)
        self.assertIn("help: indent it deeper than 'classify'", error)

    def test_items_of_lists_and_equals_signs(self):
        more = "     - more: {op: linear, units: 2}\n"
        error = self.errors(TABLE, (ITEM, ITEM + more))
        self.assertIn("wrong.yaml:11:6: error: this is not YAML: this '-' does not stand below the "
                      "'-' before it\n", error)
        self.assertIn("in line 10 in column 7, and this one in column 6\n", error)
        error = self.errors(TABLE, (ITEM, ITEM.rstrip() + ", {op: softmax}\n"))
        self.assertIn("nothing can stand behind this '}', which ends the value\n", error)
        self.assertIn("in a line of its own: `- {op: softmax}`\n", error)
        glued = "train:\n  epochs: 1\n  batch=32\n  optimizer: {op: sgd, lr: 1}\n"
        error = self.errors(TABLE, (TRAIN, glued))
        self.assertIn("wrong.yaml:14:3: error: this is not YAML: a ':' and no '=' stands behind "
                      "'batch'\n", error)
        self.assertIn("help: write `batch: 32`", error)

    def test_lists_without_brackets(self):
        inputs = "write `in: [logits, label]`"
        self.helps(inputs, "label}", LOSS, "{op: softmax_cross_entropy, in: logits, label}")
        self.helps(inputs, "label}", "{in: [logits, label]}", "{in: logits, label}")
        for listed in ("logits, label", "logits label"):
            self.helps(inputs, listed, LOSS,
                       f"\n      op: softmax_cross_entropy\n      in: {listed}")
        self.helps("write `in: [image, pixels, label]`", "pixels, label", "{op: flatten}",
                   "{op: add, in: image, pixels, label}")
        cell = "networks: {cell: {in: [a, b], ops: [{op: add, in: [a, b]}]}}\npaths:"
        network = MODEL.replace("paths:", cell)
        self.helps("write `in: [pixels, label]`", "label}", "{op: flatten}",
                   "{network: cell, in: pixels, label}", text=network)
        self.assertIn("'bias' must be true or false, not nothing",  # what the operator has is its key
                      self.marked("bias", "units: 3", "in: pixels, bias, units: 3"))
        for shape in ("1x4x4", "1×4×4", "1,4,4", "1, 4, 4", "1 4 4", "1 * 4 * 4"):
            self.helps("write `shape: [1, 4, 4]`", shape, "[1, 4, 4]", shape)
        self.helps("write `shape: [16]`", "16", "[1, 4, 4]", "16")
        self.helps("write `shape: [1, 4, 4]`", "1x4x4", "[1, 4, 4]", "[1x4x4]")
        for shape in ("1", "scalar"):
            self.assertIn("write `shape: []` for one number", self.marked(shape, "[]", shape))
        for kernel in ("2x2", "2, 2"):
            self.helps("write `kernel: [2, 2]`", kernel, "{op: flatten}",
                       f"{{op: max_pool, kernel: {kernel}}}\n      - flatten")


class KeysTest(MistakesTestCase):
    def test_a_key_under_another_name_is_not_missing_as_well(self):
        self.assertIn("unknown key 'layers' in 'classify'", self.only(MODEL, ("    ops:", "    layers:")))
        self.assertIn("write 'loss'", self.only(MODEL, ("    loss:", "    criterion:")))
        self.assertIn("did you mean 'optimizer'?", self.only(MODEL, ("  optimizer:", "  optimiser:")))
        path = "  prepare:\n    mode: forwards\n    ops: [{op: normalize, in: image}]\n  classify:\n"
        self.assertIn("did you mean 'forward'?", self.only(MODEL, ("  classify:\n", path)))

    def test_a_split_without_its_name(self):
        data = "  train: {format: synthetic, samples: 65, classes: 3}\n"
        error = self.only(MODEL, (data, data + "  valid: 0.2\n"))
        self.assertIn("help: write `valid: {split: 0.2}`", error)
        self.assertIn("`train: {format: images, folder: FOLDER}`", self.errors(MODEL, (data, "  train: photos\n")))

    def test_a_path_without_a_loss(self):
        error = self.only(MODEL, ("    loss: {op: softmax_cross_entropy, in: [logits, label]}\n", ""))
        self.assertIn("needs 'loss'", error)
        self.assertIn("`loss: {op: softmax_cross_entropy, in: [logits, label]}`", error)

    def test_a_label_that_is_no_input(self):
        error = self.errors(MODEL, ("  label: {type: int32, shape: []}\n", ""))
        self.assertIn("there is no value 'label' before this place", error)
        self.assertIn("what the data feed is an input: `inputs: {label: {type: int32, shape: []}}`", error)

    def test_a_file_without_data(self):
        text = MODEL[:MODEL.index("data:")] + MODEL[MODEL.index("inputs:"):]
        error = self.refuses("train", self.write("bare.yaml", text))
        self.assertIn("bare.yaml: error: there is no training data\n", error)
        self.assertIn("`data: {train: {format: images, folder: FOLDER}}` for images", error)

    def test_an_optimizer_of_a_forward_path(self):
        self.write("forward.yaml", MODEL.replace("  classify:\n", "  aside:\n    mode: forward\n"
                   "    optimizer: {op: sgd, lr: 1}\n    ops: [{op: relu, in: logits}]\n  classify:\n"))
        error = self.refuses("check", "forward.yaml")
        self.assertIn("a forward path learns nothing: 'optimizer' means nothing here", error)
        self.assertIn("help: remove it; or remove `mode: forward`, if the path is to learn\n", error)


class OperatorsTest(MistakesTestCase):
    def test_what_an_unknown_operator_makes_is_not_missing_as_well(self):
        read = "\n      - {op: relu, in: wide}"
        for item in ("- wide: {op: convx, in: pixels}", "- wide: {in: pixels}",
                     "- wide: {op:flatten, in: pixels}",
                     "- {op: flatten, name: wide}", "- wide: {network: none, in: pixels}"):
            self.only(MODEL, ("- {op: flatten}", item + read))
        self.assertIn("its name stands before it: `wide: {op: …}`",
                      self.only(MODEL, ("- {op: flatten}", "- {op: flatten, name: wide}" + read)))

    def test_an_operator_that_stands_as_a_name(self):
        for item in ("flatten: {}", "flatten: 2", "flatten: {axis: 1}"):
            self.assertIn("if 'flatten' is the operator, write `{op: flatten, …}`",
                          self.only(MODEL, ("{op: flatten}", item)))

    def test_the_batch_in_a_shape(self):
        error = self.only(MODEL, ("{op: flatten}", "{op: reshape, shape: [-1, 7]}"))
        self.assertIn("leave the -1 out where it stands for the batch", error)
        self.write("wrong.yaml", MODEL.replace("{op: flatten}", "{op: reshape, shape: [-1, 16]}"))
        self.assertIn(": the -1 stands for 1 here: this makes [N, 1, 16]",
                      self.refuses("check", "wrong.yaml"))
        self.write("right.yaml", MODEL.replace("{op: flatten}", "{op: reshape, shape: [-1]}"))
        self.assertNotIn("warning", self.cgrun("check", "right.yaml").stderr)

    def test_one_score_is_measured_by_what_takes_it(self):
        for score, label in (("units: 1}", "{shape: [1]}"),
                             ("units: 1}\n      - logits: {op: reshape, shape: []}", "{shape: []}")):
            text = ONE.replace("{type: int32, shape: []}", label).replace("softmax_cross", "binary_cross")
            if "reshape" in score:
                text = text.replace("- logits: {op: linear", "- {op: linear")
            self.write("one.yaml", text.replace("units: 1}", score))
            error = self.refuses("check", "one.yaml")
            self.assertIn("accuracy: needs the logits of two classes or more, and ", error)
            self.assertIn("`precision`, `recall`, `f1` and `auc` take one score", error)

    def test_a_target_that_lacks_an_axis(self):
        text = ONE.replace("{type: int32, shape: []}", "{shape: []}").replace(
            "    metrics: {accuracy: {in: [logits, label]}}\n", "")
        for loss in ("binary_cross_entropy", "squared_error"):
            self.write("one.yaml", text.replace("softmax_cross_entropy", loss))
            self.assertIn("help: `shape: [1]` makes an input of the model [N, 1]",
                          self.refuses("check", "one.yaml"))

    def test_errors_of_operators_show_what_the_user_gave_alone(self):
        self.write("small.yaml", MODEL.replace("{op: flatten}", "{op: dropout, in: label}"))
        self.assertNotIn(".step", self.refuses("graph", "small.yaml"))


if __name__ == "__main__":
    unittest.main()
