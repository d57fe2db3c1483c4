#!/usr/bin/env python3
"""Tests data in training: images changed by chance, and batches that do not come out even."""

import csv
import gzip
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import unittest

from cli_testing import CliTestCase, png

PHOTOS = pathlib.Path(os.environ.get("CGRUN_SHARED_DATA", "")) / "photos.tar.gz"

SIDE = 14  # pixels of an image; the model looks at 12 × 12 of them
AUGMENTED = """cgrun: 1
model: stripes
data:
  train: {format: images, folder: train}
  test: {format: images, folder: test}
inputs:
  image: {type: uint8, shape: [3, 14, 14]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
%s
      - {op: normalize, scale: 1/255, mean: 0.5, std: 0.25}
      - {op: conv, filters: 6, kernel: 3, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 12, batch: 10, optimizer: {op: adam, lr: 0.01}}
"""
BY_CHANCE = """      - padded: {op: pad, in: image, axes: [2, 3], before: 1}
      - {op: random_crop, size: 12}
      - {op: random_flip}
      - {op: random_rotate, degrees: 10}
      - {op: color_jitter, brightness: 0.2, contrast: 0.2, saturation: 0.2, hue: 0.05}"""
WITHOUT_CHANCE = """      - padded: {op: pad, in: image, axes: [2, 3], before: [1, 1], after: [1, 1]}
      - {op: crop, size: 12}"""


def stripes(chance, upright):
    """Stripes of a chance colour, width and place, with noise."""
    colour = [chance.randrange(120, 256) for _ in range(3)]
    width, start = chance.randrange(2, 4), chance.randrange(4)
    pixels = []
    for y in range(SIDE):
        for x in range(SIDE):
            bright = ((x if upright else y) + start) // width % 2
            pixels += [max(0, c * bright - chance.randrange(60)) for c in colour]
    return png(SIDE, SIDE, pixels)


