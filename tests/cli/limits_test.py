#!/usr/bin/env python3
"""Tests cgrun under limits of the system: addresses, stacks, processors, closed descriptors."""

import json
import os
import re
import subprocess
import unittest

from cli_testing import CGRUN, MODEL, SANITIZED, CliTestCase, ControlGroup


class LimitsTest(CliTestCase):
    def shell(self, script, seconds=120):
        """Runs a script of the shell, in which "$CGRUN" is the program."""
        environment = {**os.environ, "CGRUN": str(CGRUN), "OMP_WAIT_POLICY": "passive",
                       "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(["bash", "-c", script], cwd=self.folder, text=True, check=False,
                              timeout=seconds, stdin=subprocess.DEVNULL, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("a sanitizer takes addresses and stacks of its own")

    def test_with_few_addresses_nothing_hangs(self):
        for arguments in ("--version", "--help", "ops conv"):
            done = self.shell(f'ulimit -v 300000; "$CGRUN" {arguments}', seconds=30)
            self.assertEqual(done.returncode, 0, done.stderr)
        for verb in ("plan", "train"):
            done = self.shell(f'ulimit -v 300000; "$CGRUN" {verb} small.yaml --threads 1', seconds=60)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertIn("`ulimit -v` leaves", done.stderr)
            self.assertRegex(done.stderr, r"help: .*`ulimit -v \d+`")

    def test_a_verb_without_a_batch_is_told_of_none(self):
        for limit in (100_000, 150_000, 200_000, 250_000, 300_000):
            done = self.shell(f'ulimit -v {limit}; "$CGRUN" devices', seconds=30)
            self.assertNotIn("batch", done.stderr, limit)

    def test_what_the_error_asks_for_is_enough(self):
        limit = 300_000
        for _ in range(8):
            done = self.shell(f'ulimit -v {limit}; "$CGRUN" train small.yaml --threads 1')
            if done.returncode == 0:
                break
            wanted = int(re.search(r"help: .*`ulimit -v (\d+)`", done.stderr)[1])
            self.assertGreater(wanted, limit)
            limit = wanted
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(limit, 300_000)

    def test_the_reference_device_needs_no_openblas(self):
        done = self.shell('ulimit -v 300000; "$CGRUN" train small.yaml --device reference')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_small_stacks_do(self):
        for threads in (1, 2):
            done = self.shell(f'ulimit -s 64; "$CGRUN" train small.yaml --threads {threads} '
                              f'--out r{threads}')
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.shell('ulimit -s 64; "$CGRUN" train small.yaml --out r1')
        self.assertEqual(done.returncode, 2)  # the run is there already
        self.assertIn("`cgrun train --resume r1`", done.stderr)

    def test_omp_num_threads_is_a_limit(self):
        for text, threads in (("1", 1), ("1,2", 1)):
            done = self.shell(f'OMP_NUM_THREADS={text} "$CGRUN" devices --json')
            host = json.loads(done.stdout)["host"]
            self.assertEqual(host["threads"], threads)
            self.assertIn("threads_by", host)
        done = self.shell('OMP_NUM_THREADS=1 "$CGRUN" plan small.yaml --threads 3 --json')
        self.assertEqual(json.loads(done.stdout)["threads"], 3)
        done = self.shell('OMP_NUM_THREADS=1 "$CGRUN" plan small.yaml --json')
        self.assertEqual(json.loads(done.stdout)["threads"], 1)

    def test_a_quota_is_a_limit(self):
        if why_not := ControlGroup.why_not("cpu", 80000):
            self.skipTest(why_not)
        with ControlGroup("cpu", 80000) as group:
            done = self.shell(f'echo $$ >{group.folder}/cgroup.procs; exec "$CGRUN" devices')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("threads: 1 by default, by the quota of the control group is 0.8 processors",
                      done.stdout)

    def test_a_batch_beyond_the_limit_names_it(self):
        self.write("large.yaml", MODEL.replace("samples: 65", "samples: 100000")
                   .replace("units: 3", "units: 3000").replace("batch: 20", "batch: 50000"))
        done = self.shell('ulimit -v 700000; "$CGRUN" train large.yaml --device reference')
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, r"error: .*`ulimit -v` leaves")
        self.assertRegex(done.stderr, r"help: `ulimit -v \d+` is enough")
        self.assertNotIn("No such file", done.stderr)

    # Guards against tables of a size's square in planning and code.
    def test_a_resize_to_a_large_image_is_planned_at_once(self):
        self.write("wide.yaml", MODEL.replace("- {op: flatten}", "- {op: resize, size: [10000, 10000]}\n"
                                              "      - {op: global_avg_pool}\n      - {op: flatten}"))
        used, _ = self.used_by("plan", "wide.yaml", "--batch", "1", "--threads", "1")
        self.assertLess(used.ru_utime + used.ru_stime, 3)
        self.assertLess(used.ru_maxrss * 1024, 150 * 2**20)

    def test_a_check_makes_no_list_of_all_samples(self):
        many = MODEL.replace("samples: 65", "samples: 300000000").replace("samples: 40", "samples: 300000000")
        self.write("many.yaml", many)
        used, told = self.used_by("check", "many.yaml", "--threads", "1")
        self.assertIn("no errors", told)
        self.assertLess(used.ru_maxrss * 1024, 100 * 2**20)

    def used_by(self, *arguments):
        """Returns what resources a command took, and what it printed."""
        with open(self.folder / "told", "w", encoding="utf-8") as told, subprocess.Popen(
                [str(CGRUN), *arguments], cwd=self.folder, stdout=told, stderr=told) as run:
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        text = (self.folder / "told").read_text()
        self.assertEqual(run.returncode, 0, text)
        return used, text

    def test_a_dry_run_leaves_a_large_arena_untouched(self):
        wide = MODEL.replace("- {op: flatten}", "- {op: resize, size: [3000, 3000]}\n"
                             "      - {op: global_avg_pool}\n      - {op: flatten}")
        self.write("wide.yaml", wide)
        with subprocess.Popen([str(CGRUN), "train", "wide.yaml", "--dry-run", "--json"], cwd=self.folder,
                              text=True, stdout=subprocess.PIPE) as run:
            planned = json.load(run.stdout)["planned_peak_bytes"]
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        self.assertGreater(planned, 650 * 2**20)
        self.assertLess(used.ru_maxrss * 1024, 150 * 2**20)

    def test_closed_descriptors_take_no_file(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = self.shell(f'rm -rf run; "$CGRUN" train small.yaml --out run {closed}')
            self.assertEqual(done.returncode, 0, closed)
            log = (self.folder / "run/metrics.csv").read_text()
            lines = log.splitlines()
            self.assertEqual(len(lines), 3, log)
            self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")}, log)


if __name__ == "__main__":
    unittest.main()
