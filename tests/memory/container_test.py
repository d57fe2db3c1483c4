#!/usr/bin/env python3
"""Every shipped model runs within what its plan states:

    container      a control group whose limit is `container_bytes`
    address space  `ulimit -v` of `address_space_bytes`
    group alone    a control group below the total, without --memory: the run plans for less
    eval, predict, generate  of the trained weights, within the limit of the training
    .cgb           the compiled program trains and evaluates in the same control group

Each run goes to exit status 0, report included, and measures no more than its plan's total; the code
that it maps is no more than its plan says. Prints a line a run. Control groups need root and a memory
controller of version 1 or 2 that can be written; where there is none, their cases are skipped, and
that is said. Eager mode plans nothing, so that it has no case. Some models, on some numbers of threads:
    CGRUN=bazel-bin/src/cli/cgrun CGRUN_MODELS="lenet mlp" CGRUN_THREADS="1 2" tests/memory/container_test.py
"""

import json
import math
import os
import re
import resource
import subprocess
import sys
import time
import unittest

sys.path.insert(0, "tests/cli")
from cli_testing import (CGRUN, ROOT, SANITIZED, CliTestCase, ControlGroup, npy,  # pylint: disable=wrong-import-position
                         write_zeros_as_safetensors)

# Classes of the random data that stand for what does not ship; None: the model's own data.
MODELS = {"lenet": None, "regression": None, "char-rnn": None, "lsgan": None, "mlp": 10, "lenet-mnist": 10, "dcgan": 10,
          "autoencoder": 10, "cnn-cifar": 10, "alexnet-cifar": 10, "resnet18-cifar": 10, "alexnet": None,
          "resnet18": None, "resnet50": None, "mobilenet-v2": None, "inception-v3": None, "vgg16": None}
GENERATORS = {"char-rnn", "lsgan", "dcgan"}
ON_REFERENCE = {"lenet", "regression", "lsgan"}  # others take minutes there
# The arena is to be smaller by one of so many parts.
UNDER_A_CAP = {"resnet18-cifar": 8, "alexnet-cifar": 48, "resnet18": 8}
CHOSEN = os.environ.get("CGRUN_MODELS", " ".join([*MODELS, "mask-rcnn"])).split()
TRAINED = [name for name in CHOSEN if name in MODELS]
THREADS = os.environ.get("CGRUN_THREADS", "1 2").split()
LINE = "{:15} {:>7} {:14} {:>9} {:>9} {:>9} {:>9} {:>6}"


def mib(size):
    return "" if size is None else f"{size / 2**20:,.1f}"


def write_zeros(path, dtype, shape):
    """A .npy file."""
    kind, width = {"uint8": ("|u1", 1), "f32": ("<f4", 4)}[dtype]
    path.write_bytes(npy(shape, bytes(width * math.prod(shape)), kind))


