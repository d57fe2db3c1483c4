#!/usr/bin/env python3
"""Tests that all data are read in the way of the training data. Weights keep what the training data
have, for evaluations, predictions and resumed runs."""

import json
import random
import unittest

from cli_testing import CliTestCase

TOWNS = {"Bonn": 3.0, "Rom": -1.0, "Oslo": 0.5}
HOUSES = """cgrun: 1
model: houses
data:
  train: {format: csv, file: train.csv, label: price, categories: [town], standardize: true}
  valid: {split: 0.1}
  test: {format: csv, file: test.csv, label: price}
inputs:
  features: {type: f32, shape: [2]}
  town: {type: int32, shape: []}
  price: {type: f32, shape: [1]}
paths:
  predict:
    ops:
      - place: {op: embedding, in: town, entries: 4, units: 4}
      - {op: concat, in: [features, place]}
      - {op: linear, units: 16, activation: relu}
      - y: {op: linear, units: 1}
    loss: {op: squared_error, in: [y, price]}
    metrics: {r2: {in: [y, price]}}
train: {epochs: 30, batch: 16, optimizer: {op: adam, lr: 0.02}}
"""
WORDS = """cgrun: 1
model: words
data:
  train: {format: lines, file: train.tsv, length: 4, label: first}
  test: {format: lines, file: test.tsv, length: 4, label: first}
inputs:
  text: {type: int32, shape: [4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: embedding, in: text, entries: 16, units: 8}
      - {op: reduce_mean, axes: [1]}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 60, batch: 4, optimizer: {op: adam, lr: 0.05}}
"""


def houses(chance, count, header="area,year,town,price"):
    lines = [header]
    for _ in range(count):
        area, year = chance.uniform(40, 160), chance.randrange(1900, 2020)
        town = chance.choice(sorted(TOWNS))
        price = area / 40 + (year - 1960) / 30 + TOWNS[town]
        values = {"area": f"{area:.1f}", "year": year, "town": town, "price": f"{price:.3f}"}
        lines.append(",".join(str(values[name]) for name in header.split(",")))
    return "\n".join(lines) + "\n"