class AugmentationTest(CliTestCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(3)
        for part, count in (("train", 30), ("test", 13)):
            for name in ("across", "upright"):
                folder = self.folder / part / name
                folder.mkdir(parents=True)
                for i in range(count):
                    (folder / f"{i}.png").write_bytes(stripes(chance, name == "upright"))
        self.write("stripes.yaml", AUGMENTED % BY_CHANCE)

    def train(self, model, out, *flags):
        self.cgrun("train", model, "--out", out, "--quiet", "--threads", 1, *flags)
        return json.loads((self.folder / out / "summary.json").read_text())

    def assert_nothing_allocated(self, run):
        if "allocations_after_first_step" in run:  # else a sanitizer has memory of its own
            self.assertEqual(run["allocations_after_first_step"], 0)
            self.assertEqual(run["heap_growth_bytes"], 0)

    def test_pictures_decoded_as_they_are_wanted_give_the_same_run_and_allocate_nothing(self):
        runs = [self.train("stripes.yaml", decode, "--set", f"data.train.decode={decode}",
                           "--set", f"data.test.decode={decode}") for decode in ("ahead", "stream")]
        self.assertEqual(runs[0]["weights_hash"], runs[1]["weights_hash"])
        self.assertEqual(runs[0]["test"], runs[1]["test"])
        for run in runs:
            self.assert_nothing_allocated(run)
            self.assertEqual(run["steps"], 12 * 6)

    def test_without_shuffling_each_epoch_has_the_order_of_the_files(self):
        def last_labels(*flags):  # a value that is kept is that of the last batch
            self.train("stripes.yaml", "run", "--force", "--keep", "label", *flags)
            content = (self.folder / "run/label.npy").read_bytes()
            return [label for label, in struct.iter_unpack("<i", content[-40:])]

        self.assertEqual(last_labels("--set", "train.shuffle=false"), 10 * [1])
        self.assertEqual(sorted(set(last_labels())), [0, 1])

    def test_it_learns_from_changed_images_and_looks_at_plain_ones(self):
        run = self.train("stripes.yaml", "run")
        with open(self.folder / "run/metrics.csv", encoding="utf-8") as file:
            losses = [float(row["train_loss"]) for row in csv.DictReader(file)]
        self.assertEqual(len(losses), 12)
        self.assertLess(losses[-1], 0.5 * losses[0])
        self.assertGreater(run["test"]["accuracy"], 0.9)

        self.assert_nothing_allocated(run)
        self.assertEqual(self.train("stripes.yaml", "again")["weights_hash"], run["weights_hash"])
        other = self.train("stripes.yaml", "other", "--seed", 1)
        self.assertNotEqual(other["weights_hash"], run["weights_hash"])
        self.write("plain.yaml", (AUGMENTED % WITHOUT_CHANCE))
        plain = self.train("plain.yaml", "plain")
        self.assertNotEqual(plain["weights_hash"], run["weights_hash"])

        def evaluate(*arguments):
            done = self.cgrun("eval", *arguments, "--weights", "run", "--json", "--threads", 1)
            return json.loads(done.stdout)["metrics"]

        metrics = evaluate("stripes.yaml")
        self.assertEqual(metrics, run["test"])
        self.assertEqual(evaluate("stripes.yaml", "--seed", 5), metrics)
        self.assertEqual(evaluate("plain.yaml"), metrics)

        def predict(*arguments):
            done = self.cgrun("predict", *arguments, "test", "--weights", "run", "--json",
                              "--threads", 1)
            items = json.loads(done.stdout)["predictions"]
            return {item["file"]: item["outputs"]["logits"]["classes"][0] for item in items}

        classes = predict("stripes.yaml")
        self.assertEqual(len(classes), 26)
        self.assertEqual(predict("stripes.yaml", "--seed", 5), classes)
        self.assertEqual(predict("plain.yaml"), classes)
        right = sum(found["name"] == file.split("/")[1] for file, found in classes.items())
        self.assertAlmostEqual(right / len(classes), metrics["accuracy"])


TABLE = """cgrun: 1
model: table
data:
  train: {format: %(format)s, %(options)s}
  test: {format: %(format)s, %(options)s}
inputs:
  %(input)s
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - x: {op: normalize, in: %(name)s, scale: 1/16}
      - {op: flatten}
      - {op: linear, units: 8, activation: relu}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics:
      accuracy: {in: [logits, label]}
      confusion: {op: confusion_matrix, in: [logits, label]}
train: {epochs: 2, batch: 100, optimizer: {op: sgd, lr: 0.1}}
"""


class UnevenBatchTest(CliTestCase):
    SAMPLES = 1065  # 10 batches of 100 and one of 65; 71 of 15

    def setUp(self):
        super().setUp()
        chance = random.Random(5)
        rows = [[chance.randrange(17) for _ in range(4)] for _ in range(self.SAMPLES)]
        labels = [(sum(row) > 32) + (row[0] > 8) for row in rows]
        lines = "".join(f"{a},{b},{c},{d},{y}\n" for (a, b, c, d), y in zip(rows, labels))
        self.write("t.csv", "a,b,c,d,y\n" + lines)
        pixels = bytes(number for row in rows for number in row)
        for name, sizes, data in (("images.gz", (self.SAMPLES, 2, 2), pixels),
                                  ("labels.gz", (self.SAMPLES,), bytes(labels))):
            head = struct.pack(f">HBB{len(sizes)}I", 0, 8, len(sizes), *sizes)
            (self.folder / name).write_bytes(gzip.compress(head + data))
        self.write("csv.yaml", TABLE % {
            "format": "csv", "options": "file: t.csv, label: y", "name": "features",
            "input": "features: {type: f32, shape: [4]}"})
        self.write("idx.yaml", TABLE % {
            "format": "idx", "options": "images: images.gz, labels: labels.gz", "name": "image",
            "input": "image: {type: uint8, shape: [1, 2, 2]}"})

    def evaluate(self, model, batch):
        done = self.cgrun("eval", model, "--weights", "run", "--batch", batch, "--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["samples"], self.SAMPLES)
        return result["metrics"]

    def test_no_sample_is_left_out_and_metrics_are_those_of_any_batch(self):
        for model in ("csv.yaml", "idx.yaml"):
            self.cgrun("train", model, "--out", "run", "--quiet", "--force")
            summary = json.loads((self.folder / "run/summary.json").read_text())
            self.assertEqual((summary["steps"], summary["epochs"]), (2 * 11, 2), model)
            with open(self.folder / "run/metrics.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([row["step"] for row in rows], ["11", "22"], model)
            self.assertEqual([row["samples"] for row in rows], ["1065", "1065"], model)
            metrics = self.evaluate(model, 100)
            self.assertEqual(sum(map(sum, metrics["confusion"])), self.SAMPLES)
            self.assertGreater(metrics["accuracy"], 0.5)
            self.assertLess(metrics["accuracy"], 1)
            for batch in (1, 15, 64, 1065):
                other = self.evaluate(model, batch)
                self.assertEqual(other["confusion"], metrics["confusion"], batch)
                self.assertEqual(other["accuracy"], metrics["accuracy"], batch)
                self.assertAlmostEqual(other["loss"], metrics["loss"], delta=1e-6, msg=batch)


class PhotographsTest(CliTestCase):
    """Tests that the plan counts the memory of decoding, with files of many sizes."""

    def setUp(self):
        super().setUp()
        self.write("photos.yaml", AUGMENTED.replace("[3, 14, 14]", "[3, 64, 64]").replace(
            "epochs: 12, batch: 10", "epochs: 2, batch: 8").replace(
            "{format: images, folder: test}", "{format: images, folder: train, decode: stream}")
            % BY_CHANCE.replace("size: 12", "size: 56"))

    def put(self, label, name, data):
        folder = self.folder / "train" / label
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def assert_planned(self):
        for decode in ("ahead", "stream"):
            flags = ["--set", f"data.train.decode={decode}", "--threads", 1]
            done = self.cgrun("train", "photos.yaml", "--out", decode, *flags)
            if "sanitizer" in done.stdout:
                self.skipTest("a sanitizer's memory is its own")
            summary = json.loads((self.folder / decode / "summary.json").read_text())
            plan = json.loads(self.cgrun("plan", "photos.yaml", "--json", *flags).stdout)
            measured = summary["measured_peak_bytes"]
            for planned in (summary["planned_peak_bytes"], plan["total_bytes"]):
                self.assertLessEqual(abs(planned - measured), max(1 << 20, planned // 100), decode)
            if "allocations_after_first_step" in summary:
                self.assertEqual(summary["allocations_after_first_step"], 0, decode)

    def test_large_png(self):
        chance = random.Random(31)
        for i in range(12):
            width, height = chance.randrange(100, 1200), chance.randrange(100, 900)
            self.put("ab"[i % 2], f"{i}.png", png(width, height, chance.randbytes(3 * width * height)))
        self.assert_planned()

    @unittest.skipUnless(PHOTOS.is_file(), "CGRUN_SHARED_DATA names no folder with photos.tar.gz")
    def test_jpeg(self):
        subprocess.run(["tar", "-xf", PHOTOS, "-C", self.folder], check=True)
        names = ("daisy", "rose", "flower", "app13-multiple", "pil_sample_cmyk", "testorig",
                 "hopper_gray", "hopper_orientation_6")
        for i, name in enumerate(names):
            for copy in range(4):
                self.put("ab"[i % 2], f"{name}-{copy}.jpg",
                         (self.folder / f"photos/{name}.jpg").read_bytes())
        self.put("b", "kitten.png", (self.folder / "photos/kitten_224.png").read_bytes())
        self.assert_planned()
        shutil.copy(self.folder / "photos/truncated_jpeg.jpg", self.folder / "train/a")
        self.assertIn("truncated_jpeg.jpg: error: this image is cut off",
                      self.refuses("train", "photos.yaml", "--out", "refused"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
