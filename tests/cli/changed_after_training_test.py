#!/usr/bin/env python3
"""`eval`, `predict` and `train --resume` notice what has changed since the training: columns, samples,
labels, the network."""

import json
import random
import unittest

from cli_testing import CliTestCase

MODEL = """cgrun: 1
model: table
data:
  train: {format: csv, file: train.csv, label: y, columns: [a, b]}
  valid: {split: 0.2}
  test: {format: csv, file: test.csv, label: y, columns: [a, b]}
inputs:
  features: {type: f32, shape: [2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: linear, in: features, units: 8, activation: relu}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 8, optimizer: {op: adam, lr: 0.02}}
"""


def table(seed, rows):
    dice = random.Random(seed)
    lines = ["a,b,c,y"]
    for _ in range(rows):
        a, b = dice.random(), dice.random()
        lines.append(f"{a:.4f},{b:.4f},{dice.random():.4f},{int(a > 2 * b)}")
    return lines


class ChangedAfterTrainingTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.rows = table(1, 400)
        self.write("table.yaml", MODEL)
        self.write("train.csv", "\n".join(self.rows) + "\n")
        self.write("test.csv", "\n".join(table(2, 40)) + "\n")
        self.write("rows.csv", "a,b\n0.9,0.1\n0.1,0.9\n")
        self.cgrun("train", "table.yaml", "--quiet")

    def loss(self, *arguments):
        done = self.cgrun("eval", "table.yaml", "--json", *arguments)
        return json.loads(done.stdout)["metrics"], done.stderr

    def change(self, old, new):
        self.assertIn(old, MODEL)
        self.write("table.yaml", MODEL.replace(old, new))

    def test_columns_are_those_of_the_training(self):
        before, _ = self.loss()
        self.assertEqual(self.loss("--set", "data.test.columns=[b, a]")[0], before)
        predicted = self.cgrun("predict", "table.yaml", "rows.csv").stdout
        self.change("columns: [a, b]", "columns: [b, a]")
        self.assertEqual(self.loss()[0], before)
        self.assertEqual(self.cgrun("predict", "table.yaml", "rows.csv").stdout, predicted)
        self.change("columns: [a, b]", "columns: [a, c]")
        for command in (("eval", "table.yaml"), ("predict", "table.yaml", "test.csv")):
            error = self.refuses(*command)
            self.assertIn("error: `columns` lists other columns than the weights were trained with: "
                          "it lacks 'b', and adds 'c'\n", error)

    def test_a_part_of_other_data_is_warned_of(self):
        self.assertNotIn("warning", self.loss("--split", "valid")[1])
        self.write("train.csv", "\n".join(self.rows[:223]) + "\n")
        error = self.loss("--split", "valid")[1]
        self.assertIn("warning: the training data are not those that the weights were trained on: "
                      "222 samples are left, of 400; 'valid' may hold samples that were learned "
                      "from", error)
        self.assertNotIn("warning", self.loss("--split", "test")[1])

    def test_another_network_is_warned_of(self):
        told = "warning: the model file differs from the one that these weights were trained with: "
        commands = (("eval", "table.yaml"), ("predict", "table.yaml", "rows.csv"))
        for command in commands:
            self.assertNotIn(told, self.cgrun(*command).stderr)
        self.change("activation: relu", "activation: tanh")
        for command in commands:
            error = self.cgrun(*command).stderr
            self.assertIn(told + "paths.classify.ops[0].activation (relu → tanh)\n", error)
            self.assertNotIn(told, self.cgrun(*command, "--set",
                                              "paths.classify.ops[0].activation=tanh").stderr)
        for old, new in (("lr: 0.02", "lr: 0.5"),
                         ("activation: relu", "activation: relu, frozen: true"),
                         ("units: 2}", "units: 2, regularize: {l2: 0.1}}"),
                         ("label]}\ntrain", "label], label_smoothing: 0.1, weight: 2}\ntrain")):
            self.change(old, new)
            for command in commands:
                self.assertNotIn(told, self.cgrun(*command).stderr,
                                 "how it was trained does not count")

    def test_keys_that_are_set_are_meant(self):
        told = "differs from the one that these weights were trained with"
        self.change("units: 2}", "units: 2, activation: tanh}")
        key = "paths.classify.ops.logits.activation"
        command = ("predict", "table.yaml", "rows.csv")
        self.assertIn(f"{told}: {key} (none → tanh)", self.cgrun(*command).stderr)
        for key in (key, "paths.classify.ops[1].activation"):
            self.assertNotIn(told, self.cgrun(*command, "--set", key + "=tanh").stderr)
        other = "paths.classify.ops[0].activation=relu"
        self.assertIn(told, self.cgrun(*command, "--set", other).stderr)

    def test_other_labels_end_a_run(self):
        resume = ("train", "--resume", "runs/table", "--quiet", "--set", "train.epochs=3")
        self.rows[200] = self.rows[200][:-1] + str(1 - int(self.rows[200][-1]))
        self.write("train.csv", "\n".join(self.rows) + "\n")
        error = self.refuses(*resume)
        self.assertIn("was trained with: as many samples, but with other labels\n", error)
        self.assertIn("help: a run goes on with the same data alone", error)
        for file in (self.folder / "runs/table").glob("*.safetensors"):  # of an earlier version
            whole = file.read_bytes()
            for key in (b"cgrun:checksum", b"data.checksum", b"data.labels_checksum",
                        b"data.samples"):
                self.assertEqual(whole.count(key), 1)
                whole = whole.replace(key, b"other" + key[5:])
            file.write_bytes(whole)
        self.cgrun(*resume)

    def test_other_samples_with_the_same_labels_are_warned_of(self):
        cells = [row.split(",") for row in self.rows]
        cells[201][0], cells[202][0] = cells[202][0], cells[201][0]  # the same mean and deviation
        self.assertNotEqual(cells[201][0], cells[202][0])
        self.write("train.csv", "\n".join(",".join(row) for row in cells) + "\n")
        done = self.cgrun("train", "--resume", "runs/table", "--quiet", "--set", "train.epochs=3")
        self.assertIn("warning: the training data are not those that runs/table/", done.stderr)
        self.assertIn("with: as many samples with the same labels, but others\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
