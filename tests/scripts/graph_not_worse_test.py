#!/usr/bin/env python3
"""scripts/bench/graph-not-worse: what it asks `cgrun bench`, and its verdict on what that answers."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = os.path.abspath("scripts/bench/graph-not-worse")
CGRUN = """#!/usr/bin/env python3
import pathlib, sys
here = pathlib.Path(__file__).parent
(here / "arguments").write_text(" ".join(sys.argv[1:]))
answer = (here / "answer").read_text()
if answer:
    pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(answer)
else:
    sys.exit("error: no answer")
"""


class GraphNotWorseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "cgrun").write_text(CGRUN)
        (self.folder / "cgrun").chmod(0o755)

    def run_script(self, speedup=1.1, eager_bytes=2 << 20, graph_bytes=1 << 20, fault=None,
                   flags=()):
        def case(name, peak, speedup):
            return {"name": name, "batch": 64, "peak_bytes": peak, "speedup": speedup,
                    "seconds_per_iteration": {"min": 0.009, "median": 0.01, "max": 0.02}}

        cases = [case("eager", eager_bytes, 1.0), case("graph, no passes", 1 << 30, 0.1),
                 case("graph, memory", graph_bytes, speedup)]
        if fault:
            cases[2]["fault"] = fault
        (self.folder / "answer").write_text(
            json.dumps({"threads": 2, "rounds": 7, "cases": cases}))
        return self.start(flags)

    def start(self, flags=()):
        return subprocess.run([SCRIPT, "--models", "lenet-mnist", "--cgrun", self.folder / "cgrun",
                               *flags], text=True, capture_output=True, check=False)

    def test_not_worse(self):
        done = self.run_script(flags=["--threads", "2", "--rounds", "9"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nlenet-mnist +64 +2\.00 +1\.00 +−50\.0 % +10\.0 \(9\.0–20\.0\) "
                                      r"+10\.0 \(9\.0–20\.0\) +1\.10 +\(7 rounds\)\n")
        self.assertIn("worse in neither", done.stderr)
        arguments = (self.folder / "arguments").read_text()
        self.assertIn("models/lenet-mnist.yaml --batch 64 ", arguments)
        self.assertIn(" --order memory ", arguments)
        self.assertTrue(arguments.endswith(" --threads 2 --rounds 9"), arguments)

    def test_as_a_page_has_it(self):
        done = self.run_script(flags=["--markdown", "--infer"])
        self.assertRegex(done.stdout, r"\| lenet-mnist \| 64 \| 2\.00 \| 1\.00 \| −50\.0 % \| 10\.0 ")
        self.assertIn(" --infer", (self.folder / "arguments").read_text())

    def test_as_good_is_not_worse(self):
        self.assertEqual(self.run_script(speedup=0.98, graph_bytes=2 << 20).returncode, 0)

    def test_slower(self):
        done = self.run_script(speedup=0.979)
        self.assertEqual(done.returncode, 1)
        self.assertIn("slower: 0.979 < 0.98", done.stdout)
        self.assertEqual(self.run_script(speedup=0.979, flags=["--least", "0.9"]).returncode, 0)

    def test_larger(self):
        done = self.run_script(graph_bytes=(2 << 20) + 64)
        self.assertEqual(done.returncode, 1)
        self.assertIn("64 bytes more", done.stdout)

    def test_other_losses(self):
        done = self.run_script(fault="its loss in step 1 is 2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("its loss in step 1 is 2", done.stdout)

    def test_a_benchmark_that_failed(self):
        (self.folder / "answer").write_text("")
        done = self.start()
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: lenet-mnist: error: no answer", done.stderr)


if __name__ == "__main__":
    unittest.main()
