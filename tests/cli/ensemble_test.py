#!/usr/bin/env python3
"""Tests ensembles of `cgrun search`: who their members are, and that one program gives their mean."""

import json
import math
import os
import random
import signal
import struct
import subprocess
import unittest

import cli_testing

SEARCH = """cgrun: 1
model: model.yaml
metric: loss
method: random
seed: 3
keep: 20
budget: {trials: 6}
parameters:
  train.optimizer.lr: {min: 0.01, max: 0.3, log: true}
  paths.classify.ops.hidden.units: {values: [2, 3, 5]}
  paths.classify.ops.hidden.activation: [relu, tanh]
"""

CLASSES = """cgrun: 1
model: classes
data:
  train: {format: npy, image: train-image.npy, label: train-label.npy}
  valid: {format: npy, image: valid-image.npy, label: valid-label.npy}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  prepare:
    mode: forward
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - x: flatten
  classify:
    ops:
      - hidden: {op: linear, in: x, units: 4}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 2, batch: 8, optimizer: {op: sgd, lr: 0.05}}
"""

# It predicts numbers from the same data.
VALUES = (CLASSES.replace("label.npy", "number.npy").replace("label: {type: int32, shape: []}", "label: {shape: [1]}")
          .replace("softmax_cross_entropy", "squared_error").replace("units: 3", "units: 1")
          .replace("    metrics: {accuracy: {in: [logits, label]}}\n", "")
          .replace("logits", "guess"))

# Each sample is a yes or a no.
YES_NO = (VALUES.replace("number.npy", "yes.npy").replace("squared_error", "binary_cross_entropy")
          .replace("    loss:", "    metrics: {auc: {in: [guess, label]}}\n    loss:"))

# Blocks and networks, which have names of their own.
BLOCKS = CLASSES.replace("paths:", """networks:
  tower: {in: x, ops: [{block: layer, with: {n: 6}}, {op: linear, units: 4, activation: tanh}]}
blocks:
  layer: {params: {n: null}, in: x, ops: [{op: linear, in: x, units: "${n}", activation: relu}]}
paths:""").replace("      - hidden: {op: linear, in: x, units: 4}\n", """      - {block: layer, in: prepare.x, with: {n: 5}}
      - {block: layer, with: {n: 5}}
      - {network: tower}
""").replace("logits", "scores")

SAMPLES = {"train": 48, "valid": 41}


def log_sum(numbers):
    most = max(numbers)
    return most + math.log(sum(math.exp(number - most) for number in numbers))


def softmax(numbers):
    below = log_sum(numbers)
    return [math.exp(number - below) for number in numbers]


def sigmoid(number):
    return 1 / (1 + math.exp(-number)) if number >= 0 else math.exp(number) / (1 + math.exp(number))


class Kind:
    """Says how predictions of a kind are averaged and judged."""

    def __init__(self, model, output, averaged, loss):
        self.model, self.output, self.averaged, self.loss = model, output, averaged, loss


def cross_entropy(probabilities, label):
    return -math.log(max(probabilities[label], 1e-37))


def squared(values, label):
    return (values[0] - label) ** 2


def yes_or_no(chances, label):
    return -math.log(max(chances[0] if label > 0.5 else 1 - chances[0], 1e-37))


KINDS = {
    "classes": Kind(CLASSES, "logits", softmax, cross_entropy),
    "values": Kind(VALUES, "guess", list, squared),
    "yes or no": Kind(YES_NO, "guess", lambda row: [sigmoid(row[0])], yes_or_no),
}


