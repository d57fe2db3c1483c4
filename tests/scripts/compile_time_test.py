#!/usr/bin/env python3
"""scripts/bench/compile-time on small chains, and long ones under a small stack."""

import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path.cwd()
BENCHMARK = ROOT / "scripts/bench/compile-time"
CGRUN = ROOT / "src/cli/cgrun"
SMALL_STACK = 256 << 10


def benchmark(*arguments):
    return subprocess.run([sys.executable, BENCHMARK, "--cgrun", CGRUN, *map(str, arguments)],
                          capture_output=True, text=True, check=False)


class CompileTimeTest(unittest.TestCase):
    # Three times the operators may take less than six times as long, on a busy machine too.
    @unittest.skipIf(b"__asan_init" in CGRUN.read_bytes(), "a sanitizer's times are not those of the program")
    def test_planning_is_about_linear(self):
        result = benchmark("relu", "fan", "linear", "--sizes", 1000, 3000, "--most", 1.6, "--least", 0.1)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("process", result.stdout)
        self.assertIn("fuse_elementwise", result.stdout)

    def test_what_grows_too_fast_is_told(self):
        result = benchmark("forward", "--sizes", 10, 1000, "--most", 0, "--least", 0)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("grows faster than the power 0.0: process of forward", result.stdout)

    def test_what_is_no_shape_is_refused(self):
        result = benchmark("spiral")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no shape spiral", result.stderr)

    def test_long_chains_need_no_deep_stack(self):
        for shape in ("relu", "residual"):
            with self.subTest(shape), tempfile.TemporaryDirectory() as folder:
                result = subprocess.run(
                    [sys.executable, BENCHMARK, "--cgrun", CGRUN, shape, "--sizes", "100", "5000", "--most", "9"],
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (SMALL_STACK, SMALL_STACK)),
                    capture_output=True, text=True, check=False, cwd=folder)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
