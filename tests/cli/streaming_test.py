#!/usr/bin/env python3
"""Data that do not fit under a cap stream from files, to the same bits, within what was planned."""

import array
import gzip
import json
import random
import struct
import unittest

from cli_testing import IMAGES, ROOT, SANITIZED, SHARED_DATA, CliTestCase, npy, png

MIB = 2**20
SAMPLES = 48_000  # of 28 x 28 bytes: 35.9 MiB

MODEL = """cgrun: 1
model: small
data:
  train: {format: idx, images: images, labels: labels}
  test: {format: idx, images: test-images, labels: test-labels}
inputs:
  image: {type: uint8, shape: [28, 28]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - flatten
      - {op: linear, units: 32, activation: relu}
      - logits: {op: linear, units: 10}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train:
  steps: 4
  batch: 32
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""
PHOTOS = IMAGES.replace("[3, 8, 8]", "[3, 16, 16]").replace("epochs: 2, batch: 4", "steps: 2, batch: 2")
TABLE = """cgrun: 1
model: table
data: {train: {%s}}
inputs:
  x: {type: %s, shape: [%s]}
  y: {type: int32, shape: []}
paths:
  classify:
    ops:
      - z: {op: cast, in: x, to: f32}
      - {op: mul, in: [z, 1/256]}
      - {op: flatten}
      - logits: {op: linear, units: 10}
    loss: {op: softmax_cross_entropy, in: [logits, y]}
