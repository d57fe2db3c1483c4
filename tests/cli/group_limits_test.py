#!/usr/bin/env python3
"""No limit of a control group or on addresses kills a run: it plans for less, or says what it lacks."""

import json
import os
import re
import resource
import shutil
import subprocess
import unittest

from cli_testing import CGRUN, ROOT, SANITIZED, CliTestCase, ControlGroup, npy

MIB = 2**20

# Most of the arena is activations, which can be recomputed.
MODEL = """cgrun: 1
model: deep
data:
  train: {{format: synthetic, samples: 8000, classes: 4}}
  test: {{format: synthetic, samples: 8000, classes: 4, seed: 9}}
inputs:
  image: {{type: f32, shape: [16]}}
  label: {{type: int32, shape: []}}
paths:
  classify:
    ops:
{layers}      - logits: {{op: linear, units: 4}}
    loss: {{op: softmax_cross_entropy, in: [logits, label]}}
train: {{epochs: 1, batch: 4000, optimizer: {{op: sgd, lr: 0.01, momentum: 0.9}}}}
""".format(layers="".join(f"      - {{op: linear{', in: image' * (i == 0)}, units: 192, activation: relu}}\n"
                          for i in range(16)))


def forget(path):
    """Has the system read a file anew, for whoever uses it next."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


@unittest.skipIf(SANITIZED, "a sanitizer takes memory and addresses of its own")
class GroupLimitsTest(CliTestCase):
    flags = ("--threads", "1")

    def setUp(self):
        super().setUp()
        self.write("deep.yaml", MODEL)
        self.plan = json.loads(self.cgrun("plan", "deep.yaml", *self.flags, "--json").stdout)
        self.less = self.plan["arena_bytes"] // 8

    def group(self, limit):
        if why_not := ControlGroup.why_not("memory", limit):
            self.skipTest(why_not)
        return ControlGroup("memory", limit)

    def train(self, model, *flags, **options):
        self.cgrun("train", model, *self.flags, "--out", "run", "--force", "--quiet", *flags, **options)
        return json.loads((self.folder / "run" / "summary.json").read_text())

    def commands(self):
        """Returns commands that run the model, with weights that are there."""
        self.train("deep.yaml")
        self.cgrun("compile", "deep.yaml", *self.flags, "-o", "deep.cgb")
        (self.folder / "samples.npy").write_bytes(npy([4000, 16], bytes(4 * 4000 * 16), "<f4"))
        return {
            "train": ("train", "deep.yaml", "--out", "new", "--force"),
            "train .cgb": ("train", "deep.cgb", "--out", "new", "--force"),
            "eval": ("eval", "deep.yaml", "--weights", "run"),
            "eval .cgb": ("eval", "deep.cgb", "--weights", "run"),
            "predict": ("predict", "deep.yaml", "samples.npy", "--weights", "run", "--json", "found.json"),
        }

    def test_the_address_space_of_the_plan_is_enough(self):
        limit = self.plan["address_space_bytes"]
        for name, command in self.commands().items():
            with self.subTest(name):
                self.cgrun(*command, *self.flags, "--quiet",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_it_runs_or_is_refused(self):
        for name, command in self.commands().items():
            for part in (0.25, 0.5, 0.75, 0.9, 1):
                limit = int(part * self.plan["container_bytes"])
                with self.subTest(name, limit=limit), self.group(limit) as group:
                    done = self.cgrun(*command, *self.flags, "--quiet", status=None, preexec_fn=group.join)
                    if part == 1:
                        self.assertEqual(done.returncode, 0, done.stderr)
                    elif part == 0.25:
                        self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)  # and no signal
                    if part == 0.25:
                        self.assertRegex(done.stderr, "the control group leaves .*, less than the program's code and")
                        self.assertRegex(done.stderr, "help: a control group of [0-9.]+ MiB is enough for a small model")
                    elif done.returncode != 0:
                        self.assertEqual(done.returncode, 2, done.stderr)
                        self.assertIn("what the control group leaves", done.stderr)
                        self.assertRegex(done.stderr, "held by classify")
                        self.assertRegex(done.stderr, "help: a control group of [0-9.]+ MiB is enough")

    def test_a_program_of_many_instructions_runs_in_the_container_of_its_model(self):
        """Reading it takes about as much as running it, and what does not fit is refused, not killed."""
        model = ROOT / "models/char-rnn.yaml"
        container = json.loads(self.cgrun("plan", model, *self.flags, "--json").stdout)["container_bytes"]
        self.cgrun("compile", model, *self.flags, "-o", "many.cgb")
        self.assertGreater(len((self.folder / "many.cgb").read_bytes()), 500_000)
        train = ("train", "many.cgb", *self.flags, "--limit-batches", "1", "--set", "train.epochs=1", "--out", "run",
                 "--force", "--quiet")
        with self.group(container) as group:
            self.cgrun(*train, preexec_fn=group.join)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertLessEqual(summary["measured_peak_bytes"], summary["planned_peak_bytes"])
        self.assertLess(summary["planned_peak_bytes"], summary["reserved_peak_bytes"] + 12 * MIB)
        for less in range(2, 24, 3):
            with self.subTest(less=less), self.group(container - less * MIB) as group:
                done = self.cgrun(*train, status=None, preexec_fn=group.join)
                self.assertIn(done.returncode, (0, 2), done.stderr)

    def test_a_benchmark_holds_each_arena_against_the_group(self):
        """The cap binds one case alone: the others are held against the group."""
        cap = self.plan["total_bytes"] - 2 * self.less
        bench = ("bench", "deep.yaml", *self.flags, "--memory", str(cap), "--rounds", "1", "--steps", "1", "--quiet")
        for case in ("eager", "graph, memory"):
            with self.subTest(case), self.group(self.plan["container_bytes"] - self.less) as group:
                done = self.cgrun(*bench, "--only", case, status=None, preexec_fn=group.join)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"case '{case}': the run takes", done.stderr)
                self.assertRegex(done.stderr, "more than what the control group leaves, .*: base .*, data .*, arena ")
                self.assertRegex(done.stderr, "help: a control group of [0-9.]+ MiB is enough")
                if case != "eager":
                    self.assertRegex(done.stderr, "held by classify")
        with self.group(self.plan["container_bytes"] - self.less) as group:
            self.cgrun(*bench, "--only", "graph, memory, capped", preexec_fn=group.join)

    def test_nothing_is_killed_in_the_smallest_groups(self):
        if why_not := ControlGroup.why_not("memory", 1 << 30):
            self.skipTest(why_not)
        self.write("deeper.yaml", MODEL.replace(
            "      - logits:", 200 * "      - {op: linear, units: 4, activation: relu}\n" + "      - logits:"))
        refused = set()
        for model in ("deep.yaml", "deeper.yaml"):
            for verb in ("check", "train", "plan", "bench", "compile"):
                flags = {"train": ("--out", "new", "--force"), "compile": ("-o", "new.cgb")}.get(verb, ())
                for limit in (4, 5, 5.5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20):
                    with self.subTest(f"{verb} {model}", limit=limit), self.group(int(limit * 1e6)) as group:
                        done = self.cgrun(verb, model, *self.flags, *flags, status=None, preexec_fn=group.join)
                        self.assertIn(done.returncode, (0, 1, 2), done.stderr)  # and no signal
                        if done.returncode != 0:
                            self.assertIn("the control group leaves", done.stderr)
                            self.assertIn("help: ", done.stderr)
                            refused.add((verb, limit))
        self.assertIn(("check", 5), refused)

    def test_a_group_that_does_not_hold_the_code_is_refused_at_once(self):
        """Copies of the program and its libraries count in the group: others have read the originals."""
        program, libraries = self.copies()
        environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
        for verb in ("plan", "check", "train"):
            for limit in (18, 21, 30):
                with self.subTest(verb, limit=limit), self.group(int(limit * 1e6)) as group:
                    for path in (program, *libraries.iterdir()):
                        forget(path)
                    done = subprocess.run([program, verb, "small.yaml", "--threads", "1"], cwd=self.folder, env=environment,
                                          capture_output=True, text=True, check=False, timeout=60,
                                          preexec_fn=group.join)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertRegex(done.stderr, "error: the control group leaves .*, less than the program's code and")
                    self.assertRegex(done.stderr, "help: a control group of [0-9.]+ MiB is enough for a small model")

    def copies(self):
        """Copies the program, and the libraries that it loads to a folder."""
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for line in subprocess.run(["ldd", CGRUN], capture_output=True, text=True, check=True).stdout.splitlines():
            if found := re.search(r"=> (/\S+)", line):
                shutil.copy(found[1], libraries)
        return shutil.copy(CGRUN, self.folder / "program"), libraries

    def test_the_group_that_the_first_refusal_asks_for_is_enough(self):
        train = ("train", "small.yaml", *self.flags, "--out", "new", "--force", "--quiet")
        with self.group(5_000_000) as group:
            error = self.cgrun(*train, status=2, preexec_fn=group.join).stderr
        wanted = re.search("help: a control group of ([0-9.]+) MiB is enough for a small model", error)
        with self.group(int(float(wanted[1]) * 2**20)) as group:
            self.cgrun(*train, preexec_fn=group.join)

    def test_a_smaller_group_gives_a_smaller_plan(self):
        self.cgrun("compile", "deep.yaml", *self.flags, "-o", "deep.cgb")
        for model in ("deep.yaml", "deep.cgb"):
            with self.subTest(model), self.group(self.plan["container_bytes"] - self.less) as group:
                result = self.train(model, preexec_fn=group.join)
                self.assertLess(result["planned_peak_bytes"], self.plan["total_bytes"])
                self.assertLessEqual(result["measured_peak_bytes"], result["planned_peak_bytes"])

    def test_the_smaller_of_group_and_cap_counts(self):
        cap = self.plan["total_bytes"] - self.less
        for group_takes, at_most in ((0, cap), (2 * self.less, cap - self.less // 2)):
            with self.subTest(group_takes), self.group(self.plan["container_bytes"] - group_takes) as group:
                result = self.train("deep.yaml", "--memory", str(cap), preexec_fn=group.join)
                self.assertLessEqual(result["planned_peak_bytes"], at_most)

    def test_few_addresses_give_a_smaller_plan(self):
        noise = 8 * 2**20  # by which the address spaces of two equal processes may differ
        limit = self.plan["address_space_bytes"] - noise - 2 * self.less
        result = self.train("deep.yaml", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertLess(result["planned_peak_bytes"], self.plan["total_bytes"])


if __name__ == "__main__":
    unittest.main()
