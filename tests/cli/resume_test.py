#!/usr/bin/env python3
"""Runs that are killed, stopped and resumed: they end as if nothing had happened.

    CGRUN_KILLS=50 tests/cli/resume_test.py      how often a run is killed at a random moment
"""

import json
import os
import random
import re
import shutil
import signal
import time
import unittest

from resume_testing import MODEL, STEPS, ResumeTestCase, without_seconds

KILLS = int(os.environ.get("CGRUN_KILLS", "8"))


class ResumeTest(ResumeTestCase):
    def test_a_run_killed_at_random_moments_ends_as_if_it_had_not_been(self):
        moments = random.Random(7)
        for mode in ("graph", "eager"):
            begin = time.monotonic()
            self.train(mode, "--mode", mode)
            seconds = time.monotonic() - begin
            kills = 0
            while kills < KILLS // 2:
                shutil.rmtree(self.folder / "killed", ignore_errors=True)
                command = ["train", "model.yaml", "--out", "killed", "--mode", mode]
                for _ in range(4):  # in one run, before it is let to its end
                    with self.start(*command) as process:
                        time.sleep(moments.uniform(0.1, 1.0) * seconds)
                        process.kill()
                        kills += process.wait() == -signal.SIGKILL
                    if not self.checkpoints("killed"):
                        break
                    command = ["train", "--resume", "killed"]
                if not self.checkpoints("killed"):
                    continue
                if not (self.folder / "killed/summary.json").exists():
                    self.resume("killed")
                self.assert_same("killed", mode)

    # While the file that will become a checkpoint has another name, it is being written.
    def test_a_kill_inside_the_write_of_a_checkpoint_is_as_any_other(self):
        self.write("model.yaml", MODEL.replace("  - {op: dropout", "  - {op: linear, units: 3000}\n"
                                               "      - {op: dropout")
                   .replace("checkpoint_every: 7", "checkpoint_every: 1")
                   .replace("epochs: 4", "epochs: 1"))
        self.train("whole")
        size = (self.folder / "whole/checkpoint-30.safetensors").stat().st_size
        command, inside, sizes = ["train", "model.yaml", "--out", "killed"], 0, set()
        moments = random.Random(11)
        for _ in range(60):
            if inside >= 4 and any(0 < at < size for at in sizes):
                break
            skipped = moments.randrange(1, 6)  # writes that are let be
            with self.start(*command) as process:
                seen = set()
                while process.poll() is None and len(seen) < skipped:
                    seen |= set((self.folder / "killed").glob("checkpoint-*.tmp"))
                time.sleep(moments.uniform(0, 0.003))
                process.kill()
            left = list((self.folder / "killed").glob("checkpoint-*.tmp"))
            inside += len(left)
            sizes |= {path.stat().st_size for path in left}
            if not self.checkpoints("killed"):
                shutil.rmtree(self.folder / "killed")
            elif (self.folder / "killed/summary.json").exists():
                shutil.rmtree(self.folder / "killed")
                command = ["train", "model.yaml", "--out", "killed"]
            else:
                command = ["train", "--resume", "killed"]
        self.assertGreaterEqual(inside, 4, "no kill fell inside a write")
        self.assertLessEqual(max(sizes), size)
        self.assertTrue(any(0 < at < size for at in sizes), "no kill left a part of a file")
        self.resume("killed")
        for name in ("checkpoint-30.safetensors", "best.safetensors"):
            self.assertEqual((self.folder / "killed" / name).read_bytes(),
                             (self.folder / "whole" / name).read_bytes(), name)
        self.assertEqual(list((self.folder / "killed").glob("*.tmp*")), [])

    def test_it_goes_on_in_the_midst_of_an_epoch(self):
        self.train("whole")
        with self.start("train", "model.yaml", "--out", "part") as process:
            while 35 > max(self.checkpoints("part"), default=0):
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            status = process.wait()
        stopped = self.checkpoints("part")[-1]
        self.assertEqual(status, 130 if stopped < STEPS else 0)
        if stopped < STEPS:
            self.assertEqual(self.resume("part").stderr, "")
        self.assert_same("part", "whole")

    def test_a_signal_asks_for_a_checkpoint(self):
        self.write("model.yaml", MODEL.replace("checkpoint_every: 7", "checkpoint_every: 100000")
                   .replace("samples: 650", "samples: 200000"))
        with self.start("train", "model.yaml", "--out", "run") as process:
            while not self.checkpoints("run"):
                time.sleep(0.01)
            time.sleep(0.2)
            process.send_signal(signal.SIGUSR1)
            deadline = time.monotonic() + 20
            while self.checkpoints("run") == [0] and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual(process.wait(), 130)
        self.assertGreaterEqual(len(self.checkpoints("run")), 2)

    def test_the_newest_checkpoints_are_kept(self):
        self.train("run")
        self.assertEqual(self.checkpoints("run"), [119, 120])
        self.train("three", "--set", "train.keep_last=null", "--set", "train.checkpoint_every=null")
        self.assertEqual(self.checkpoints("three"), [0, 60, 90, 120])

    def test_a_run_killed_after_its_last_step_still_gets_its_summary(self):
        self.train("run", "--set", "train.epochs=1")
        summary = self.folder / "run/summary.json"
        whole = json.loads(summary.read_text())
        summary.unlink()
        self.resume("run")
        again = json.loads(summary.read_text())
        for key in ("steps", "epochs", "weights_hash", "valid", "test"):
            self.assertEqual(again[key], whole[key], key)

    def test_a_best_model_that_is_lost_is_told(self):
        self.train("run", "--set", "train.epochs=1")
        self.assertIn("best", json.loads((self.folder / "run/summary.json").read_text()))
        (self.folder / "run/summary.json").unlink()
        (self.folder / "run/best.safetensors").unlink()
        done = self.resume("run")
        self.assertIn("warning: cannot open 'run/best.safetensors': No such file or directory: the best "
                      "model of this run is lost", done.stderr)
        self.assertNotIn("best model", done.stdout)
        self.assertNotIn("best", json.loads((self.folder / "run/summary.json").read_text()))

    def test_a_longer_run_continues_a_finished_one(self):
        steps = ["--set", "train.optimizer.schedule=constant"]
        self.train("long", *steps)
        self.train("short", *steps, "--set", "train.epochs=2")
        error = self.resume("short", status=2).stderr
        self.assertIn("is finished: it has done 60 steps, 2 epochs, which is its whole length", error)
        self.assertIn("`--set train.epochs=N` with N above 2 lets it go on", error)
        error = self.resume("short", "--set", "train.epochs=1", status=2).stderr
        self.assertIn("the run in 'short' is longer than it is now to be: it has done 60 steps, 2 "
                      "epochs, and is to have 30 steps", error)
        (self.folder / "short/summary.json").unlink()  # as where the run was killed
        error = self.resume("short", "--set", "train.epochs=1", status=2).stderr
        self.assertIn("and is to have 30 steps", error)
        longer = self.resume("short", "--set", "train.epochs=4")
        self.assertNotIn("jumps", longer.stderr)  # a constant rate
        self.assert_same("short", "long")

    def test_a_rate_that_jumps_in_a_longer_run_is_told_once(self):
        self.train("run", "--set", "train.epochs=2")
        longer = self.resume("run", "--set", "train.epochs=4").stderr
        jump = re.search(r"the schedule of path 'classify' ends with the run: its rate jumps from "
                         r"(\S+) to (\S+) at step 60", longer)
        self.assertIsNotNone(jump, longer)
        rates = [float(row[2]) for row in
                 without_seconds((self.folder / "run/metrics.csv").read_text())[1:]]
        self.assertAlmostEqual(float(jump[1]), rates[1], delta=0.01 * rates[1])
        self.assertGreater(float(jump[2]), 50 * float(jump[1]))
        self.assertIn("--weights run/checkpoint-60.safetensors", longer)
        (self.folder / "run/summary.json").unlink()
        self.assertNotIn("jumps", self.resume("run").stderr)
        # A step's rates do not depend on the run's length.
        step = "train.optimizer.schedule={step: {every: 1}}"
        self.train("steps", "--set", step, "--set", "train.epochs=2")
        self.assertNotIn("jumps", self.resume("steps", "--set", "train.epochs=4").stderr)

    def test_other_settings_are_refused(self):
        self.train("run", "--limit-batches", 2)
        error = self.cgrun("train", "--resume", "run", "--batch", 10, "--seed", 3, status=2).stderr
        self.assertIn("started with other settings, then → now:\n      train.batch: 20 → 10\n"
                      "      train.seed: 0 → 3\n", error)
        self.assertIn("--weights starts a new run", error)
        for flags in (["--out", "x"], ["--force"], ["--weights", "x"]):
            self.cgrun("train", "--resume", "run", *flags, status=2)

    def test_a_cap_may_be_another_one(self):
        steps = ["--set", "train.optimizer.schedule=constant"]
        self.train("long", *steps)
        self.train("short", *steps, "--set", "train.epochs=2", "--memory", "2GiB")
        longer = ["--set", "train.epochs=4"]
        self.assertIn("more than the cap of 1 MiB",
                      self.resume("short", *longer, "--memory", "1MiB", status=2).stderr)
        self.resume("short", *longer, "--memory", "1GiB")
        self.assert_same("short", "long")

    def test_other_samples_are_warned_of(self):
        rows = [f"{i},{i % 7},{(3 * i + i % 7) / 10}" for i in range(60)]
        self.write("a.csv", "\n".join(["x,y,z", *rows]) + "\n")
        self.write("table.yaml", """cgrun: 1
data: {train: {format: csv, file: a.csv, label: z}}
inputs: {features: {type: f32, shape: [2]}, label: {type: f32, shape: []}}
paths:
  p:
    ops: [{op: linear, in: features, units: 1}, y: {op: reshape, shape: []}]
    loss: {op: squared_error, in: [y, label]}
train: {epochs: 1, batch: 10, optimizer: {op: sgd, lr: 1.0e-6}}
""")
        self.cgrun("train", "table.yaml", "--out", "run", "--quiet")
        done = self.resume("run", "--set", "train.epochs=2")
        self.assertEqual(done.stderr, "")
        rows[37] = "37,2,5.5"
        self.write("a.csv", "\n".join(["x,y,z", *rows]) + "\n")
        error = self.resume("run", "--set", "train.epochs=3").stderr
        self.assertIn("warning: the training data are not those that run/checkpoint-12.safetensors was "
                      "trained with: as many samples, but others, or with other labels\n", error)

    def test_the_limit_of_batches_is_that_of_the_run(self):
        self.train("whole", "--set", "train.epochs=1")
        error = self.refuses("train", "--resume", "whole", "--limit-batches", 1)
        self.assertIn("started without --limit-batches, and a resumed run keeps its length", error)
        self.train("short", "--limit-batches", 2, "--set", "train.epochs=1")
        error = self.refuses("train", "--resume", "short", "--limit-batches", 1)
        self.assertIn("started with --limit-batches 2", error)
        self.resume("short", "--limit-batches", 2, "--set", "train.epochs=2")
        summary = json.loads((self.folder / "short" / "summary.json").read_text())
        self.assertEqual(summary["steps"], 4)

    def test_a_model_file_names_a_run_folder_as_the_flag_does(self):
        self.train("run", "--set", "train.epochs=1")
        self.write("next.yaml", MODEL + "weights: run\n")
        flags = ["--quiet", "--threads", 1, "--set", "train.epochs=1"]
        self.cgrun("train", "next.yaml", "--out", "named", *flags)
        self.cgrun("train", "model.yaml", "--out", "given", "--weights", "run", *flags)
        hashes = [json.loads((self.folder / run / "summary.json").read_text())["weights_hash"]
                  for run in ("run", "named", "given")]
        self.assertEqual(hashes[1], hashes[2])
        self.assertNotEqual(hashes[0], hashes[1])
        done = self.cgrun("eval", "next.yaml", "--json")
        self.assertEqual(json.loads(done.stdout)["weights"], "run/best.safetensors")
        done = self.cgrun("train", "next.yaml", "--dry-run", "--set", "weights=run/best.safetensors")
        self.assertIn("weights: 7 tensors loaded", done.stderr)
        self.cgrun("check", "next.yaml", "--device", "reference")
        shutil.rmtree(self.folder / "run")
        error = self.refuses("train", "next.yaml", "--out", "none")
        self.assertIn("next.yaml:28:10: error: cannot open", error)
        self.resume("named", "--set", "train.epochs=2")
        (self.folder / "run").mkdir()
        error = self.refuses("train", "next.yaml", "--out", "none")
        self.assertIn("next.yaml:28:10: error: there is no whole checkpoint in the folder", error)

    def test_the_best_model_is_that_of_the_best_evaluation(self):
        self.train("run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        rows = without_seconds((self.folder / "run/metrics.csv").read_text())
        column = rows[0].index("valid_accuracy")
        best = max(float(row[column]) for row in rows[1:])
        self.assertEqual(summary["best"]["metric"], "accuracy")
        self.assertAlmostEqual(summary["best"]["value"], best, places=8)
        done = self.cgrun("eval", "model.yaml", "--weights", "run/best.safetensors", "--split",
                          "valid", "--json")
        self.assertAlmostEqual(json.loads(done.stdout)["metrics"]["accuracy"], best, places=6)

    def test_training_stops_early_where_nothing_grows_better(self):
        self.train("run", "--set", "train.early_stop={metric: loss, patience: 2}", "--set",
                   "train.optimizer={op: sgd, lr: 0}", "--set", "train.epochs=50")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertTrue(summary["stopped_early"])
        self.assertLess(summary["epochs"], 10)
        self.assertGreaterEqual(summary["epochs"], 3)

    def test_what_a_run_goes_by_is_one_number(self):
        self.write("tables.yaml", MODEL.replace(
            "accuracy: {in: [logits, label]}", "accuracy: {in: [logits, label]}, "
            "confusion_matrix: {in: [logits, label]}, recall: {in: [logits, label], average: none}"))
        for key, mark in (("train.keep_best=confusion_matrix", "is a table"),
                          ("train.early_stop={metric: recall, patience: 2}", "is a list"),
                          ("train.optimizer={op: sgd, lr: 0.1, schedule: {plateau: {metric: recall}}}",
                           "is a list")):
            for verb in ("train", "check"):
                error = self.cgrun(verb, "tables.yaml", "--set", key, status=2).stderr
                self.assertIn(mark + ": what a run goes by is one number", error)
        self.assertIn("`average: macro`", error)

    def test_evaluations_without_a_number_are_told(self):
        self.write("one.yaml", MODEL.replace("classes: 3", "classes: 2").replace("units: 3", "units: 2")
                   .replace("accuracy: {in: [logits, label]}", "auc: {in: [logits, label]}")
                   .replace("keep_best: accuracy", "keep_best: auc")
                   .replace("valid: {split: 0.1}",
                            "valid: {format: synthetic, samples: 10, classes: 1}"))
        done = self.cgrun("train", "one.yaml", "--set", "train.epochs=2", "--out", "one", "--quiet")
        self.assertIn("'auc' of `valid` was not a number in 2 evaluations", done.stderr)

    def test_a_stop_within_an_epoch_evaluates_once(self):
        self.train("run", "--set", "train.early_stop={metric: loss, patience: 2}", "--set",
                   "train.optimizer={op: sgd, lr: 0}", "--set", "train.eval_every=4")
        rows = without_seconds((self.folder / "run/metrics.csv").read_text())
        self.assertEqual([row[1] for row in rows[1:]], ["4", "8", "12"])

    def test_evaluations_come_every_so_many_steps(self):
        self.train("run", "--set", "train.eval_every=25", "--set", "train.epochs=2")
        rows = without_seconds((self.folder / "run/metrics.csv").read_text())
        column = rows[0].index("valid_loss")
        self.assertEqual([row[1] for row in rows[1:] if row[column]], ["25", "50", "60"])
        self.assertEqual([row[1] for row in rows[1:] if not row[column]], ["30"])

    def test_metrics_that_decide_must_exist_and_have_data(self):
        error = self.refuses("train", "model.yaml", "--set", "train.keep_best=acuracy")
        self.assertIn("did you mean 'accuracy'?", error)
        self.write("none.yaml", MODEL.replace("  valid: {split: 0.1}\n", ""))
        error = self.refuses("train", "none.yaml")
        self.assertIn("'keep_best' looks at the data of `valid`", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
