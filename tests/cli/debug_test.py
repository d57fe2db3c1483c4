#!/usr/bin/env python3
"""Debugging runs: `--debug-sets` and `--debug-sync`, on operators that are sound."""

import json
import unittest

from cli_testing import MODEL, CliTestCase, npy

CHECKED = "all read and write what they declare"


class DebugTest(CliTestCase):
    def train(self, *flags):
        done = self.cgrun("train", "small.yaml", "--threads", 1, "--force", "--out", "run", *flags)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        return done, summary

    def test_training_keeps_its_bits(self):
        plain, debugged = self.train()[1], self.train("--debug-sets")
        done, summary = debugged
        self.assertEqual(summary["weights_hash"], plain["weights_hash"])
        for split in ("train", "test"):
            self.assertEqual(summary[split], plain[split])
        lines = [line for line in done.stderr.splitlines() if line.startswith("debug-sets: ")]
        told = {line.split("'")[1]: line for line in lines}
        self.assertLessEqual({"train", "train.5", "eval"}, set(told))
        plan = json.loads(self.cgrun("compile", "small.yaml", "-o", "m.cgb", "--threads", 1,
                                     "--json").stdout)
        self.assertGreater(plan["instructions"], 0)
        listed = json.loads(self.cgrun("disasm", "m.cgb", "--json").stdout)["entries"]
        count = {entry["name"]: len(entry["instructions"]) for entry in listed}
        for name, line in told.items():
            self.assertIn(f"{count[name]} operators of '{name}' checked in each of ", line)
            self.assertIn(CHECKED, line)

    def test_eval_predict_and_bench(self):
        self.train()
        weights = ("--weights", "run")
        plain = json.loads(self.cgrun("eval", "small.yaml", *weights, "--json").stdout)
        done = self.cgrun("eval", "small.yaml", *weights, "--json", "--debug-sets")
        self.assertEqual(json.loads(done.stdout)["metrics"], plain["metrics"])
        self.assertIn(CHECKED, done.stderr)
        (self.folder / "x.npy").write_bytes(npy([1, 1, 4, 4], bytes(range(16))))
        done = self.cgrun("predict", "small.yaml", "x.npy", *weights, "--debug-sets")
        self.assertIn("of 'predict' checked in each of 1 run: " + CHECKED, done.stderr)
        self.assertEqual(done.stdout,
                         self.cgrun("predict", "small.yaml", "x.npy", *weights).stdout)
        done = self.cgrun("bench", "small.yaml", "--debug-sets", "--only", "graph, memory")
        self.assertIn(CHECKED, done.stderr)
        self.assertIn("1 round of 1 step", done.stdout)
        note = "note: the times of graph cases are those of a debugging run"
        self.assertIn(note, done.stderr)
        done = self.cgrun("bench", "small.yaml", "--debug-sets", "--only", "eager")
        self.assertNotIn(note, done.stderr)

    def test_the_graph_is_analysed_once_in_10_000_steps(self):
        self.write("small.yaml", MODEL.replace("epochs: 2", "steps: 10000").replace("samples: 65", "samples: 641"))
        done, summary = self.train()
        self.assertEqual((summary["steps"], summary["graph_analyses"]), (10_000, 1))
        self.assertIn("the graph was compiled and planned once for 10,000 steps", done.stdout)

    def test_eager_mode_has_no_byte_code(self):
        for flag in ("--debug-sets", "--debug-sync"):
            error = self.refuses("train", "small.yaml", "--mode", "eager", flag)
            self.assertIn(f"{flag} looks at the byte code of graph mode", error)
        self.assertIn("exclude each other", self.refuses("train", "small.yaml", "--debug-sets", "-v"))

    def test_sync_changes_nothing_on_the_host(self):
        plain, (done, summary) = self.train()[1], self.train("--debug-sync")
        self.assertIn("note: --debug-sync changes nothing on device ", done.stderr)
        self.assertEqual(summary["weights_hash"], plain["weights_hash"])

    def test_models_with_every_kind_of_operator_are_sound(self):
        ops = """      - {op: conv, in: pixels, filters: 4, kernel: 3, padding: 1, activation: relu}
      - {op: batch_norm}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - {op: dropout, rate: 0.2}
"""
        text = (self.folder / "small.yaml").read_text()
        self.write("small.yaml", text.replace("      - {op: flatten}\n", ops))
        for optimizer in ("adam", "rmsprop", "adagrad"):
            done, _ = self.train("--debug-sets", "--set",
                                 f"train.optimizer={{op: {optimizer}, lr: 0.01}}")
            self.assertIn(CHECKED, done.stderr)


if __name__ == "__main__":
    unittest.main()
