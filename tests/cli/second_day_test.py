#!/usr/bin/env python3
"""What new users got wrong once their first model ran: each message names what this model has and
what this build does, and the way out that it offers is one."""

import json
import re
import unittest

from cli_testing import MODEL, CliTestCase

GAN = """cgrun: 1
model: pair
data: {train: {format: synthetic, samples: 24, classes: 3}}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  artist: {in: z, ops: [{op: linear, units: 16}]}
  critic: {in: x, ops: [{op: linear, units: 1}]}
paths:
  prepare:
    mode: forward
    ops: [{op: normalize, in: image, scale: 2/255, mean: 1}, {x: {op: flatten}}]
gan:
  generator: artist
  discriminator: critic
  latent: {op: random_normal, shape: [5]}
  real: x
  optimizer: {op: sgd, lr: 1.0e+30}
train: {epochs: 9, batch: 8}
"""
READER = """cgrun: 1
model: reader
data: {train: {format: text, file: text, length: 8}}
inputs:
  text: {type: uint8, shape: [8]}
  next: {type: uint8, shape: [8]}
  h: {shape: [24]}
networks:
  cell:
    in: [character, h]
    ops:
      - x: {op: embedding, in: character, entries: 256, units: 16}
      - {op: concat, in: [x, h]}
      - {op: linear, units: 24, activation: tanh}
paths:
  read:
    ops:
      - {network: cell, in: [text, h], unroll: 1, out: [states, h_next]}
      - {op: linear, in: states, units: 256}
      - scores: {op: transpose, perm: [0, 2, 1]}
    loss: {op: softmax_cross_entropy, in: [scores, next]}
update: {h_next: h}
train: {epochs: 1, batch: 8, optimizer: {op: sgd, lr: 0.1}}
"""
TABLE = """cgrun: 1
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
TWO_PATHS = """cgrun: 1
model: two
data: {train: {format: synthetic, samples: 24, classes: 3}}
inputs:
  image: {type: f32, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  first: {in: x, ops: [{op: flatten}, {op: linear, units: 3}]}
  second: {in: x, ops: [{op: flatten}, {op: linear, units: 3}]}
  both: {in: x, ops: [{network: first}, {op: linear, units: 3}]}
paths:
  one:
    ops: [{logits: {network: both, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
  two:
    trains: [first, second]
    ops: [{logits: {network: second, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 8, optimizer: {op: sgd, lr: 0.1}}
"""


class ModelsTest(CliTestCase):
    def test_the_rate_that_diverged_is_named_by_its_key(self):
        def help_of(text):
            error = self.cgrun("train", self.write("high.yaml", text), "--force", "--quiet",
                               status=1).stderr
            return re.findall("(?m)^help: (.*)$", error)[-1]

        often = "a smaller learning rate often helps: --set "
        self.assertEqual(help_of(GAN), often + "gan.optimizer.lr=…")
        each = "optimizer: {generator: {op: sgd, lr: 0.1}, discriminator: {op: sgd, lr: 1.0e+30}}"
        self.assertEqual(help_of(GAN.replace("optimizer: {op: sgd, lr: 1.0e+30}", each)),
                         often + "gan.optimizer.discriminator.lr=…")
        of_train = GAN.replace("  optimizer: {op: sgd, lr: 1.0e+30}\n", "").replace(
            "batch: 8", "batch: 8, optimizer: {op: sgd, lr: 1.0e+30}")
        self.assertEqual(help_of(of_train), often + "train.optimizer.lr=…")
        of_path = MODEL.replace("    metrics:", "    optimizer: {op: sgd, lr: 1.0e+39}\n    metrics:")
        self.assertEqual(help_of(of_path), often + "paths.classify.optimizer.lr=…")

    def test_numbers_that_no_update_made_are_not_for_the_rate_to_mend(self):
        def help_of(ops, rows):
            self.write("numbers.csv", "x,y\n" + "".join(f"{x},1\n" for x in rows))
            self.write("domain.yaml", f"""cgrun: 1
data: {{train: {{format: csv, file: numbers.csv, label: y}}}}
inputs: {{x: {{type: f32, shape: [1]}}, y: {{type: f32, shape: [1]}}}}
paths:
  p:
    ops: [{ops}]
    loss: {{op: squared_error, in: [z, y]}}
train: {{epochs: 1, batch: 10, shuffle: false, optimizer: {{op: sgd, lr: 0.01}}}}
""")
            error = self.cgrun("train", "domain.yaml", "--force", "--quiet", status=1).stderr
            return error.split("error: ")[1].split("\n")[0], re.findall("(?m)^help: (.*)$", error)[-1]

        ones, zero = [1] * 40, [1] * 25 + [0] + [1] * 14
        what, advice = help_of("l: {op: log, in: x}, z: {op: linear, in: l, units: 1}", [0] + ones)
        self.assertIn("p.l made the first value that is not finite (infinite), in step 1", what)
        self.assertEqual(advice, "no parameter had changed by then, so that this is not for the learning "
                                 "rate to mend: it takes numbers above 0: `clip` with `min: 1.0e-7`, say, "
                                 "keeps what it reads there")
        what, advice = help_of("l: {op: log, in: x}, z: {op: linear, in: l, units: 1}", zero)
        self.assertIn("in step 3", what)
        self.assertIn("no parameter leads to it, so that this is not for the learning rate", advice)
        what, advice = help_of("l: {op: linear, in: x, units: 1, init: {weight: zeros, bias: zeros}}, "
                               "z: {op: sqrt, in: l}", ones)
        self.assertIn("in step 1", what)
        self.assertIn("its gradient at 0 is infinite: `clip` with `min: 1.0e-7`", advice)
        # What parameters lead to may be of steps that were too large.
        what, advice = help_of("l: {op: linear, in: x, units: 1, init: {weight: ones, bias: zeros}}, "
                               "z: {op: log, in: l}", [1] * 10 + [-1] * 30)
        self.assertIn("in step 2", what)
        self.assertIn("a smaller learning rate often helps", advice)

    def test_an_epsilon_of_nothing_is_told_before_and_after(self):
        # The gradients of all weights are 0.
        text = MODEL.replace("op: sgd, lr: 0.05, momentum: 0.9", "op: adam, lr: 0.01, epsilon: 0").replace(
            "{op: flatten}", "flat: {op: flatten}\n      - {op: mul, in: [flat, 0]}")
        error = self.cgrun("train", self.write("zero.yaml", text), "--quiet", status=1).stderr
        self.assertIn("warning: 'adam': `epsilon: 0` makes 0/0, which is NaN, of a gradient that has "
                      "always been 0\n", error)
        self.assertIn("\nhelp: leave `epsilon` out, or give a small number\n", error)
        self.assertIn("\nhelp: without `epsilon` an update is 0/0 where gradients are 0: --set "
                      "train.optimizer.epsilon=1.0e-8; a smaller", error)
        for name, settings, warns in (("adamw", "", True), ("rmsprop", "", True), ("adagrad", "", True),
                                      ("adagrad", ", initial_accumulator: 0.1", False)):
            optimizer = f"op: {name}, lr: 0.01, epsilon: 0{settings}"
            self.write("zero.yaml", MODEL.replace("op: sgd, lr: 0.05, momentum: 0.9", optimizer))
            done = self.cgrun("train", "zero.yaml", "--dry-run")
            self.assertEqual("`epsilon: 0` makes 0/0" in done.stderr, warns, optimizer)
            self.assertLessEqual(done.stderr.count("warning: "), 1, done.stderr)

    def test_a_wrong_update_is_told_alone(self):
        self.write("text", "hello world. " * 50)
        self.write("reader.yaml", READER)
        self.cgrun("train", "reader.yaml", "--dry-run")
        self.write("wrong.yaml", READER.replace("{h_next: h}", "{h_next: text}"))
        for verb in ("train", "check", "plan"):
            error = self.refuses(verb, "wrong.yaml")
            self.assertEqual(error.count("error: "), 1, error)
            self.assertIn("error: 'h_next' is f32[N, 24], but the input 'text' that takes its value is "
                          "uint8[N, 8]\n", error)
        self.write("wrong.yaml", READER.replace("{h_next: h}", "{h_nxt: h}"))
        error = self.refuses("train", "wrong.yaml")
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("there is no value 'h_nxt'", error)

    def test_what_a_path_does_not_use_it_does_not_train(self):
        self.write("two.yaml", TWO_PATHS)
        for verb, *flags in (("train", "--dry-run"), ("check",)):
            told = self.cgrun(verb, "two.yaml", *flags).stderr
            self.assertEqual(told.count("warning: path"), 1, told)
            self.assertNotIn("no gradient", told)
            self.assertIn("two.yaml:16:14: warning: path 'two' trains 'first', but its loss does not "
                          "depend on it\n", told)
            self.assertIn("help: take it out of `trains`, or use 'first' in the path\n", told)
        self.write("two.yaml", TWO_PATHS.replace("[first, second]", "second"))
        self.assertNotIn("warning", self.cgrun("train", "two.yaml", "--dry-run").stderr)

    def test_a_precision_by_another_name_leads_to_one_that_there_is(self):
        for name in ("fp16", "half", "float16"):
            error = self.refuses("train", "small.yaml", "--precision", name)
            self.assertIn(f"'precision' must be f32, f64 or bf16, not '{name}'\n", error)
            self.assertNotIn("'f16'", error)
        self.assertIn("did you mean 'bf16'?", self.refuses("train", "small.yaml", "--precision", "bfloat16"))
        self.assertIn("f32, bf16 and f64 are what there is",
                      self.refuses("train", "small.yaml", "--precision", "f16"))

    def test_numbers_that_are_none(self):
        def told(old, new):
            error = self.refuses("train", self.write("wrong.yaml", MODEL.replace(old, new)))
            self.assertEqual(error.count("error: "), 1, error)
            return error

        for rate, what in (("fast", "a number, not 'fast'"), ("-0.1", "at least 0, not '-0.1'")):
            self.assertIn(f"'lr' must be {what}\n", told("lr: 0.05", f"lr: {rate}"))
            self.assertIn("help: lr: learning rate, before its schedule\n", told("lr: 0.05", f"lr: {rate}"))
        self.assertIn("help: write `lr: 0.05`, with a point\n", told("lr: 0.05", "lr: 0,05"))
        self.assertIn("help: write 0.001, with a point\n",
                      told("optimizer: {op: sgd, lr: 0.05, momentum: 0.9}",
                           "optimizer:\n    op: sgd\n    lr: 0,001"))
        error = told("batch: 20", "batch: 16.5")
        self.assertIn("'batch' must be an integer, not '16.5'\n", error)
        self.assertIn("help: a whole number, such as 17\n", error)
        self.assertIn("help: begin with the line `cgrun: 1`\n", told("cgrun: 1\n", ""))

    def test_a_file_without_train_is_one_error(self):
        text = MODEL[:MODEL.index("train:\n  epochs")]
        error = self.refuses("train", self.write("bare.yaml", text))
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("bare.yaml: error: the file does not say how to train: it has no 'train'\n", error)

    def test_a_file_without_data(self):
        text = MODEL[:MODEL.index("data:")] + MODEL[MODEL.index("inputs:"):]
        error = self.refuses("train", self.write("bare.yaml", text))
        self.assertIn("bare.yaml: error: there is no training data\n", error)
        self.assertIn("`data: {train: {format: images, folder: FOLDER}}` for images", error)


class RunsTest(CliTestCase):
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

    def test_weights_that_fit_by_chance_are_refused(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        wide = MODEL.replace("- {op: flatten}", "- {op: flatten}\n      - hidden: {op: linear, units: 7}")
        self.write("wide.yaml", wide)
        error = self.refuses("train", "wide.yaml", "--weights", "run")
        self.assertIn("hardly anything in run/checkpoint-8.safetensors fits this model, only "
                      "classify.logits (bias):\n      classify.logits.weight: f32[3, 16] in the file, "
                      "f32[3, 7] in the model\n", error)
        self.write("wide.yaml", wide + "weights: run\n")
        for verb in ("train", "check"):
            self.assertIn("hardly anything in run/", self.refuses(verb, "wide.yaml"))
        # A last layer that is replaced leaves the weights before it.
        self.write("wide.yaml", wide)
        self.cgrun("train", "wide.yaml", "--out", "wide", "--quiet")
        self.write("tuned.yaml", wide.replace("logits: {op: linear, units: 3}",
                                              "logits: {op: linear, units: 5}"))
        done = self.cgrun("train", "tuned.yaml", "--weights", "wide", "--out", "tuned")
        self.assertIn("weights: 2 tensors loaded", done.stderr)

    def test_a_run_folder_in_place_of_a_model(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.assertIn("eval, predict and generate take its weights: `cgrun eval run/model.yaml --weights run`",
                      self.refuses("generate", "run"))

    def test_a_folder_that_cannot_be_made(self):
        error = self.refuses("train", "small.yaml", "--out", "/proc/nothing")
        self.assertIn("cannot make the folder '/proc/nothing': ", error)
        self.assertIn("help: --out DIR takes another", error)

    def test_eval_names_its_weights_once(self):
        self.cgrun("train", "small.yaml", "--quiet")
        done = self.cgrun("eval", "small.yaml")
        self.assertEqual((done.stderr + done.stdout).count("runs/small/"), 1, done.stderr + done.stdout)


class CommandsTest(CliTestCase):
    def test_a_model_file_in_place_of_a_program(self):
        error = self.refuses("disasm", "small.yaml")
        self.assertIn("'small.yaml' is a model file, where a compiled program (.cgb) is wanted", error)
        self.assertIn("`cgrun compile small.yaml -o small.cgb` makes one", error)

    def test_errors_of_a_missing_file_name_it_in_json(self):
        for verb in ("train", "check", "plan"):
            done = self.cgrun(verb, "nofile.yaml", "--json", status=2)
            self.assertEqual(json.loads(done.stdout)["errors"][0]["file"], "nofile.yaml")

    def test_more_images_than_a_sheet_has(self):
        self.write("pair.yaml", GAN.replace("1.0e+30", "0.01"))
        for count in ("20000", "99999999"):
            error = self.refuses("generate", "pair.yaml", "-n", count)
            self.assertIn(f"-n, --count must be 1 to 10000 for a model of images, not '{count}'\n", error)
            self.assertIn("help: a sheet has no room for more; another --seed makes other samples", error)
        self.assertIn("-n, --count must be an integer, at least 1, not '0'",
                      self.refuses("generate", "pair.yaml", "-n", "0"))

    def test_one_entry_point_is_no_entry_points(self):
        text = MODEL.replace("samples: 65", "samples: 60")
        self.write("one.yaml", text[:text.index("  test:")] + text[text.index("inputs:"):])
        self.assertIn("one.cgb: 1 entry point, ",
                      self.cgrun("compile", "one.yaml", "-o", "one.cgb").stdout)
        self.assertRegex(self.cgrun("compile", "small.yaml", "-o", "small.cgb").stdout,
                         r"small.cgb: [2-9] entry points, ")

    def test_a_table_of_other_fields_than_the_predictions_read(self):
        self.write("table.yaml", TABLE.replace(
            "train: {epochs", "  judge:\n    mode: forward\n    ops:\n"
            "      - known: {op: one_hot, in: kind, classes: 2}\n"
            "      - wrong: {op: sub, in: [tell.z, known]}\ntrain: {epochs"))
        self.write("train.csv", "a;kind;b\n" + "0;cold;1\n0;warm;3\n" * 4)
        self.cgrun("train", "table.yaml", "--quiet")
        error = self.refuses("predict", "table.yaml", "train.csv")
        self.assertIn("'train.csv' has 'features', but the predictions read 'x' and 'kind'\n", error)
        self.assertIn("let `out:` of a path name a value that does not depend on 'kind' (", error)
        self.cgrun("predict", "table.yaml", "train.csv", "--set", "paths.tell.out=z")

        self.write("towns.yaml", TABLE.replace("label: kind", "label: kind, categories: [town]")
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

    def test_an_optimizer_of_a_forward_path(self):
        self.write("forward.yaml", MODEL.replace("  classify:\n", "  aside:\n    mode: forward\n"
                   "    optimizer: {op: sgd, lr: 1}\n    ops: [{op: relu, in: logits}]\n  classify:\n"))
        error = self.refuses("check", "forward.yaml")
        self.assertIn("a forward path learns nothing: 'optimizer' means nothing here", error)
        self.assertIn("help: remove it; or remove `mode: forward`, if the path is to learn\n", error)

    def test_a_value_of_a_path_that_runs_twice(self):
        self.write("twice.yaml", MODEL + "  sequence: [{classify: 3}]\n")
        done = self.cgrun("plan", "twice.yaml", "--why", "logits")
        self.assertIn("classify.logits", done.stdout)
        self.assertNotIn("[0]", self.refuses("plan", "twice.yaml", "--why", "logit"))


if __name__ == "__main__":
    unittest.main()
