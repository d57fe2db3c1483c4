#!/usr/bin/env python3
"""Tests `cgrun search`: what it leaves, its errors, and that its table depends on nothing but the file."""

import csv
import json
import os
import random
import signal
import subprocess
import time
import unittest

import cli_testing

SEARCH = """cgrun: 1
model: model.yaml
metric: {name: accuracy, goal: max}
method: random
seed: 5
budget: {trials: 12}
parameters:
  train.optimizer.lr: {min: 0.001, max: 0.5, log: true}
  paths.classify.ops.logits.init: {values: [he_normal, zeros]}
  train.seed: [0, 1, 2]
"""

HALVING = SEARCH.replace("budget: {trials: 12}", "budget: {trials: 12}\nstop: {eta: 2, min: 1, max: 4}")


class SearchTestCase(cli_testing.CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", cli_testing.SPLIT)
        self.write("search.yaml", SEARCH)

    def table(self, folder):
        return (self.folder / folder / "results.csv").read_bytes()

    def rows(self, folder):
        with open(self.folder / folder / "results.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def search(self, text, out, *flags, **options):
        return self.cgrun("search", self.write(f"{out}.yaml", text), "--out", out, *flags, **options)


class ResultsTest(SearchTestCase):
    def test_leaves_a_table_and_the_best_runs(self):
        done = self.search(SEARCH, "s", "--jobs", 1)
        rows = self.rows("s")
        self.assertEqual(len(rows), 12)
        self.assertEqual([row["rank"] for row in rows], [str(i + 1) for i in range(12)])
        values = [float(row["accuracy"]) for row in rows]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertGreater(len(set(values)), 1)
        self.assertIn(f"Trial {rows[0]['trial']} is the best", done.stdout)
        kept = sorted(int(path.name) for path in (self.folder / "s/trials").iterdir())
        self.assertEqual(kept, sorted(int(row["trial"]) for row in rows[:3]))
        self.assertEqual({row["state"] for row in rows}, {"done"})

    def test_best_is_a_run_that_other_verbs_take(self):
        self.search(SEARCH, "s")
        best = float(self.rows("s")[0]["accuracy"])
        done = self.cgrun("eval", "s/best/model.yaml", "--weights", "s/best", "--split", "valid", "--json")
        self.assertEqual(json.loads(done.stdout)["metrics"]["accuracy"], best)
        self.cgrun("eval", "s/best/model.yaml", "--weights", "s/best")
        self.cgrun("export", "s/best", "-o", "best.onnx")

    def test_a_trial_is_the_run_that_train_makes(self):
        self.search(SEARCH, "s", "--jobs", 1)
        for row in self.rows("s"):
            flags = [f"--set={key}={row[key]}" for key in row if "." in key]
            self.cgrun("train", "model.yaml", "--threads", 1, "--out", "alone", "--force", *flags)
            summary = json.loads((self.folder / "alone/summary.json").read_text())
            self.assertEqual(summary["weights_hash"], row["weights"])

    def test_a_promoted_trial_is_the_run_that_train_makes(self):
        self.search(HALVING, "s", "--jobs", 1)
        row = self.rows("s")[0]
        self.assertEqual(row["epochs"], "4")
        flags = [f"--set={key}={row[key]}" for key in row if "." in key] + ["--set=train.epochs=4"]
        self.cgrun("train", "model.yaml", "--threads", 1, "--out", "alone", *flags)
        summary = json.loads((self.folder / "alone/summary.json").read_text())
        self.assertEqual(summary["weights_hash"], row["weights"])

    def test_halving_spends_what_it_announces(self):
        done = self.search(HALVING, "s")
        self.assertIn("rungs: 12 trials to epoch 1, 6 to epoch 2, 3 to epoch 4: 24 epochs at most", done.stderr)
        rows = self.rows("s")
        self.assertEqual([row["epochs"] for row in rows], ["4"] * 3 + ["2"] * 3 + ["1"] * 6)
        self.assertEqual([row["state"] for row in rows], ["done"] * 3 + ["stopped"] * 9)

    def test_epochs_are_a_budget(self):
        self.search(SEARCH.replace("trials: 12", "epochs: 9"), "s")
        self.assertEqual(len(self.rows("s")), 4)  # of two epochs each

    def test_time_is_a_budget(self):
        done = self.search(SEARCH.replace("trials: 12", "trials: 12, time: 0.001"), "s", "--jobs", 1)
        self.assertIn("The time of the budget is over.", done.stdout)
        self.assertIn("planned", {row["state"] for row in self.rows("s")})

    def test_models_compete(self):
        deeper = cli_testing.SPLIT.replace("- {op: flatten}", "- {op: flatten}\n      - hidden: {op: linear, units: 8}")
        self.write("deeper.yaml", deeper)
        text = SEARCH.replace("model: model.yaml", "model: [model.yaml, deeper.yaml]").replace(
            "  train.seed: [0, 1, 2]", "  paths.classify.ops.hidden.units: {values: [4, 8], when: {model: deeper.yaml}}")
        self.search(text, "s")
        rows = self.rows("s")
        self.assertEqual({row["model"] for row in rows}, {"model.yaml", "deeper.yaml"})
        for row in rows:
            self.assertEqual(row["paths.classify.ops.hidden.units"] != "", row["model"] == "deeper.yaml")

    def test_blocks_are_values(self):
        text = SEARCH.replace("  train.optimizer.lr: {min: 0.001, max: 0.5, log: true}",
                              "  train.optimizer: [{op: sgd, lr: 0.1}, {op: adam, lr: 0.01}]")
        self.search(text, "s")
        rows = self.rows("s")
        self.assertEqual({row["train.optimizer"] for row in rows}, {"{op: sgd, lr: 0.1}", "{op: adam, lr: 0.01}"})

    def test_a_grid_is_all_of_it(self):
        text = SEARCH.replace("random", "grid").replace("budget: {trials: 12}\n", "").replace(
            "{min: 0.001, max: 0.5, log: true}", "{min: 0.1, max: 0.3, step: 0.1}")
        self.search(text, "s")
        rows = self.rows("s")
        self.assertEqual(len(rows), 18)
        self.assertEqual(len({tuple(row[key] for key in row if "." in key) for row in rows}), 18)

    def test_a_failed_trial_ends_no_search(self):
        text = SEARCH.replace("{min: 0.001, max: 0.5, log: true}", "{values: [0.1, 3e38]}")
        self.search(text, "s")
        states = {row["train.optimizer.lr"]: row["state"] for row in self.rows("s")}
        self.assertEqual(states, {"0.1": "done", "3e38": "failed"})


class DeterminismTest(SearchTestCase):
    def test_the_table_does_not_depend_on_jobs(self):
        for name, text in (("random", SEARCH), ("halving", HALVING),
                           ("tpe", SEARCH.replace("random", "tpe").replace("trials: 12", "trials: 30"))):
            tables = set()
            for jobs in (1, 2, 4):
                self.search(text, f"{name}{jobs}", "--jobs", jobs)
                tables.add(self.table(f"{name}{jobs}"))
            self.assertEqual(len(tables), 1, name)

    def kill_and_resume(self, text, out, jobs, times):
        """Kills a search some time after it has done a piece of work, `times` times at most. Returns how often."""
        name = self.write(f"{out}.yaml", text)
        journal = self.folder / out / "journal.jsonl"
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        kills = 0
        while True:
            done = len(journal.read_bytes().splitlines()) if journal.exists() else 0
            source = ["--resume", out] if done > 0 else [name, "--out", out, "--force"]
            with subprocess.Popen([str(cli_testing.CGRUN), "search", *source, "--jobs", str(jobs)],
                                  cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
                while kills < times and run.poll() is None:
                    if journal.exists() and len(journal.read_bytes().splitlines()) > max(done, 1):
                        time.sleep(random.uniform(0, 0.02))
                        run.send_signal(signal.SIGKILL)
                        break
                _, error = run.communicate(timeout=120)
                if run.returncode != -signal.SIGKILL:
                    self.assertEqual(run.returncode, 0, error)
                    return kills
                kills += 1

    def test_a_killed_search_goes_on_to_the_same_table(self):
        text = HALVING.replace("max: 4", "max: 16")
        self.search(text, "whole", "--jobs", 1)
        for jobs in (1, 2):
            kills = self.kill_and_resume(text, f"killed{jobs}", jobs, 6)
            self.assertGreater(kills, 0)
            self.assertEqual(self.table(f"killed{jobs}"), self.table("whole"))

    def test_a_process_that_the_system_ends_is_one_failed_trial(self):
        text = SEARCH.replace("  train.seed: [0, 1, 2]", "  train.epochs: [400]\n  train.seed: [0, 1]")
        text = text.replace("trials: 12", "trials: 4")
        self.search(text, "whole", "--jobs", 1)
        name = self.write("k.yaml", text)
        with subprocess.Popen([str(cli_testing.CGRUN), "search", name, "--out", "k", "--jobs", "2"],
                              cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while not (self.folder / "k/trials/2").exists():
                time.sleep(0.005)
            with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
                os.kill(int(file.read().split()[0]), signal.SIGKILL)
            run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0)
        rows = self.rows("k")
        self.assertEqual(len(rows), 4)
        self.assertEqual([row["reason"] for row in rows if row["state"] == "failed"],
                         ["the system has ended the process of this trial"])
        self.cgrun("search", "--resume", "k")  # tries it again
        self.assertEqual(self.table("k"), self.table("whole"))

    def test_an_interrupted_search_goes_on(self):
        text = HALVING.replace("max: 4", "max: 64")
        self.search(text, "whole", "--jobs", 1)
        name = self.write("i.yaml", text)
        with subprocess.Popen([str(cli_testing.CGRUN), "search", name, "--out", "i", "--jobs", "1"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as run:
            while not (self.folder / "i/trials/3").exists():
                time.sleep(0.005)
            run.send_signal(signal.SIGINT)
            text, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertIn("go on with: cgrun search --resume i", text)
        self.cgrun("search", "--resume", "i")
        self.assertEqual(self.table("i"), self.table("whole"))

    def test_a_journal_of_another_search_is_refused(self):
        self.search(SEARCH, "s")
        self.write("s.yaml", SEARCH.replace("seed: 5", "seed: 6"))
        self.assertIn("is of another search", self.refuses("search", "--resume", "s"))
        self.write("s.yaml", SEARCH)
        self.cgrun("search", "--resume", "s")
        self.write("model.yaml", cli_testing.SPLIT.replace("units: 3", "units: 4"))
        self.assertIn("is of another search", self.refuses("search", "--resume", "s"))


class MemoryTest(SearchTestCase):
    @unittest.skipIf(cli_testing.SANITIZED, "the sanitizer's allocator keeps what is freed for a while")
    def test_memory_does_not_grow(self):
        text = SEARCH.replace("trials: 12", "trials: 200").replace("[0, 1, 2]", str(list(range(200))))
        self.search(text.replace("budget:", "threads: 1\nbudget:"), "s", "--jobs", 1)
        with open(self.folder / "s/times.csv", encoding="utf-8") as file:
            rows = sorted(csv.DictReader(file), key=lambda row: int(row["trial"]))
        resident = [int(row["resident_bytes"]) for row in rows]
        self.assertEqual(len(resident), 200)
        self.assertGreater(min(resident), 0)
        # The system counts pages of several threads by and by.
        self.assertLess(abs(resident[-1] - resident[0]), 512 << 10, resident)

    def test_a_trial_that_cannot_fit_is_refused_by_its_plan(self):
        text = SEARCH.replace("  train.seed: [0, 1, 2]",
                              "  paths.classify.ops.hidden.units: {values: [4, 3000000]}")
        self.write("model.yaml", cli_testing.SPLIT.replace(
            "- {op: flatten}", "- {op: flatten}\n      - hidden: {op: linear, units: 8}"))
        done = self.search(text, "s", "--memory", "200MiB")
        rows = self.rows("s")
        self.assertEqual(len(rows), 12)
        for row in rows:
            large = row["paths.classify.ops.hidden.units"] == "3000000"
            self.assertEqual(row["state"], "refused" if large else "done")
            self.assertEqual(row["reason"], "it takes too much memory" if large else "")
        self.assertIn("refused", {row["state"] for row in rows})
        self.assertIn("more than the cap of 200 MiB", done.stderr)

    def test_a_dry_run_lists_the_trials_and_leaves_nothing(self):
        done = self.search(SEARCH, "s", "--dry-run")
        self.assertEqual(len(done.stdout.splitlines()), 14)
        self.assertFalse((self.folder / "s").exists())
        plan = json.loads(self.search(SEARCH, "s", "--dry-run", "--json").stdout)
        self.assertEqual(len(plan["trials"]), 12)
        self.assertEqual({trial["state"] for trial in plan["trials"]}, {"planned"})
        for trial in plan["trials"]:
            self.assertGreater(trial["planned_bytes"], trial["arena_bytes"])
            self.assertGreater(trial["estimated_seconds"], 0)


class MistakesTest(SearchTestCase):
    def error(self, old, new):
        self.assertIn(old, SEARCH)
        error = self.refuses("search", self.write("wrong.yaml", SEARCH.replace(old, new)), "--out", "w")
        self.assertFalse((self.folder / "w/trials").exists())
        return error

    def test_a_parameter_that_does_not_exist(self):
        error = self.error("train.optimizer.lr:", "train.optimizer.lrate:")
        self.assertIn("wrong.yaml:8:", error)
        error = self.error("paths.classify.ops.logits.init", "paths.classify.ops.logit.init")
        self.assertIn("wrong.yaml:9:3: error: ", error)
        self.assertIn("did you mean 'logits'?", error)
        error = self.error("train.seed:", "train.sed:")
        self.assertIn("wrong.yaml:10:3: error: unknown key 'sed'", error)

    def test_a_value_that_the_model_refuses(self):
        error = self.error("[he_normal, zeros]", "[he_normal, he_norml]")
        self.assertIn("wrong.yaml:9:", error)
        self.assertIn("he_norml", error)
        error = self.error("[0, 1, 2]", "[0, 1, one]")
        self.assertIn("wrong.yaml:10:", error)

    def test_a_value_with_which_no_network_can_be_built(self):
        error = self.error("logits.init: {values: [he_normal, zeros]}", "logits.op: {values: [linear, softmax]}")
        self.assertIn("wrong.yaml:9:", error)
        self.assertIn("gives 'paths.classify.ops.logits.op' the value softmax, with which no trial can be built", error)

    def test_a_metric_that_no_trial_gives(self):
        error = self.error("name: accuracy", "name: acuracy")
        self.assertIn("wrong.yaml:3:16: error: there is no metric 'acuracy'", error)
        self.assertIn("did you mean 'accuracy'?", error)

    def test_a_goal_that_the_metric_contradicts(self):
        self.assertIn("'accuracy' is better where it is higher", self.error("goal: max", "goal: min"))

    def test_a_model_without_data_to_compare_by(self):
        self.write("model.yaml", cli_testing.MODEL)
        self.assertIn("compared by the data of `valid`", self.error("seed: 5", "seed: 6"))

    def test_a_model_that_is_not_there(self):
        self.assertIn("wrong.yaml:2:8: error: there is no file", self.error("model.yaml", "modl.yaml"))

    def test_more_than_a_search_can_hold(self):
        self.assertIn("'trials' is at most 100000", self.error("trials: 12", "trials: 100001"))
        text = SEARCH.replace("random", "grid").replace("{min: 0.001, max: 0.5, log: true}",
                                                        "{min: 0, max: 1, step: 0.00001}")
        error = self.refuses("search", self.write("grid.yaml", text), "--out", "w")
        self.assertIn("the grid has more than 100000 configurations", error)
        error = self.error("budget: {trials: 12}", "budget: {epochs: 3}\nstop: {max: 9}")
        self.assertIn("not enough for one trial", error)

    def test_no_trial_with_a_value_is_a_failure(self):
        text = SEARCH.replace("{min: 0.001, max: 0.5, log: true}", "[3e38]")
        done = self.search(text, "s", status=1)
        self.assertIn("no trial has given a value of 'accuracy'", done.stderr)

    def test_folders_of_others_stay(self):
        self.write("w/mine.txt", "mine")
        self.assertIn("is not empty", self.refuses("search", "search.yaml", "--out", "w", "--force"))
        self.search(SEARCH, "s")
        self.assertIn("holds a search", self.refuses("search", "search.yaml", "--out", "s"))
        self.cgrun("search", "search.yaml", "--out", "s", "--force")

    def test_a_search_needs_a_file(self):
        self.assertIn("needs a search file", self.refuses("search"))
        self.assertIn("is not the folder of a search", self.refuses("search", "--resume", "."))


if __name__ == "__main__":
    unittest.main(verbosity=2)
