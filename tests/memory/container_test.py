#!/usr/bin/env python3
"""Every shipped model runs within what its plan states:

    container      a control group whose limit is `container_bytes`
    address space  `ulimit -v` of `address_space_bytes`
    group alone    a control group below the total, without --memory: the run plans for less

Each run goes to exit status 0, report included, and measures no more than its plan's total. Prints a
line a run. Control groups need root and a memory controller of version 1 or 2 that can be written;
where there is none, their cases are skipped, and that is said. Some models alone:
    CGRUN=bazel-bin/src/cli/cgrun CGRUN_MODELS="lenet mlp" tests/memory/container_test.py
"""

import contextlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, "tests/cli")
from cli_testing import CGRUN, ROOT, CliTestCase  # pylint: disable=wrong-import-position

# Classes of the random data that stand for what does not ship; None: the model's own data.
MODELS = {"lenet": None, "regression": None, "char-rnn": None, "lsgan": None, "mlp": 10, "lenet-mnist": 10, "dcgan": 10,
          "autoencoder": 10, "cnn-cifar": 10, "alexnet-cifar": 10, "resnet18-cifar": 10, "alexnet": None,
          "resnet18": None, "resnet50": None, "mobilenet-v2": None, "inception-v3": None, "vgg16": None}
CHOSEN = os.environ.get("CGRUN_MODELS", " ".join(MODELS)).split()
THREADS = os.environ.get("CGRUN_THREADS", "1")
# A cap takes the rounding of the base back, and 0.2 MiB more than the rest have been measured.
MORE_UNDER_A_CAP = 2**18
LINE = "{:16} {:14} {:>9} {:>9} {:>9}"


class ControlGroup:
    """A control group with a limit on memory, of version 2 or 1."""

    def __init__(self, limit):
        self.limit = limit
        self.folder = None

    @staticmethod
    def parent():
        """The folder to make groups in, and the name of the file of the limit."""
        one, two = pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup")
        return (one, "memory.limit_in_bytes") if one.is_dir() else (two, "memory.max")

    def __enter__(self):
        parent, limit = self.parent()
        self.folder = parent / f"cgrun-test-{os.getpid()}"
        self.folder.mkdir()
        (self.folder / limit).write_text(str(self.limit))
        return self

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    @classmethod
    def why_not(cls):
        """Why there are none here; "" where there are."""
        try:
            with cls(2**30) as group:
                subprocess.run(["true"], preexec_fn=group.join, check=True)  # pylint: disable=W1509
        except (OSError, subprocess.SubprocessError) as error:
            return f"no control group can be made here: {error}"
        return ""


def mib(size):
    return f"{size / 2**20:,.1f}"


class ContainerTest(CliTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(LINE.format("model", "within", "limit", "planned", "measured"), "(MiB)", flush=True)

    def flags(self, name):
        data = []
        if MODELS[name]:
            sets = {"train": {"format": "synthetic", "samples": 1000, "classes": MODELS[name]},
                    "test": {"format": "synthetic", "samples": 300, "classes": MODELS[name], "seed": 1}}
            data = ["--set", "data=" + json.dumps(sets)]
        return [ROOT / f"models/{name}.yaml", "--threads", THREADS, *data]

    def plan(self, name):
        return json.loads(self.cgrun("plan", *self.flags(name), "--json").stdout)

    def train(self, name, within, limit, before, more=0):
        """Trains for two steps, evaluates and reports, with `before` called in the child. `more`: bytes
        by which the run may be measured above its plan."""
        command = [CGRUN, "train", *self.flags(name), "--limit-batches", "2", "--set", "train.epochs=1",
                   "--out", "run", "--force", "--quiet"]
        done = subprocess.run(list(map(str, command)), cwd=self.folder, preexec_fn=before,  # pylint: disable=W1509
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{name} within {within} of {mib(limit)} MiB: {done.stderr}")
        self.assertTrue((self.folder / "run" / "report.html").exists())
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        planned, measured = summary["planned_peak_bytes"], summary["measured_peak_bytes"]
        print(LINE.format(name, within, mib(limit), mib(planned), mib(measured)), flush=True)
        self.assertLessEqual(measured, planned + more, name)
        return summary

    def test_models_run_in_the_container_that_their_plan_states(self):
        if why_not := ControlGroup.why_not():
            self.skipTest(why_not)
        for name in CHOSEN:
            limit = self.plan(name)["container_bytes"]
            with self.subTest(name), ControlGroup(limit) as group:
                self.train(name, "container", limit, group.join)

    def test_models_run_in_the_address_space_that_their_plan_states(self):
        for name in CHOSEN:
            limit = self.plan(name)["address_space_bytes"]
            with self.subTest(name):
                self.train(name, "address space", limit,
                           lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_a_group_below_the_total_is_a_cap(self):
        if why_not := ControlGroup.why_not():
            self.skipTest(why_not)
        for name in set(CHOSEN) & {"resnet18-cifar", "alexnet-cifar", "resnet18"}:
            plan = self.plan(name)
            limit = plan["container_bytes"] - plan["arena_bytes"] // 8
            with self.subTest(name), ControlGroup(limit) as group:
                summary = self.train(name, "group alone", limit, group.join, more=MORE_UNDER_A_CAP)
                self.assertLess(summary["planned_peak_bytes"], plan["total_bytes"])


if __name__ == "__main__":
    unittest.main()
