#!/usr/bin/env python3
"""scripts/bench/fine-tune: what it says of data, programs and packages that are not there."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = os.path.abspath("scripts/bench/fine-tune")


class FineTuneTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def told(self, *arguments, **environment):
        done = subprocess.run([SCRIPT, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "CGRUN_SHARED_DATA": "", **environment})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_it_says_what_is_missing(self):
        self.assertIn("--data or CGRUN_SHARED_DATA names its folder", self.told())
        (self.folder / "cifar10-sample").mkdir()
        for name in ("cifar10-sample/data_batch_1.bin", "cifar10-sample/test_batch.bin",
                     "sign-digits-400.tar.gz"):
            self.assertIn(name, self.told("--data", "."))
            (self.folder / name).write_bytes(b"")
        self.assertIn("`bazel build //src/cli:cgrun` makes it", self.told("--data", ".", CGRUN="nowhere"))
        (self.folder / "torch.py").write_text("raise ImportError('No module named torch')\n")
        (self.folder / "onnx.py").write_text("")
        self.assertIn("No module named torch: `pip install torch onnx numpy`",
                      self.told("--data", ".", CGRUN=SCRIPT, PYTHONPATH=str(self.folder)))


if __name__ == "__main__":
    unittest.main()
