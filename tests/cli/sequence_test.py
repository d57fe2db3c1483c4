#!/usr/bin/env python3
"""`train: {sequence: ...}`: which paths a step runs, and how often."""

import csv
import json
import re
import unittest

import cli_testing

# One sample is the whole data set, so that an update does not depend on the epoch.
MODEL = """cgrun: 1
model: steps
data:
  train: {format: synthetic, samples: 1, classes: 3}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  body:
    in: x
    ops: [{op: linear, units: 8, activation: tanh}]
paths:
  prepare:
    mode: forward
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - pixels: {op: flatten}
  classify:
    ops:
      - {network: body, in: pixels}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
  restore:
    ops:
      - {network: body, in: pixels}
      - again: {op: linear, units: 16}
    loss: {op: squared_error, in: [again, pixels]}
train:
  epochs: EPOCHS
  batch: 1
  SEQUENCE
  optimizer: OPTIMIZER
"""

ADAM = "{op: adam, lr: 0.01}"
SGD = "{op: sgd, lr: 0.1, momentum: 0.9}"


class SequenceTest(cli_testing.CliTestCase):
    def hash(self, epochs, sequence, optimizer, *flags):
        text = MODEL.replace("EPOCHS", str(epochs)).replace("OPTIMIZER", optimizer)
        text = text.replace("SEQUENCE", f"sequence: {sequence}" if sequence else "")
        model = self.write("steps.yaml", text)
        done = self.cgrun("train", model, "--device", "reference", "--force", "--out", "run",
                          *flags)
        return re.search(r"hash ([0-9a-f]{16})", done.stdout)[1]

    def test_a_warm_up_that_paths_share_is_told_once(self):
        text = MODEL.replace("EPOCHS", "3").replace("SEQUENCE", "")
        text = text.replace("OPTIMIZER", "{op: sgd, lr: 0.1, schedule: {cosine: {warmup: 9}}}")
        model = self.write("steps.yaml", text)
        for verb in (["train", model, "--dry-run"], ["plan", model], ["check", model]):
            errors = self.cgrun(*verb).stderr
            self.assertEqual(errors.count("the warm-up takes 9 steps"), 1, errors)

    def test_a_repeated_path_learns_as_in_so_many_steps(self):
        for optimizer in (ADAM, SGD):
            once = self.hash(6, "[prepare, classify]", optimizer)
            self.assertEqual(self.hash(2, "[prepare, {classify: 3}]", optimizer), once)
            self.assertEqual(self.hash(3, "[prepare, classify, classify]", optimizer), once)
            self.assertNotEqual(self.hash(2, "[prepare, {classify: 2}]", optimizer), once)

    def test_the_order_counts_and_the_modes_agree(self):
        given = self.hash(2, "[prepare, classify, {restore: 2}]", ADAM)
        other = self.hash(2, "[prepare, {restore: 2}, classify]", ADAM)
        self.assertNotEqual(given, other)
        self.assertEqual(self.hash(2, "", ADAM), self.hash(2, "[prepare, classify, restore]", ADAM))
        self.assertEqual(
            self.hash(2, "[prepare, classify, {restore: 2}]", ADAM, "--mode", "eager"), given)

    def test_a_resumed_run_goes_on_in_the_same_bits(self):
        sequence = "[prepare, {classify: 2}, restore]"
        whole = self.hash(4, sequence, ADAM)
        self.hash(2, sequence, ADAM)
        done = self.cgrun("train", "--resume", "run", "--set", "train.epochs=4")
        self.assertIn(whole, done.stdout)

    def columns(self, text):
        self.write("steps.yaml", text.replace("EPOCHS", "2").replace("  SEQUENCE\n", ""))
        self.cgrun("train", "steps.yaml", "--force", "--out", "run", "--quiet")
        with open(self.folder / "run/metrics.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        rates = {key: [float(row[key]) for row in rows]
                 for key in rows[0] if key.startswith("learning_rate")}
        events = next((self.folder / "run").glob("events*")).read_bytes()
        for key in rates:
            self.assertIn(key.replace(".", "/").encode(), events)
        return rates

    def test_paths_with_their_own_optimizers_have_a_column_of_rates_each(self):
        shared = MODEL.replace("OPTIMIZER", SGD)
        self.assertEqual(self.columns(shared), {"learning_rate": [0.1, 0.1]})
        own = shared.replace("  restore:\n", "  restore:\n    optimizer: {op: sgd, lr: 0.5, schedule: "
                             "{step: {every: 1, factor: 0.5}}}\n")
        self.assertEqual(self.columns(own), {"learning_rate.classify": [0.1, 0.1],
                                             "learning_rate.restore": [0.5, 0.25]})
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=3", "--quiet")
        header = (self.folder / "run/metrics.csv").read_text().splitlines()[0]
        self.assertTrue(header.startswith("epoch,step,learning_rate.classify,learning_rate.restore,"))

    def test_what_a_sequence_leaves_out_cannot_be_read(self):
        self.write("steps.yaml", MODEL.replace("EPOCHS", "1").replace("OPTIMIZER", SGD)
                   .replace("SEQUENCE", "sequence: [classify]"))
        error = self.refuses("train", "steps.yaml")
        self.assertIn("path 'prepare' is left out of `train.sequence`, so nothing computes 'pixels'",
                      error)

    def test_what_a_sequence_leaves_out_is_looked_at_all_the_same(self):
        text = MODEL.replace("EPOCHS", "1").replace("OPTIMIZER", SGD)
        text = text.replace("SEQUENCE", "sequence: [prepare, classify]")
        self.write("steps.yaml", text.replace("units: 16", "unit: 16"))
        for verb in ("check", "plan", "train"):
            self.assertIn("'linear' has no key 'unit'", self.refuses(verb, "steps.yaml"), verb)

    def test_accumulated_gradients_are_of_one_set_of_weights(self):
        self.write("steps.yaml", MODEL.replace("EPOCHS", "1").replace("OPTIMIZER", SGD)
                   .replace("SEQUENCE", "sequence: [prepare, {classify: 2}]\n  accumulate: 2"))
        self.assertIn("runs several times in a step", self.refuses("train", "steps.yaml"))

    def plan(self, text, *flags):
        self.write("steps.yaml", text.replace("EPOCHS", "1").replace("OPTIMIZER", SGD)
                   .replace("  SEQUENCE\n", ""))
        return json.loads(self.cgrun("plan", "steps.yaml", "--json", *flags).stdout)

    def test_a_forward_path_trains_nothing_in_the_plan(self):
        numbers = {path["name"]: path["parameter_bytes"] for path in self.plan(MODEL)["paths"]}
        body, logits, again = 16 * 8 + 8, 8 * 3 + 3, 8 * 16 + 16
        self.assertEqual(numbers, {"prepare": 0, "classify": 4 * (body + logits),
                                   "restore": 4 * (body + again)})
        # A forward path trains neither its own parameters nor the shared ones.
        forward = MODEL.replace("  restore:\n", "  restore:\n    mode: forward\n").replace(
            "    loss: {op: squared_error, in: [again, pixels]}\n", "")
        numbers = {path["name"]: path["parameter_bytes"] for path in self.plan(forward)["paths"]}
        self.assertEqual(numbers, {"prepare": 0, "classify": 4 * (body + logits), "restore": 0})

    def test_a_gradient_that_several_paths_give_is_asked_for_by_path(self):
        """Guards against taking the first path's gradient where two paths train a parameter."""
        text = MODEL.replace("EPOCHS", "1").replace("OPTIMIZER", "{op: sgd, lr: 0.5}")
        self.write("steps.yaml", text.replace("SEQUENCE", "sequence: [prepare, classify, restore]"))
        shared = "grad(body.linear[0].weight)"
        error = self.refuses("train", "steps.yaml", "--keep", shared)
        self.assertIn("the losses of the paths 'classify' and 'restore' give body.linear[0].weight a "
                      "gradient each", error)
        self.assertIn(f"write 'classify.{shared}' or 'restore.{shared}'", error)
        self.assertIn("there is no restore.grad(logits.weight): the loss of path 'restore' does not "
                      "depend on classify.logits.weight",
                      self.refuses("train", "steps.yaml", "--keep", "restore.grad(logits.weight)"))
        self.assertIn("no path 'clasify' runs in a step",
                      self.refuses("train", "steps.yaml", "--keep", f"clasify.{shared}"))

        # Together they are the change of the one step: rate · (classify's + restore's).
        keep = [name for path in ("classify", "restore") for name in ("--keep", f"{path}.{shared}")]
        for mode in ("graph", "eager"):
            for run, rate in (("old", "0"), ("new", "0.5")):
                self.cgrun("train", "steps.yaml", "--mode", mode, "--force", "--out", run, "--quiet",
                           "--set", f"train.optimizer.lr={rate}", "--keep",
                           "body.linear[0].weight", *(keep if run == "new" else []))
            old, new = (cli_testing.read_npy(self.folder / run / "body.linear[0].weight.npy")[1]
                        for run in ("old", "new"))
            given = [cli_testing.read_npy(self.folder / f"new/{path}.{shared}.npy")[1]
                     for path in ("classify", "restore")]
            self.assertNotEqual(given[0], given[1])
            for a, b, x, y in zip(old, new, *given):
                self.assertAlmostEqual(b, a - 0.5 * (x + y), places=6)

    def test_a_check_looks_at_the_gradient_of_each_path(self):
        text = MODEL.replace("EPOCHS", "1").replace("OPTIMIZER", SGD)
        self.write("steps.yaml", text.replace("  SEQUENCE\n", ""))
        result = json.loads(self.cgrun("check", "steps.yaml", "--json").stdout)
        checked = {(check["path"], name) for check in result["gradients"]
                   for name in check["parameters"]}
        for path in ("classify", "restore"):
            self.assertIn((path, "body.linear[0].weight"), checked)
        compared = [device for device in result["devices"] if "skipped" not in device]
        self.assertTrue(compared, result["devices"])
        for device in compared:
            self.assertTrue(device["ok"], device)
            # It compares two losses and the gradients of three layers, of one by both paths.
            self.assertEqual(device["compared"], 2 + 8, device)

    def test_the_gradient_of_a_repeated_path_is_its_last_runs(self):
        text = MODEL.replace("OPTIMIZER", "{op: sgd, lr: 0.5}").replace("EPOCHS", "1")
        gradients = []
        for sequence, epochs in (("[prepare, {classify: 3}]", 1), ("[prepare, classify]", 3)):
            self.write("steps.yaml", text.replace("SEQUENCE", f"sequence: {sequence}"))
            self.cgrun("train", "steps.yaml", "--force", "--out", "run", "--quiet", "--device",
                       "reference", "--keep", "grad(logits.weight)", "--set",
                       f"train.epochs={epochs}")
            gradients.append(cli_testing.read_npy(self.folder / "run/grad(logits.weight).npy"))
        self.assertEqual(gradients[0], gradients[1])


if __name__ == "__main__":
    unittest.main()
