#!/usr/bin/env python3
"""A loss that becomes NaN or infinite: the error names what to change, and the rate only where it can
be to blame."""

import re
import unittest

from cli_testing import MODEL, PAIR, TABLE, CliTestCase


class NotFiniteTest(CliTestCase):
    def test_the_rate_that_diverged_is_named_by_its_key(self):
        def help_of(text):
            error = self.cgrun("train", self.write("high.yaml", text), "--force", "--quiet",
                               status=1).stderr
            return re.findall("(?m)^help: (.*)$", error)[-1]

        pair = PAIR.replace("lr: 0.01", "lr: 1.0e+30").replace("  loss: least_squares\n", "")
        often = "a smaller learning rate often helps: --set "
        self.assertEqual(help_of(pair), often + "gan.optimizer.lr=…")
        each = "optimizer: {generator: {op: sgd, lr: 0.1}, discriminator: {op: sgd, lr: 1.0e+30}}"
        self.assertEqual(help_of(pair.replace("optimizer: {op: sgd, lr: 1.0e+30}", each)),
                         often + "gan.optimizer.discriminator.lr=…")
        of_train = pair.replace("  optimizer: {op: sgd, lr: 1.0e+30}\n", "").replace(
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
        # If parameters lead to the numbers, steps may have been too large.
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

    def test_columns_of_other_sizes_may_be_standardized(self):
        self.write("rows.csv", "year,y\n" + "".join(f"{1900 + i},{i % 7}\n" for i in range(60)))
        text = (TABLE.replace("label: kind", "label: y").replace("units: 2", "units: 1")
                .replace("shape: [2]", "shape: [1]").replace("{type: int32, shape: []}", "{shape: [1]}")
                .replace("softmax_cross_entropy", "squared_error").replace("epochs: 1", "epochs: 9"))
        error = self.cgrun("train", self.write("years.yaml", text), "--quiet", status=1).stderr
        self.assertIn("--set train.optimizer.lr=…; so do columns of about the same size: --set "
                      "data.train.standardize=true\n", error)
        self.cgrun("train", "years.yaml", "--quiet", "--force", "--set", "data.train.standardize=true")


if __name__ == "__main__":
    unittest.main()
