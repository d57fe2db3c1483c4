#!/usr/bin/env python3
"""Every metric of an evaluation against its definition, from what `predict` says of each sample, and
the same whatever the batch is: 1, 7, and 100, which is more samples than there are."""

import json
import math
import random
import re
import struct
import unittest

from cli_testing import CliTestCase, devices

TEST = 59  # 8 batches of 7 and one of 3
MODEL = """cgrun: 1
model: measured
data:
  train: {format: csv, file: train.csv, label: %(label)s, columns: [a, b, c]}
  test: {format: csv, file: test.csv, label: %(label)s, columns: [a, b, c]}
inputs:
  features: {type: f32, shape: [3]}
  label: {type: %(type)s, shape: %(shape)s}
paths:
  measure:
    ops:
      - {op: linear, in: features, units: 6, activation: tanh}
      - %(last)s
    loss: %(loss)s
    metrics:
%(metrics)s
train: {epochs: 4, batch: 10, optimizer: {op: adam, lr: 0.02}}
"""
OF_CLASSES = """      accuracy: {in: [y, label]}
      top_2: {op: top_k_accuracy, in: [y, label], k: 2}
      also_top_2: {op: accuracy, in: [y, label], top_k: 2}
      per_class_accuracy: {in: [y, label]}
      confusion_matrix: {in: [y, label]}
      precision: {in: [y, label]}
      recall: {in: [y, label]}
      f1: {in: [y, label]}
      precisions: {op: precision, in: [y, label], average: none}
      recalls: {op: recall, in: [y, label], average: none}
      f1s: {op: f1, in: [y, label], average: none}"""
OF_SCORES = """      auc: {in: [y, label]}
      precision: {in: [y, label], threshold: 0.1}
      recall: {in: [y, label], threshold: 0.1}
      f1: {in: [y, label], threshold: 0.1}"""
OF_NUMBERS = """      mean_absolute_error: {in: [y, label]}
      mean_squared_error: {in: [y, label]}
      r2: {in: [y, label]}"""
CROSS_ENTROPY = "{op: softmax_cross_entropy, in: [y, label]}"


