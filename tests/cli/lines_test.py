#!/usr/bin/env python3
"""Lines of words: what padded sequences teach, and that no metric depends on the batch."""

import gzip
import json
import random
import re
import unittest

from cli_testing import CliTestCase, devices

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
PREDICTOR = """cgrun: 1
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
    def metrics(self, model, run, *flags):
        done = self.cgrun("eval", model, "--weights", run, "--json", *flags)
        return json.loads(done.stdout)["metrics"]

    def expect_no_matter_of_batches(self, model, run):
        """Returns the metrics, which are the same for all sizes of a batch and on all devices."""
        of_one = self.metrics(model, run, "--batch", 1)
        for device in devices("cpu", "reference"):
            for batch in (7, 1000):
                other = self.metrics(model, run, "--batch", batch, "--device", device)
                self.assertEqual(other["accuracy"], of_one["accuracy"])
                self.assertAlmostEqual(other["loss"], of_one["loss"], places=6)
        return of_one

    def write_topics(self, entries):
        chance = random.Random(3)
        (self.folder / "train.tsv.gz").write_bytes(gzip.compress(topics(chance, 600).encode()))
        self.write("test.tsv", topics(chance, 200).replace("word7", "unheard"))
        self.write("topics.yaml", CLASSIFIER.replace("ENTRIES", str(entries)))

    def write_counting(self):
        chance = random.Random(5)
        self.write("train.txt", counting(chance, 150))
        self.write("test.txt", counting(chance, 60))
        self.write("next.yaml", PREDICTOR)

    def test_a_classifier_of_words_learns(self):
        self.write_topics(37)
        self.cgrun("train", "topics.yaml", "--out", "begun", "--limit-batches", 3, "--set",
                   "train.epochs=1")
        begun = self.expect_no_matter_of_batches("topics.yaml", "begun")
        self.assertLess(begun["accuracy"], 0.95)
        self.cgrun("train", "topics.yaml", "--out", "run")
        self.assertGreater(self.metrics("topics.yaml", "run")["accuracy"], 0.95)

    def test_an_embedding_that_is_too_small_is_refused(self):
        self.write_topics(36)
        error = self.refuses("train", "topics.yaml")
        self.assertIn("the 36 entries of embedding are 0 to 35", error)
        self.assertIn("`entries: 37`", error)
        self.cgrun("check", "topics.yaml", "--set", "data.train.entries=36")

    def test_padding_counts_nowhere(self):
        self.write_counting()
        self.cgrun("train", "next.yaml", "--out", "begun", "--limit-batches", 2, "--set",
                   "train.epochs=1", "--set", "train.optimizer.lr=0.002")
        begun = self.expect_no_matter_of_batches("next.yaml", "begun")
        self.assertLess(begun["accuracy"], 1)
        self.assertGreater(begun["loss"], 0.1)
        # Each word but the first is known from the one before. Were padding counted, accuracy
        # would be about a half.
        self.cgrun("train", "next.yaml", "--out", "run")
        learnt = self.metrics("next.yaml", "run")
        self.assertEqual(learnt["accuracy"], 1)
        self.assertLess(learnt["loss"], 0.1)

    def test_it_writes_words(self):
        self.write_counting()
        self.cgrun("train", "next.yaml", "--out", "run", "--quiet")
        flags = ["generate", "next.yaml", "--weights", "run", "-n", 14, "--prompt"]
        numbers = " ".join(f"n{i % 10}" for i in range(3, 18))
        self.assertEqual(self.cgrun(*flags, "n3").stdout, numbers + "\n")
        self.assertIn("there is nothing to go on from", self.refuses(*flags, ""))

    def test_it_writes_ids(self):
        self.write_counting()
        for name in ("train.txt", "test.txt"):
            self.write(name, (self.folder / name).read_text().replace("n", ""))
        self.write("ids.yaml", PREDICTOR.replace("format: lines,", "format: lines, tokens: ids,"))
        self.cgrun("train", "ids.yaml", "--out", "run", "--quiet")
        flags = ["generate", "ids.yaml", "--weights", "run", "-n", 14, "--prompt"]
        numbers = " ".join(str(i % 10) for i in range(3, 18))
        self.assertEqual(self.cgrun(*flags, "3").stdout, numbers + "\n")
        self.assertIn("'n3'", self.refuses(*flags, "n3"))
        self.assertIn("its ids are 0 to", self.refuses(*flags, "999"))

    def test_labels_of_padding_are_refused_unless_they_are_ignored(self):
        self.write_counting()
        self.write("strict.yaml", PREDICTOR.replace(", ignore_label: -1", ""))
        error = self.refuses("train", "strict.yaml")
        self.assertIn("sample 0 has the label -1", error)
        self.assertIn("`ignore_label: -1` of softmax_cross_entropy leaves such labels out", error)
        self.write("index.yaml", PREDICTOR.replace("ignore_label", "ignore_index"))
        self.assertIn("write 'ignore_label'", self.refuses("train", "index.yaml"))

    def test_both_modes_and_a_resumed_run_agree(self):
        self.write_counting()
        def trained(*flags):
            done = self.cgrun("train", *flags)
            return re.search(r"hash ([0-9a-f]{16})", done.stdout)[1]
        two = ("--set", "train.epochs=2")
        whole = trained("next.yaml", "--out", "whole", *two)
        self.assertEqual(trained("next.yaml", "--out", "eager", "--mode", "eager", *two), whole)
        self.assertNotEqual(trained("next.yaml", "--out", "part", "--set", "train.epochs=1"), whole)
        self.assertEqual(trained("--resume", "part", *two), whole)

    def test_errors_show_the_line_of_the_data(self):
        self.write("train.txt", "a b\n" + "c " * 13 + "\n")
        self.write("test.txt", "a\n")
        self.write("next.yaml", PREDICTOR)
        error = self.refuses("train", "next.yaml")
        self.assertIn("train.txt:2:25: error: this line has 13 words, but `length` is 12", error)
        self.assertIn("`truncate: true`", error)


if __name__ == "__main__":
    unittest.main()
