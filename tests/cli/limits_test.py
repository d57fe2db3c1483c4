#!/usr/bin/env python3
"""Tests cgrun under limits of the system: addresses, stacks, processors, closed descriptors."""

import json
import os
import re
import subprocess
import unittest

import onnx_testing
from cli_testing import CGRUN, MODEL, PAIR, SANITIZED, SPLIT, CliTestCase, ControlGroup, npy

SEARCH = """cgrun: 1
model: split.yaml
metric: {name: accuracy}
method: grid
parameters: {train.optimizer.lr: [0.05, 0.1]}
"""

# Each verb with arguments that it takes to its end; it may write into `new` alone.
VERBS = {
    "--version": "--version",
    "--help": "--help",
    "train": "train small.yaml --out new/run",
    "eval": "eval small.yaml --weights run",
    "predict": "predict small.yaml images.npy --weights run --out new/predicted --csv new/predicted.csv",
    "generate": "generate pair.yaml --weights pair -n 2 --out new/samples.npy",
    "check": "check small.yaml --json new/check.json",
    "bench": "bench small.yaml --rounds 1 --steps 1 --out new/bench",
    "plan": "plan small.yaml --html new/plan.html --json new/plan.json",
    "graph": "graph small.yaml --svg new/graph.svg --dot new/graph.dot",
    "compile": "compile small.yaml -o new/small.cgb",
    "disasm": "disasm small.cgb --json new/disasm.json",
    "import": "import m.onnx -o new/m.yaml",
    "export": "export small.yaml --weights run -o new/small.onnx",
    "summary": "summary small.yaml --json new/summary.json",
    "ops": "ops --json new/ops.json",
    "devices": "devices --json new/devices.json",
    "completion": "completion bash",
    "search": "search search.yaml --out new/search --jobs 1",
    "runs": "runs run --json new/runs.json",
}


class LimitsTestCase(CliTestCase):
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


