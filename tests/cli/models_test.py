#!/usr/bin/env python3
"""The models that ship: every verb takes each of them, at sizes that a test can afford."""

import csv
import json
import os
import pathlib
import shutil
import unittest

from cli_testing import ROOT, SANITIZED, CliTestCase

# As torchvision counts those of ImageNet (inception-v3 without its auxiliary classifier), Caffe its
# cifar10_quick, which is cnn-cifar, and Keras those of Matterport's Mask R-CNN; the others by hand.
PARAMETERS = {
    "alexnet": 61_100_840,
    "alexnet-cifar": 5_871_434,
    "autoencoder": 2_837_314,
    "char-rnn": 123_520,
    "cnn-cifar": 145_578,
    "dcgan": 672_578,
    "inception-v3": 23_834_568,
    "lenet": 431_080,
    "lenet-mnist": 431_080,
    "lsgan": 103_361,
    "mask-rcnn": 64_047_096,
    "mlp": 535_818,
    "mobilenet-v2": 3_504_872,
    "regression": 769,
    "resnet18": 11_689_512,
    "resnet18-cifar": 11_173_962,
    "resnet50": 25_557_032,
    "vgg16": 138_357_544,
}
SMALL = {  # images of another size, so that two steps take seconds
    "alexnet": ["--set", "inputs.image.shape=[3,64,64]"],
    "inception-v3": ["--set", "inputs.image.shape=[3,75,75]"],
    "mobilenet-v2": ["--set", "inputs.image.shape=[3,32,32]"],
    "resnet18": ["--set", "inputs.image.shape=[3,32,32]"],
    "resnet50": ["--set", "inputs.image.shape=[3,32,32]"],
    "vgg16": ["--set", "inputs.image.shape=[3,32,32]"],
}
# Those that do not train, as small.
INFERENCE = {
    "mask-rcnn": ["--set", "inputs.image.shape=[3,64,128]", "--set",
                  "paths.detect.ops.regions.count=20", "--set", "paths.detect.ops.found.count=5"],
}
TRAINED = sorted(set(PARAMETERS) - set(INFERENCE))
CIFAR = ["alexnet-cifar", "cnn-cifar", "resnet18-cifar"]
# Plans that are not at the lower bound: peak / bound - 1 at most, of one thread, at batch 32 and at
# the model's own, on the devices `cpu` (with AVX-512), `blas` and `reference`. The others' is 0.
GAPS = {
    "inception-v3": 0.005,
}


def model(name):
    return ROOT / "models" / f"{name}.yaml"