def read_npy(path):
    """Returns the rows of an array of f32, each flat, and the sizes of a row."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + size].decode()
    assert "'<f4'" in header and "False" in header, header
    sizes = [int(text) for text in re.findall(r"\d+", header.split("'shape'")[1])]
    each = math.prod(sizes[1:])
    numbers = struct.unpack(f"<{math.prod(sizes)}f", data[10 + size:])
    return [numbers[i * each:(i + 1) * each] for i in range(sizes[0])], sizes[1:]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def ratio(a, b):
    return a / b if b else 0.0


def cross_entropy(logits, label):
    largest = max(logits)
    return math.log(sum(math.exp(x - largest) for x in logits)) + largest - logits[label]


def rank(logits, label):
    """Returns the number of classes that come before the label."""
    return sum(x > logits[label] or (x == logits[label] and i < label)
               for i, x in enumerate(logits))


def counts_of(found, labels, classes):
    """Counts for each class the samples that are right, that were found, and that there are."""
    return [(sum(f == c == y for f, y in zip(found, labels)), sum(f == c for f in found),
             sum(y == c for y in labels)) for c in classes]


def of_counts(counts):
    """Precision, recall and F1 of each class."""
    return ([ratio(right, found) for right, found, _ in counts],
            [ratio(right, there) for right, _, there in counts],
            [ratio(2 * right, found + there) for right, found, there in counts])


class MetricsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(23)
        self.columns = {}
        for name, count in (("train", 200), ("test", TEST)):
            rows = [[chance.gauss(0, 1) for _ in range(3)] for _ in range(count)]
            noise = [[chance.gauss(0, 0.7) for _ in range(3)] for _ in range(count)]
            columns = {
                # No sample of the test data is of class 4, and of class 3 there are few.
                "kind": [self.kind(row, e, name) for row, e in zip(rows, noise)],
                "positive": [int(row[0] + e[0] > 0) for row, e in zip(rows, noise)],
                "u": [row[0] - row[1] + e[0] for row, e in zip(rows, noise)],
                "v": [row[1] * row[2] + 5 + e[1] for row, e in zip(rows, noise)],
            }
            for i in range(3):
                columns[f"place{i}"] = [int(row[i] + e[i] > 0) + (row[i] > 1)
                                        for row, e in zip(rows, noise)]
            lines = [",".join(["a,b,c", *columns])]
            lines += [",".join(map(repr, [*row, *cells]))
                      for row, *cells in zip(rows, *columns.values())]
            self.write(f"{name}.csv", "\n".join(lines) + "\n")
            self.columns[name] = columns

    @staticmethod
    def kind(row, noise, name):
        value = row[0] + row[1] + noise[0]
        kind = (value > -0.8) + (value > 0.8) + (value > 2.2)
        if noise[2] > 0.8:
            kind = 2 - kind % 3
        return 4 if name == "train" and noise[1] > 1 else kind

    def measure(self, **parts):
        """Returns the metrics of `eval`, which are the same for every batch, and the outputs of `predict`."""
        self.write("measured.yaml", MODEL % parts)
        fast = devices("cpu", "blas")[0]
        self.cgrun("train", "measured.yaml", "--out", "run", "--force", "--quiet", "--device", fast)
        results = {}
        for device, mode in ((fast, "graph"), ("reference", "graph"), (fast, "eager")):
            for batch in (1, 7, 100):
                done = self.cgrun("eval", "measured.yaml", "--weights", "run", "--device", device,
                                  "--mode", mode, "--batch", batch, "--json")
                result = json.loads(done.stdout)
                self.assertEqual(result["samples"], TEST)
                results[f"{device}, {mode}, batch {batch}"] = result["metrics"]
        first = results[f"{fast}, graph, batch 100"]
        for what, metrics in results.items():
            self.assertEqual(list(metrics), list(first), what)
            for name, value in metrics.items():
                self.assert_close(value, first[name], f"{what}: {name}")
        self.cgrun("predict", "measured.yaml", "test.csv", "--weights", "run", "--device", fast,
                   "--out", "predicted")
        outputs, sizes = read_npy(self.folder / "predicted/y.npy")
        self.assertEqual(len(outputs), TEST)
        return first, outputs, sizes

    def assert_close(self, value, wanted, what, delta=2e-6):
        if isinstance(wanted, list):
            self.assertEqual(len(value), len(wanted), what)
            for i, pair in enumerate(zip(value, wanted)):
                self.assert_close(*pair, f"{what}[{i}]", delta)
        elif wanted is None or math.isnan(wanted):
            self.assertIsNone(value, what)
        else:
            self.assertAlmostEqual(value, wanted, delta=delta * max(1, abs(wanted)), msg=what)

    def test_classes(self):
        metrics, logits, sizes = self.measure(
            label="kind", type="int32", shape="[]", last="y: {op: linear, units: 5}",
            loss=CROSS_ENTROPY, metrics=OF_CLASSES)
        labels, classes = self.columns["test"]["kind"], range(5)
        self.assertEqual(sizes, [5])
        ranks = [rank(x, y) for x, y in zip(logits, labels)]
        found = [max(classes, key=lambda c, x=x: x[c]) for x in logits]
        counts = counts_of(found, labels, classes)
        self.assertEqual(counts[4][2], 0)
        self.assertGreater(counts[3][2], 0)
        each = of_counts(counts)
        seen = [c for c in classes if counts[c][1] + counts[c][2] > 0]
        wanted = {
            "loss": mean(cross_entropy(x, y) for x, y in zip(logits, labels)),
            "accuracy": mean(r < 1 for r in ranks),
            "top_2": mean(r < 2 for r in ranks),
            "also_top_2": mean(r < 2 for r in ranks),
            "per_class_accuracy": [right / there if there else math.nan
                                   for right, _, there in counts],
            "confusion_matrix": [[sum(y == i and f == j for f, y in zip(found, labels))
                                  for j in classes] for i in classes],
        }
        for name, values in zip(("precision", "recall", "f1"), each):
            wanted[name] = mean(values[c] for c in seen)
            wanted[name + "s"] = values
        self.assertEqual(sorted(metrics), sorted(wanted))
        for name, value in wanted.items():
            self.assert_close(metrics[name], value, name)
        self.assertLess(wanted["accuracy"], wanted["top_2"])
        self.assertLess(wanted["top_2"], 1)

    def test_scores_of_one_class(self):
        metrics, scores, _ = self.measure(
            label="positive", type="f32", shape="[1]", last="y: {op: linear, units: 1}",
            loss="{op: binary_cross_entropy, in: [y, label]}", metrics=OF_SCORES)
        scores = [score for (score,) in scores]
        labels = self.columns["test"]["positive"]
        (counts,) = counts_of([score > 0.1 for score in scores], labels, [1])
        for name, (value,) in zip(("precision", "recall", "f1"), of_counts([counts])):
            self.assert_close(metrics[name], value, name)
            self.assertLess(value, 1)
        self.assert_close(metrics["loss"], mean(
            math.log1p(math.exp(-x if y else x)) for x, y in zip(scores, labels)), "loss")

        pairs = [(x, y) for x, a in zip(scores, labels) if a == 1
                 for y, b in zip(scores, labels) if b == 0]
        area = mean((x > y) + (x == y) / 2 for x, y in pairs)
        self.assertAlmostEqual(metrics["auc"], area, delta=1e-12)
        self.assertGreater(area, 0.6)
        self.assertLess(area, 1)
        self.assert_marked(False)

    def test_two_logits(self):
        metrics, logits, _ = self.measure(
            label="positive", type="int32", shape="[]", last="y: {op: linear, units: 2}",
            loss=CROSS_ENTROPY, metrics="      auc: {in: [y, label], bins: 65536}")
        labels = self.columns["test"]["positive"]
        scores = [second - first for first, second in logits]
        area = mean(x > y for x, a in zip(scores, labels) if a == 1
                    for y, b in zip(scores, labels) if b == 0)
        self.assertAlmostEqual(metrics["auc"], area, delta=1e-3)
        self.assert_marked(True)

    def assert_marked(self, is_approximate):
        """Wherever the number is shown, it says whether it is an approximation."""
        trained = self.cgrun("train", "measured.yaml", "--out", "marked").stdout
        shown = self.cgrun("eval", "measured.yaml", "--weights", "marked").stdout
        page = (self.folder / "marked/report.html").read_text(encoding="utf-8")
        for where, text in (("train", trained), ("eval", shown), ("the page's table", page)):
            self.assertRegex(text, r"\bauc ≈?0\.", where)
            self.assertEqual(bool(re.search(r"\bauc ≈0\.", text)), is_approximate, where)
        self.assertIn(f'class="title">auc{" ≈" if is_approximate else ""}</text>', page)
        stopped = self.cgrun("train", "measured.yaml", "--out", "stopped", "--set", "data.valid.split=0.3", "--set",
                             "train.early_stop={metric: auc, patience: 1}", "--set", "train.epochs=50").stdout
        self.assertRegex(stopped, rf"'auc' of `valid` was best after .*, {'≈' if is_approximate else ''}[01]\.")

    def test_the_auc_of_one_class_says_why_it_is_none(self):
        self.write("one.yaml", """cgrun: 1
