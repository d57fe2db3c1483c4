#!/usr/bin/env python3
"""A signal ends a run soon, whatever it is at, and leaves a checkpoint that it goes on from."""

import json
import signal
import subprocess
import time
import unittest

from cli_testing import CGRUN, MODEL, SANITIZED, CliTestCase

# A step of plain loops: some 10 seconds on one thread.
SLOW = MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n"
                     "      - {op: linear, units: 2048}\n      - {op: linear, units: 2048}\n"
                     ).replace("samples: 65", "samples: 4096").replace("batch: 20", "batch: 1024")

# Some seconds of evaluation behind some milliseconds of training.
EVALUATED = MODEL.replace("samples: 40", "samples: 4000000")


class StopTest(CliTestCase):
    def stop(self, *arguments, wait, signals=1):
        """Starts a run, signals it `wait` seconds after its first checkpoint; its status, standard
        error, and the seconds that it took from the signal on."""
        with subprocess.Popen([CGRUN, "train", *arguments, "--out", "my run", "--threads", "1"],
                              cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while not list(self.folder.glob("my run/checkpoint-0*")) and process.poll() is None:
                time.sleep(0.05)
            time.sleep(wait)
            begin = time.monotonic()
            for _ in range(signals):
                process.send_signal(signal.SIGTERM)
                time.sleep(0.1)
            _, errors = process.communicate(timeout=300)
        return process.returncode, errors, time.monotonic() - begin

    def test_a_long_step_is_not_waited_for(self):
        if SANITIZED:
            self.skipTest("steps take other times with a sanitizer")
        self.write("slow.yaml", SLOW)
        for mode in ("graph", "eager"):
            status, errors, seconds = self.stop("slow.yaml", "--device", "reference", "--mode",
                                                mode, "--force", wait=0.5)
            self.assertEqual(status, 130, errors)
            self.assertLess(seconds, 6)
            self.assertIn("interrupted within a step; the last checkpoint is that of step 0; go on "
                          "with: cgrun train --resume 'my run'\n", errors)
            self.assertEqual([path.name for path in self.folder.glob("my run/checkpoint-*")],
                             ["checkpoint-0.safetensors"])
            self.cgrun("train", "--resume", "my run", "--dry-run")
            (self.folder / "my run/checkpoint-0.safetensors").unlink()

    def test_a_second_signal_says_where_the_run_stands(self):
        self.write("slow.yaml", SLOW)
        status, errors, _ = self.stop("slow.yaml", "--device", "reference", wait=0.5, signals=2)
        self.assertEqual(status, 130, errors)
        self.assertIn("the last checkpoint is that of step 0; go on with: ", errors)

    def test_an_evaluation_stops_between_two_batches(self):
        self.write("evaluated.yaml", EVALUATED)
        status, errors, _ = self.stop("evaluated.yaml", wait=0.3)
        self.assertEqual(status, 130, errors)
        self.assertIn("interrupted in epoch 1, after step 4; checkpoint written to "
                      "my run/checkpoint-4.safetensors; go on with: "
                      "cgrun train --resume 'my run'\n", errors)
        self.assertEqual(len((self.folder / "my run/metrics.csv").read_text().splitlines()), 1)
        self.cgrun("train", "--resume", "my run", "--threads", "1")
        self.cgrun("train", "evaluated.yaml", "--out", "whole", "--threads", "1")
        logs, hashes = [], []
        for run in ("my run", "whole"):
            rows = (self.folder / run / "metrics.csv").read_text().splitlines()
            names = rows[0].split(",")
            kept = [i for i, name in enumerate(names) if "second" not in name
                    and "samples" not in name and "bytes" not in name and "wait" not in name]
            logs.append([[row.split(",")[i] for i in kept] for row in rows])
            hashes.append(json.loads((self.folder / run / "summary.json").read_text())
                          ["weights_hash"])
        self.assertEqual(len(logs[0]), 3)
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(hashes[0], hashes[1])


if __name__ == "__main__":
    unittest.main()
