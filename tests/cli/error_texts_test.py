#!/usr/bin/env python3
"""The whole text of what cgrun answers to some hundred mistakes in a model file, in its data and in
its run. The texts stand in tests/cli/golden/error_texts.txt. After a wanted change:

    bazel build //src/cli:cgrun
    CGRUN_UPDATE_GOLDEN=1 CGRUN=bazel-bin/src/cli/cgrun tests/cli/error_texts_test.py
"""

import gzip
import os
import re
import shlex
import shutil
import struct
import subprocess
import unittest

from cli_testing import CGRUN, ROOT, CliTestCase, png

GOLDEN = ROOT / "tests/cli/golden/error_texts.txt"

MODEL = """cgrun: 1
model: shapes

data:
  train: {format: images, folder: photos/train}
  valid: {split: 0.25}
  test: {format: images, folder: photos/test}

inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}

paths:
  preprocess:
    mode: forward
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
  classify:
    ops:
      - {op: conv, in: x, filters: 4, kernel: 3, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics:
      accuracy: {in: [logits, label]}

train:
  epochs: 2
  batch: 4
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""

TABLE = """size,weight,kind,price
1.5,3,a,10
2.5,4,b,20
3.5,5,a,30
4.5,6,b,40
"""

TABLE_MODEL = """cgrun: 1
model: prices
data:
  train: {format: csv, file: prices.csv, label: price}
inputs:
  features: {type: f32, shape: [3]}
  label: {type: f32, shape: []}
paths:
  regress:
    ops:
      - {op: linear, in: features, units: 1}
      - price: {op: reshape, shape: []}
    loss: {op: squared_error, in: [price, label]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.01}}
"""

DIGITS_MODEL = """cgrun: 1
model: digits
data:
  train: {format: idx, images: images.gz, labels: labels.gz}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.1}}