train: {steps: 4, batch: 32, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
"""


def idx(sizes, elements):
    return struct.pack(">BBBB", 0, 0, 8, len(sizes)) + struct.pack(
        f">{len(sizes)}I", *sizes) + elements


def pixels(count):
    """Bytes of `count` images, few of them alike, that gzip makes small."""
    rows = [bytes((7 * i + j) % 251 for j in range(28)) * 28 for i in range(997)]
    return b"".join(rows[i % 997] for i in range(count))


@unittest.skipIf(SANITIZED, "under a sanitizer most of the process's memory is the sanitizer's")
class StreamingTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", MODEL)
        for name, count in [("", SAMPLES), ("test-", 1000)]:
            self.save(name + "images", idx([count, 28, 28], pixels(count)))
            self.save(name + "labels", idx([count], bytes(i % 10 for i in range(count))))

    def save(self, name, data):
        (self.folder / name).write_bytes(data)

    def compress(self):
        for name in ["images", "labels"]:
            self.save(name, gzip.compress((self.folder / name).read_bytes(), 1))

    def train(self, name, *flags):
        told = self.cgrun("train", "small.yaml", "--out", name, "--threads", "1", *flags).stderr
        return told, json.loads((self.folder / name / "summary.json").read_text())

    def test_streams_under_a_cap(self):
        free_told, free = self.train("free")
        self.assertNotIn("does not fit in memory", free_told)
        self.assertGreater(free["planned_peak_bytes"], 36 * MIB)
        for how in ["plain", "compressed"]:
            if how == "compressed":
                self.compress()
            told, summary = self.train(how, "--memory", "24MiB")
            self.assertIn("note: 'images' does not fit in memory (35.9 MiB): its samples are read "
                          "from " + ("the file itself" if how == "plain" else "a temporary file in "),
                          told)
            self.assertLessEqual(summary["planned_peak_bytes"], 24 * MIB)
            self.assertLessEqual(summary["measured_peak_bytes"], summary["planned_peak_bytes"])
            self.assertEqual(summary["weights_hash"], free["weights_hash"])
            self.assertEqual(summary["allocations_after_first_step"], 0)
            done = self.watched("train", "small.yaml", "--out", how + "-again", "--threads", "1",
                                "--memory", "24MiB")
            self.assertLessEqual(done.most_anonymous, 24 * MIB)

    def test_an_evaluation_streams_too(self):
        self.train("a")
        evaluate = ("eval", "small.yaml", "--weights", "a", "--split", "train")
        found = json.loads(self.cgrun(*evaluate, "--json").stdout)
        self.assertGreater(found["measured_peak_bytes"], SAMPLES * 28 * 28)
        streamed = json.loads(self.cgrun(*evaluate, "--json", "--memory", "16MiB").stdout)
        self.assertLessEqual(streamed["measured_peak_bytes"], 16 * MIB)
        self.assertEqual(streamed["metrics"], found["metrics"])

    def mnist(self):
        """The folder of MNIST, and whether that is it. Else noise of its size stands for it."""
        if (SHARED_DATA / "mnist").is_dir():
            return SHARED_DATA / "mnist", True
        noise = random.Random(1).randbytes(28 * 28 * 1000)
        for prefix, thousands in (("train", 60), ("t10k", 10)):
            count = 1000 * thousands
            with gzip.open(self.folder / f"{prefix}-images-idx3-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(idx([count, 28, 28], noise * thousands))
            with gzip.open(self.folder / f"{prefix}-labels-idx1-ubyte.gz", "wb") as file:
                file.write(idx([count], bytes(i % 10 for i in range(count))))
        return self.folder, False

    def test_lenet_on_mnist(self):
        """44.9 MiB of compressed images train under a cap of 40 MiB."""
        mnist, is_real = self.mnist()
        sets = {name: {"format": "idx", "images": str(mnist / f"{prefix}-images-idx3-ubyte.gz"),
                       "labels": str(mnist / f"{prefix}-labels-idx1-ubyte.gz")}
                for name, prefix in (("train", "train"), ("test", "t10k"))}
        sets["valid"] = {"split": 0.1}
        command = ["train", ROOT / "models/lenet-mnist.yaml", "--threads", 1, "--limit-batches", 20,
                   "--set", "data=" + json.dumps(sets), "--set", "train.epochs=1"]
        summaries = {}
        for name, *flags in (("free",), ("capped", "--memory", "40MiB")):
            told = self.cgrun(*command, *flags, "--out", name).stderr
            summaries[name] = json.loads((self.folder / name / "summary.json").read_text())
        self.assertIn("train-images-idx3-ubyte.gz' does not fit in memory (44.9 MiB): its samples are "
                      "read from a temporary file in ", told)
        free, capped = summaries["free"], summaries["capped"]
        self.assertGreater(free["planned_peak_bytes"], 44 * MIB)
        self.assertLessEqual(capped["planned_peak_bytes"], 40 * MIB)
        self.assertLessEqual(capped["measured_peak_bytes"], capped["planned_peak_bytes"])
        self.assertEqual(capped["weights_hash"], free["weights_hash"])
        if is_real:
            self.assertGreater(capped["test"]["accuracy"], 0.5)

    def streams(self, model, where, *flags):
        """Trains a model with and without a cap that is smaller than its decoded data."""
        cap = 16 * MIB
        self.write("small.yaml", model)
        _, free = self.train("free", *flags)
        self.assertGreater(free["planned_peak_bytes"], 20 * MIB + cap // 4)
        done = self.watched("train", "small.yaml", "--out", "capped", "--threads", 1, "--memory", cap, *flags)
        self.assertRegex(done.stderr, rf"note: .* does not fit in memory \(2\d\.\d MiB\): its samples are read from {where}")
        capped = json.loads((self.folder / "capped/summary.json").read_text())
        self.assertEqual(capped["weights_hash"], free["weights_hash"])
        self.assertLessEqual(capped["planned_peak_bytes"], cap)
        self.assertLessEqual(capped["measured_peak_bytes"], capped["planned_peak_bytes"])
        self.assertLessEqual(done.most_anonymous, capped["planned_peak_bytes"])

    def test_cifar_under_a_cap(self):
        chance = random.Random(2)
        self.save("batch.bin", b"".join(bytes([i % 10]) + chance.randbytes(3072) for i in range(8000)))
        self.streams(TABLE % ("format: cifar, files: batch.bin", "uint8", "3, 32, 32"), "the file itself")

    def test_npy_under_a_cap(self):
        count = 100_000
        self.save("x.npy", npy([count, 60], array.array("f", range(60)).tobytes() * count, "<f4"))
        self.save("y.npy", npy([count], array.array("i", (i % 10 for i in range(count))).tobytes(), "<i4"))
        self.streams(TABLE % ("format: npy, x: x.npy, y: y.npy", "f32", "60"), "the file itself")

    def test_csv_under_a_cap(self):
        rows = [",".join(str((7 * i + j) % 100) for j in range(99)) + f",{i % 10}\n" for i in range(500)]
        self.write("rows.csv", ",".join(f"c{j}" for j in range(100)) + "\n" + "".join(rows) * 110)
        self.streams(TABLE % ("format: csv, file: rows.csv, label: c99", "f32", "99"), "a temporary file in ")

    def test_goes_on_exactly(self):
        _, whole = self.train("whole", "--memory", "24MiB")
        self.train("part", "--memory", "24MiB", "--set", "train.steps=2")
        self.cgrun("train", "--resume", "part", "--set", "train.steps=4")
        resumed = json.loads((self.folder / "part" / "summary.json").read_text())
        self.assertEqual(resumed["weights_hash"], whole["weights_hash"])

    def test_decoding_images_is_planned(self):
        for name in "ab":
            (self.folder / "photos" / name).mkdir(parents=True)
            self.save(f"photos/{name}/x.png", png(4000, 3000, bytes(4000 * 3000 * 3)))
        self.write("photos.yaml", PHOTOS)
        flags = ["train", "photos.yaml", "--threads", "1"]
        most = self.watched(*flags, "--out", "run").most_anonymous
        planned = json.loads((self.folder / "run/summary.json").read_text())["planned_peak_bytes"]
        self.assertGreater(most, 2 * 4000 * 3000 * 3)  # lines and pixels of one image
        self.assertLessEqual(most, planned)
        refused = self.refuses(*flags, "--out", "capped", "--memory", "100MiB")
        self.assertIn("photos/a/x.png: error: this image of 4000 x 3000 pixels takes ", refused)
        self.assertIn(" while it is decoded, more than the cap of 100 MiB", refused)

    def test_plans_with_it(self):
        planned = self.cgrun("plan", "small.yaml", "--memory", "24MiB", "--json")
        self.assertIn("'images' does not fit in memory", planned.stderr)
        free = json.loads(self.cgrun("plan", "small.yaml", "--json").stdout)
        self.assertLess(json.loads(planned.stdout)["data_bytes"], free["data_bytes"] - 35 * MIB)


if __name__ == "__main__":
    unittest.main()
