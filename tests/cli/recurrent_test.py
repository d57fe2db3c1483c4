#!/usr/bin/env python3
"""`update` and `unroll`: a model that reads a text a character at a time, from step to step."""

import collections
import json
import math
import random
import re
import unittest

import cli_testing

MODEL = """cgrun: 1
model: reader
data:
  train: {format: text, file: text, length: 8}
  valid: {split: 0.1}
  test: {split: 0.1}
inputs:
  text: {type: uint8, shape: [8]}
  next: {type: uint8, shape: [8]}
  h: {shape: [24]}
networks:
  cell:
    in: [character, h]
    ops:
      - x: {op: embedding, in: character, entries: 256, units: 16, init: {normal: {deviation: 1}}}
      - {op: concat, in: [x, h]}
      - {op: linear, units: 24, activation: tanh}
paths:
  read:
    ops:
      - {network: cell, in: [text, h], unroll: 1, out: [states, h_next]}
      - {op: linear, in: states, units: 256}
      - scores: {op: transpose, perm: [0, 2, 1]}
    loss: {op: softmax_cross_entropy, in: [scores, next]}
    metrics: {accuracy: {in: [scores, next]}}
update: {h_next: h}
train:
  epochs: 12
  batch: 8
  optimizer: {op: adam, lr: 0.01}
"""

# h and c take turns: c is the number of the step before.
TURNS = """cgrun: 1
model: turns
data:
  train: {format: synthetic, samples: 8}
  test: {format: synthetic, samples: 6}
inputs:
  x: {shape: [1]}
  h: {shape: [1]}
  c: {shape: [1]}
paths:
  step:
    ops:
      - y: {op: linear, in: x, units: 1}
      - s: {op: add, in: [y, h]}
      - next: {op: identity, in: c}
      - count: {op: add, in: [c, 1]}
    loss: {op: squared_error, in: [s, x]}
update: {next: h, count: c}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
"""


