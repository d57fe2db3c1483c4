#!/usr/bin/env python3
"""Tests the process of cgrun: its name, and how long its threads spin."""

import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

from cli_testing import CGRUN, MODEL, CliTestCase


class ProcessTest(CliTestCase):
    def test_threads_do_not_spin_for_long_unless_the_user_says_so(self):
        def environment(**chosen):
            clean = {k: v for k, v in os.environ.items()
                     if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
            return {**clean, "OMP_DISPLAY_ENV": "verbose", **chosen}

        def spins(**chosen):
            shown = self.cgrun("devices", env=environment(**chosen)).stderr
            return re.findall(r"GOMP_SPINCOUNT = '(\d+)'", shown)[-1]

        self.assertEqual(spins(), "2000")
        self.assertEqual(spins(GOMP_SPINCOUNT="77"), "77")
        self.assertEqual(spins(OMP_WAIT_POLICY="passive"), "0")

    def test_the_process_keeps_its_name(self):
        """Guards against the name `exe`, as the process starts itself again."""
        clean = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        (self.folder / "other-name").symlink_to(CGRUN)
        for program in (str(CGRUN), "./other-name"):
            text = MODEL.replace("epochs: 2", "time: 60s")
            with subprocess.Popen([program, "train", self.write("long.yaml", text), "--force", "--quiet"],
                                  cwd=self.folder, env=clean, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                while not (self.folder / "runs/small/metrics.csv").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                name = pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()
                started = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
                process.terminate()
                process.wait()
            self.assertIn(b"GOMP_SPINCOUNT=2000", started)
            self.assertEqual(name, program.split("/")[-1])
            shutil.rmtree(self.folder / "runs")


if __name__ == "__main__":
    unittest.main()
