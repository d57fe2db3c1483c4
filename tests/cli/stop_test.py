#!/usr/bin/env python3
"""A signal ends a run soon, whatever it is at, and leaves a checkpoint that it goes on from."""

import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from cli_testing import CGRUN, MODEL, SANITIZED, CliTestCase

# A step of plain loops: above 20 seconds on one thread, and less than two an operator.
SLOW = MODEL.replace("      - {op: flatten}\n",
                     "      - {op: flatten}\n" + 16 * "      - {op: linear, units: 1024}\n"
                     ).replace("samples: 65", "samples: 16384").replace("batch: 20", "batch: 4096")

# Some seconds of evaluation behind some milliseconds of training; more than the two seconds that the
# last evaluation has. With a sanitizer each sample takes several times as long.
EVALUATED = MODEL.replace("samples: 40", "samples: 2000000")
LONG_EVALUATED = MODEL.replace("samples: 40", f"samples: {75000 if SANITIZED else 150000}").replace(
    "model: small\n", "model: small\ndevice: reference\n").replace(
    "      - {op: flatten}\n", "      - {op: flatten}\n" + 2 * "      - {op: linear, units: 512}\n")


def metrics_of(folder):
    """The lines of metrics.csv, without the columns that differ where a run was resumed."""
    rows = [line.split(",") for line in (folder / "metrics.csv").read_text().splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if name not in ("seconds", "samples")]
    return [[row[i] for i in kept] for row in rows]


class StopTest(CliTestCase):
    def stop(self, *arguments, wait, signals=1):
        """Starts a run, signals it `wait` seconds after its first checkpoint; its status, standard
        error, and the seconds that it took from the signal on."""
        first = self.folder / "my run/checkpoint-0.safetensors"
        first.unlink(missing_ok=True)  # of a run before
        with subprocess.Popen([CGRUN, "train", *arguments, "--out", "my run", "--threads", "1"],
                              cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while not first.exists() and process.poll() is None:
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
            self.assertLess(seconds, 2 + 3 + 1)
            self.assertIn("interrupted within a step; the last checkpoint is that of step 0; go on "
                          "with: cgrun train --resume 'my run'\n", errors)
            self.assertEqual([path.name for path in self.folder.glob("my run/checkpoint-*")],
                             ["checkpoint-0.safetensors"])
            self.cgrun("train", "--resume", "my run", "--dry-run")

    def test_a_second_signal_says_where_the_run_stands(self):
        self.write("slow.yaml", SLOW)
        status, errors, _ = self.stop("slow.yaml", "--device", "reference", wait=0.5, signals=2)
        self.assertEqual(status, 130, errors)
        self.assertIn("the last checkpoint is that of step 0; go on with: ", errors)

    def stopped_evaluation_goes_on(self, text, place, lines):
        """Stops the first evaluation, resumes, and compares with a run that was not stopped."""
        self.write("evaluated.yaml", text)
        for wait in (0.3, 1, 3):  # a slow machine comes to the evaluation later
            status, errors, _ = self.stop("evaluated.yaml", "--force", wait=wait)
            if f"interrupted {place};" in errors:
                break
        self.assertEqual(status, 130, errors)
        self.assertIn(f"interrupted {place}; checkpoint written to my run/checkpoint-", errors)
        self.assertEqual(len(metrics_of(self.folder / "my run")), 1)
        self.cgrun("train", "--resume", "my run", "--threads", "1")
        self.cgrun("train", "evaluated.yaml", "--out", "whole", "--threads", "1", "--force")
        self.assertEqual(len(metrics_of(self.folder / "whole")), 1 + lines)
        runs = [self.folder / "my run", self.folder / "whole"]
        self.assertEqual(*map(metrics_of, runs))
        self.assertEqual(*(json.loads((run / "summary.json").read_text())["weights_hash"]
                           for run in runs))

    def test_an_evaluation_at_the_end_of_an_epoch_stops(self):
        self.stopped_evaluation_goes_on(EVALUATED, "in epoch 1, after step 4", 2)

    def test_an_evaluation_within_an_epoch_stops(self):
        text = EVALUATED.replace("  epochs: 2\n", "  epochs: 1\n  eval_every: 3\n")
        self.stopped_evaluation_goes_on(text, "in epoch 1, after step 3", 2)

    def test_the_last_evaluation_stops(self):
        text = LONG_EVALUATED.replace("  epochs: 2\n", "  epochs: 1\n")
        self.stopped_evaluation_goes_on(text, "in epoch 1, after step 4", 1)
        text = LONG_EVALUATED.replace("  epochs: 2\n", "  steps: 2\n")
        self.stopped_evaluation_goes_on(text, "in epoch 1, after step 2", 1)

    def test_a_reader_that_goes_stops_the_run(self):
        self.write("long.yaml", EVALUATED.replace("samples: 65", "samples: 200000"))
        done = subprocess.run(f'"{CGRUN}" train long.yaml --out run 2>&1 | head -1', shell=True,
                              cwd=self.folder, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        saved = sorted((self.folder / "run").glob("checkpoint-*.safetensors"))
        for _ in range(100):  # `head` does not wait for the run
            if len(saved) > 1:
                break
            time.sleep(0.1)
            saved = sorted((self.folder / "run").glob("checkpoint-*.safetensors"))
        self.assertGreater(len(saved), 1)
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=1")

    def test_processes_of_a_benchmark_end_with_it(self):
        before = set(pathlib.Path(tempfile.gettempdir()).glob("cgrun-bench-*"))
        self.write("slow.yaml", SLOW)
        with subprocess.Popen([CGRUN, "bench", "slow.yaml", "--isolate"], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not (child := children.read_text().split()) and process.poll() is None:
                time.sleep(0.05)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 130)
        for _ in range(50):
            if not pathlib.Path(f"/proc/{child[0]}").exists():
                break
            time.sleep(0.1)
        self.assertFalse(pathlib.Path(f"/proc/{child[0]}").exists())
        self.assertEqual(before, set(pathlib.Path(tempfile.gettempdir()).glob("cgrun-bench-*")))

    def wait_for_handler(self, pid, signal_number):
        """Returns when the process handles the signal: a busy machine starts it slowly."""
        status = pathlib.Path(f"/proc/{pid}/status")
        for _ in range(3000):
            caught = int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16)
            if caught >> (signal_number - 1) & 1:
                return
            time.sleep(0.02)
        self.fail("no handler after a minute")

    def test_signals_end_with_130(self):
        self.write("long.yaml", MODEL.replace("samples: 65", "samples: 9000000"))
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for delay in (0.3, 1.0):
                with subprocess.Popen([str(CGRUN), "train", "long.yaml", "--out", "run", "--force"],
                                      cwd=self.folder, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as process:
                    try:
                        self.wait_for_handler(process.pid, signal_number)
                        time.sleep(delay)
                        process.send_signal(signal_number)
                        self.assertEqual(process.wait(timeout=60), 130)
                    finally:  # of a failure too: `with` waits for the process
                        process.kill()


if __name__ == "__main__":
    unittest.main()