class RecurrentTest(cli_testing.CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("reader.yaml", MODEL)
        self.write("text", "hello world. " * 200)

    def train(self, *flags):
        return self.cgrun("train", "reader.yaml", "--force", "--out", "run", *flags)

    def hash(self, *flags):
        return re.search(r"hash ([0-9a-f]{16})", self.train(*flags).stdout)[1]

    def test_it_learns_a_text_by_heart(self):
        done = self.train()
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        for split in ("train", "valid", "test"):
            self.assertGreater(summary[split]["accuracy"], 0.9 if split != "train" else 0, split)
            self.assertLessEqual(summary[split]["accuracy"], 1, split)
        self.assertEqual(summary.get("allocations_after_first_step", 0), 0)
        self.assertRegex(done.stdout, r"left out +4 samples of the training data")
        again = json.loads(self.cgrun("eval", "reader.yaml", "--weights", "run", "--json").stdout)
        self.assertGreater(again["metrics"]["accuracy"], 0.9)

    def test_it_knows_more_than_how_frequent_letters_are(self):
        """Words by chance: its loss lies between the entropy of the words, which no model of them
        falls below, and that of single letters, which takes no memory."""
        chance = random.Random(29)
        words = "the sea was calm and no wind moved our small grey boat".split()
        text = "".join(chance.choice(words) + " " for _ in range(3000))
        self.write("text", text)
        self.train("--set", "train.epochs=3")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        counts = collections.Counter(text)
        letters = -sum(n / len(text) * math.log(n / len(text)) for n in counts.values())
        floor = 3000 * math.log(len(words)) / len(text)
        self.assertLess(floor, 0.3 * letters)
        for split in ("valid", "test"):
            self.assertLess(summary[split]["loss"], 0.6 * letters, split)
            self.assertGreater(summary[split]["loss"], 0.95 * floor, split)

    def test_the_modes_agree(self):
        flags = ["--device", "reference", "--set", "train.epochs=2",
                 "--disable-pass", "fuse_activations"]
        graph = self.hash(*flags)
        self.assertEqual(self.hash(*flags, "--mode", "eager"), graph)
        self.assertEqual(self.hash(*flags, "--set", "train.eval_every=5"), graph)

    def test_a_resumed_run_goes_on_in_the_same_bits(self):
        whole = self.hash("--set", "train.steps=60")
        self.hash("--set", "train.steps=41")  # in the second epoch
        done = self.cgrun("train", "--resume", "run", "--set", "train.steps=60")
        self.assertIn(whole, done.stdout)

    def generate(self, *flags):
        return self.cgrun("generate", "reader.yaml", "--weights", "run", *flags).stdout

    def test_it_writes_what_it_has_learned(self):
        self.train()
        for prompt, rest in (("hello wor", "ld. hello world. hel"),
                             ("world. hello", " world. hello world."),
                             ("hello world. hello w", "orld. hello world. h")):
            self.assertEqual(self.generate("--prompt", prompt, "-n", 20, "--temperature", 0),
                             prompt + rest + "\n")
        # Any length of what was read before, across the ends of steps.
        text = "hello world. " * 4
        for length in range(4, 40):
            self.assertEqual(
                self.generate("--prompt", text[:length], "-n", 3, "--temperature", 0),
                text[:length + 3] + "\n")

    def test_what_it_writes_is_drawn_by_the_seed(self):
        self.train("--set", "train.epochs=1")
        flags = ["--prompt", "hello", "-n", 50]

        def text(*more):
            return json.loads(self.generate(*flags, "--json", *more))["text"]

        first = text()
        self.assertEqual(text(), first)
        self.assertEqual(text("--mode", "eager", "--device", "reference"),
                         text("--device", "reference"))
        self.assertNotEqual(text("--seed", 9), first)
        self.assertNotEqual(text("--temperature", 3), first)
        self.generate(*flags, "--out", "story.txt")
        written = (self.folder / "story.txt").read_bytes()
        self.assertEqual(len(written), 5 + 50)
        self.assertEqual(written.decode(errors="replace")[:9], first[:9])
        self.assertIn("'story.txt' exists and is no sheet of images",
                      self.refuses("generate", "reader.yaml", "--weights", "run", "--out", "story.txt"))
        self.generate("-n", 7, "--out", "story.txt", "--force")
        self.assertEqual(len((self.folder / "story.txt").read_bytes()), 7, "without a prompt")

    def test_mistakes_of_writing_are_explained(self):
        self.train("--set", "train.epochs=1")
        self.assertIn("--scale enlarges images",
                      self.refuses("generate", "reader.yaml", "--weights", "run", "--scale", 2))
        self.assertIn("no name of a text",
                      self.refuses("generate", "reader.yaml", "--weights", "run", "--out", "a.png"))
        self.assertIn("--prompt is for models of texts",
                      self.refuses("generate", "small.yaml", "--prompt", "x"))

    def test_predictions_of_a_text(self):
        self.train()
        self.write("new.txt", "hello world. hello world. ")
        done = self.cgrun("predict", "reader.yaml", "new.txt", "--weights", "run", "--out", "out")
        self.assertRegex(done.stdout, r"new.txt\[2\] +\S")
        done = self.cgrun("predict", "reader.yaml", "new.txt", "--weights", "run", "--json")
        texts = [p["outputs"]["scores"]["text"] for p in json.loads(done.stdout)["predictions"]]
        self.assertEqual(texts[0], "ello wor", texts)
        self.assertEqual([len(text) for text in texts], [8, 8, 8, 2], "the last has two places")
        self.assertTrue((self.folder / "out" / "scores.npy").exists())
        self.write("short.txt", "hello")
        done = self.cgrun("predict", "reader.yaml", "short.txt", "--weights", "run", "--json")
        outputs = json.loads(done.stdout)["predictions"][0]["outputs"]["scores"]
        self.assertEqual((outputs["text"], len(outputs["places"])), ("ello ", 5))
        self.write("empty.txt", "")
        self.assertIn("'empty.txt' is empty",
                      self.refuses("predict", "reader.yaml", "empty.txt", "--weights", "run"))

    def test_every_verb_takes_it(self):
        self.cgrun("check", "reader.yaml")
        self.assertIn(".eval.h", self.cgrun("plan", "reader.yaml", "--full").stdout)
        self.assertIn("read.states[7].slice", self.cgrun("graph", "reader.yaml").stdout)
        self.cgrun("compile", "reader.yaml", "-o", "reader.cgb")
        self.assertRegex(self.cgrun("disasm", "reader.cgb").stdout, r"recurrent state +h")
        self.cgrun("train", "reader.yaml", "--dry-run")

    def test_mistakes_are_explained(self):
        self.write("reader.yaml", MODEL.replace("{h_next: h}", "{states: h}"))
        error = self.refuses("train", "reader.yaml")
        self.assertIn("reader.yaml:26:10: error: 'states' is f32[N, 8, 24], but the input 'h' that "
                      "takes its value is f32[N, 24]", error)
        self.write("reader.yaml", MODEL.replace("unroll: 1", "unroll: 2"))
        self.assertIn("'text' is uint8[N, 8]: it has no axis 2",
                      self.refuses("train", "reader.yaml"))
        self.write("reader.yaml", MODEL)
        error = self.refuses("train", "reader.yaml", "--set", "train.shuffle=true")
        self.assertIn("'shuffle' tears apart what 'h' goes on with from step to step", error)
        error = self.refuses("train", "reader.yaml", "--batch", "40")
        self.assertIn("a batch of 40 is as many streams, but 'valid' has 32 samples", error)
        self.write("text", "hello")
        self.assertIn("has 5 bytes, but one sample takes 9", self.refuses("train", "reader.yaml"))

    def test_a_kept_state_is_the_one_that_was_read(self):
        """Guards against keeping the state that the last step made in place of the one that it read."""
        self.write("turns.yaml", TURNS)
        keep = [flag for name in ("h", "c", "next", "count", "s", "y") for flag in ("--keep", name)]

        def kept(folder):
            return {path.stem: cli_testing.read_npy(path)[1]
                    for path in (self.folder / folder).glob("*.npy")}

        for flags in (["--mode", "graph"], ["--mode", "eager"], ["--mode", "graph", "--device",
                                                                 "reference"]):
            self.cgrun("train", "turns.yaml", "--force", "--out", "run", "--quiet", *keep, *flags)
            values = kept("run")  # of step 4
            self.assertEqual([values[name] for name in ("h", "c", "next", "count")],
                             [(2, 2), (3, 3), (3, 3), (4, 4)], flags)
            for s, y in zip(values["s"], values["y"]):
                self.assertAlmostEqual(s, y + 2, places=5)
            self.cgrun("eval", "turns.yaml", "--weights", "run", "--out", "kept", "--quiet", "--batch",
                       2, *keep, *flags)
            values = kept("kept")  # of step 3
            self.assertEqual([values[name] for name in ("h", "c", "next", "count")],
                             [(1, 1), (2, 2), (2, 2), (3, 3)], flags)

    def test_a_wrong_update_is_told_alone(self):
        self.cgrun("train", "reader.yaml", "--dry-run")
        self.write("wrong.yaml", MODEL.replace("{h_next: h}", "{h_next: text}"))
        for verb in ("train", "check", "plan"):
            error = self.refuses(verb, "wrong.yaml")
            self.assertEqual(error.count("error: "), 1, error)
            self.assertIn("error: 'h_next' is f32[N, 24], but the input 'text' that takes its value is "
                          "uint8[N, 8]\n", error)
        self.write("wrong.yaml", MODEL.replace("{h_next: h}", "{h_nxt: h}"))
        error = self.refuses("train", "wrong.yaml")
        self.assertEqual(error.count("error: "), 1, error)
        self.assertIn("there is no value 'h_nxt'", error)

    def test_samples_that_fill_no_batch_are_counted_in_each_set(self):
        self.write("turns.yaml", TURNS.replace(
            "samples: 8}", "samples: 11}\n  valid: {format: synthetic, samples: 9, seed: 1}")
                   .replace("batch: 2", "batch: 4"))
        done = self.cgrun("train", "turns.yaml")
        self.assertRegex(done.stdout, r"left out +3 samples of the training data, 1 of 'valid', 2 of "
                                      r"'test': rows of a batch go on")
        summary = json.loads((self.folder / "runs/turns/summary.json").read_text())
        for key, count in (("left_out_samples", 3), ("valid_left_out_samples", 1),
                           ("test_left_out_samples", 2)):
            self.assertEqual(summary[key], count, key)
        self.assertRegex(self.cgrun("eval", "turns.yaml").stdout, r"left out +2 samples of 'test': ")
        result = json.loads(self.cgrun("eval", "turns.yaml", "--split", "valid", "--json").stdout)
        self.assertEqual((result["samples"], result["left_out_samples"]), (8, 1))
        whole = self.cgrun("eval", "turns.yaml", "--batch", "3").stdout
        self.assertNotIn("left out", whole)


if __name__ == "__main__":
    unittest.main()