@unittest.skipIf(SANITIZED, "the memory of a sanitizer is in no plan")
class ContainerTest(CliTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(LINE.format("model", "threads", "within", "limit", "planned", "measured", "with code", "s"),
              "(MiB)", flush=True)

    def tearDown(self):
        for weights in self.folder.rglob("*.safetensors"):
            weights.unlink()
        super().tearDown()

    def flags(self, name, threads, device="cpu"):
        data = []
        if MODELS.get(name):
            sets = {"train": {"format": "synthetic", "samples": 1000, "classes": MODELS[name]},
                    "test": {"format": "synthetic", "samples": 300, "classes": MODELS[name], "seed": 1}}
            data = ["--set", "data=" + json.dumps(sets)]
        return [ROOT / f"models/{name}.yaml", "--threads", threads, "--device", device, *data]

    def plan(self, *flags):
        return json.loads(self.cgrun("plan", *flags, "--json").stdout)

    def run_within(self, name, threads, within, limit, before, *arguments):
        """Runs cgrun with `before` called in the child, to exit status 0. Returns what it prints, and a
        function that prints the line, once what was planned and measured is known."""
        began = time.time()
        with subprocess.Popen([str(CGRUN), *map(str, arguments)], cwd=self.folder, preexec_fn=before,  # pylint: disable=W1509
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            output, errors = run.communicate()
        where = f"{name} on {threads} within {within} of {mib(limit)} MiB"
        self.assertEqual(run.returncode, 0, f"{where}: {errors}")

        def show(result):
            planned, measured, resident = (result[f"{kind}_peak_bytes"] for kind in ("planned", "measured", "process"))
            print(LINE.format(name, threads, within, mib(limit), mib(planned), mib(measured), mib(resident),
                              f"{time.time() - began:.1f}"), flush=True)
            self.assertLessEqual(measured, planned, where)
            if within != "group alone":
                self.assertLessEqual(resident, limit, f"{where}: the code takes more than the plan says")
        return output, show

    def train(self, name, threads, within, limit, before, device="cpu"):
        """Trains for two steps, evaluates and reports."""
        _, show = self.run_within(name, threads, within, limit, before,
                                  "train", *self.flags(name, threads, device), "--limit-batches", "2", "--set",
                                  "train.epochs=1", "--out", "run", "--force", "--quiet")
        self.assertTrue((self.folder / "run" / "report.html").exists())
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        show(summary)
        return summary

    def predict_input(self, name):
        """A file of eight samples."""
        values = json.loads(self.cgrun("graph", ROOT / f"models/{name}.yaml", "--entry", "predict", "--json").stdout)
        placeholder = next(value for value in values["values"] if value["role"] == "placeholder")
        dtype, shape = re.fullmatch(r"(\w+)\[N, (.*)\]", placeholder["type"]).groups()
        write_zeros(self.folder / "samples.npy", dtype, [8, *map(int, shape.split(","))])
        return "samples.npy"

    def use_weights(self, name, threads, within, limit, before):
        flags = [*self.flags(name, threads), "--weights", "run"]
        split = "train" if name == "lsgan" else "test"  # which has no other data
        where = "" if within == "container" else " by address"
        output, show = self.run_within(name, threads, f"eval{where}", limit, before, "eval", *flags, "--split", split,
                                       "--limit-batches", "2", "--json")
        show(json.loads(output))
        if name in GENERATORS:
            verb, more = "generate", ["--force", "--out", "made.txt" if name == "char-rnn" else "made.png"]
        else:
            verb, more = "predict", [self.predict_input(name)]
        output, show = self.run_within(name, threads, verb + where, limit, before, verb, *flags, *more, "--json")
        show(json.loads(output))

    def use_program(self, name, threads, limit, before):
        """Trains and evaluates the compiled program."""
        flags = self.flags(name, threads)
        self.cgrun("compile", *flags, "-o", "model.cgb")
        program = ["model.cgb", *flags[1:]]
        _, show = self.run_within(name, threads, "train .cgb", limit, before, "train", *program, "--limit-batches", "2",
                                  "--set", "train.epochs=1", "--out", "run", "--force", "--quiet")
        show(json.loads((self.folder / "run" / "summary.json").read_text()))
        split = "train" if name == "lsgan" else "test"
        output, show = self.run_within(name, threads, "eval .cgb", limit, before, "eval", *program, "--weights", "run",
                                       "--split", split, "--limit-batches", "2", "--json")
        show(json.loads(output))

    def test_no_model_is_forgotten(self):
        shipped = {file.stem for file in (ROOT / "models").glob("*.yaml")}
        self.assertEqual(shipped, {*MODELS, "mask-rcnn"})

    def test_models_run_in_the_container_that_their_plan_states(self):
        if why_not := ControlGroup.why_not("memory", 2**30):
            self.skipTest(why_not)
        for threads in THREADS:
            for name in TRAINED:
                limit = self.plan(*self.flags(name, threads))["container_bytes"]
                with self.subTest(name, threads=threads), ControlGroup("memory", limit) as group:
                    self.train(name, threads, "container", limit, group.join)
                    self.use_weights(name, threads, "container", limit, group.join)
                    self.use_program(name, threads, limit, group.join)

    def test_models_run_in_the_address_space_that_their_plan_states(self):
        for threads in THREADS:
            for name in TRAINED:
                limit = self.plan(*self.flags(name, threads))["address_space_bytes"]
                def before(limit=limit):
                    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                with self.subTest(name, threads=threads):
                    self.train(name, threads, "address space", limit, before)
                    self.use_weights(name, threads, "address space", limit, before)

    def test_models_run_so_on_the_reference_device(self):
        if why_not := ControlGroup.why_not("memory", 2**30):
            self.skipTest(why_not)
        for name in sorted(ON_REFERENCE.intersection(CHOSEN)):
            limit = self.plan(*self.flags(name, "1", "reference"))["container_bytes"]
            with self.subTest(name), ControlGroup("memory", limit) as group:
                self.train(name, "1", "reference", limit, group.join, "reference")

    def test_a_group_below_the_total_is_a_cap(self):
        if why_not := ControlGroup.why_not("memory", 2**30):
            self.skipTest(why_not)
        for threads in THREADS:
            for name in sorted(UNDER_A_CAP.keys() & CHOSEN):
                plan = self.plan(*self.flags(name, threads))
                limit = plan["container_bytes"] - plan["arena_bytes"] // UNDER_A_CAP[name]
                with self.subTest(name, threads=threads), ControlGroup("memory", limit) as group:
                    summary = self.train(name, threads, "group alone", limit, group.join)
                    self.assertLess(summary["planned_peak_bytes"], plan["total_bytes"])

    def write_weights(self, name, path):
        """Zeros for all that the model learns."""
        graph = json.loads(self.cgrun("graph", ROOT / f"models/{name}.yaml", "--entry", "predict", "--json").stdout)
        write_zeros_as_safetensors(path, {
            value["name"]: [int(size) for size in re.fullmatch(r"f32\[(.*)\]", value["type"])[1].split(",")]
            for value in graph["values"] if value["role"] in ("parameter", "running statistic")})

    def test_a_model_that_is_not_trained_predicts_so(self):
        if "mask-rcnn" not in CHOSEN:
            self.skipTest("mask-rcnn is not chosen")
        if why_not := ControlGroup.why_not("memory", 2**30):
            self.skipTest(why_not)
        self.write_weights("mask-rcnn", self.folder / "zeros.safetensors")
        write_zeros(self.folder / "image.npy", "uint8", [3, 1024, 1024])
        for threads in THREADS:
            flags = [*self.flags("mask-rcnn", threads), "--batch", "1"]
            limit = self.plan(*flags)["container_bytes"]
            with self.subTest("mask-rcnn", threads=threads), ControlGroup("memory", limit) as group:
                output, show = self.run_within("mask-rcnn", threads, "predict", limit, group.join, "predict", *flags,
                                               "image.npy", "--weights", "zeros.safetensors", "--json")
                show(json.loads(output))


if __name__ == "__main__":
    unittest.main()
