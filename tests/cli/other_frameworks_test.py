#!/usr/bin/env python3
"""Model files in the words of PyTorch, Keras and other programs: each error says what is written here."""

import unittest

from cli_testing import HOUSES, MODEL, TABLE, HousesTestCase, MistakesTestCase

SGD = "{op: sgd, lr: 0.05, momentum: 0.9}"
LOSS = "{op: softmax_cross_entropy, in: [logits, label]}"


class OtherFrameworksTest(MistakesTestCase):
    def test_the_operator_under_another_key(self):
        for key in ("type", "layer", "kind", "class_name"):
            error = self.marked(key, "op: linear", f"{key}: linear")
            self.assertIn(f"the operator stands behind 'op', not '{key}'", error)
            self.assertIn("help: write `op: linear`\n", error)
            self.marked(key, "op: linear, units", f"{key}: linear, unit", errors=2)
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
        error = self.marked("{Adam", SGD, "{Adam: {lr: 0.01, beta: 3}}", errors=3)
        self.assertIn("write 'adam'", error)
        self.assertIn("has no key 'beta'", error)

    def test_the_verb_decides_whether_something_trains(self):
        verbs = "leave it out: `cgrun train` trains, "
        for key in ("mode: train", "training: true"):
            self.assertIn(verbs, self.marked(key, "{op: flatten}",
                                           f"{{op: dropout, rate: 0.5, {key}}}\n      - flatten"))
        for old, new in (("model: small", "model: small\nmode: train"),
                         ("epochs: 2", "epochs: 2\n  mode: train")):
            self.assertIn(verbs, self.marked("mode", old, new))
        for mode in ("train", "eval"):
            self.assertIn("leave it out: the verb decides",
                          self.marked(mode, "classify:\n", f"classify:\n    mode: {mode}\n"))

    def test_bounds_on_gradients_and_early_stop(self):
        for key in ("clip_grad_norm", "gradient_clip", "gradient_clip_val", "max_norm"):
            self.of_train("write `clip: {norm: 1}`: the largest norm of all gradients", f"{key}: 1.0")
        self.of_train("write `clip: {value: 1}`: the largest absolute value of an element",
                      "clip_value: 1.0")
        self.assertIn("write `clip: {norm: 1.0}`, ",
                      self.marked("[1.0]", "epochs: 2", "epochs: 2\n  clip: [1.0]"))
        data = MODEL.replace("  test:", "  valid:")
        for value, written in (("5", "metric: loss, patience: 5"), ("loss", "metric: loss, patience: 3"),
                               ("true", "metric: loss, patience: 3")):
            self.assertIn(f"help: write `early_stop: {{{written}}}`: ",
                          self.marked(value, "epochs: 2", f"epochs: 2\n  early_stop: {value}", text=data))
        for key in ("early_stopping: 5", "patience: 5"):
            self.assertIn("help: write `early_stop: {metric: loss, patience: 3}`: ",
                          self.marked(key, "epochs: 2", f"epochs: 2\n  {key}", text=data))

    def test_labels_of_data_that_have_no_such_option_are_one_error(self):
        self.assertIn("unknown option 'labels'", self.marked("labels", "classes: 3", "classes: 3, labels: y"))
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.helps("did you mean 'label'?", "labels", "label: kind", "labels: kind", text=TABLE)
        for old, new in (("data:", "data:\n  labels: y"), ("model: small", "model: small\nlabels: y")):
            self.marked("labels", old, new)

    def test_other_habits(self):
        for key, part in (("verbose: 1", "leave it out"), ("warmup: 3", "{cosine: {warmup: 1}}"),
                          ("accumulate_grad_batches: 4", "write 'accumulate'"),
                          ("label_smoothing: 0.1", "it is a key of the loss"),
                          ("save_best: true", "`keep_best: METRIC`"), ("ema: 0.9", "there is no average"),
                          ("resume: true", "`cgrun train --resume FOLDER`"),
                          ("nesterov: true", "`optimizer: {op: sgd, nesterov: true}`")):
            self.assertIn(part, self.marked(key, "epochs: 2", f"epochs: 2\n  {key}"))
        for key, part in (("trainable: false", "`frozen: true`"), ("freeze: true", "write 'frozen'"),
                          ("l2: 0.1", "write `regularize: {l2: 1.0e-4}`"),
                          ("kernel_regularizer: l2", "write `regularize: {l2: 1.0e-4}`"),
                          ("weight_init: he", "write 'init'")):
            self.assertIn(part, self.marked(key, "units: 3", f"units: 3, {key}"))
        for key, part in (("from_logits: true", "always reads logits"),
                          ("reduction: mean", "the mean over the batch"),
                          ("target: label", "`in: [OUTPUT, LABEL]`")):
            self.assertIn(part, self.marked(key, LOSS, LOSS[:-1] + f", {key}}}"))
        self.assertIn("scale and shift are always there",
                      self.marked("affine", "{op: flatten}", "{op: batch_norm, affine: false}\n      - flatten"))
        self.assertIn("an activation is an operator by its own name",
                      self.marked("activation", "{op: flatten}", "{op: activation}\n      - flatten"))

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

    def test_what_other_programs_have_as_one_operator(self):
        for name, part in (("lstm", "unroll"), ("GRU", "unroll"), ("nn.LSTM", "unroll"), ("rnn", "unroll"),
                           ("attention", "matmul"), ("transformer", "layer_norm")):
            error = self.only(MODEL, ("{op: flatten}", f"{{op: {name}}}"))
            self.assertIn(f"there is no operator '{name}'", error)
            self.assertIn("help: there is none: ", error)
            self.assertIn(part, error)
        for key, part in (("bn: true", "`- batch_norm`"), ("dropout: 0.5", "`- {op: dropout, rate: 0.5}`"),
                          ("pool: 2", "max_pool"), ("norm: batch", "batch_norm")):
            error = self.only(MODEL, ("{op: linear, units: 3}", "{op: linear, units: 3, " + key + "}"))
            self.assertIn("it is an operator of its own, behind this one", error)
            self.assertIn(part, error)

    def test_what_other_programs_have_and_this_one_has_not(self):
        for name, part in (("Conv1d", "`kernel: [1, 3]`"), ("swish", "{op: silu}"),
                           ("Sequential", "leave it out"), ("GroupNorm", "`layer_norm`"),
                           ("selu", "`elu`"), ("einsum", "`matmul`")):
            self.assertIn(part, self.only(MODEL, ("{op: flatten}", f"{{op: {name}}}")))
        error = self.only(MODEL, ("{op: linear, units: 3}", "{op: linear, units: 3, activation: swish}"))
        self.assertIn("there is no activation 'swish'", error)
        self.assertIn("silu", error)
        error = self.only(MODEL, ("{op: linear, units: 3}", "{op: linear, units: 3, bias: True}"))
        self.assertIn("must be true or false, not 'True'", error)
        self.assertIn("help: write `true`", error)

    def test_saving_is_said_by_its_key(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n")
        self.write("good.yaml", TABLE.replace("train: {", "train: {save_every: 3, "))
        self.assertIn("checkpoint_every", self.refuses("check", "good.yaml"))

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


class NamesOfOthersTest(HousesTestCase):
    def test_names_that_others_give_lead_to_ours(self):
        def named(old, new):
            return self.errors(HOUSES, (old, new))

        units = "{op: linear, units: 2"
        for theirs, ours in (("xavier_uniform", "glorot_uniform"), ("kaiming_normal", "he_normal"),
                             ("{normal: {std: 0.1}}", "deviation")):
            self.assertIn(f"help: write '{ours}'", named(units, f"{units}, init: {theirs}"))
        for theirs, ours in (("mnist", "idx"), ("image_folder", "images")):
            self.assertIn(f"help: write '{ours}'", named("format: csv", f"format: {theirs}"))
        self.assertIn("help: write 'conv'", named("op: concat", "op: convolve"))


if __name__ == "__main__":
    unittest.main()