class EnsembleTestCase(cli_testing.CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", CLASSES)
        draw = random.Random(11)
        self.labels = {}
        for name, count in SAMPLES.items():
            labels = [draw.randrange(3) for _ in range(count)]
            # The label is where the image is bright, more or less.
            images = bytes(min(255, draw.randrange(150) + (105 if place % 3 == label else 0))
                           for label in labels for place in range(16))
            numbers = [label + draw.gauss(0, 0.3) for label in labels]
            self.write_bytes(f"{name}-image.npy", cli_testing.npy((count, 1, 4, 4), images))
            self.write_bytes(f"{name}-label.npy", cli_testing.npy((count,), struct.pack(f"<{count}i", *labels), "<i4"))
            self.write_bytes(f"{name}-number.npy", cli_testing.npy_of_floats((count, 1), numbers))
            yes = [float(label == 1) for label in labels]
            self.write_bytes(f"{name}-yes.npy", cli_testing.npy_of_floats((count, 1), yes))
            self.labels[name] = {"classes": labels, "yes or no": yes,
                                 "values": list(struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *numbers)))}

    def write_bytes(self, name, data):
        (self.folder / name).write_bytes(data)

    def search(self, text, out="s", *flags, **options):
        return self.cgrun("search", self.write(f"{out}.yaml", text), "--out", out, *flags, **options)

    def record(self, out="s"):
        return json.loads((self.folder / out / "ensemble/ensemble.json").read_text())

    def bytes_of(self, out):
        return {path.name: path.read_bytes() for path in (self.folder / out / "ensemble").iterdir()}

    def rows(self, folder, output, image="valid-image.npy"):
        """Returns a row of numbers for each sample that a model predicts."""
        self.cgrun("predict", f"{folder}/model.yaml", image, "--weights", folder, "--out", "predicted")
        shape, numbers = cli_testing.read_npy(self.folder / f"predicted/{output}.npy")
        width = len(numbers) // shape[0]
        return [list(numbers[i:i + width]) for i in range(0, len(numbers), width)]


