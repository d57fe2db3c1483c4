#!/usr/bin/env python3
"""scripts/bench/peers, with programs in place of cgrun, darknet and the peers' Python that answer
at once: what it asks them, what it makes of their answers, and its verdict."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath("scripts/bench/peers")
CGRUN = """#!PYTHON -S
import json, pathlib, sys
arguments = sys.argv[1:]
here = pathlib.Path(__file__).parent
with open(here / "asked", "a") as file:
    print(*arguments, file=file)
told = json.loads((here / "told").read_text())
if arguments == ["--version"]:
    sys.exit(print("cgrun 0.1"))
answer = {"train": {"train": {"loss": 2.0}}, "eval": {"metrics": {"loss": 3.0}},
          "summary": {"layers": [{"name": "fc1", "parameters": 1}]}}.get(arguments[0])
if arguments[0] == "train":
    folder = pathlib.Path(arguments[arguments.index("--out") + 1])
    folder.mkdir()
    (folder / "checkpoint-0.safetensors").write_text("")
if arguments[0] == "bench":
    tiny = "tiny.yaml" in arguments[1]
    who = "eager" if "eager" in arguments else "graph"
    answer = {"cases": [{"peak_bytes": 10 << 20 if tiny else told[who]["process"],
                         "seconds_per_iteration": {"median": told[who]["seconds"]}}]}
pathlib.Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(answer))
"""
PYTHON = """#!PYTHON -S
import json, pathlib, sys
case = json.loads(sys.argv[2])
told = json.loads((pathlib.Path(__file__).parent.parent / "told").read_text())
if case["peer"] == "versions":
    print(json.dumps(told["versions"]))
elif case["peer"] == "export":
    print("null")
elif told.get("failing") == case["peer"]:
    sys.exit("no such operator")
elif case["check"]:
    print(json.dumps({"loss": told["loss"]}))
else:
    print(json.dumps(told[case["peer"]]))
"""
DARKNET = """#!/bin/sh
echo 'Speed: 0.001000 sec/eval'
"""


def round_of(milliseconds, mib):
    return {"seconds": milliseconds / 1e3, "process": (mib + 10) << 20, "growth": mib << 20}


class PeersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("cgrun", CGRUN), ("bin/python", PYTHON), ("darknet", DARKNET)):
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("PYTHON", sys.executable))
            path.chmod(0o755)
        self.told = {"versions": {"torch": "9.9", "onnxruntime": "8.8", "onnxscript": "7.7"},
                     "loss": 2.001, "eager": round_of(10, 8), "graph": round_of(5, 4),
                     "pytorch": round_of(20, 16), "onnxruntime": round_of(2.5, 8)}

    def run_script(self, *flags):
        (self.folder / "told").write_text(json.dumps(self.told))
        return subprocess.run(
            [sys.executable, SCRIPT, "--cgrun", self.folder / "cgrun", "--venv", self.folder,
             "--models", "mlp", "--peers", "pytorch", "onnxruntime", "jax", "darknet", "--darknet",
             self.folder / "darknet", "--threads", "2", "--rounds", "1", *flags],
            text=True, capture_output=True, check=False)

    def test_training(self):
        done = self.run_script("--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 threads, 2 rounds; cgrun 0.1; torch 9.9", done.stdout)
        self.assertRegex(done.stdout, r"\nmlp +64 graph +5\.00 \(5\.00–5\.00\) "
                                      r"+0\.50 \(0\.50–0\.50\) +– +14\.0 +4\.0 +2\.00 "
                                      r"+– +2\.00000\n")
        self.assertRegex(done.stdout, r"\nmlp +64 pytorch +20\.0 \(20\.0–20\.0\) "
                                      r"+2\.00 \(2\.00–2\.00\) +4\.00 \(4\.00–4\.00\) "
                                      r"+26\.0 +16\.0 +0\.50 +0\.25 +2\.00100\n")
        self.assertIn("left out: mlp of onnxruntime: it does not train", done.stdout)
        self.assertRegex(done.stdout, r"left out: jax: `\S+ -m pip install jax`")
        self.assertIn("no bar is missed", done.stdout)
        asked = (self.folder / "asked").read_text()
        self.assertEqual(asked.count("models/mlp.yaml --isolate --only graph, memory --rounds 1 "
                                     "--threads 2 --steps 400 --batch 64 --set data="), 2, asked)

    def test_inference_as_a_page_has_it(self):
        self.told["loss"] = 3.0
        done = self.run_script("--infer", "--markdown")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("| mlp | 64 | onnxruntime | 2.50 (2.50–2.50) | 0.25 (0.25–0.25) "
                      "| 0.50 (0.50–0.50) | 18.0 | 8.0 | 1.00 | 0.50 | 3.00000 |\n", done.stdout)
        self.assertIn("| mlp | 64 | darknet | 64.0 (64.0–64.0) | 6.40 (6.40–6.40) "
                      "| 12.80 (12.80–12.80) | – | – | – | – | – |\n", done.stdout)
        self.assertIn(" --infer ", (self.folder / "asked").read_text())

    def test_a_missed_bar(self):
        self.told["pytorch"] = round_of(8.9, 7)
        done = self.run_script()
        self.assertEqual(done.returncode, 1)
        for text in ("eager has 0.89 × the speed of pytorch, less than 0.9 ×",
                     "eager has 1.14 × the memory of pytorch, more than 1.1 ×",
                     "graph has 1.78 × the speed of pytorch, less than 2.0 ×"):
            self.assertIn(f"mlp: {text}", done.stdout)

    def test_another_loss(self):
        self.told["loss"] = 2.0021
        done = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("mlp: the first loss of pytorch is 2.002100, that of cgrun 2.000000",
                      done.stdout)

    def test_a_loss_that_is_no_number(self):
        self.told["loss"] = float("nan")
        self.assertEqual(self.run_script().returncode, 1)

    def test_a_peer_that_fails(self):
        self.told["failing"] = "pytorch"
        done = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("mlp of pytorch failed: no such operator", done.stdout)
        self.assertRegex(done.stdout, r"\nmlp +64 graph ")

    def test_no_peer(self):
        self.told["versions"] = {}
        done = self.run_script("--peers", "pytorch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the peers is there", done.stderr)
        self.assertRegex(done.stderr, r"left out: pytorch: `\S+/bin/python -m pip install torch`")


if __name__ == "__main__":
    unittest.main()