"""


def idx(sizes, data):
    """Returns a compressed IDX file, which has the same bytes each time."""
    head = struct.pack(f">HBB{len(sizes)}I", 0, 8, len(sizes), *sizes)
    return gzip.compress(head + data, mtime=0)


def colours(side, shade):
    """Returns a square PNG picture in colours."""
    return png(side, side, [value for y in range(side) for x in range(side)
                            for value in (shade, x * 9 % 256, y * 5 % 256)])


def change(old, new, text=MODEL):
    assert old in text, old
    return text.replace(old, new, 1)


# The heading, the model file as the user has it by then (None: as it was), and the command.
MODEL_MISTAKES = [
    ("a tab", change("  train: {format: images, folder", "\ttrain: {format: images, folder"),
     "train shapes.yaml"),
    ("a brace that is not closed", change("shape: [3, 8, 8]}", "shape: [3, 8, 8]"),
     "train shapes.yaml"),
    ("a brace of an operator that is not closed",
     change("activation: relu}", "activation: relu"), "train shapes.yaml"),
    ("a bracket that is not closed", change("in: [logits, label]}\n    metrics",
                                            "in: [logits, label}\n    metrics"), "train shapes.yaml"),
    ("a bracket too many", change("shape: [3, 8, 8]}", "shape: [3, 8, 8]]}"), "train shapes.yaml"),
    ("no colon behind a key", change("paths:\n", "paths\n"), "train shapes.yaml"),
    ("the file is called otherwise", None, "train shape.yaml"),
    ("a version from tomorrow", change("cgrun: 1", "cgrun: 2"), "train shapes.yaml"),
    ("no version", change("cgrun: 1\n", ""), "train shapes.yaml"),
    ("a misspelt section", change("inputs:", "input:"), "train shapes.yaml"),
    ("a misspelt operator", change("op: max_pool", "op: maxpool"), "train shapes.yaml"),
    ("a key that another tool has", change("filters: 4", "out_channels: 4"), "train shapes.yaml"),
    ("a layer that another tool has", change("op: linear", "op: dense"), "train shapes.yaml"),
    ("keys and names of PyTorch",
     change("{op: max_pool, kernel: 2}", "{op: MaxPool2d, kernel_size: 2, return_indices: false}",
            change("op: conv, in: x, filters: 4, kernel: 3",
                   "op: Conv2d, in: x, in_channels: 3, out_channels: 4, kernel_size: 3",
                   change("{op: flatten}", "{op: relu, inplace: true}\n      - {op: dropout, p: 0.5}\n"
                          "      - {op: batch_norm, num_features: 4}\n      - {op: flatten}",
                          change("units: 2}", "in_features: 36, num_classes: 2}")))),
     "train shapes.yaml"),
    ("calls of PyTorch",
     change("{op: conv, in: x, filters: 4, kernel: 3, activation: relu}", "nn.Conv2d(3, 16, 3)",
            change("{op: flatten}", "Flatten()",
                   change("logits: {op: linear, units: 2}", "logits: Linear(36, 2)"))),
     "train shapes.yaml"),
    ("operators in the wrong place",
     change("{op: flatten}", "{op: adam}\n      - {op: CrossEntropyLoss}\n      - {op: accuracy}\n"
            "      - {op: flatten}",
            change("optimizer: {op: sgd", "optimizer: {op: relu",
                   change("loss: {op: softmax_cross_entropy", "loss: {op: accuracy"))),
     "train shapes.yaml"),
    ("a loss that is told nothing",
     change("loss: {op: softmax_cross_entropy, in: [logits, label]}", "loss: softmax_cross_entropy"),
     "train shapes.yaml"),
    ("keys of training that another tool has",
     change("  batch: 4\n", "  batch_size: 4\n  learning_rate: 0.1\n  weight_decay: 0.1\n"
            "  scheduler: cosine\n  device: cpu\n  metrics: [accuracy]\n  num_workers: 2\n"),
     "train shapes.yaml"),
    ("keys of data that another tool has",
     change("  valid: {split: 0.25}", "  val: {split: 0.25}\n  transforms: [flip]\n  batch_size: 4",
            change("folder: photos/train}", "folder: photos/train, transform: flip, shuffle: true}")),
     "train shapes.yaml"),
    ("a misspelt operator with misspelt keys",
     change("{op: max_pool, kernel: 2}", "{op: max_pol, kernle: 2}",
            change("{op: flatten}", "{op: relou, slpe: 0.1}\n      - {op: flatten}")),
     "train shapes.yaml"),
    ("the batch in a shape", change("shape: [3, 8, 8]", "shape: [32, 3, 8, 8]"),
     "train shapes.yaml"),
    ("no number for the batch in a shape", change("shape: [3, 8, 8]", "shape: [-1, 3, 8, 8]"),
     "train shapes.yaml"),
    ("channels last", change("shape: [3, 8, 8]", "shape: [8, 8, 3]"), "train shapes.yaml"),
    ("the batch in a shape of digits",
     change("shape: [1, 4, 4]", "shape: [32, 1, 4, 4]", DIGITS_MODEL), "train shapes.yaml"),
    ("channels last in digits", change("shape: [1, 4, 4]", "shape: [4, 4, 1]", DIGITS_MODEL),
     "train shapes.yaml"),
    ("bytes for an operator of floats",
     change("op: conv, in: x", "op: conv, in: image",
            change("{op: flatten}", "sum: {op: mul, in: [x, image]}\n      - {op: flatten}")),
     "train shapes.yaml"),
    ("a text for a number", change("kernel: 3", "kernel: three"), "train shapes.yaml"),
    ("an input that nobody made", change("in: x, filters", "in: y, filters"), "train shapes.yaml"),
    ("a value used before it is there",
     change("in: x, filters: 4", "in: logits, filters: 4"), "train shapes.yaml"),
    ("two operators that wait for each other",
     change("in: x, filters: 4", "in: again, filters: 4",
            change("      - {op: flatten}\n", "      - again: {op: relu}\n      - {op: flatten}\n")),
     "train shapes.yaml"),
    ("two networks that use each other",
     change("paths:\n", "networks:\n  left: {in: a, ops: [{network: right}]}\n"
            "  right: {in: b, ops: [{network: left}]}\npaths:\n",
            change("      - {op: flatten}\n", "      - {network: left}\n      - {op: flatten}\n")),
     "train shapes.yaml"),
    ("two paths that read each other",
     change("in: image, scale", "in: logits, scale"), "train shapes.yaml"),
    ("three paths in a circle",
     change("paths:\n", "paths:\n  first: {mode: forward, ops: [y: {op: relu, in: logits}]}\n",
            change("in: image, scale: 1/255", "in: y")), "train shapes.yaml"),
    ("an output without a name", change("- logits: {", "- {"), "train shapes.yaml"),
    ("a metric's inputs without `in`", change("accuracy: {in: [logits, label]}",
                                              "accuracy: [logits, label]"), "train shapes.yaml"),
    ("two with one name",
     change("      - {op: flatten}\n", "      - logits: {op: flatten}\n"), "train shapes.yaml"),
    ("no flatten", change("      - {op: flatten}\n", ""), "train shapes.yaml"),
    ("a kernel larger than the image", change("kernel: 3", "kernel: 9"), "train shapes.yaml"),
    ("labels first", change("[logits, label]}\n    metrics", "[label, logits]}\n    metrics"),
     "train shapes.yaml"),
    ("no loss",
     change("    loss: {op: softmax_cross_entropy, in: [logits, label]}\n", ""),
     "train shapes.yaml"),
    ("an input that nothing reads", change("inputs:\n", "inputs:\n  mask: {type: f32, shape: [2]}\n"),
     "train shapes.yaml"),
    ("an input that no path reads",
     change("  - x: {op: normalize, in: image", "  - x: {op: normalize, in: other",
            change("inputs:\n", "inputs:\n  other: {type: uint8, shape: [3, 8, 8]}\n",
                   change("{format: images, folder: photos/train}",
                          "{format: synthetic, samples: 12, classes: 2}",
                          change("  test: {format: images, folder: photos/test}\n", "")))),
     "train shapes.yaml --dry-run --quiet"),
    ("nothing left to learn",
     change("units: 2}", "units: 2, frozen: true}",
            change("kernel: 3, activation: relu}", "kernel: 3, activation: relu, frozen: true}")),
     "train shapes.yaml --dry-run --quiet"),
    ("a bias that has another name",
     change("units: 2}", "units: 2, lr: {biases: 2}}"), "train shapes.yaml"),
    ("a negative rate", change("lr: 0.05", "lr: -0.05"), "train shapes.yaml"),
    ("no rate", change("op: sgd, lr: 0.05, momentum: 0.9", "op: sgd"), "train shapes.yaml"),
    ("a momentum that is too large", change("momentum: 0.9", "momentum: 1.5"), "train shapes.yaml"),
    ("nesterov without a momentum", change("momentum: 0.9", "nesterov: true"), "train shapes.yaml"),
    ("betas that are too large",
     change("op: sgd, lr: 0.05, momentum: 0.9", "op: adam, beta1: -0.1, beta2: 1, momentum: 0.9"),
     "check shapes.yaml"),
    ("betas as another tool has them",
     change("op: sgd, lr: 0.05, momentum: 0.9", "op: adam, betas: [0.9, 0.999], gamma: 0.1"),
     "train shapes.yaml"),
    ("a decay below nothing", change("momentum: 0.9", "weight_decay: -1"), "train shapes.yaml"),
    ("a schedule of steps without their distance",
     change("momentum: 0.9}", "momentum: 0.9, schedule: step}"), "train shapes.yaml"),
    ("the steps of another tool",
     change("momentum: 0.9}",
            "momentum: 0.9, schedule: {step: {step_size: 3, gamma: 0.1, milestones: [3, 6]}}}"),
     "train shapes.yaml"),
    ("arguments of a schedule out of their range",
     change("momentum: 0.9}", "momentum: 0.9, schedule: {plateau: {factor: 1.5, patience: 0.5, "
            "min: 2, threshold: -1}}}"), "train shapes.yaml"),
    ("a schedule that another tool has",
     change("momentum: 0.9}", "momentum: 0.9, schedule: CosineAnnealingLR}"), "train shapes.yaml"),
    ("an unknown schedule, and a summary",
     change("momentum: 0.9}", "momentum: 0.9, schedule: cosin}"), "summary shapes.yaml"),
    ("numbers of f64", change("label: {type: int32, shape: []}",
                              "label: {type: int32, shape: []}\n  mask: {type: f64, shape: []}"),
     "train shapes.yaml"),
    ("an unknown schedule", change("momentum: 0.9}", "momentum: 0.9, schedule: cosin}"),
     "train shapes.yaml"),
    ("a batch of nothing", change("batch: 4", "batch: 0"), "train shapes.yaml"),
    ("four at once",
     change("op: max_pool", "op: pool_max",
            change("op: flatten", "op: flaten",
                   change("lr: 0.05", "learning_rate: 0.05",
                          change("accuracy:", "acuracy:")))), "train shapes.yaml"),
]

DATA_MISTAKES = [
    ("a folder that is not there", change("photos/train", "photo/train"), "train shapes.yaml"),
    ("more classes than units", change("units: 2", "units: 1"), "train shapes.yaml"),
    ("fewer channels than the pictures have",
     change("shape: [3, 8, 8]", "shape: [2, 8, 8]"), "train shapes.yaml"),
    ("the folder above the pictures' folders",
     change("photos/train", "photos", change("  test: {format: images, folder: photos/test}\n", "")),
     "train shapes.yaml"),
    ("a folder higher still", change("folder: photos/train", "folder: ."), "train shapes.yaml"),
    ("a part in per cent", change("split: 0.25", "split: 25%"), "train shapes.yaml"),
    ("all data set aside", change("split: 0.25", "split: 1.0"), "train shapes.yaml"),
    ("a picture that was cut off", MODEL, "train shapes.yaml", "cut_picture"),
    ("a text called .jpg", MODEL, "train shapes.yaml", "text_as_picture"),
    ("a folder without pictures", MODEL, "train shapes.yaml", "empty_folder"),
    ("a table with a hole", TABLE_MODEL, "train shapes.yaml", "hole_in_table"),
    ("a table with a row too short", TABLE_MODEL, "train shapes.yaml", "short_row"),
    ("a number with a comma in it", TABLE_MODEL, "train shapes.yaml", "comma_in_number"),
    ("a download that broke off", DIGITS_MODEL, "train shapes.yaml", "cut_download"),
    ("fewer images than were declared", DIGITS_MODEL, "train shapes.yaml", "short_images"),
    ("another file by that name", DIGITS_MODEL, "train shapes.yaml", "picture_as_digits"),
    ("images and labels swapped",
     change("images: images.gz, labels: labels.gz", "images: labels.gz, labels: images.gz",
            DIGITS_MODEL), "train shapes.yaml"),
    ("fewer labels than images", DIGITS_MODEL, "train shapes.yaml", "fewer_labels"),
    ("a label too many", DIGITS_MODEL, "train shapes.yaml", "fourth_label"),
    ("a label of a table that is no class",
     change("units: 1}\n      - price: {op: reshape, shape: []}", "units: 3}",
            change("squared_error, in: [price", "softmax_cross_entropy, in: [linear",
                   change("label: {type: f32", "label: {type: int32",
                          change("shape: [3]", "shape: [2]", TABLE_MODEL)))).replace(
                              "{op: linear, in", "linear: {op: linear, in"),
     "train shapes.yaml", "classes_in_table"),
    ("a label of a picture that is no class",
     change("folder: photos/train}", "folder: photos/train/dark, labels: labels.csv}"),
     "train shapes.yaml", "labels_of_pictures"),
    ("a path that goes up and down",
     change("folder: photos/train", "folder: photos/../photos/trian"), "train shapes.yaml"),
    ("a column that is not there", change("label: price", "label: prize", TABLE_MODEL),
     "train shapes.yaml"),
    ("more columns than the input has", change("shape: [3]", "shape: [2]", TABLE_MODEL),
     "train shapes.yaml"),
]

RUN_MISTAKES = [
    ("a verb misspelt", MODEL, "tran shapes.yaml"),
    ("a flag misspelt", None, "train shapes.yaml --devise cpu"),
    ("a device misspelt", None, "train shapes.yaml --device gpu"),
    ("a setting misspelt", None, "train shapes.yaml --set train.batchsize=8"),
    ("the same run again", None, "train shapes.yaml --out run", "a_run"),
    ("resuming what is no run", None, "train --resume photos"),
    ("resuming what is not there", None, "train --resume runs/shape"),
    ("resuming another model", None, "train --resume run --set paths.classify.ops.logits.units=3",
     "a_run"),
    ("the run in place of the model", None, "train run", "a_run"),
    ("weights of another model", change("units: 2", "units: 3"),
     "eval shapes.yaml --weights run/checkpoint-6.safetensors", "a_run"),
    ("the newest checkpoint cut off", MODEL, "train --resume run --set train.epochs=3 --quiet",
     "cut_newest"),
    ("no checkpoint that is whole", MODEL, "train --resume run", "cut_all"),
    ("weights that were cut off", MODEL,
     "eval shapes.yaml --weights cut.safetensors", "cut_weights"),
    ("no weights", None, "eval shapes.yaml"),
    ("a picture for a model", None, "train photos/train/dark/0.png"),
    ("output over the model file", None, "compile shapes.yaml -o shapes.yaml"),
    ("a batch larger than the data", MODEL, "train shapes.yaml --batch 500 --dry-run --quiet"),
    ("a rate that is too high", change("lr: 0.05", "lr: 1.0e+20"), "train shapes.yaml --out high"),
    ("memory without its unit", MODEL, "train shapes.yaml --memory 10"),
    ("no data to measure on",
     change("  test: {format: images, folder: photos/test}\n", ""),
     "eval shapes.yaml --weights run", "a_run"),
    ("a folder that cannot be made", MODEL, "train shapes.yaml --out shapes.yaml/run"),
]


class ErrorTextsTest(CliTestCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.fresh()

    def fresh(self):
        for path in list(self.folder.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for part, count in (("train", 8), ("test", 4)):
            for name, shade in (("dark", 10), ("light", 200)):
                for i in range(count):
                    picture = self.folder / f"photos/{part}/{name}/{i}.png"
                    picture.parent.mkdir(parents=True, exist_ok=True)
                    picture.write_bytes(colours(8, shade + i))
        self.write("prices.csv", TABLE)
        self.digits()

    def digits(self, images=12, declared=12, labels=12, largest=2):
        pixels = bytes(i * 7 % 256 for i in range(images * 16))
        (self.folder / "images.gz").write_bytes(idx((declared, 4, 4), pixels))
        (self.folder / "labels.gz").write_bytes(
            idx((labels,), bytes(largest - i % 3 for i in range(labels))))

    # The methods below do what happened before a command.

    def cut_picture(self):
        path = self.folder / "photos/train/dark/3.png"
        path.write_bytes(path.read_bytes()[:60])

    def text_as_picture(self):
        self.write("photos/train/light/holiday.jpg", "see attachment\n")

    def empty_folder(self):
        shutil.rmtree(self.folder / "photos/train")
        (self.folder / "photos/train").mkdir()

    def hole_in_table(self):
        self.write("prices.csv", TABLE.replace("3.5,5,", "3.5,,"))

    def classes_in_table(self):
        self.write("prices.csv", "size,weight,price\n1.5,3,0\n2.5,4,7\n3.5,5,1\n4.5,6,2\n")

    def labels_of_pictures(self):
        self.write("labels.csv", "0.png,0\n1.png,1\n2.png,5\n3.png,1\n")

    def short_row(self):
        self.write("prices.csv", TABLE.replace("3.5,5,a,30", "3.5,5,a"))

    def comma_in_number(self):
        self.write("prices.csv", TABLE.replace("2.5,4,b,20", '"2,5",4,b,20'))

    def cut_download(self):
        path = self.folder / "images.gz"
        path.write_bytes(path.read_bytes()[:-20])

    def short_images(self):
        self.digits(images=9)

    def picture_as_digits(self):
        (self.folder / "images.gz").write_bytes(colours(4, 9))

    def fewer_labels(self):
        self.digits(labels=11)

    def fourth_label(self):
        self.digits(largest=3)

    def cut(self, name):
        path = self.folder / name
        path.write_bytes(path.read_bytes()[:500])

    def cut_newest(self):
        self.a_run()
        self.cut("run/checkpoint-6.safetensors")

    def cut_all(self):
        self.a_run()
        for path in (self.folder / "run").glob("*.safetensors"):
            self.cut(path)

    def a_run(self):
        self.cgrun("train", "first.yaml", "--out", "run", "--device", "reference")

    def cut_weights(self):
        self.a_run()
        whole = (self.folder / "run/checkpoint-6.safetensors").read_bytes()
        (self.folder / "cut.safetensors").write_bytes(whole[:len(whole) // 2])

    def answer(self, command):
        """Returns what the terminal shows, less what differs between machines."""
        arguments = shlex.split(command)
        if arguments[0] in ("train", "eval") and "--device" not in arguments:
            arguments += ["--device", "reference"]
        done = subprocess.run([str(CGRUN), *arguments], cwd=self.folder, text=True, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL)
        warned = "warning: " in done.stderr and "error: " not in done.stderr
        self.assertIn(done.returncode, (0,) if warned else (1, 2), command)
        self.assertNotIn("internal error", done.stderr, command)
        text = done.stderr.replace(str(self.folder), "FOLDER")
        return re.sub(r"^(epoch|memory: planned) .*\n", "", text, flags=re.MULTILINE)

    def test_each_mistake_has_its_answer(self):
        told = []
        model = MODEL
        for part, mistakes in (("The model file", MODEL_MISTAKES), ("The data", DATA_MISTAKES),
                               ("The run", RUN_MISTAKES)):
            told.append(f"=== {part} ===\n")
            for heading, text, command, *before in mistakes:
                self.fresh()
                model = text or model
                self.write("first.yaml", MODEL)
                self.write("shapes.yaml", model)
                for step in before:
                    getattr(self, step)()
                told.append(f"\n# {heading}\n$ cgrun {command}\n{self.answer(command)}")
            told.append("\n")
        text = "".join(told)
        if os.environ.get("CGRUN_UPDATE_GOLDEN"):
            GOLDEN.write_text(text)
        self.assertEqual(text, GOLDEN.read_text())


if __name__ == "__main__":
    unittest.main()