class MeanTest(EnsembleTestCase):
    def candidates(self, kind, out="s"):
        trials = [path.name for path in (self.folder / out / "trials").iterdir()]
        return {int(trial): [kind.averaged(row) for row in self.rows(f"{out}/trials/{trial}", kind.output)]
                for trial in trials}

    def loss(self, name, mean, half):
        kind, labels = KINDS[name], self.labels["valid"][name]
        samples = range(half, SAMPLES["valid"], 2)
        return sum(kind.loss(mean[i], labels[i]) for i in samples) / len(samples)

    def mean_of(self, candidates, picks):
        count = sum(picks.values())
        rows = range(SAMPLES["valid"])
        width = len(next(iter(candidates.values()))[0])
        return [[sum(picks[trial] * candidates[trial][i][k] for trial in picks) / count for k in range(width)]
                for i in rows]

    def greedy(self, name, candidates, order, most):
        """Selects as Caruana et al. say, in the plainest way."""
        picks, best, least = {}, {}, math.inf
        for _ in range(most):
            losses = {trial: self.loss(name, self.mean_of(candidates, {**picks, trial: picks.get(trial, 0) + 1}), 0)
                      for trial in order}
            trial = min(order, key=losses.get)
            picks = {**picks, trial: picks.get(trial, 0) + 1}
            if losses[trial] < least - 1e-9:
                best, least = picks, losses[trial]
        return best

    def order(self, out="s"):
        rows = (self.folder / out / "results.csv").read_text().splitlines()[1:]
        return [int(row.split(",")[1]) for row in rows]

    def check(self, name, choice, choose):
        """Compares a search's ensemble with the picks of `choose`, which may pick others that are as good."""
        kind = KINDS[name]
        self.write("model.yaml", kind.model)
        text = SEARCH.replace("trials: 6", "trials: 12").replace("0.01, max: 0.3", "0.02, max: 0.1")
        self.search(text + "  train.epochs: [6, 7]\n" + f"ensemble: {choice}\n", "s", "--force")
        candidates, record = self.candidates(kind), self.record()
        picks = {member["trial"]: member["picks"] for member in record["members"]}
        mean, right = self.mean_of(candidates, picks), self.mean_of(candidates, choose(candidates))
        self.assertAlmostEqual(self.loss(name, mean, 0), self.loss(name, right, 0), delta=2e-6, msg=(name, choice))
        self.assertAlmostEqual(record["value"], self.loss(name, mean, 1), delta=2e-6)
        best = self.order()[0]
        self.assertEqual(record["best_trial"], best)
        self.assertAlmostEqual(record["best_trial_value"], self.loss(name, candidates[best], 1), delta=2e-6)
        # One program predicts that mean, in the form of its members.
        predicted = [kind.averaged(row) for row in self.rows("s/ensemble", kind.output)]
        for row, wanted in zip(predicted, mean):
            for number, right in zip(row, wanted):
                self.assertAlmostEqual(number, right, delta=1e-6 * max(1, abs(right)))
        done = self.cgrun("eval", "s/ensemble/model.yaml", "--weights", "s/ensemble", "--split", "valid", "--json")
        whole = sum(self.loss(name, mean, half) * len(range(half, SAMPLES["valid"], 2)) for half in (0, 1))
        loss = json.loads(done.stdout)["metrics"]["loss"]
        self.assertAlmostEqual(loss, whole / SAMPLES["valid"], delta=2e-6)
        return sorted(picks.values())

    def test_top_is_the_mean_of_the_best(self):
        for name in KINDS:
            def choose(candidates, name=name):
                losses = {trial: self.loss(name, candidates[trial], 0) for trial in self.order()}
                return {trial: 1 for trial in sorted(self.order(), key=losses.get)[:3]}
            self.assertEqual(self.check(name, "{top: 3}", choose), [1, 1, 1])

    def test_greedy_selects_as_its_source_says(self):
        all_picks = []
        for name in KINDS:
            def choose(candidates, name=name):
                return self.greedy(name, candidates, self.order(), 8)
            all_picks.append(self.check(name, "{greedy: 8}", choose))
        self.assertGreater(max(map(len, all_picks)), 1, all_picks)
        self.assertGreater(max(map(max, all_picks)), 1, all_picks)

    def test_architectures_are_mixed(self):
        self.write("blocks.yaml", BLOCKS)
        text = SEARCH.replace("model: model.yaml", "model: [model.yaml, blocks.yaml]")
        text = text.replace("values: [2, 3, 5]}", "values: [2, 3], when: {model: model.yaml}}")
        text = text.replace("[relu, tanh]", "{values: [relu, tanh], when: {model: model.yaml}}")
        self.search(text + "ensemble: {top: 6}\n")
        record = self.record()
        self.assertEqual(len(record["members"]), 6)
        models = {(self.folder / f"s/trials/{member['trial']}/model.yaml").read_text().split("\n")[1]
                  for member in record["members"]}
        self.assertEqual(len(models), 1)  # both files call it so
        mean = [[0] * 3 for _ in range(SAMPLES["valid"])]
        outputs = set()
        for member in record["members"]:
            folder = f"s/trials/{member['trial']}"
            output = "scores" if "tower" in (self.folder / folder / "model.yaml").read_text() else "logits"
            outputs.add(output)
            for row, numbers in zip(mean, self.rows(folder, output)):
                for k, number in enumerate(softmax(numbers)):
                    row[k] += number / 6
        self.assertEqual(outputs, {"scores", "logits"})
        first = (self.folder / f"s/trials/{record['best_trial']}/model.yaml").read_text()
        output = "scores" if "tower" in first else "logits"
        for row, right in zip(self.rows("s/ensemble", output), mean):
            for number, wanted in zip(softmax(row), right):
                self.assertAlmostEqual(number, wanted, delta=1e-6)

    def test_classes_of_places_are_averaged_place_by_place(self):
        masks = CLASSES.replace("label: {type: int32, shape: []}", "label: {type: int32, shape: [4, 4]}")
        masks = masks.replace("label.npy", "mask.npy").replace("      - x: flatten\n", "").replace("pixels:", "x:")
        masks = masks.replace("op: linear, in: x, units: 4", "op: conv, in: x, filters: 4, kernel: 1")
        self.write("model.yaml", masks.replace("op: linear, units: 3", "op: conv, filters: 3, kernel: 1"))
        for name, count in SAMPLES.items():
            labels = [place % 3 for place in range(16 * count)]
            self.write_bytes(f"{name}-mask.npy",
                             cli_testing.npy((count, 4, 4), struct.pack(f"<{16 * count}i", *labels), "<i4"))
        self.search(SEARCH.replace("units", "filters") + "ensemble: {top: 2}\n")
        members = [self.rows(f"s/trials/{member['trial']}", "logits") for member in self.record()["members"]]
        self.assertNotEqual(members[0], members[1])
        for i, row in enumerate(self.rows("s/ensemble", "logits")):
            for place in range(16):
                shares = [softmax(of_all[i][place::16]) for of_all in members]
                for number, *alone in zip(softmax(row[place::16]), *shares):
                    self.assertAlmostEqual(number, sum(alone) / 2, delta=1e-6)

    def test_probabilities_that_vanish_are_numbers(self):
        """All members are so sure that most probabilities are 0 in f32."""
        self.search(SEARCH.replace("{min: 0.01, max: 0.3, log: true}", "[1.0e-9, 2.0e-9]").replace(
            "[relu, tanh]", "[leaky_relu]") + "  paths.prepare.ops.pixels.scale: [30]\nensemble: greedy\n")
        rows = self.rows("s/ensemble", "logits")
        self.assertTrue(all(math.isfinite(number) for row in rows for number in row))
        self.assertLess(min(min(softmax(row)) for row in rows), 1e-30)


