#!/usr/bin/env python3
"""Segmentation: images with masks, changed by chance alike, to a model that tells the class of each
pixel."""

import csv
import json
import math
import random
import re
import struct
import unittest

from cli_testing import CliTestCase, png

SIDE, PART = 16, 12
CLASSES = 3
MODEL = """cgrun: 1
model: shapes
data:
  train: {format: images, folder: train/images, masks: train/masks}
  test: {format: images, folder: test/images, masks: test/masks}
inputs:
  image: {type: uint8, shape: [3, 16, 16]}
  mask: {type: int32, shape: [16, 16]}
paths:
  segment:
    ops:
      - flipped: {op: random_flip, in: image, axes: [-1]}
      - part: {op: random_crop, size: 12}
      - {op: random_flip, in: mask, axes: [-1], draws_as: flipped}
      - target: {op: random_crop, size: 12, draws_as: part}
      - {op: normalize, in: part, scale: 1/255}
      - {op: conv, filters: 8, kernel: 3, padding: same, activation: relu}
      - logits: {op: conv, filters: 3, kernel: 1}
    loss: {op: softmax_cross_entropy, in: [logits, target]}
    metrics:
      accuracy: {in: [logits, target]}
      recalls: {op: recall, in: [logits, target], average: none}
      confusion_matrix: {in: [logits, target]}
      red: {op: mean_squared_error, in: [shown, wanted]}
train: {epochs: 15, batch: 4, optimizer: {op: adam, lr: 0.02}}
"""
# The red of the image differs from the mask nowhere, if both are changed alike.
COMPARE = """      - {op: slice, in: part, axes: [1], starts: [0], ends: [1]}
      - {op: reshape, shape: [12, 12]}
      - shown: {op: cast, to: f32}
      - wanted: {op: cast, in: target, to: f32}
    out: [logits]
    loss:"""


def scene(chance):
    """A square of class 1 and one of class 2, which may hide it; the red of a pixel is its class."""
    labels = [0] * SIDE * SIDE
    for kind in (1, 2):
        side = chance.randrange(4, 8)
        left, top = chance.randrange(SIDE - side), chance.randrange(SIDE - side)
        for y in range(top, top + side):
            labels[y * SIDE + left:y * SIDE + left + side] = [kind] * side
    pixels = []
    for label in labels:
        pixels += [label, 120 * (label == 1) + chance.randrange(80),
                   120 * (label == 2) + chance.randrange(80)]
    return pixels, labels