model: one
data: {train: {format: csv, file: both.csv, label: kind}, test: {format: csv, file: one.csv, label: kind}}
inputs: {x: {type: f32, shape: [2]}, label: {type: int32, shape: []}}
paths:
  classify:
    ops: [logits: {op: linear, in: x, units: 2}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {auc: {in: [logits, label]}}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
""")
        self.write("both.csv", "a,b,kind\n1,2,0\n2,1,1\n")
        self.write("one.csv", "a,b,kind\n1,2,1\n2,1,1\n")
        lines = self.cgrun("train", "one.yaml", "--quiet").stdout.splitlines()
        told = "auc    nan  (all labels are of one class, and it takes two)"
        self.assertEqual([line.split()[0] for line in lines if told in line], ["test"])

    def test_numbers(self):
        metrics, outputs, sizes = self.measure(
            label="[u, v]", type="f32", shape="[2]", last="y: {op: linear, units: 2}",
            loss="{op: squared_error, in: [y, label]}", metrics=OF_NUMBERS)
        self.assertEqual(sizes, [2])
        columns = [self.columns["test"]["u"], self.columns["test"]["v"]]
        errors = [[y[j] - columns[j][i] for i, y in enumerate(outputs)] for j in range(2)]
        squared = mean(e * e for column in errors for e in column)
        determined = mean(1 - sum(e * e for e in error) /
                          sum((t - mean(column)) ** 2 for t in column)
                          for error, column in zip(errors, columns))
        wanted = {"loss": squared, "mean_squared_error": squared, "r2": determined,
                  "mean_absolute_error": mean(abs(e) for column in errors for e in column)}
        self.assertEqual(sorted(metrics), sorted(wanted))
        for name, value in wanted.items():
            self.assert_close(metrics[name], value, name, delta=1e-5)

    def test_targets_far_from_zero(self):
        """Seconds since 1970 that differ by minutes; in f32 numbers that its last places tell apart.
        Guards against an R² of 1 that comes from squares about 0 in place of the mean."""
        chance = random.Random(5)
        for offset, deviation, kind, precision in ((1.7e9, 600, "f64", "f64"), (2e6, 1.5, "f32", "f32"),
                                                   (1e5, 0.3, "f32", "f32")):
            pairs = [(t, t + chance.gauss(0, 0.3)) for t in (chance.gauss(0, 1) for _ in range(311))]
            rows = [tuple(struct.unpack("<f", struct.pack("<f", x))[0] if kind == "f32" else x
                          for x in (offset + deviation * y, offset + deviation * t)) for t, y in pairs]
            self.write("far.csv", "\n".join(["y,t", *(f"{y!r},{t!r}" for y, t in rows)]) + "\n")
            self.write("far.yaml", f"""cgrun: 1
model: far
data:
  train: {{format: csv, file: far.csv, label: t}}
  test: {{format: csv, file: far.csv, label: t}}
inputs: {{features: {{type: {kind}, shape: [1]}}, label: {{type: {kind}, shape: [1]}}}}
paths:
  p:
    ops: [y: {{op: linear, in: features, units: 1, init: {{weight: ones, bias: zeros}}}}]
    loss: {{op: squared_error, in: [y, label]}}
    metrics: {{r2: {{in: [y, label]}}}}
train: {{steps: 1, batch: 10, precision: {precision}, optimizer: {{op: sgd, lr: 1.0e-30}}}}
""")
            self.cgrun("train", "far.yaml", "--quiet", "--force")
            middle = mean(t for _, t in rows)
            wanted = 1 - sum((t - y) ** 2 for y, t in rows) / sum((t - middle) ** 2 for _, t in rows)
            self.assertLess(wanted, 0.95)
            for device in devices():
                for mode in ("graph", "eager"):
                    for batch in (1, 33, 311):
                        shown = json.loads(self.cgrun("eval", "far.yaml", "--device", device, "--mode",
                                                      mode, "--batch", batch, "--json").stdout)
                        self.assertAlmostEqual(shown["metrics"]["r2"], wanted, delta=1e-6,
                                               msg=f"{offset} {device} {mode} {batch}")

    def test_a_label_a_place(self):
        metrics, outputs, sizes = self.measure(
            label="[place0, place1, place2]", type="int32", shape="[3]",
            last="{op: linear, units: 9}\n      - y: {op: reshape, shape: [3, 3]}",
            loss=CROSS_ENTROPY, metrics="      accuracy: {in: [y, label]}")
        self.assertEqual(sizes, [3, 3])  # classes, places
        labels = [(i, place, label) for place in range(3)
                  for i, label in enumerate(self.columns["test"][f"place{place}"])]
        places = [(outputs[i][place::3], label) for i, place, label in labels]
        self.assertEqual(len(places), 3 * TEST)
        self.assert_close(metrics["accuracy"], mean(rank(x, y) == 0 for x, y in places), "accuracy")
        self.assert_close(metrics["loss"], mean(cross_entropy(x, y) for x, y in places), "loss")


if __name__ == "__main__":
    unittest.main(verbosity=2)