def rewrite_metadata(path, keep):
    """Leaves out the entries of a weight file's metadata whose keys are not to be kept, and the checksum."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header["__metadata__"] = {k: v for k, v in header["__metadata__"].items()
                              if keep(k) and k != "cgrun:checksum"}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size:])


class TablesTest(CliTestCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(3)
        self.write("houses.yaml", HOUSES)
        self.write("train.csv", houses(chance, 300))
        self.write("test.csv", houses(chance, 100, "town,price,year,area"))
        self.rows = houses(chance, 5)
        self.write("rows.csv", self.rows)

    def train(self, *flags, **options):
        return self.cgrun("train", "houses.yaml", "--quiet", *flags, **options)

    def predict(self, *flags):
        done = self.cgrun("predict", "houses.yaml", "rows.csv", "--json", *flags)
        return [p["outputs"]["y"]["values"][0] for p in json.loads(done.stdout)["predictions"]]

    def r2(self):
        return json.loads(self.cgrun("eval", "houses.yaml", "--json").stdout)["metrics"]["r2"]

    def test_texts_and_standardized_numbers_are_learned_from(self):
        self.train()
        self.assertGreater(self.r2(), 0.95, "columns in another order")
        prices = [float(line.split(",")[3]) for line in self.rows.splitlines()[1:]]
        for price, value in zip(prices, self.predict()):
            self.assertLess(abs(price - value), 1.5)
        plain = self.train("--set", "data.train.standardize=false", "--out", "plain")
        self.assertEqual(plain.returncode, 0)

    def test_predictions_take_what_the_weights_keep(self):
        self.train()
        before = self.predict()
        (self.folder / "train.csv").unlink()
        self.assertEqual(self.predict(), before, "the training data need not be there")
        self.write("rows.csv", "\n".join(
            ",".join([line.split(",")[i] for i in (2, 1, 0)]) for line in self.rows.splitlines()))
        self.assertEqual(self.predict(), before, "nor labels, nor the order of columns")

    def test_weights_that_keep_nothing_are_no_obstacle_where_nothing_is_needed(self):
        self.write("houses.yaml", HOUSES.replace("categories: [town]", "columns: [area, year]")
                   .replace("standardize: true", "standardize: false")
                   .replace("  town: {type: int32, shape: []}\n", "")
                   .replace("      - place: {op: embedding, in: town, entries: 4, units: 4}\n", "")
                   .replace("[features, place]", "[features, features]"))
        self.write("rows.csv", "area,year\n50,1970\n")
        self.train("--set", "train.epochs=1")
        before = self.predict()
        (self.folder / "train.csv").unlink()
        for weights in (self.folder / "runs/houses").glob("*.safetensors"):
            rewrite_metadata(weights, lambda key: not key.startswith("data."))
        self.assertEqual(self.predict(), before)

    def test_evaluations_take_it_too(self):
        self.train()
        before = self.r2()
        other = houses(random.Random(4), 50).replace("Bonn", "Aachen").replace(",1", ",3")
        self.write("train.csv", other)
        self.assertEqual(self.r2(), before)

    def test_a_town_that_is_new_is_an_unknown_one(self):
        self.train()
        self.write("rows.csv", self.rows.replace("Bonn", "Ulm").replace("Rom", "Ulm"))
        self.assertEqual(len(self.predict()), 5)

    def test_too_few_entries_are_told(self):
        error = self.refuses("train", "houses.yaml", "--set",
                             "paths.predict.ops[0].place.entries=3")
        self.assertIn("4", error)

    def test_a_run_goes_on_with_the_same_data_alone(self):
        self.train("--set", "train.epochs=1")
        self.write("train.csv", houses(random.Random(5), 300))
        error = self.refuses("train", "--resume", "runs/houses", "--set", "train.epochs=2")
        self.assertRegex(error, "error: the training data are not those that runs/houses/checkpoint-.*"
                         " was trained with: they differ in the (means|standard deviations) of their "
                         "columns\n")
        self.assertIn("help: a run goes on with the same data alone", error)

    def test_other_weights_are_warned_of(self):
        self.train("--set", "train.epochs=1")
        self.write("train.csv", houses(random.Random(5), 300).replace("Bonn", "Ulm"))
        done = self.cgrun("train", "houses.yaml", "--out", "new", "--weights", "runs/houses",
                          "--set", "train.epochs=1")
        self.assertIn("trained with: they differ in the categories of 'town'\n", done.stderr)

    def test_the_order_of_the_inputs_is_of_no_account(self):
        features, town = "  features: {type: f32, shape: [2]}\n", "  town: {type: int32, shape: []}\n"
        self.assertIn(features + town, HOUSES)
        self.write("other.yaml", HOUSES.replace(features + town, town + features))
        self.cgrun("train", "other.yaml", "--out", "run", "--quiet")
        self.cgrun("compile", "other.yaml", "-o", "other.cgb")
        shown = {self.cgrun("predict", model, "rows.csv", "--weights", "run").stdout
                 for model in ("other.yaml", "other.cgb", "houses.yaml")}
        self.assertEqual(len(shown), 1, shown)
        self.assertIn("rows.csv[1]", shown.pop())


class WordsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("words.yaml", WORDS)
        sea, wood = "boat wave sail".split(), "tree leaf root".split()
        chance = random.Random(1)
        lines = [f"{name}\t{' '.join(chance.choice(words) for _ in range(3))}"
                 for _ in range(30) for name, words in (("sea", sea), ("wood", wood))]
        self.write("train.tsv", "\n".join(lines))
        self.write("test.tsv", "sea\tboat sail\nwood\tleaf\n")
        self.cgrun("train", "words.yaml", "--quiet")

    def accuracy(self, *flags):
        done = self.cgrun("eval", "words.yaml", "--json", *flags)
        return json.loads(done.stdout)["metrics"]["accuracy"]

    def test_evaluations_read_words_as_the_training_did(self):
        self.assertEqual(self.accuracy(), 1)
        self.write("train.tsv", "sea\tx leaf y tree\nwood\twave wave boat z\n" * 9)
        self.assertEqual(self.accuracy(), 1, "the words of other training data have other ids")

    def test_another_vocabulary_is_refused(self):
        self.write("words", "\n".join("tree leaf root boat wave sail".split()))
        error = self.refuses("eval", "words.yaml", "--set", "data.train.vocabulary=words")
        self.assertIn("this vocabulary is not that of the weights", error)

    def test_predictions_of_lines(self):
        (self.folder / "train.tsv").unlink()
        self.write("new.txt", "boat wave\n\nroot unheard leaf\n")
        done = self.cgrun("predict", "words.yaml", "new.txt", "--json")
        names = [p["outputs"]["logits"]["classes"][0]["name"]
                 for p in json.loads(done.stdout)["predictions"]]
        self.assertEqual(names, ["sea", "wood"])
        labelled = self.cgrun("predict", "words.yaml", "test.tsv")
        self.assertRegex(labelled.stdout, r"test.tsv\[0\] +sea")
        self.write("long.txt", "a b c d e\n")
        error = self.refuses_prediction("long.txt")
        self.assertIn("this line has 5 words, but `length` is 4", error)

    def refuses_prediction(self, name):
        return self.cgrun("predict", "words.yaml", name, status=2).stderr


if __name__ == "__main__":
    unittest.main()
