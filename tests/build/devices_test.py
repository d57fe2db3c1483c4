#!/usr/bin/env python3
"""The devices that a build has train a small network, and those that it has not are refused well."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CGRUN = pathlib.Path.cwd() / os.environ.get("CGRUN", "src/cli/cgrun")

MODEL = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 12, classes: 3}
inputs:
  image: {type: uint8, shape: [1, 6, 6]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 4, kernel: 3, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 4, optimizer: {op: sgd, lr: 0.05}}
"""


class DevicesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "small.yaml").write_text(MODEL)
        devices = json.loads(self.cgrun("devices", "--json").stdout)["devices"]
        self.kernels = {device["name"]: device.get("kernels") or device["description"] for device in devices}

    def cgrun(self, *arguments, status=0):
        done = subprocess.run([str(CGRUN), *arguments], cwd=self.folder, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def train(self, device):
        self.cgrun("train", "small.yaml", "--device", device, "--out", device)
        return json.loads((self.folder / device / "summary.json").read_text())

    def test_its_devices_train(self):
        wanted = self.train("reference")["train"]["loss"]
        for device in ["blas", *(["cpu"] if self.has_onednn() else [])]:
            summary = self.train(device)
            self.assertEqual((summary["device"], summary["steps"]), (device, 6))
            self.assertAlmostEqual(summary["train"]["loss"], wanted, delta=1e-4, msg=device)

    def has_onednn(self):
        built = "oneDNN" in self.kernels["cpu"].removeprefix("built without oneDNN")
        self.assertNotEqual(built, self.kernels["cpu"] == "built without oneDNN", self.kernels)
        return built

    def test_auto_is_the_fastest(self):
        self.assertEqual(self.train("auto")["device"], "cpu" if self.has_onednn() else "blas")

    def test_what_is_not_built_is_refused(self):
        if self.has_onednn():
            print("Left out: this build has oneDNN")
            return
        error = self.cgrun("train", "small.yaml", "--device", "cpu", status=2).stderr
        self.assertIn("error: there are no kernels for device 'cpu': built without oneDNN\n", error)
        self.assertIn("help: try --device blas\n", error)


if __name__ == "__main__":
    unittest.main()