def read_npy(path):
    """Returns the rows of an array of f32, each flat, and the sizes of a row."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    sizes = [int(text) for text in
             re.findall(r"\d+", data[10:10 + size].decode().split("'shape'")[1])]
    each = math.prod(sizes[1:])
    numbers = struct.unpack(f"<{math.prod(sizes)}f", data[10 + size:])
    return [numbers[i * each:(i + 1) * each] for i in range(sizes[0])], sizes[1:]


class MasksTest(CliTestCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(11)
        self.masks = {"train": [], "test": []}
        for part, count in (("train", 24), ("test", 7)):
            for kind in ("images", "masks"):
                (self.folder / part / kind).mkdir(parents=True)
            for i in range(count):
                pixels, labels = scene(chance)
                self.put(f"{part}/images/{i:02}.png", pixels)
                self.put(f"{part}/masks/{i:02}.png", labels)
                self.masks[part].append(labels)
        self.write("shapes.yaml", MODEL.replace("    loss:", COMPARE))

    def put(self, path, pixels):
        (self.folder / path).write_bytes(png(SIDE, SIDE, pixels))

    def train(self, out, *flags, model="shapes.yaml"):
        self.cgrun("train", model, "--out", out, "--quiet", "--threads", 1, *flags)
        return json.loads((self.folder / out / "summary.json").read_text())

    def evaluate(self, *flags):
        done = self.cgrun("eval", "shapes.yaml", "--weights", "run", "--json", *flags)
        return json.loads(done.stdout)["metrics"]

    def test_the_class_of_each_pixel_is_learned_evaluated_and_predicted(self):
        run = self.train("run")
        metrics = run["test"]
        self.assertGreater(metrics["accuracy"], 0.95)
        self.assertGreater(min(metrics["recalls"]), 0.85)
        if "allocations_after_first_step" in run:  # else a sanitizer has memory of its own
            self.assertEqual(run["allocations_after_first_step"], 0)
        stream = self.train("stream", "--set", "data.train.decode=stream",
                            "--set", "data.test.decode=stream")
        self.assertEqual(stream["weights_hash"], run["weights_hash"])
        self.assertEqual(stream["test"], metrics)
        for flags in (("--batch", 3), ("--device", "reference"), ("--mode", "eager")):
            again = self.evaluate(*flags)
            self.assertEqual(again["confusion_matrix"], metrics["confusion_matrix"], flags)
            self.assertEqual(again["accuracy"], metrics["accuracy"], flags)
            self.assertAlmostEqual(again["loss"], metrics["loss"], places=5)

        self.cgrun("predict", "shapes.yaml", "test/images", "--weights", "run", "--out", "predicted")
        outputs, sizes = read_npy(self.folder / "predicted/logits.npy")
        self.assertEqual((len(outputs), sizes), (7, [CLASSES, PART, PART]))
        margin, counts = (SIDE - PART) // 2, [[0] * CLASSES for _ in range(CLASSES)]
        for logits, labels in zip(outputs, self.masks["test"]):
            for place in range(PART * PART):
                y, x = place // PART + margin, place % PART + margin
                found = max(range(CLASSES), key=lambda c, p=place, o=logits: o[c * PART * PART + p])
                counts[labels[y * SIDE + x]][found] += 1
        self.assertEqual(counts, metrics["confusion_matrix"])
        right = sum(counts[c][c] for c in range(CLASSES))
        self.assertAlmostEqual(metrics["accuracy"], right / (7 * PART * PART))
        for c in range(CLASSES):
            self.assertAlmostEqual(metrics["recalls"][c], counts[c][c] / sum(counts[c]))

    def red(self, out):
        with open(self.folder / out / "metrics.csv", encoding="utf-8") as file:
            return [float(row["train_red"]) for row in csv.DictReader(file)]

    def test_an_image_and_its_mask_are_changed_alike(self):
        short = ("--set", "train.epochs=3")
        self.train("run", *short)
        self.assertEqual(self.red("run"), [0.0] * 3)
        text = (self.folder / "shapes.yaml").read_text()
        for i, what in enumerate((", draws_as: flipped", ", draws_as: part")):
            model = self.write(f"{i}.yaml", text.replace(what, ""))
            run = self.train(f"run{i}", *short, model=model)
            for difference in self.red(f"run{i}"):
                self.assertGreater(difference, 0.05, what)
            self.assertEqual(run["test"]["red"], 0)

    def test_a_label_without_a_class_is_told_before_the_run(self):
        labels = list(self.masks["train"][5])
        labels[40] = 255
        self.put("train/masks/05.png", labels)
        error = self.refuses("train", "shapes.yaml", "--out", "run")
        self.assertIn("'train/masks/05.png' has the label 255, but the 3 classes of "
                      "softmax_cross_entropy are 0 to 2", error)
        self.assertIn("shapes.yaml:4:56: error", error)
        self.assertIn("help: `ignore_label: 255` of softmax_cross_entropy leaves such labels out; or give "
                      "the operator", error)
        self.assertFalse((self.folder / "run").exists())
        done = self.cgrun("train", "shapes.yaml", "--out", "run", "--set", "data.train.decode=stream",
                          status=1)
        self.assertIn("'train/masks/05.png' has the label 255", done.stderr)

    def test_pixels_that_nobody_labelled_are_left_out(self):
        unlabelled = [255] * SIDE * SIDE
        for part, count in (("train", 24), ("test", 7)):
            for i in range(0, count, 2):
                self.put(f"{part}/masks/{i:02}.png", unlabelled)
        ignoring = "[logits, target], ignore_label: 255}"
        text = (self.folder / "shapes.yaml").read_text()
        for key in ("op: softmax_cross_entropy, ", "accuracy: {"):
            text = text.replace(key + "in: [logits, target]}", key + "in: " + ignoring)
        run = self.train("run", model=self.write("ignoring.yaml", text))
        self.assertGreater(run["test"]["accuracy"], 0.95)  # 0.43 if all pixels counted

    def test_what_does_not_fit_is_told_at_its_place(self):
        (self.folder / "train/masks/03.png").rename(self.folder / "train/masks/3.png")
        error = self.refuses("train", "shapes.yaml")
        self.assertIn("train/masks' holds no masks of the images '03.png'", error)
        self.assertIn("train/images' holds no images of the masks '3.png'", error)
        self.assertIn("shapes.yaml:4:56: error", error)
        self.assertIn("shapes.yaml:4:35: error", error)
        (self.folder / "train/masks/3.png").rename(self.folder / "train/masks/03.png")
        error = self.refuses("train", "shapes.yaml", "--set", "inputs.mask.shape=[16, 15]")
        self.assertIn("but the data's 'mask' is int32[16, 16]", error)


if __name__ == "__main__":
    unittest.main()
