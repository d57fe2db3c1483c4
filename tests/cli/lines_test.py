#!/usr/bin/env python3
"""Lines of words: a classifier of padded sequences learns, and what it shows does not depend on the batch."""

import csv
import gzip
import random
import unittest

from cli_testing import CliTestCase

LENGTH = 12
CLASSIFIER = """cgrun: 1
model: topics
data:
  train: {format: lines, file: train.tsv.gz, length: 12, label: first}
  valid: {split: 0.1}
  test: {format: lines, file: test.tsv, length: 12, label: first}
inputs:
  text: {type: int32, shape: [12]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - vectors: {op: embedding, in: text, entries: ENTRIES, units: 16}
      - {op: reduce_mean, axes: [1]}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 15, batch: 20, optimizer: {op: adam, lr: 0.03}}
"""
TAGGER = """cgrun: 1
model: next_word
data:
  train: {format: lines, file: train.txt, length: 12}
  test: {format: lines, file: test.txt, length: 12}
inputs:
  text: {type: int32, shape: [12]}
  next: {type: int32, shape: [12]}
paths:
  read:
    ops:
      - vectors: {op: embedding, in: text, entries: 12, units: 16}
      - scores: {op: linear, units: 12}
      - logits: {op: transpose, perm: [0, 2, 1]}
    loss: {op: softmax_cross_entropy, in: [logits, next], ignore_label: -1}
    metrics: {accuracy: {in: [logits, next], ignore_label: -1}}
train: {epochs: 20, batch: 25, optimizer: {op: adam, lr: 0.05}}
"""
TOPICS = {"sea": ["boat", "wave", "sail", "tide", "crew"],
          "wood": ["tree", "leaf", "root", "moss", "fern"],
          "town": ["road", "shop", "door", "tram", "lamp"]}
OTHERS = [f"word{i}" for i in range(20)]


def topics(chance, count):
    """Lines of words of which some are of one topic."""
    lines = []
    for _ in range(count):
        topic = chance.choice(sorted(TOPICS))
        words = chance.choices(TOPICS[topic], k=chance.randrange(2, 6))
        words += chance.choices(OTHERS, k=chance.randrange(7))
        chance.shuffle(words)
        lines.append(f"{topic}\t{' '.join(words)}\n")
    return "".join(lines)


def counting(chance, count):
    """Lines of ten words that always follow each other in the same order."""
    starts = [(chance.randrange(10), chance.randrange(2, LENGTH + 1)) for _ in range(count)]
    return "".join(" ".join(f"n{(start + i) % 10}" for i in range(length)) + "\n"
                   for start, length in starts)


class LinesTest(CliTestCase):
    def last(self, run, part):
        """The last numbers of a part of a run."""
        with open(self.folder / run / "metrics.csv", newline="") as file:
            lines = [line for line in csv.DictReader(file) if line[f"{part}_loss"]]
        return {key: float(value) for key, value in lines[-1].items() if value}

    def test_a_classifier_of_words_learns(self):
        chance = random.Random(3)
        (self.folder / "train.tsv.gz").write_bytes(gzip.compress(topics(chance, 600).encode()))
        self.write("test.tsv", topics(chance, 200).replace("word7", "unheard"))
        self.write("topics.yaml", CLASSIFIER.replace("ENTRIES", "37"))
        self.cgrun("train", "topics.yaml", "--out", "run")
        self.assertGreater(self.last("run", "test")["test_accuracy"], 0.95)
        for device in ("cpu", "reference"):
            shown = [self.cgrun("eval", "topics.yaml", "--weights", "run", "--device", device,
                                "--set", f"train.batch={batch}").stdout for batch in (1, 7, 200)]
            accuracies = {line.split("accuracy")[1].split()[0] for text in shown
                          for line in text.splitlines() if "accuracy" in line}
            self.assertEqual(len(accuracies), 1, shown)

    def test_an_embedding_that_is_too_small_is_refused(self):
        chance = random.Random(3)
        (self.folder / "train.tsv.gz").write_bytes(gzip.compress(topics(chance, 600).encode()))
        self.write("test.tsv", topics(chance, 20))
        self.write("topics.yaml", CLASSIFIER.replace("ENTRIES", "36"))
        error = self.refuses("train", "topics.yaml")
        self.assertIn("the 36 entries of embedding are 0 to 35", error)
        self.assertIn("`entries: 37`", error)
        self.cgrun("check", "topics.yaml", "--set", "data.train.entries=36")

    def test_padding_counts_nowhere(self):
        chance = random.Random(5)
        self.write("train.txt", counting(chance, 150))
        self.write("test.txt", counting(chance, 60))
        self.write("next.yaml", TAGGER)
        self.cgrun("train", "next.yaml", "--out", "run")
        # Each word but the last is known from the one before: were padding counted, accuracy would
        # be about a half.
        numbers = self.last("run", "test")
        self.assertEqual(numbers["test_accuracy"], 1)
        self.assertLess(numbers["test_loss"], 0.1)
        shown = {}
        for batch in (1, 7, 60):
            self.cgrun("eval", "next.yaml", "--weights", "run", "--set", f"train.batch={batch}",
                       "--set", "data.test.length=12")
            run = f"begun{batch}"
            self.cgrun("train", "next.yaml", "--weights", "run", "--out", run, "--set",
                       "train.epochs=1", "--set", f"train.batch={batch}", "--set",
                       "train.optimizer.lr=0")
            shown[batch] = self.last(run, "test")
        for batch in (7, 60):
            self.assertAlmostEqual(shown[batch]["test_loss"], shown[1]["test_loss"], places=6)
            self.assertEqual(shown[batch]["test_accuracy"], shown[1]["test_accuracy"])
        # Without the key the label -1 is refused, and the key is named.
        self.write("strict.yaml", TAGGER.replace(", ignore_label: -1", ""))
        self.assertIn("`ignore_label: -1`", self.refuses("train", "strict.yaml"))

    def test_errors_show_the_line_of_the_data(self):
        self.write("train.txt", "a b\n" + "c " * 13 + "\n")
        self.write("test.txt", "a\n")
        self.write("next.yaml", TAGGER)
        error = self.refuses("train", "next.yaml")
        self.assertIn("train.txt:2:25: error: this line has 13 words, but `length` is 12", error)
        self.assertIn("`truncate: true`", error)


if __name__ == "__main__":
    unittest.main()