class LimitsTest(LimitsTestCase):
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
        self.shell('OMP_NUM_THREADS=1 "$CGRUN" train small.yaml --out run')
        self.assertEqual(self.threads_of("run"), 1)

    def test_a_quota_is_a_limit(self):
        if why_not := ControlGroup.why_not("cpu", 80000):
            self.skipTest(why_not)
        with ControlGroup("cpu", 80000) as group:
            done = self.shell(f'echo $$ >{group.folder}/cgroup.procs; exec "$CGRUN" devices')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("threads: 1 by default, by the quota of the control group is 0.8 processors",
                      done.stdout)

    def test_runs_and_plans_keep_to_a_quota(self):
        if why_not := ControlGroup.why_not("cpu", 80000):
            self.skipTest(why_not)
        if len(os.sched_getaffinity(0)) == 1:
            self.skipTest("there is one processor, so that a quota changes nothing")
        inside = 'echo $$ >{}/cgroup.procs; exec "$CGRUN" {} small.yaml {}'
        for flags, threads in (("", 1), ("--threads 2", 2)):
            with ControlGroup("cpu", 80000) as group:
                planned = self.shell(inside.format(group.folder, "plan", f"--json {flags}"))
                trained = self.shell(inside.format(group.folder, "train", f"--out run --force {flags}"))
            self.assertEqual(trained.returncode, 0, trained.stderr)
            self.assertEqual(json.loads(planned.stdout)["threads"], threads, flags)
            self.assertEqual(self.threads_of("run"), threads, flags)
        self.assertGreater(json.loads(self.shell('"$CGRUN" plan small.yaml --json').stdout)["threads"], 1)

    def threads_of(self, run):
        """Returns the number of threads that a run trained with."""
        return json.loads((self.folder / run / "run.json").read_text())["threads"]

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

    def test_no_verb_lists_all_samples_before_a_run(self):
        many = MODEL.replace("samples: 65", "samples: 300000000").replace("samples: 40", "samples: 300000000")
        self.write("many.yaml", many)
        for verb in ("check", "plan"):
            for split in ((), ("--set", "data.valid={split: 0.2}")):
                used, _ = self.used_by(verb, "many.yaml", "--threads", "1", *split)
                self.assertLess(used.ru_maxrss * 1024, 150 * 2**20, (verb, split))
                self.assertLess(used.ru_utime + used.ru_stime, 10, (verb, split))

    def test_an_evaluation_lists_no_samples(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.write("many.yaml", MODEL.replace("samples: 65", "samples: 3000000000")
                   .replace("samples: 40", "samples: 3000000000"))
        for split in ("test", "train"):
            used, told = self.used_by("eval", "many.yaml", "--weights", "run", "--limit-batches", "2",
                                      "--split", split, "--threads", "1")
            self.assertIn("40 samples", told)
            self.assertLess(used.ru_maxrss * 1024, 150 * 2**20, split)

    def test_training_in_the_order_of_the_file_lists_no_samples(self):
        self.write("many.yaml", MODEL.replace("samples: 65", "samples: 3000000000")
                   .replace("epochs: 2", "steps: 3"))
        used, _ = self.used_by("train", "many.yaml", "--set", "train.shuffle=false", "--threads", "1")
        self.assertLess(used.ru_maxrss * 1024, 150 * 2**20)

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


class EveryVerbTest(LimitsTestCase):
    def setUp(self):
        super().setUp()
        self.write("pair.yaml", PAIR)
        (self.folder / "images.npy").write_bytes(npy((2, 1, 4, 4), bytes(range(32))))
        (self.folder / "m.onnx").write_bytes(onnx_testing.model(
            [onnx_testing.node("Relu", ["x"], "y")], [], [onnx_testing.value("x", ["n", 3])],
            [onnx_testing.value("y", ["n", 3])]))
        self.write("split.yaml", SPLIT)
        self.write("search.yaml", SEARCH)
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.cgrun("train", "pair.yaml", "--out", "pair", "--quiet", "--set", "train.epochs=1")
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")

    def run_verb(self, verb, before="", behind=""):
        return self.shell(f'rm -rf new; mkdir new; {before} "$CGRUN" {VERBS[verb]} {behind}', seconds=60)

    def files(self, folder):
        return {path: path.read_bytes() for path in sorted((self.folder / folder).rglob("*"))
                if path.is_file() and "cache" not in path.parts}

    def test_the_list_has_each(self):
        verbs = {verb["name"] for verb in json.loads(self.cgrun("--help", "--json").stdout)["verbs"]}
        self.assertEqual(verbs, {verb for verb in VERBS if not verb.startswith("-")})

    def test_with_few_addresses_it_ends_at_once_with_a_result_or_the_reason(self):
        ended = {}
        for verb in VERBS:
            done = self.run_verb(verb, "ulimit -v 300000;")
            ended[verb] = done.returncode
            self.assertIn(done.returncode, (0, 1, 2), f"{verb}: {done.stderr}")
            if done.returncode != 0:
                self.assertRegex(done.stderr, r"error: .*`ulimit -v` leaves", verb)
                self.assertNotIn("internal error", done.stderr)
        self.assertEqual({ended["--version"], ended["graph"], ended["ops"]}, {0})
        self.assertEqual(ended["train"], 1, "OpenBLAS and its buffers are larger than the limit")

    def test_a_small_stack_does(self):
        for verb in VERBS:
            for kib in (64, 32):
                done = self.run_verb(verb, f"ulimit -s {kib};")
                self.assertEqual(done.returncode, 0, f"{verb}, {kib} KiB: {done.stderr}")

    def test_closed_descriptors_leave_files_as_they_are(self):
        for verb in VERBS:
            done = self.run_verb(verb)
            self.assertEqual(done.returncode, 0, f"{verb}: {done.stderr}")
            printed = {shape_of(line) for line in (done.stdout + done.stderr).splitlines()
                       if len(line.strip()) > 15}
            written = {path: shape_of(content.decode(errors="replace"))
                       for path, content in self.files("new").items()}
            before = self.files(".")
            for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
                done = self.run_verb(verb, behind=closed)
                self.assertEqual(done.returncode, 0, f"{verb} {closed}: {done.stderr}")
                after = self.files("new")
                self.assertEqual(list(after), list(written), f"{verb} {closed}")
                self.assertEqual({path: content for path, content in self.files(".").items()
                                  if path not in after},
                                 {path: content for path, content in before.items() if path not in written})
                for path, content in after.items():
                    strange = {shape_of(line) for line in content.decode(errors="replace").splitlines()}
                    self.assertFalse({line for line in printed & strange if line not in written[path]},
                                     f"{verb} {closed}: {path}")


def shape_of(text):
    """The text without its numbers, which differ from run to run."""
    return re.sub(r"[\d.]+", "#", text)


if __name__ == "__main__":
    unittest.main()
