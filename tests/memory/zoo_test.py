#!/usr/bin/env python3
"""Checks the promises of memory planning for every model that ships, in training and evaluation:

    orders    no `--order` needs less than `memory`
    planners  no `--planner` needs less than the default at the same order
    caps      arenas keep their cap and do not grow as it falls, but for what a cap leaves them being
              measured as more, as the rest of the process is; below one that is refused, all are

Prints a line a model, and goes on behind what is wrong; and where the estimated time of a step falls
as the cap falls. Some of them alone, with a binary that is there already, and for another number of
threads than one:
    CGRUN=bazel-bin/src/cli/cgrun CGRUN_MODELS="lenet mlp" CGRUN_THREADS=16 tests/memory/zoo_test.py
"""

import json
import os
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, "tests/cli")
from cli_testing import CGRUN, ROOT, CliTestCase  # pylint: disable=wrong-import-position

THREADS = os.environ.get("CGRUN_THREADS", "1")
STEP = 5  # percent of the arena between caps
LARGE = {"inception-v3": 20, "mobilenet-v2": 10, "resnet50": 10, "vgg16": 10}  # takes long
INFERENCE = {"mask-rcnn"}  # models that do not train
BELOW_REFUSAL = 2  # caps that are tried below the first that is refused
BASE_NOISE = 64 * 2**10  # by which the process itself can be measured as larger, the next time
BASE_DIFFERS = 128 * 2**10  # by which it is, between plans that were packed anew and read from a file
FREE = ("--disable-pass", "rematerialise")
BASELINES = ("owl", "singa", "calcgraph")
COLUMNS = "{:14} {:>5}  {:>10} {:>8}  {:>8} {:>8}  {:>8}  {:>6} {:>6} {:>7}  {:>7}  {}"
LONGER = re.compile(r"steps take about ([\d.]+) % (longer|shorter|less time)")


def mib(size):
    return f"{size / 2**20:,.2f}"


def above(size, least):
    return f"{100 * (size / least - 1):+.2f} %"


class ZooTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.wrong, self.shorter = [], []

    def plan(self, name, *flags):
        """Returns the JSON of `plan`; `needs` is the arena, and what each entry point needs in it."""
        model = ROOT / "models" / f"{name}.yaml"
        done = self.cgrun("plan", model, "--json", "--threads", THREADS, *flags)
        plan = json.loads(done.stdout)
        self.assertEqual({entry["name"].split(".")[0] for entry in plan["entries"]} -
                         {"train", "eval"}, set())
        plan["needs"] = {"arena": plan["arena_bytes"]}
        plan["needs"].update((entry["name"], entry["transient_bytes"]) for entry in plan["entries"])
        plan["notes"] = done.stderr
        return plan

    def capped(self, name, cap):
        """The same under a cap, with `longer`: percent of a step's time. None if it is refused."""
        try:
            plan = self.plan(name, "--memory", cap)
        except AssertionError as error:
            if not re.search("^2 != 0.* more than the cap of", str(error), re.DOTALL):
                raise
            return None
        found = LONGER.search(plan["notes"])
        if not found:
            self.assertRegex(plan["notes"], "the cap costs nothing|no operators run side by side")
        sign = 1 if found and found[2] == "longer" else -1
        plan["longer"] = sign * float(found[1]) if found else 0.0
        return plan

    def known(self, flag):
        """All that a flag can be, as the program itself says."""
        done = subprocess.run([str(CGRUN), "plan", str(ROOT / "models/lenet.yaml"), flag, "none"],
                              text=True, check=False, stderr=subprocess.PIPE)
        names = re.search(r"known: (.*)|must be (.*), not", done.stderr)
        return re.findall(r"\w+", re.sub(r" or ", ", ", names[1] or names[2]))

    def tell(self, name, text):
        self.wrong.append(f"{name}: {text}")

    def compare(self, name, ours, theirs, what):
        """Complains where they need less than we do: of the arena, or for one entry point."""
        for part, size in theirs["needs"].items():
            if size < ours["needs"][part]:
                self.tell(name, f"{what} needs less for '{part}': {size:,} B, not "
                                f"{ours['needs'][part]:,} ({above(size, ours['needs'][part])})")

    def against(self, name, ours, flag, others, *flags):
        """The least arena of others, which the models' own is compared with."""
        plans = {other: self.plan(name, flag, other, *flags) for other in others}
        for other, plan in plans.items():
            self.compare(name, ours, plan, " ".join([flag, other, *flags]))
        return {other: plan["arena_bytes"] for other, plan in plans.items()}

    def lower_caps(self, name, plan):
        """Plans under caps that leave the arena less and less, down to those that are refused: by
        share of the arena, with their caps."""
        beside = plan["total_bytes"] - plan["arena_bytes"]
        step = LARGE.get(name, STEP)
        found = {}

        def try_shares(shares, most_refused):
            for share in shares:
                if [tried for _, tried in found.values()].count(None) >= most_refused:
                    break
                cap = beside + share * plan["arena_bytes"] // 100
                found[share] = (cap, self.capped(name, cap))

        try_shares(range(100 - step, 0, -step), 1 + BELOW_REFUSAL)
        refused = [share for share, (_, tried) in found.items() if tried is None]
        fine = step // 5 * plan["arena_bytes"] // 100
        if refused and fine >= BASE_NOISE:  # between the last that is kept and the first refused
            first = max(refused)
            try_shares(range(first + step - step // 5, first, -(step // 5)), 99)
        return dict(sorted(found.items(), reverse=True))

    def check_caps(self, name, plan, found):
        """Numbers of caps that were kept and refused, and the plan under the smallest of them."""
        refused, kept = [], [{**plan, "longer": 0.0}]
        for share, (cap, tried) in found.items():
            at = f"a cap of {share} % ({cap:,} B)"
            if not tried:
                refused.append(cap)
                continue
            before = kept[-1]
            if refused and refused[0] - cap > 2 * BASE_NOISE:
                self.tell(name, f"{at} is kept, though a larger one is refused")
            if tried["total_bytes"] > cap:
                self.tell(name, f"{at} is exceeded: {tried['total_bytes']:,} B")
            if tried["arena_bytes"] > before["arena_bytes"] + BASE_DIFFERS:
                self.tell(name, f"{at} gives a larger arena than the cap before: "
                                f"{tried['arena_bytes']:,} B, not {before['arena_bytes']:,}")
            if tried["longer"] < before["longer"]:
                self.shorter.append(f"{name}: {at} gives shorter steps than the cap before: "
                                    f"{tried['longer']:+.1f} %, not {before['longer']:+.1f} %")
            kept.append(tried)
        return len(kept) - 1, len(refused), kept[-1]

    def check_model(self, name, orders, planners, notes):
        """Prints its line, and returns how many caps were kept and refused."""
        begin, wrong = time.monotonic(), len(self.wrong)
        text = self.cgrun("plan", ROOT / "models" / f"{name}.yaml").stdout
        missing = re.search(r"without the samples themselves: .*", text)
        notes += [f"{name}: planned {missing[0]}"] if missing else []
        ours, free = self.plan(name), self.plan(name, *FREE)
        self.assertEqual(ours["order"], "memory")
        self.assertIn(ours["planner"], ("portfolio", "long search"))
        by_order = self.against(name, ours, "--order", orders)
        self.against(name, free, "--order", orders, *FREE)
        by_planner = self.against(name, free, "--planner", planners, *FREE)
        theirs = self.against(name, ours, "--planner", (*BASELINES, "naive", "search"))
        kept, refused, least = self.check_caps(name, ours, self.lower_caps(name, ours))
        base = min(theirs[planner] for planner in BASELINES)
        print(COLUMNS.format(
            name, ours["batch"], mib(ours["arena_bytes"]),
            f"{ours['arena_bytes'] / ours['lower_bound_bytes']:.4f}",
            above(min(by_order.values()), ours["arena_bytes"]),
            above(min(by_planner.values()), free["arena_bytes"]),
            above(base, ours["arena_bytes"]), f"{kept}+{refused}",
            f"{100 * least['arena_bytes'] / ours['arena_bytes']:.0f} %",
            f"{least['longer']:+.1f} %", f"{time.monotonic() - begin:.1f}",
            f"{len(self.wrong) - wrong} wrong" if len(self.wrong) > wrong else "ok"),
              flush=True)
        return kept, refused

    def test_every_model(self):
        orders = [order for order in self.known("--order") if order != "memory"]
        planners = [planner for planner in self.known("--planner") if planner != "portfolio"]
        self.assertLessEqual({"serial", "bfs"}, set(orders))
        self.assertLessEqual(set(BASELINES), set(planners))
        names = os.environ.get("CGRUN_MODELS", "").split()
        names = names or sorted({path.stem for path in (ROOT / "models").glob("*.yaml")} - INFERENCE)
        self.assertTrue(names)
        print(f"orders: {', '.join(orders)}; planners: {', '.join(planners)}")
        print(COLUMNS.format("model", "batch", "arena, MiB", "÷ bound", "order", "planner",
                             "baseline", "caps", "least", "longer", "seconds", ""))
        notes = []
        found = [self.check_model(name, orders, planners, notes) for name in names]
        print("""\
order: the least arena of another order, beside ours; planner: of another planner at the same order
and with nothing computed again; baseline: of owl, singa and calcgraph with all passes.
caps: shares of the arena, as many kept + refused; least and longer: arena and step under the
smallest that is kept. Some are kept by the arena as it is: they take back how the base is rounded.
Beside arenas, what each entry point of training and evaluation needs is compared.""")
        notes += [f"{name}: caps are {step} % apart, not {STEP}, to take less time"
                  for name, step in LARGE.items() if name in names]
        print("\n".join([*notes, *self.shorter, f"{len(names)} models, none skipped; {len(self.wrong)} wrong",
                         *self.wrong]), flush=True)
        self.assertEqual(self.wrong, [])
        self.assertTrue(any(sum(caps) > 0 for caps in found), "no cap was tried")


if __name__ == "__main__":
    unittest.main()