class ModelsTest(CliTestCase):
    def json(self, *arguments):
        return json.loads(self.cgrun(*arguments, "--json").stdout)

    def test_there_is_no_other_model(self):
        self.assertEqual({path.stem for path in (ROOT / "models").glob("*.yaml")}, set(PARAMETERS))

    def test_they_have_as_many_parameters_as_elsewhere(self):
        for name, parameters in PARAMETERS.items():
            layers = self.json("summary", model(name))["layers"]
            self.assertEqual(sum(layer["parameters"] for layer in layers), parameters, name)

    def test_their_comments_say_how_large_they_are(self):
        for name, parameters in PARAMETERS.items():
            lines = model(name).read_text().splitlines()
            comment = " ".join(line[2:] for line in lines if line.startswith("# "))
            self.assertIn(f"{parameters:,} parameters", comment, name)
            self.assertLessEqual(max(map(len, lines)), 100, name)

    def test_evaluation_takes_no_memory_of_its_own(self):
        without = ["--set", "data.valid=null", "--set", "data.test=null"]
        for name in TRAINED:
            arena = self.json("plan", model(name))["arena_bytes"]
            more = arena - self.json("plan", model(name), *without)["arena_bytes"]
            state = 4 * 32 * 128 if name == "char-rnn" else 0  # [32, 128]: what it remembers
            self.assertEqual(more, state, name)

    def test_they_do_as_much_work_as_elsewhere(self):
        published = {"inception-v3": 5.71, "mobilenet-v2": 0.30, "resnet50": 4.09, "vgg16": 15.47}
        for name, products in published.items():  # torchvision's "GFLOPS"
            layers = self.json("summary", model(name))["layers"]
            flops = sum(layer["flops"] for layer in layers if layer["op"] in ("conv", "linear"))
            self.assertAlmostEqual(flops / 2e9, products, delta=0.01, msg=name)

    def test_they_can_be_planned_and_shown(self):
        for name in TRAINED:
            for flags in (["--batch", 32], [], ["--device", "reference"]):
                plan = self.json("plan", model(name), "--threads", 1, *flags)
                bound = plan["lower_bound_bytes"]
                self.assertGreaterEqual(plan["peak_bytes"], bound, (name, flags))
                gap = plan["peak_bytes"] - bound
                self.assertLessEqual(gap, max(64, GAPS.get(name, 0) * bound), (name, flags))
                self.assertLessEqual(plan["arena_bytes"], plan["eager_peak_bytes"], (name, flags))
            nodes = self.json("graph", model(name))["nodes"]
            self.assertTrue(any(node["phase"] == "update" for node in nodes), name)

    def test_those_for_inference_are_planned_for_predictions(self):
        for name in INFERENCE:
            plan = self.json("plan", model(name), "--threads", 1)
            self.assertEqual(plan["mode"], "infer", name)
            self.assertEqual([entry["name"] for entry in plan["entries"]], ["predict"], name)
            self.assertGreaterEqual(plan["peak_bytes"], plan["lower_bound_bytes"], name)
            self.assertLessEqual(plan["arena_bytes"], plan["eager_peak_bytes"], name)
            zones = sum(zone["persistent_bytes"] for zone in plan["zones"])
            self.assertGreaterEqual(zones, 4 * PARAMETERS[name], name)
            nodes = self.json("graph", model(name), "--entry", "predict")["nodes"]
            self.assertEqual({node["phase"] for node in nodes}, {"forward"}, name)

    def test_another_size_is_set_on_the_command_line(self):
        for size in ("[3,256,320]", "[3,64,64]"):
            layers = self.json("summary", model("mask-rcnn"), "--set",
                               f"inputs.image.shape={size}")["layers"]
            self.assertEqual(sum(layer["parameters"] for layer in layers), 64_047_096)
        error = self.refuses("plan", model("mask-rcnn"), "--set", "inputs.image.shape=[3,96,64]")
        self.assertIn("are of images of different sizes", error)

    @unittest.skipIf(SANITIZED, "takes minutes under a sanitizer")
    def test_inference_takes_no_more_than_eager_does(self):
        small = SMALL | INFERENCE
        for name in [*small, "char-rnn", "lenet", "lsgan", "regression"]:
            cases = self.json("bench", model(name), *small.get(name, []), "--infer", "--batch", 8,
                              "--rounds", 1, "--steps", 1, "--threads", 1)["cases"]
            peaks = {case["name"]: case["peak_bytes"] for case in cases}
            self.assertLessEqual(peaks["graph, memory"], peaks["eager"], name)

    def test_they_can_be_compiled(self):
        self.cgrun("compile", model("resnet18"), *SMALL["resnet18"], "--batch", "2", "-o", "m.cgb")
        self.assertIn("classify.basic[7].y.conv", self.cgrun("disasm", "m.cgb").stdout)

    def train(self, name, *flags, batch=2, accumulate=1):
        self.cgrun("train", model(name), "--batch", batch, "--limit-batches", 2 * accumulate,
                   "--set", f"train.accumulate={accumulate}", "--out", name,
                   "--set", "train.epochs=1", *SMALL.get(name, []), *flags)
        summary = json.loads((self.folder / name / "summary.json").read_text())
        self.assertEqual(summary["steps"], 2, name)
        if "allocations_after_first_step" in summary:  # else a sanitizer has memory of its own
            self.assertEqual(summary["allocations_after_first_step"], 0, name)
            planned, measured = summary["planned_peak_bytes"], summary["measured_peak_bytes"]
            self.assertLessEqual(measured - planned, max(1 << 20, 0.01 * planned), name)
            # The pool of oneDNN, 1 MiB, counts as a whole, and the base is rounded up.
            self.assertLessEqual(planned - measured, max(2 << 20, 0.01 * planned), name)
        return summary

    def test_random_images_train_them(self):
        for name in ["resnet18"] if SANITIZED else SMALL:
            self.train(name)

    def test_the_model_of_characters_reads(self):
        summary = self.train("char-rnn", batch=32)
        self.assertLess(summary["train"]["loss"], 5.6)  # ln 256 is 5.55

    @unittest.skipIf(SANITIZED, "takes minutes under a sanitizer")
    def test_the_regression_explains_what_is_not_noise(self):
        self.cgrun("train", model("regression"), "--out", "run", "--set",
                   "paths.predict.metrics={r2: {in: [y, label]}}")
        test = json.loads((self.folder / "run/summary.json").read_text())["test"]
        self.assertGreater(test["r2"], 0.9)
        self.assertLess(test["loss"], 2.5)  # three seeds give 1.48 to 1.68, the noise alone 1

    def test_an_autoencoder_needs_no_labels(self):
        data = ["--set", "data={train: {format: synthetic, samples: 8}, "
                         "test: {format: synthetic, samples: 4, seed: 1}}"]
        test = self.train("autoencoder", *data)["test"]
        self.assertLess(test["mean_squared_error"], 1)

    @unittest.skipIf(SANITIZED, "a sanitizer counts no allocations")
    def test_steps_of_several_batches_allocate_nothing(self):
        self.train("resnet18", accumulate=3)

    def test_another_depth_is_set_on_the_command_line(self):
        item = "paths.classify.ops[8].repeat"
        layers = self.json("summary", model("resnet50"), "--set", f"{item}=22")["layers"]
        self.assertEqual(sum(layer["parameters"] for layer in layers), 44_549_160)  # ResNet-101

    def write_cifar(self, name, labels):
        records = [bytes([label]) + bytes((label * 31 + j) % 256 for j in range(3072))
                   for label in labels]
        path = self.folder / "cifar" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(records))

    def folder_flags(self, folder):
        return [f"--set=data.{part}.folder={folder}" for part in ("train", "test")]

    def test_cifar_trains_them(self):
        self.write_cifar("data_batch_1.bin", range(10))
        self.write_cifar("data_batch_2.bin", range(10))
        self.write_cifar("test_batch.bin", [3, 1, 4, 1])
        for name in CIFAR:
            self.train(name, *self.folder_flags(self.folder / "cifar"))

    def test_cifar_that_is_not_there_can_be_fetched(self):
        self.write("models/m.yaml", model("alexnet-cifar").read_text())
        error = self.refuses("train", "models/m.yaml")
        self.assertIn("cannot open 'datasets/cifar10': No such file or directory\n", error)
        self.assertIn("`scripts/datasets/fetch-cifar10` fetches this data", error)
        self.assertEqual(error.count("error: "), 1)
        self.assertIn("without the samples themselves: cannot open 'datasets/cifar10'",
                      self.cgrun("plan", "models/m.yaml").stdout)

    def test_cifar_files_and_their_mistakes(self):
        self.write_cifar("a.bin", [1, 2, 3, 4])
        self.write_cifar("b.bin", [5, 12])
        flags = self.folder_flags(self.folder / "cifar")
        lists = ["--set", "data.train={format: cifar, files: [cifar/a.bin, cifar/b.bin]}",
                 "--set", "data.test={format: cifar, files: cifar/a.bin}"]
        self.write("m.yaml", model("alexnet-cifar").read_text())
        error = self.refuses("train", "m.yaml", *lists)
        self.assertIn("'cifar/b.bin': sample 1 has the label 12, but CIFAR-10's are 0 to 9", error)
        error = self.refuses("train", "m.yaml", *flags)
        self.assertIn("holds no data_batch_*.bin or train.bin", error)
        self.assertNotIn("test_batch.bin", error, "which other data need is told first")
        self.write_cifar("data_batch_1.bin", [1, 2, 3, 4])
        self.assertIn("holds no test_batch.bin", self.refuses("train", "m.yaml", *flags))
        self.write_cifar("b.bin", [5])
        self.cgrun("train", "m.yaml", *lists, "--batch", "2", "--dry-run")
        error = self.refuses("train", "m.yaml", *lists, "--set",
                             "paths.classify.ops.logits.units=5", "--batch", "2")
        self.assertIn("b.bin': sample 0 has the label 5, but the 5 classes of", error)
        missing = self.refuses("train", "m.yaml", *lists, "--set",
                               "data.train.files=[cifar/a.bin, cifar/c.bin, cifar/d.bin]")
        self.assertIn("cannot open 'cifar/c.bin': No such file or directory, and 1 other is missing",
                      missing)

    @unittest.skipUnless(pathlib.Path(os.environ.get("CGRUN_SHARED_DATA", "/no")).exists(),
                         "CGRUN_SHARED_DATA does not name the folder of sample data")
    def test_the_sample_of_cifar10(self):
        folder = self.folder / "datasets/cifar10"
        shutil.copytree(pathlib.Path(os.environ["CGRUN_SHARED_DATA"]) / "cifar10-sample", folder)
        data = ["--set", f"data={{train: {{format: cifar, folder: {folder}}}, "
                         f"test: {{format: cifar, folder: {folder}, part: test}}}}"]
        self.train("alexnet-cifar", *data, batch=32)
        if SANITIZED:
            return  # what follows takes many minutes there
        for name in ("resnet18", "resnet50"):
            self.train(name, *data, batch=8)
        self.learn_the_sample(data)

    # 2,000 images are read six times, moved and mirrored. The worst of four seeds ends with the loss 1.89
    # and the accuracy 0.312; chance has ln 10 = 2.303 and 0.1.
    def learn_the_sample(self, data):
        moved = ("{op: pad, in: image, axes: [2, 3], before: [4, 4], after: [4, 4]}, "
                 "{op: random_crop, size: 32}, {op: random_flip, axes: -1}")
        normalized = ("{op: normalize, scale: 1/255, mean: [0.4914, 0.4822, 0.4465], "
                      "std: [0.2470, 0.2435, 0.2616]}")
        self.cgrun("train", model("cnn-cifar"), *data, "--out", "learnt", "--set", "train.epochs=6",
                   "--set", f"paths.preprocess.ops=[{moved}, {{x: {normalized}}}]")
        test = json.loads((self.folder / "learnt/summary.json").read_text())["test"]
        self.assertLess(test["loss"], 2.05)
        self.assertGreater(test["accuracy"], 0.25)
        with open(self.folder / "learnt/metrics.csv", encoding="utf-8") as log:
            losses = [float(row["train_loss"]) for row in csv.DictReader(log)]
        self.assertEqual(len(losses), 6)
        self.assertLess(losses[-1], losses[0] - 0.4)


if __name__ == "__main__":
    unittest.main()
