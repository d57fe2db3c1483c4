#!/usr/bin/env python3
"""Runs the commands of README.md and the examples of every verb's help, in their order."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "tests/cli")
import onnx_testing  # pylint: disable=wrong-import-position

ROOT = pathlib.Path.cwd()
CGRUN = (ROOT / os.environ.get("CGRUN", "src/cli/cgrun")).resolve()

DEVICES = json.loads(subprocess.run([CGRUN, "devices", "--json"], check=True,
                                    stdout=subprocess.PIPE).stdout)["devices"]
HAS_CPU = any(device["name"] == "cpu" and "kernels" in device for device in DEVICES)

# A command that begins so is not run, for this reason.
LEFT_OUT = {
    "scripts/quickstart": "installs packages and builds",
    "scripts/test": "runs all tests, this one among them",
    "export PATH=": "here the binary is found by PATH anyway",
    "cgrun generate models/dcgan.yaml": "needs MNIST and ten minutes of training",
}
# A command is quick with these options. Nothing but its time depends on them.
SHORTER = {"cgrun bench": " --rounds 1 --steps 1"}
# The README and the examples of help take these for granted: samples, buffers, runs.
BEFORE_README = ["cgrun train models/lsgan.yaml --limit-batches 2 --set train.epochs=1"]
BEFORE_HELP = BEFORE_README + [
    "scripts/datasets/digits-as-images",
    "cgrun plan models/lenet.yaml --csv buffers.csv",
    "cgrun train models/regression.yaml --set train.epochs=2",
    "cgrun train models/char-rnn.yaml --limit-batches 100 --set train.epochs=1",
    "mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions",
]


def readme_commands():
    """Those of the `sh` blocks and those that stand in the text, with an argument, in their order."""
    text = (ROOT / "README.md").read_text()
    for block, inline in re.findall(r"^```sh\n(.*?)^```$|`(cgrun [a-z]+ [^`]+)`", text, re.M | re.S):
        yield from (line.split("  #")[0].rstrip() for line in (block or inline).splitlines())


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        if b"__asan_init" in CGRUN.read_bytes():
            self.skipTest("takes minutes under a sanitizer; the verbs have tests of their own")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for part in ("models", "datasets/digits", "datasets/friedman", "datasets/austen",
                     "scripts/datasets"):
            shutil.copytree(ROOT / part, self.root / part)
        self.count = 0

    def run_all(self, commands):
        """Runs what is not left out; returns what is."""
        environment = {**os.environ, "PATH": f"{CGRUN.parent}:{os.environ['PATH']}",
                       "HOME": str(self.root)}
        left_out = set()
        for command in commands:
            reason = next((start for start in LEFT_OUT if command.startswith(start)), None)
            if reason:
                left_out.add(reason)
                continue
            if "--device cpu" in command and not HAS_CPU:
                print(f"not run, as this build has no device 'cpu': {command}")
                continue
            more = next((more for start, more in SHORTER.items() if command.startswith(start)), "")
            done = subprocess.run(["bash", "-c", command + more], cwd=self.root, env=environment,
                                  text=True, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
            self.count += 1
        return left_out

    def test_the_readme(self):
        self.run_all(BEFORE_README)
        self.assertEqual(self.run_all(readme_commands()), set(LEFT_OUT))
        self.assertGreater(self.count, 12)
        # The resumed run is what is said of it.
        self.run_all(["cgrun train models/lenet.yaml --set train.optimizer.schedule=constant --set "
                      "train.epochs=8 --out runs/straight"])
        summaries = [json.loads((self.root / f"runs/{run}/summary.json").read_text())
                     for run in ("steady", "straight")]
        self.assertEqual(*[summary["weights_hash"] for summary in summaries])
        self.assertEqual([summary["resumed_at_step"] > 0 for summary in summaries], [True, False])

    def test_the_pairs_on_each_others_digits(self):
        block = next(block for block in re.findall(r"^```sh\n(.*?)^```$",
                                                   (ROOT / "docs/how-to/generate.md").read_text(), re.M | re.S)
                     if "lsgan-mnist" in block)
        mnist = self.root / "datasets/mnist"  # noise of its shape
        mnist.mkdir()
        pixels = struct.pack(">4B3I", 0, 0, 8, 3, 64, 28, 28) + random.Random(1).randbytes(64 * 784)
        (mnist / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(pixels))
        short = re.sub(r"train\.epochs=\d+", "train.epochs=1 --limit-batches 2", block)
        self.run_all([short])
        for sheet in ("lsgan-mnist.png", "dcgan-digits.png"):
            self.assertEqual((self.root / sheet).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def write_networks(self):
        """Writes the files of ONNX that the examples import."""
        weight = onnx_testing.floats("W", [4, 2], [0.5] * 8)
        for name, sizes in (("mnist.onnx", ["N", 4]), ("tagger.onnx", ["N", "sequence", 4])):
            (self.root / name).write_bytes(onnx_testing.model(
                [onnx_testing.node("MatMul", ["x", "W"], "y")], [weight],
                [onnx_testing.value("x", sizes)], [onnx_testing.value("y", [*sizes[:-1], 2])]))

    def test_the_examples_of_help(self):
        def help_of(*verb):
            done = subprocess.run([CGRUN, "help", *verb], text=True, capture_output=True, check=True)
            return done.stdout

        verbs = re.findall(r"(?m)^  ([a-z]+) ", help_of().split("Verbs:")[1].split("Examples:")[0])
        self.assertIn("completion", verbs)
        self.run_all(BEFORE_HELP)
        self.write_networks()
        for verb in verbs:
            examples = re.findall(r"(?m)^  (cgrun .*)", help_of(verb).split("Examples:")[1])
            self.assertGreaterEqual(len(examples), 2, verb)
            self.assertEqual(self.run_all(examples), set(), verb)
        self.assertGreater(self.count, 30)


if __name__ == "__main__":
    unittest.main()