class SearchTest(EnsembleTestCase):
    def test_the_text_names_it_and_what_uses_it(self):
        done = self.search(SEARCH + "ensemble: greedy\n")
        record = self.record()
        self.assertRegex(done.stdout, rf"Ensemble of {len(record['members'])} \(greedy\): loss [0-9.]+ on the other "
                                      r"half of valid; the best trial alone [0-9.]+\.")
        self.assertIn("cgrun eval s/ensemble/model.yaml --weights s/ensemble", done.stdout)
        self.cgrun("eval", "s/ensemble/model.yaml", "--weights", "s/ensemble", "--split", "valid")
        self.cgrun("plan", "s/ensemble/model.yaml")
        self.cgrun("check", "s/ensemble/model.yaml")
        self.cgrun("compile", "s/ensemble/model.yaml", "-o", "e.cgb")
        self.cgrun("predict", "e.cgb", "valid-image.npy", "--weights", "s/ensemble")
        self.cgrun("export", "s/ensemble", "-o", "e.onnx")
        self.cgrun("eval", "s/ensemble/model.yaml", "--split", "valid")  # the file names its weights
        page = (self.folder / "s/report.html").read_text()
        self.assertIn("<h2>Ensemble</h2>", page)
        self.assertIn(f"trial {record['members'][0]['trial']}:", page)
        self.assertIn("s/ensemble", self.cgrun("search", "--resume", "s").stdout)

    def test_json_has_it(self):
        done = self.search(SEARCH + "ensemble: {top: 2}\n", "s", "--json")
        ensemble = json.loads(done.stdout)["ensemble"]
        self.assertEqual(ensemble["method"], "top")
        self.assertEqual([member["picks"] for member in ensemble["members"]], [1, 1])
        self.assertEqual((ensemble["choosing_samples"], ensemble["samples"]), (21, 20))
        graph = self.cgrun("graph", "s/ensemble/model.yaml").stdout
        self.assertEqual((graph.count("= normalize("), graph.count(".hidden.weight: ")), (1, 2))
        self.assertNotIn("ensemble", json.loads(self.search(SEARCH, "plain", "--json").stdout))
        self.assertFalse((self.folder / "plain/ensemble").exists())

    def test_run_folders_stay_until_it_is_chosen(self):
        self.search(SEARCH.replace("keep: 20", "keep: 1") + "ensemble: {top: 4}\n")
        self.assertEqual(len(self.record()["members"]), 4)
        self.assertEqual(len(list((self.folder / "s/trials").iterdir())), 1)

    def test_trials_that_were_stopped_can_be_members(self):
        self.search(SEARCH.replace("keep: 20", "keep: 1\nstop: {eta: 2, min: 1, max: 4}") + "ensemble: {top: 5}\n")
        self.assertEqual(len(self.record()["members"]), 5)

    def test_it_does_not_depend_on_jobs(self):
        for jobs in (1, 2):
            self.search(SEARCH + "ensemble: {greedy: 6}\n", f"j{jobs}", "--jobs", jobs)
        self.assertEqual(self.bytes_of("j1"), self.bytes_of("j2"))

    def test_force_replaces_it(self):
        self.search(SEARCH + "ensemble: greedy\n")
        self.search(SEARCH, "s", "--force")
        self.assertFalse((self.folder / "s/ensemble").exists())

    def test_a_killed_search_has_the_same_ensemble(self):
        text = SEARCH.replace("keep: 20", "keep: 1").replace("trials: 6", "trials: 10") + "ensemble: {greedy: 9}\n"
        self.search(text, "whole")
        whole = self.bytes_of("whole")
        name = self.write("killed.yaml", text)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        journal = self.folder / "killed/journal.jsonl"
        kills = 0

        def has(lines):
            return lambda: journal.exists() and len(journal.read_bytes().splitlines()) >= lines
        # It is killed in the middle, after the last trial, and while it makes the ensemble or has just made it.
        ensemble = self.folder / "killed/ensemble"
        for is_time in (has(4), has(11), ensemble.with_suffix(".tmp").exists, ensemble.exists):
            source = ["--resume", "killed"] if kills > 0 else [name, "--out", "killed"]
            with subprocess.Popen([str(cli_testing.CGRUN), "search", *source, "--jobs", "1"], cwd=self.folder,
                                  env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as run:
                while run.poll() is None:
                    if is_time():
                        run.send_signal(signal.SIGKILL)
                        break
                run.communicate(timeout=120)
                kills += run.returncode == -signal.SIGKILL
        self.assertGreater(kills, 1)
        self.cgrun("search", "--resume", "killed")
        self.assertEqual(self.bytes_of("killed"), whole)
        self.assertFalse((self.folder / "killed/ensemble.tmp").exists())
        self.assertEqual(len(list((self.folder / "killed/trials").iterdir())), 1)
        self.cgrun("search", "--resume", "killed")  # what is done is not done again
        self.assertEqual(self.bytes_of("killed"), whole)


class RefusalTest(EnsembleTestCase):
    def test_other_seeds_have_other_validation_data(self):
        self.write("model.yaml", CLASSES.replace("valid: {format: npy, image: valid-image.npy, label: valid-label.npy}",
                                                 "valid: {split: 0.5}"))
        text = SEARCH.replace("[relu, tanh]", "[relu]\n  train.seed: [0, 1]")
        done = self.search(text + "ensemble: {top: 6}\n")
        record = self.record()
        self.assertGreater(len(record["refused"]), 0)
        self.write("model.yaml", CLASSES)  # files of its own for `valid` allow several seeds
        self.search(text + "ensemble: {top: 6}\n", "own")
        self.assertEqual((len(self.record("own")["members"]), self.record("own")["refused"]), (6, []))
        for refusal in record["refused"]:
            self.assertIn("its seed sets other samples aside for `valid`", refusal["reason"])
        self.assertEqual(len(record["members"]) + len(record["refused"]), 6)
        self.assertIn(f"Trial {record['refused'][0]['trial']} cannot be a member: its seed", done.stdout)

    def test_what_reads_other_inputs_stands_alone(self):
        self.write("wide.yaml", CLASSES.replace("shape: [1, 4, 4]", "shape: [16]").replace("      - x: flatten\n", "")
                   .replace("pixels:", "x:"))
        text = SEARCH.replace("model: model.yaml", "model: [model.yaml, wide.yaml]")
        self.search(text + "ensemble: greedy\n")
        refused = self.record()["refused"]
        self.assertGreater(len(refused), 0)
        self.assertIn("its 'inputs' differs from that of trial", refused[0]["reason"])

    def test_another_kind_of_prediction_is_refused(self):
        margin = CLASSES.replace("units: 3", "units: 4")
        self.write("more.yaml", margin)
        text = SEARCH.replace("model: model.yaml", "model: [model.yaml, more.yaml]")
        self.search(text + "ensemble: greedy\n")
        self.assertRegex(self.record()["refused"][0]["reason"], r"it predicts \[[34]\] for a sample, and trial")

    def test_several_losses_make_no_ensemble(self):
        self.write("model.yaml", CLASSES.replace(
            "loss: {op: softmax_cross_entropy, in: [logits, label]}",
            "loss: [{op: softmax_cross_entropy, in: [logits, label]}, {op: reduce_mean, in: logits, weight: 0.1}]"))
        done = self.search(SEARCH + "ensemble: greedy\n")
        self.assertIn("There is no ensemble: no trial can be a member", done.stdout)
        self.assertIn("it has several losses", done.stdout)
        self.assertFalse((self.folder / "s/ensemble").exists())

    def test_a_recurrent_state_makes_no_ensemble(self):
        self.write("model.yaml", """cgrun: 1
data: {train: {format: synthetic, samples: 40}, valid: {split: 0.5}}
inputs: {x: {shape: [1]}, h: {shape: [1]}}
paths:
  step:
    ops: [{y: {op: linear, in: x, units: 1}}, {next: {op: add, in: [y, h]}}]
    loss: {op: squared_error, in: [next, x]}
update: {next: h}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.01}}
""")
        text = "cgrun: 1\nmodel: model.yaml\nmethod: grid\nparameters: {train.optimizer.lr: [0.1, 0.01]}\n"
        done = self.search(text + "metric: loss\nensemble: greedy\n")
        self.assertIn("There is no ensemble: no trial can be a member", done.stdout)
        self.assertIn("it has recurrent state (`update`)", done.stdout)

    def test_a_pair_makes_no_ensemble(self):
        self.write("model.yaml", cli_testing.PAIR.replace("samples: 24}}", "samples: 40}, valid: {split: 0.5}}")
                   .replace("epochs: 9", "epochs: 1"))
        text = "cgrun: 1\nmodel: model.yaml\nmethod: grid\nparameters: {gan.optimizer.lr: [0.1, 0.01]}\n"
        done = self.search(text + "metric: generate.loss\nensemble: greedy\n")
        self.assertIn("it is an adversarial pair", done.stdout)

    @unittest.skipIf(cli_testing.SANITIZED, "the memory of a sanitizer is in no plan")
    def test_what_takes_more_than_the_cap_is_not_made(self):
        text = SEARCH.replace("[2, 3, 5]", "[100000]").replace("{min: 0.01, max: 0.3, log: true}", "[0.001, 0.002, 0.003]")
        text = text.replace("epochs: 2", "epochs: 1")
        plan = json.loads(self.search(text, "s", "--dry-run", "--json").stdout)
        most = max(trial["planned_bytes"] for trial in plan["trials"])
        done = self.search(text + "ensemble: {top: 6}\n", "s", "--jobs", 1, "--memory", most + (8 << 20))
        self.assertIn("There is no ensemble: its program takes", done.stdout)
        self.assertIn("more than the cap of", done.stdout)


class MistakesTest(EnsembleTestCase):
    def error(self, value):
        return self.refuses("search", self.write("wrong.yaml", SEARCH + f"ensemble: {value}\n"), "--out", "w")

    def test_values_that_no_ensemble_has(self):
        for value, place, message in (
                ("{top: 0}", "12:17", "'top' must be at least 1, not '0'"),
                ("{greedy: many}", "12:20", "'greedy' must be an integer"),
                ("{tops: 3}", "12:12", "unknown key 'tops'"),
                ("{top: 3, greedy: 2}", "12:20", "'greedy' and 'top' exclude each other"),
                ("{top: }", "12:12", "'top' has no value"),
                ("bagging", "12:11", "'ensemble' cannot be 'bagging'"),
                ("5", "12:11", "'ensemble' cannot be '5'"),
                ("{greedy: 101}", "12:20", "'greedy' is at most 100"),
                ("{top: 7}", "12:17", "the search has only 6 trials, and 'top' takes 7")):
            error = self.error(value)
            self.assertIn(f"wrong.yaml:{place}: error: {message}", error, value)
        self.assertIn("help: write `ensemble: greedy`, or `ensemble: {top: 5}`", self.error("bagging"))
        self.assertFalse((self.folder / "w/trials").exists())


class ShippedModelTest(EnsembleTestCase):
    def test_an_ensemble_of_lenets(self):
        model = cli_testing.ROOT / "models/lenet.yaml"
        self.search(f"cgrun: 1\nmodel: {model}\nmetric: accuracy\nmethod: grid\nkeep: 1\n"
                    "parameters:\n  train.optimizer.lr: [0.01, 0.02, 0.04]\n  train.epochs: [1]\n"
                    "ensemble: {top: 3}\n")
        done = self.cgrun("eval", "s/ensemble/model.yaml", "--weights", "s/ensemble", "--json")
        metrics = json.loads(done.stdout)["metrics"]
        self.assertGreater(metrics["accuracy"], 0.85)
        self.assertLess(metrics["loss"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
