#!/usr/bin/env python3
"""Model files as one writes them who knows PyTorch or Keras: one round says what is wrong, where, and
what to write."""

import unittest

from cli_testing import MODEL, TABLE, CliTestCase

SGD = "{op: sgd, lr: 0.05, momentum: 0.9}"
LOSS = "{op: softmax_cross_entropy, in: [logits, label]}"


class HabitsTest(CliTestCase):
    def only(self, part, old, new, text=MODEL, errors=1):
        """What `check` says of `text` with `new` for `old`: so many errors, the first of which is
        marked where `part` begins in `new`."""
        self.assertIn(old, text)
        self.write("wrong.yaml", text.replace(old, new, 1))
        error = self.refuses("check", "wrong.yaml")
        self.assertEqual(error.count("error: "), errors, error)
        lines = error.splitlines()
        caret = next(i for i, line in enumerate(lines) if line.strip().startswith("^"))
        place = lines[caret - 1][lines[caret].index("^"):]
        self.assertTrue(place.startswith(part), error)
        self.assertRegex(lines[0], r"^wrong.yaml:\d+:\d+: error: ")
        return error

    def helps(self, help_text, part, old, new, **options):
        self.assertIn(f"help: {help_text}\n", self.only(part, old, new, **options))

    def of_train(self, help_text, key, **options):
        self.helps(help_text, key.split(":")[0], "epochs: 2", f"epochs: 2\n  {key}", **options)

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
                      self.only("bias", "units: 3", "in: pixels, bias, units: 3"))
        for shape in ("1x4x4", "1×4×4", "1,4,4", "1, 4, 4", "1 4 4", "1 * 4 * 4"):
            self.helps("write `shape: [1, 4, 4]`", shape, "[1, 4, 4]", shape)
        self.helps("write `shape: [16]`", "16", "[1, 4, 4]", "16")
        self.helps("write `shape: [1, 4, 4]`", "1x4x4", "[1, 4, 4]", "[1x4x4]")
        for shape in ("1", "scalar"):
            self.assertIn("write `shape: []` for one number", self.only(shape, "[]", shape))
        for kernel in ("2x2", "2, 2"):
            self.helps("write `kernel: [2, 2]`", kernel, "{op: flatten}",
                       f"{{op: max_pool, kernel: {kernel}}}\n      - flatten")

    def test_the_operator_under_another_key(self):
        for key in ("type", "layer", "kind", "class_name"):
            error = self.only(key, "op: linear", f"{key}: linear")
            self.assertIn(f"the operator stands behind 'op', not '{key}'", error)
            self.assertIn("help: write `op: linear`\n", error)
            self.only(key, "op: linear, units", f"{key}: linear, unit", errors=2)
        self.helps("write `op: max_pool`", "type", "{op: flatten}",
                   "{type: max_pool, kernel: 2}\n      - flatten")
        self.helps("write `op: softmax_cross_entropy`", "type", LOSS, LOSS.replace("op:", "type:"))
        for key in ("type", "name", "method"):
            self.helps("write `op: sgd`", key, SGD, SGD.replace("op:", f"{key}:"))
        adam = "write `optimizer: {op: adam, lr: 0.01}`"
        for nested in ("{adam: {lr: 0.01}}", "{adam: 0.01}"):
            self.helps(adam, "{adam", SGD, nested)
        self.helps(f"write `loss: {LOSS}`", "{softmax", LOSS,
                   "{softmax_cross_entropy: {in: [logits, label]}}")
        error = self.only("{Adam", SGD, "{Adam: {lr: 0.01, beta: 3}}", errors=3)
        self.assertIn("write 'adam'", error)
        self.assertIn("has no key 'beta'", error)

    def test_kinds_of_initialisers_and_schedules(self):
        for init, ours in (("{type: xavier}", "glorot_uniform"),
                           ("{op: normal, std: 0.1}", "{normal: {deviation: 0.1}}"),
                           ("{weight: {name: ones}}", "ones")):
            self.helps(f"write `init: {ours}`", init[init.rindex("{") + 1:], "units: 3",
                       f"units: 3, init: {init}")
        for schedule, part, ours in (("{type: StepLR, step_size: 10}", "type", "{step: {every: 10}}"),
                                     ("{op: step, every: 10}", "op", "{step: {every: 10}}"),
                                     ("{name: cosine}", "name", "cosine"),
                                     ("{step: 10}", "10", "{step: {every: 10}}"),
                                     ("{exponential: 0.9}", "0.9", "{exponential: {factor: 0.9}}")):
            self.helps(f"write `schedule: {ours}`", part, "momentum: 0.9", f"schedule: {schedule}")

    def test_the_verb_decides_whether_something_trains(self):
        verbs = "leave it out: `cgrun train` trains, "
        for key in ("mode: train", "training: true"):
            self.assertIn(verbs, self.only(key, "{op: flatten}",
                                           f"{{op: dropout, rate: 0.5, {key}}}\n      - flatten"))
        for old, new in (("model: small", "model: small\nmode: train"),
                         ("epochs: 2", "epochs: 2\n  mode: train")):
            self.assertIn(verbs, self.only("mode", old, new))
        for mode in ("train", "eval"):
            self.assertIn("leave it out: the verb decides",
                          self.only(mode, "classify:\n", f"classify:\n    mode: {mode}\n"))

    def test_bounds_on_gradients_and_early_stop(self):
        for key in ("clip_grad_norm", "gradient_clip", "gradient_clip_val", "max_norm"):
            self.of_train("write `clip: {norm: 1}`: the largest norm of all gradients", f"{key}: 1.0")
        self.of_train("write `clip: {value: 1}`: the largest absolute value of an element",
                      "clip_value: 1.0")
        self.assertIn("write `clip: {norm: 1.0}`, ",
                      self.only("[1.0]", "epochs: 2", "epochs: 2\n  clip: [1.0]"))
        data = MODEL.replace("  test:", "  valid:")
        for value, written in (("5", "metric: loss, patience: 5"), ("loss", "metric: loss, patience: 3"),
                               ("true", "metric: loss, patience: 3")):
            self.assertIn(f"help: write `early_stop: {{{written}}}`: ",
                          self.only(value, "epochs: 2", f"epochs: 2\n  early_stop: {value}", text=data))
        for key in ("early_stopping: 5", "patience: 5"):
            self.assertIn("help: write `early_stop: {metric: loss, patience: 3}`: ",
                          self.only(key, "epochs: 2", f"epochs: 2\n  {key}", text=data))

    def test_labels_of_data_that_have_no_such_option_are_one_error(self):
        self.assertIn("unknown option 'labels'", self.only("labels", "classes: 3", "classes: 3, labels: y"))
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.helps("did you mean 'label'?", "labels", "label: kind", "labels: kind", text=TABLE)
        for old, new in (("data:", "data:\n  labels: y"), ("model: small", "model: small\nlabels: y")):
            self.only("labels", old, new)

    def test_number_types_by_other_names(self):
        self.of_train("write `precision: f32`", "dtype: float32")
        for key in ("dtype", "type"):
            self.helps("write `type: f32`; of images in files `type: uint8`, which `normalize` makes "
                       "f32", "dtype" if key == "dtype" else "float32", "type: uint8",
                       f"{key}: float32")
        self.helps("did you mean 'f32'?", "float32", "epochs: 2", "epochs: 2\n  precision: float32")

    def test_characters_that_only_look_like_those_of_a_number(self):
        for number, note in (("1\u00a0000", "U+00A0, a no-break space"), ("1\u2009000", "U+2009, a thin"),
                             ("1\u202f000", "U+202F, a narrow no-break space")):
            error = self.only(number, "units: 3", f"units: {number}")
            self.assertIn("help: write 1000: '", error)
            self.assertIn(note, error)
        self.assertIn("write `units: 3`", self.only(":", "units: 3", "units:\u00a03"))
        minus = ": '\u2212' is U+2212, a minus sign"
        self.helps("write 1e-3" + minus, "1e", "lr: 0.05", "lr: 1e\u22123")
        self.helps("write `scale: -3.5`, with a point" + minus, "\u2212", "scale: 1/255",
                   "scale: \u22123,5")
        no_blank = ": no blank stands between the thousands of a number"
        self.helps("write 1234.5" + no_blank, "1 234", "lr: 0.05", "lr: 1 234.5")
        self.helps("write `lr: 1234.5`, with a point" + no_blank, "1 234", "lr: 0.05", "lr: 1 234,5")
        self.helps("write 1e-3", "10^", "lr: 0.05", "lr: 10^-3")
        table = TABLE.replace("label: kind", "label: kind, delimiter: ;")
        self.write("rows.csv", "a;b;kind\n-3,5;\u22122;x\n1 234.5;4;y\n7,5;1\u2009000;y\n")
        self.write("rows.yaml", table)
        error = self.refuses("check", "rows.yaml")
        self.assertEqual(error.count("error: "), 4, error)
        for part in ("'-3,5' is not a number; and 1 more such cell: '7,5' in line 4",
                     "help: write 1234.5: no mark stands between", "help: write -2; '\u2212' is U+2212",
                     "help: write 1000; '\u2009' is U+2009, a thin space"):
            self.assertIn(part, error)

    def test_ops_answers_with_what_a_word_is(self):
        for word, part in (("xavier", "`init: glorot_uniform`"), ("glorot", "`init: glorot_uniform`"),
                           ("he", "`init: he_normal`"), ("kaiming", "`init: he_normal`"),
                           ("warmup", "`schedule: {cosine: {warmup: …}}`"),
                           ("l2", "'regularize' is a key"), ("regularisation", "'regularize' is a key"),
                           ("pooling", "the pools are avg_pool, global_avg_pool and max_pool"),
                           ("dice", "there is none: "), ("device", "write `device: …`"),
                           ("lr", "`train: {optimizer: {op: sgd, lr: …}}`"),
                           ("learning rate", "`train: {optimizer: {op: sgd, lr: …}}`"),
                           ("momentum", "a key of batch_norm, rmsprop and sgd"),
                           ("augment", "random_flip"), ("batchnorm", "write 'batch_norm'"),
                           ("lstm", "`unroll`"), ("gru", "`unroll`"), ("batch_size", "`train: {batch: …}`"),
                           ("schedule", "the schedules of the learning rate are ")):
            self.assertIn(part, self.refuses("ops", word))

    def test_other_habits(self):
        for key, part in (("verbose: 1", "leave it out"), ("warmup: 3", "{cosine: {warmup: 1}}"),
                          ("accumulate_grad_batches: 4", "write 'accumulate'"),
                          ("label_smoothing: 0.1", "it is a key of the loss"),
                          ("save_best: true", "`keep_best: METRIC`"), ("ema: 0.9", "there is no average"),
                          ("resume: true", "`cgrun train --resume FOLDER`"),
                          ("nesterov: true", "`optimizer: {op: sgd, nesterov: true}`")):
            self.assertIn(part, self.only(key, "epochs: 2", f"epochs: 2\n  {key}"))
        for key, part in (("trainable: false", "`frozen: true`"), ("freeze: true", "write 'frozen'"),
                          ("l2: 0.1", "write `regularize: {l2: 1.0e-4}`"),
                          ("kernel_regularizer: l2", "write `regularize: {l2: 1.0e-4}`"),
                          ("weight_init: he", "write 'init'")):
            self.assertIn(part, self.only(key, "units: 3", f"units: 3, {key}"))
        for key, part in (("from_logits: true", "always reads logits"),
                          ("reduction: mean", "the mean over the batch"),
                          ("target: label", "`in: [OUTPUT, LABEL]`")):
            self.assertIn(part, self.only(key, LOSS, LOSS[:-1] + f", {key}}}"))
        self.assertIn("scale and shift are always there",
                      self.only("affine", "{op: flatten}", "{op: batch_norm, affine: false}\n      - flatten"))
        self.assertIn("an activation is an operator by its own name",
                      self.only("activation", "{op: flatten}", "{op: activation}\n      - flatten"))


if __name__ == "__main__":
    unittest.main()
