#!/usr/bin/env python3
"""Models of 100,000 operators, the most that there may be, are planned in bounded time."""

import json
import os
import subprocess
import unittest

from cli_testing import CGRUN, CliTestCase

MOST = 100_000
OTHERS = 2  # operators beside the chain
KIB = 1024
CHAIN = """cgrun: 1
model: chain
data:
  train: {format: synthetic, samples: 64, classes: 4}
inputs:
  image: {type: f32, shape: [16]}
  label: {type: int32, shape: []}
blocks:
  layer: {in: x, ops: [OPERATOR]}
paths:
  chain:
    ops:
      - x: {op: linear, in: image, units: 4}
      - y: {block: layer, in: x, repeat: TIMES}
      - logits: {op: linear, in: y, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 8, optimizer: {op: sgd, lr: 0.1, momentum: 0.9}}
"""


class MostOperatorsTest(CliTestCase):
    def plan(self, operator, times):
        """Plans a chain; returns its plan, and the processor seconds and the bytes that this took."""
        self.write("chain.yaml", CHAIN.replace("OPERATOR", operator).replace("TIMES", str(times)))
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        with open(self.folder / "told", "w", encoding="utf-8") as told, subprocess.Popen(
                [str(CGRUN), "plan", "chain.yaml", "--threads", "1", "--json", "plan.json"],
                cwd=self.folder, env=environment, stdout=told, stderr=told) as run:
            _, ended, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(ended)
        self.assertEqual(run.returncode, 0, (self.folder / "told").read_text()[:2000])
        seconds = used.ru_utime + used.ru_stime
        print(f"{times:,} of {operator}: {seconds:.0f} s, {used.ru_maxrss / KIB / KIB:.1f} GiB", flush=True)
        return json.loads((self.folder / "plan.json").read_text()), seconds, used.ru_maxrss * KIB

    def test_a_chain_of_relus(self):
        plan, seconds, taken = self.plan("relu", MOST - OTHERS)
        self.assertGreater(plan["arena_bytes"], 4 * 8 * 4 * MOST // 2)
        self.assertLess(seconds, 120)
        self.assertLess(taken, 8 << 30)

    def test_a_chain_of_linear_layers(self):
        plan, seconds, taken = self.plan("{op: linear, units: 4}", 30_000)
        self.assertGreater(plan["arena_bytes"], 30_000 * 2 * 4 * 20)
        self.assertLess(seconds, 120)
        self.assertLess(taken, 8 << 30)

    def test_one_operator_more_is_refused(self):
        self.write("chain.yaml", CHAIN.replace("OPERATOR", "relu").replace("TIMES", str(MOST - OTHERS + 1)))
        for verb in ("plan", "check", "summary"):
            error = self.refuses(verb, "chain.yaml")
            self.assertIn("help: at most 100000 operators are allowed", error)
            self.assertLess(len(error), 1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
