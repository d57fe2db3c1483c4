#!/usr/bin/env python3
"""Each step of training against its closed formula, in f64: optimizers, their settings, schedules,
and what a parameter has of its own. Weights are read from the checkpoints of a run."""

import csv
import itertools
import json
import math
import random
import struct
import unittest

from cli_testing import CliTestCase

SAMPLES, FEATURES, UNITS, STEPS = 10, 3, 2, 6
MODEL = """cgrun: 1
model: line
data:
  train: {format: csv, file: train.csv, label: [u, v]}
inputs:
  features: {type: f64, shape: [3]}
  label: {type: f64, shape: [2]}
paths:
  fit:
    ops:
      - y: {op: linear, in: features, units: 2, init: {weight: {normal: {deviation: 1}}, bias: ones}}
    loss: {op: squared_error, in: [y, label]}
train: {steps: 6, batch: 10, checkpoint_every: 1, keep_last: 100, optimizer: {op: sgd, lr: 0.1}}
"""
# Its gradients are numbers that no sample changes: 1/2 for each bias.
SLOPE = MODEL.replace("{op: squared_error, in: [y, label]}", "{op: reduce_mean, in: y}")


def read_safetensors(path):
    """The f64 tensors of a file: name → numbers."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F64":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = list(struct.unpack(f"<{(end - begin) // 8}d", data[begin:end]))
    return tensors


def sign(x):
    return (x > 0) - (x < 0)


def clip(x, bound):
    return max(-bound, min(bound, x))


# Optimizers by their formulas. Each makes for one number a function (w, g, rate) → the next w.

def sgd(momentum=0.0, weight_decay=0.0, nesterov=False):
    v = 0.0

    def step(w, g, rate):
        nonlocal v
        g += weight_decay * w
        v = momentum * v + g
        return w - rate * (g + momentum * v if nesterov else v)
    return step


def rmsprop(alpha=0.99, epsilon=1e-8, momentum=0.0, centered=False, weight_decay=0.0):
    v = m = b = 0.0

    def step(w, g, rate):
        nonlocal v, m, b
        g += weight_decay * w
        v = alpha * v + (1 - alpha) * g * g
        m = alpha * m + (1 - alpha) * g
        root = math.sqrt(max(0.0, v - m * m) if centered else v)
        b = momentum * b + g / (root + epsilon)
        return w - rate * b
    return step


def adagrad(lr_decay=0.0, initial_accumulator=0.0, epsilon=1e-10, weight_decay=0.0):
    s, t = initial_accumulator, 0

    def step(w, g, rate):
        nonlocal s, t
        t += 1
        g += weight_decay * w
        s += g * g
        return w - rate / (1 + (t - 1) * lr_decay) * g / (math.sqrt(s) + epsilon)
    return step


def adam(beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.0, apart=False):
    m = v = 0.0
    t = 0

    def step(w, g, rate):
        nonlocal m, v, t
        t += 1
        if apart:
            w -= rate * weight_decay * w
        else:
            g += weight_decay * w
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        return w - rate * (m / (1 - beta1 ** t)) / (math.sqrt(v / (1 - beta2 ** t)) + epsilon)
    return step


def adamw(weight_decay=0.01, **settings):
    return adam(weight_decay=weight_decay, apart=True, **settings)


OPTIMIZERS = {"sgd": sgd, "rmsprop": rmsprop, "adagrad": adagrad, "adam": adam, "adamw": adamw}
# Each optimizer comes with each of its keys.
SETTINGS = [
    ("sgd", {}), ("sgd", {"momentum": 0.9}), ("sgd", {"weight_decay": 0.3}),
    ("sgd", {"momentum": 0.8, "weight_decay": 0.2, "nesterov": True}),
    ("rmsprop", {}), ("rmsprop", {"alpha": 0.7, "epsilon": 0.1}), ("rmsprop", {"momentum": 0.9}),
    ("rmsprop", {"centered": True}), ("rmsprop", {"weight_decay": 0.3}),
    ("rmsprop", {"alpha": 0.5, "momentum": 0.6, "centered": True, "weight_decay": 0.1}),
    ("adagrad", {}), ("adagrad", {"lr_decay": 0.5}),
    ("adagrad", {"initial_accumulator": 0.2, "epsilon": 0.01, "weight_decay": 0.3}),
    ("adam", {}), ("adam", {"beta1": 0.5, "beta2": 0.6, "epsilon": 0.1, "weight_decay": 0.3}),
    ("adamw", {}), ("adamw", {"beta1": 0.5, "beta2": 0.6, "epsilon": 0.1, "weight_decay": 0.3}),
]
# A step does more by these keys: those of the operator `y`, keys of `train`, keys of the path, and the same
# for the simulation.
BESIDE = {
    "rate of all": ("lr: 0.5", "", "", {"rates": (0.5, 0.5)}),
    "rate of the bias": ("lr: {bias: 3}", "", "", {"rates": (1, 3)}),
    "frozen weight": ("frozen: {weight: true}", "", "", {"frozen": (True, False)}),
    "frozen bias": ("frozen: {bias: true}", "", "", {"frozen": (False, True)}),
    "l1": ("regularize: {l1: 0.07}", "", "", {"l1": (0.07, 0)}),
    "l2": ("regularize: {l2: 0.3}", "", "", {"l2": (0.3, 0)}),
    "elastic": ("regularize: {l1: 0.07, l2: 0.3}", "", "", {"l1": (0.07, 0), "l2": (0.3, 0)}),
    "of each": ("regularize: {weight: {l1: 0.07}, bias: {l2: 0.3}}", "", "",
                {"l1": (0.07, 0), "l2": (0, 0.3)}),
    "norm": ("", "clip: {norm: 0.4}", "", {"norm": 0.4}),
    "a norm that is not reached": ("", "clip: {norm: 400}", "", {"norm": 400}),
    "value": ("", "clip: {value: 0.2}", "", {"value": 0.2}),
    "clip, then regularize": ("regularize: {l2: 0.9}", "clip: {norm: 0.1}", "",
                              {"l2": (0.9, 0), "norm": 0.1}),
    "accumulate": ("", "batch: 4, accumulate: 3", "", {}),  # batches of 4, 4 and 2
    "accumulate and clip": ("", "batch: 3, accumulate: 4, clip: {value: 0.2}", "", {"value": 0.2}),
    "weights within bounds": ("", "", "clip_weights: 0.3", {"bound": 0.3}),
}


class UpdatesTest(CliTestCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(17)
        self.rows = [[chance.uniform(-1, 1) for _ in range(FEATURES + UNITS)]
                     for _ in range(SAMPLES)]
        lines = [",".join(map(repr, row)) for row in self.rows]
        self.write("train.csv", "\n".join(["a,b,c,u,v", *lines]) + "\n")

    def run_of(self, text, *flags):
        """Returns the weights before each step and after the last: [(weight, bias), …]."""
        self.write("line.yaml", text)
        self.cgrun("train", "line.yaml", "--out", "run", "--force", "--quiet", "--device",
                   "reference", "--precision", "f64", *flags)
        path = []
        for step in itertools.count():
            file = self.folder / f"run/checkpoint-{step}.safetensors"
            if not file.exists():
                break
            tensors = read_safetensors(file)
            path.append((tensors["fit.y.weight"], tensors["fit.y.bias"]))
        self.assertGreater(len(path), STEPS)
        return path

    def gradients(self, weight, bias):
        gradients = ([0.0] * len(weight), [0.0] * len(bias))
        for row in self.rows:
            for j in range(UNITS):
                x, target = row[:FEATURES], row[FEATURES + j]
                y = sum(weight[j * FEATURES + k] * x[k] for k in range(FEATURES)) + bias[j]
                slope = 2 * (y - target) / (SAMPLES * UNITS)
                gradients[1][j] += slope
                for k in range(FEATURES):
                    gradients[0][j * FEATURES + k] += slope * x[k]
        return gradients

    def simulate(self, start, make, rate, steps, beside):
        rates = beside.get("rates", (1, 1))
        l1, l2 = beside.get("l1", (0, 0)), beside.get("l2", (0, 0))
        frozen = beside.get("frozen", (False, False))
        state, path = [list(start[0]), list(start[1])], [start]
        updates = [[make() for _ in tensor] for tensor in state]
        for _ in range(steps):
            gradients = self.gradients(*state)
            if "norm" in beside:
                norm = math.sqrt(sum(g * g for tensor in gradients for g in tensor))
                scale = min(1, beside["norm"] / (norm + 1e-6))
                gradients = [[g * scale for g in tensor] for tensor in gradients]
            if "value" in beside:
                gradients = [[clip(g, beside["value"]) for g in tensor] for tensor in gradients]
            for p, tensor in enumerate(state):
                if frozen[p]:
                    continue
                for i, w in enumerate(tensor):
                    g = gradients[p][i] + l1[p] * sign(w) + l2[p] * w
                    tensor[i] = updates[p][i](w, g, rate * rates[p])
                    if "bound" in beside:
                        tensor[i] = clip(tensor[i], beside["bound"])
            path.append((list(state[0]), list(state[1])))
        return path

    def assert_path(self, found, expected, what):
        self.assertEqual(len(found), len(expected), what)
        for step, pair in enumerate(zip(found, expected)):
            for name, numbers, wanted in zip(("weight", "bias"), *pair):
                for x, y in zip(numbers, wanted):
                    self.assertAlmostEqual(x, y, delta=1e-11 * max(1, abs(y)),
                                           msg=f"{what}: {name} after step {step}")

    def check(self, op, settings, keys="", train="", path_keys="", beside=None):
        rate = 0.1 if op in ("sgd", "adagrad") else 0.03
        listed = "".join(f", {key}: {str(value).lower()}" for key, value in settings.items())
        text = MODEL.replace("{op: sgd, lr: 0.1}", f"{{op: {op}, lr: {rate}{listed}}}")
        if keys:
            text = text.replace("bias: ones}}", "bias: ones}, " + keys + "}")
        if "batch" in train:
            text = text.replace("batch: 10, ", "")
        if train:
            text = text.replace("\ntrain: {", "\ntrain: {" + train + ", ")
        if path_keys:
            text = text.replace("  fit:\n", "  fit:\n    " + path_keys + "\n")
        found = self.run_of(text)
        expected = self.simulate(found[0], lambda: OPTIMIZERS[op](**settings), rate, STEPS,
                                 beside or {})
        what = f"{op}{listed} {keys} {train} {path_keys}"
        self.assert_path(found, expected, what)
        self.assertNotEqual(found[0], found[-1], what)
        return found

    def test_every_key_of_every_optimizer(self):
        paths = [self.check(op, settings) for op, settings in SETTINGS]
        for (a, one), (b, other) in itertools.combinations(zip(SETTINGS, paths), 2):
            self.assertNotEqual(one[-1], other[-1], f"{a} and {b}")

    def test_what_a_parameter_has_of_its_own(self):
        plain = {op: self.check(op, {}) for op in OPTIMIZERS}
        for op in OPTIMIZERS:
            for name, (keys, train, path_keys, beside) in BESIDE.items():
                found = self.check(op, {}, keys, train, path_keys, beside)
                for p, frozen in enumerate(beside.get("frozen", (False, False))):
                    self.assertEqual(found[0][p] == found[-1][p], frozen, f"{op}, {name}")
                changed = any(abs(x - y) > 1e-9 for tensors in zip(found[-1], plain[op][-1])
                              for x, y in zip(*tensors))
                same = name in ("accumulate", "a norm that is not reached")
                self.assertEqual(changed, not same, f"{op}, {name}")

    # Rates, seen in the steps of a bias whose gradient is always 1/2. An epoch has 4 steps.

    def rates(self, schedule, *flags, text=SLOPE):
        text = text.replace("steps: 6, batch: 10", "epochs: 5, batch: 3").replace(
            "lr: 0.1}", f"lr: 0.1, schedule: {schedule}}}")
        path = self.run_of(text, *flags)
        self.assertEqual(len(path), 1 + 5 * 4)
        rates = []
        for before, after in zip(path, path[1:]):
            steps = [(x - y) * 2 for x, y in zip(before[1], after[1])]
            self.assertAlmostEqual(steps[0], steps[1], delta=1e-13)
            rates.append(steps[0])
        return rates

    def test_schedules(self):
        total, epoch = 20, 4
        formulas = {
            "constant": lambda s: 1,
            "{step: {every: 2, factor: 0.5}}": lambda s: 0.5 ** (s // (2 * epoch)),
            "{step: {every: 1}}": lambda s: 0.1 ** (s // epoch),
            "{exponential: {factor: 0.7}}": lambda s: 0.7 ** (s / epoch),
            "{polynomial: {final: 0.1, power: 2}}":
                lambda s: 0.1 + 0.9 * (1 - s / total) ** 2,
            "polynomial": lambda s: 1 - s / total,
            "cosine": lambda s: (1 + math.cos(math.pi * s / total)) / 2,
            "{cosine: {final: 0.2}}":
                lambda s: 0.2 + 0.8 * (1 + math.cos(math.pi * s / total)) / 2,
            # 6 steps of warm-up, and what is left of the run behind them.
            "{constant: {warmup: 1.5}}": lambda s: (s + 1) / 6 if s < 6 else 1,
            "{cosine: {warmup_steps: 6, final: 0.2}}":
                lambda s: (s + 1) / 6 if s < 6 else
                0.2 + 0.8 * (1 + math.cos(math.pi * (s - 6) / (total - 6))) / 2,
            "{polynomial: {warmup: 1.5}}":
                lambda s: (s + 1) / 6 if s < 6 else 1 - (s - 6) / (total - 6),
        }
        for schedule, formula in formulas.items():
            for step, rate in enumerate(self.rates(schedule)):
                self.assertAlmostEqual(rate, 0.1 * formula(step), delta=1e-13,
                                       msg=f"{schedule}, step {step}")

    def test_a_rate_falls_where_a_metric_stays(self):
        text = SLOPE.replace("inputs:", "  valid: {format: csv, file: train.csv, label: [u, v]}\n"
                             "inputs:")
        text = text.replace("    loss:", "    metrics: {mean_absolute_error: {in: [y, label]}}\n"
                            "    loss:").replace("bias: ones", "bias: {constant: 3}")
        for metric, threshold in (("loss", 0.3), ("mean_absolute_error", 0.1)):
            rates = self.rates(f"{{plateau: {{factor: 0.5, patience: 1, min: 0.3, metric: {metric}, "
                               f"threshold: {threshold}}}}}", "--set", "train.eval_every=2",
                               text=text)
            with open(self.folder / "run/metrics.csv", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if row[f"valid_{metric}"]]
            values = {int(row["step"]): float(row[f"valid_{metric}"]) for row in rows}
            self.assertEqual(sorted(values), list(range(2, 21, 2)))
            factor, best, without_progress, wanted = 1, None, 0, []
            for step in range(20):
                if step in values:
                    if best is None or values[step] < best * (1 - threshold):
                        best, without_progress = values[step], 0
                    else:
                        without_progress += 1
                    if without_progress > 1:
                        factor, without_progress = factor / 2, 0
                wanted.append(0.1 * max(0.3, factor))
            for step, (rate, right) in enumerate(zip(rates, wanted)):
                self.assertAlmostEqual(rate, right, delta=1e-13, msg=f"{metric}, step {step}")
            self.assertEqual(wanted[0], 0.1)
            self.assertIn(0.05, wanted)
            self.assertAlmostEqual(min(wanted), 0.03)


if __name__ == "__main__":
    unittest.main(verbosity=2)
