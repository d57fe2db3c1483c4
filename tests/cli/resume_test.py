#!/usr/bin/env python3
"""Runs that are killed, stopped, damaged and resumed: they end as if nothing had happened.

    CGRUN_KILLS=50 tests/cli/resume_test.py      how often a run is killed at a random moment
"""

import fcntl
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from cli_testing import CGRUN, CliTestCase, devices

KILLS = int(os.environ.get("CGRUN_KILLS", "8"))
MODEL = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 650, classes: 3}
  valid: {split: 0.1}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 12, 12]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 4, kernel: 3, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.3}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  epochs: 4
  batch: 20
  checkpoint_every: 7
  keep_last: 2
  keep_best: accuracy
  optimizer: {op: adam, lr: 0.003, schedule: {cosine: {warmup: 1}}}
"""
STEPS = 4 * 30  # 585 samples, the last batch has 5


def without_seconds(csv):
    """The columns that a run repeats: all but the seconds, and the samples in them."""
    return [[cell for i, cell in enumerate(line.split(",")) if i not in (3, 4)]
            for line in csv.splitlines()]


class ResumeTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", MODEL)

    def train(self, out, *arguments, **options):
        return self.cgrun("train", "model.yaml", "--out", out, "--quiet", "--threads", 1, *arguments,
                          **options)

    def resume(self, out, *arguments, **options):
        return self.cgrun("train", "--resume", out, "--quiet", *arguments, **options)

    def checkpoints(self, out):
        return sorted(int(path.name.split("-")[1].split(".")[0])
                      for path in (self.folder / out).glob("checkpoint-*.safetensors"))

    def start(self, *arguments):
        return subprocess.Popen([str(CGRUN), *map(str, arguments), "--quiet", "--threads", "1"],
                                cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def assert_same(self, out, whole):
        """The run in `out` is the uninterrupted one: weights, best model, log."""
        for name in (f"checkpoint-{STEPS}.safetensors", "best.safetensors"):
            self.assertEqual((self.folder / out / name).read_bytes(),
                             (self.folder / whole / name).read_bytes(), name)
        hashes = [json.loads((self.folder / run / "summary.json").read_text())["weights_hash"]
                  for run in (out, whole)]
        self.assertEqual(hashes[0], hashes[1])
        logs = [without_seconds((self.folder / run / "metrics.csv").read_text())
                for run in (out, whole)]
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(len(logs[0]), 1 + 4)

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

    def test_a_folder_has_one_run_at_a_time(self):
        self.train("run", "--set", "train.epochs=1")
        before = sorted(path.name for path in (self.folder / "run").iterdir())
        folder = os.open(self.folder / "run", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)  # as a run that is going on
        for error in (self.resume("run", "--set", "train.epochs=2", status=2).stderr,
                      self.resume("run", "--set", "train.batch=7", status=2).stderr,
                      self.train("run", status=2).stderr,
                      self.train("run", "--set", "data.train={format: csv, file: no.csv}", status=2).stderr,
                      self.train("run", "--force", status=2).stderr):
            self.assertIn("the folder 'run' is in use: another process goes on with its run\n", error)
            self.assertEqual(error.count("error: "), 1, error)
            for useless in ("--resume", "--force"):
                self.assertNotIn(useless, error)
        self.assertEqual(before, sorted(path.name for path in (self.folder / "run").iterdir()))
        os.close(folder)
        self.resume("run", "--set", "train.epochs=2")

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

    def test_folders_that_are_none_of_a_run_are_refused(self):
        self.assertIn("cannot open 'nowhere': No such file or directory",
                      self.refuses("train", "--resume", "nowhere"))
        (self.folder / "empty").mkdir()
        self.assertIn("it has no model.yaml", self.refuses("train", "--resume", "empty"))
        self.write("empty/model.yaml", MODEL)
        self.assertIn("no whole checkpoint", self.refuses("train", "--resume", "empty"))
        self.assertIn("needs a model file", self.refuses("train"))

    def test_a_damaged_checkpoint_gives_way_to_the_one_before(self):
        self.train("whole")
        self.train("run", "--set", "train.epochs=3", "--set",
                   "train.optimizer.schedule={cosine: {warmup: 1}}")
        newest = self.folder / "run" / "checkpoint-90.safetensors"
        newest.write_bytes(newest.read_bytes()[:-1000])
        done = self.cgrun("train", "--resume", "run", "--set", "train.epochs=4")
        self.assertIn("checkpoint-84.safetensors is taken instead", done.stderr)
        self.assertIn("resumed from run/checkpoint-84.safetensors", done.stderr)

    def set_counters(self, file, **numbers):
        """Writes over some of the whole numbers of a run's state."""
        names = ["step", "epoch", "batch", "samples"]
        bytes_ = bytearray(file.read_bytes())
        size, = struct.unpack_from("<Q", bytes_)
        counters = json.loads(bytes_[8:8 + size])["cgrun:counters"]["data_offsets"][0]
        for name, number in numbers.items():
            struct.pack_into("<q", bytes_, 8 + size + counters + 8 * names.index(name), number)
        file.write_bytes(bytes_)

    def without_checksum(self, file):
        """As earlier versions have written it."""
        bytes_ = file.read_bytes()
        self.assertEqual(bytes_.count(b"cgrun:checksum"), 1)
        file.write_bytes(bytes_.replace(b"cgrun:checksum", b"other:checksum"))

    def test_a_changed_byte_anywhere_is_damage(self):
        self.train("run", "--limit-batches", 9, "--set", "train.epochs=1")
        newest = self.folder / "run" / "checkpoint-9.safetensors"
        whole = newest.read_bytes()
        size, = struct.unpack_from("<Q", whole)
        resume = ("train", "--resume", "run", "--set", "train.epochs=2", "--dry-run")
        for at in (whole.index(b"small") + 1, 8 + size + 3, 8 + size + (len(whole) - size) // 2,
                   len(whole) - 1):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            newest.write_bytes(damaged)
            done = self.cgrun(*resume)
            self.assertRegex(done.stderr, "'run/checkpoint-9.safetensors' is damaged: it is .*; "
                                          "run/checkpoint-7.safetensors is taken instead", at)
            self.assertIn("is damaged: it is not as its checksum says",
                          self.refuses("train", "model.yaml", "--out", "new", "--weights",
                                       "run/checkpoint-9.safetensors"))
        (self.folder / "run" / "checkpoint-7.safetensors").unlink()
        error = self.refuses(*resume)
        self.assertIn("there is no whole checkpoint in the folder 'run'", error)
        self.assertIn("help: what is there is damaged: 'run/checkpoint-9.safetensors'", error)
        newest.write_bytes(whole)
        self.assertEqual(self.cgrun(*resume, "--quiet").stderr, "")
        self.without_checksum(newest)
        self.assertEqual(self.cgrun(*resume, "--quiet").stderr, "")

    def test_counters_that_no_run_has_are_damage(self):
        self.train("run", "--limit-batches", 9, "--set", "train.epochs=1")
        newest = self.folder / "run" / "checkpoint-9.safetensors"
        self.without_checksum(newest)
        whole = newest.read_bytes()
        for numbers in ({"step": 5}, {"step": -9}, {"epoch": 2 ** 62}, {"epoch": 0}, {"batch": 3},
                        {"samples": 60}, {"epoch": 9, "batch": 1, "samples": 20}):
            newest.write_bytes(whole)
            self.set_counters(newest, **numbers)
            done = self.cgrun("train", "--resume", "run", "--set", "train.epochs=2", "--dry-run")
            self.assertIn("'run/checkpoint-9.safetensors' is damaged: ", done.stderr, numbers)
            self.assertIn("; run/checkpoint-7.safetensors is taken instead", done.stderr, numbers)

    def test_a_checkpoint_of_other_data_is_refused(self):
        self.train("run", "--limit-batches", 9, "--set", "train.epochs=1")
        (self.folder / "run" / "checkpoint-9.safetensors").unlink()
        middle = self.folder / "run" / "checkpoint-7.safetensors"
        self.without_checksum(middle)
        for numbers in ({"batch": 10, "samples": 200}, {"batch": 7, "samples": 10 ** 9}):
            self.set_counters(middle, **numbers)
            error = self.refuses("train", "--resume", "run", "--set", "train.epochs=2", status=1)
            self.assertIn(f"checkpoint-7.safetensors was written after {numbers['batch']} batches, "
                          f"{numbers['samples']:d} samples of an epoch, but the training data are 9 "
                          "batches, 585 samples", error)
            self.assertIn("the data have changed since", error)

    def test_damaged_settings_of_a_run_are_refused(self):
        self.train("run", "--set", "train.epochs=1")
        settings = self.folder / "run" / "run.json"
        whole = json.loads(settings.read_text())
        for key, value in (("threads", -3), ("threads", 1e300), ("threads", 4096),
                           ("threads", True), ("limit_batches", -1), ("limit_batches", 2.5),
                           ("device", 7), ("kept_files", {})):
            settings.write_text(json.dumps({**whole, key: value}))
            error = self.refuses("train", "--resume", "run", "--set", "train.epochs=2", status=1)
            self.assertIn("run.json' does not say how the run was started", error, (key, value))

    def test_settings_of_another_version_are_told_to_be_that(self):
        self.train("run", "--set", "train.epochs=1", "--set", "train.optimizer={op: sgd, lr: 0.1}")
        model = self.folder / "run" / "model.yaml"
        text = model.read_text()
        changed = re.sub(r"\blr: [\d.e-]+(, |\n +)", "", text)
        self.assertNotEqual(changed, text)
        model.write_text(changed)
        error = self.refuses("train", "--resume", "run", "--set", "train.epochs=2")
        self.assertIn("error: 'sgd' needs 'lr'", error)
        self.assertIn("error: the run in 'run' cannot go on: its model.yaml is none that this "
                      "version of cgrun reads\nhelp: another version has written it", error)
        self.assertIn("`cgrun train MODEL --weights run`", error)
        self.train("next", "--set", "train.epochs=1", "--weights", "run")

    def test_damaged_files_of_a_folder_are_told_of_where_weights_are_taken(self):
        self.train("run", "--set", "train.epochs=1")
        folder = self.folder / "run"
        newest = folder / "checkpoint-30.safetensors"
        newest.write_bytes(newest.read_bytes()[:-1000])
        warning = "checkpoint-28.safetensors is taken instead"
        done = self.cgrun("train", "model.yaml", "--out", "next", "--dry-run", "--weights", "run",
                          "--quiet")
        self.assertIn("run/checkpoint-30.safetensors", done.stderr)
        self.assertIn(warning, done.stderr)
        best = folder / "best.safetensors"
        best.write_bytes(best.read_bytes()[:-1000])
        (self.folder / "x.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) +
            b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 12, 12), }".ljust(117) + b"\n" +
            bytes(144))
        for verb in (["eval", "model.yaml"], ["predict", "model.yaml", "x.npy"]):
            done = self.cgrun(*verb, "--weights", "run", "--quiet")
            self.assertIn("run/best.safetensors", done.stderr)
            self.assertIn("run/checkpoint-30.safetensors", done.stderr)
            self.assertIn(warning, done.stderr)

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

    def test_a_checkpoint_of_another_model_is_refused(self):
        self.train("run", "--set", "train.epochs=1")
        self.write("other.yaml", MODEL.replace("filters: 4", "filters: 5"))
        self.cgrun("train", "other.yaml", "--out", "other", "--quiet", "--limit-batches", 1)
        for path in (self.folder / "run").glob("checkpoint-*"):
            path.unlink()
        shutil.copy(self.folder / "other/checkpoint-0.safetensors", self.folder / "run")
        error = self.refuses("train", "--resume", "run")
        self.assertIn("is not a checkpoint of this run's model", error)
        self.assertIn("f32[5, 1, 3, 3] in the file, f32[4, 1, 3, 3] in the model", error)

    def test_weights_alone_are_no_checkpoint(self):
        self.train("run", "--set", "train.epochs=1")
        for path in (self.folder / "run").glob("checkpoint-*"):
            path.unlink()
        with self.assertRaises(AssertionError):
            self.resume("run")

    # A file of 8 KiB cannot hold the checkpoint: what a full disk is to a write.
    def test_a_full_disk_leaves_the_last_whole_checkpoint(self):
        self.train("run", "--set", "train.epochs=1")
        kept = {path.name: path.read_bytes() for path in (self.folder / "run").glob("*.safetensors")}

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 10, 8 << 10))

        done = self.resume("run", "--set", "train.epochs=2", status=1, preexec_fn=limit)
        self.assertIn("cannot write", done.stderr)
        for name, data in kept.items():
            self.assertEqual((self.folder / "run" / name).read_bytes(), data, name)
        self.assertEqual(list((self.folder / "run").glob("*.tmp*")), [])

    # The same of a file system, which is full.
    def test_a_full_file_system_leaves_the_last_whole_checkpoint(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk],
                                 check=False, capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        steps = ["--set", "train.optimizer.schedule=constant"]
        self.train("whole", *steps)
        self.train("disk/run", *steps, "--set", "train.epochs=2")
        kept = self.weights_in("disk/run")
        with self.assertRaises(OSError), open(disk / "filler", "wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        done = self.cgrun("train", "--resume", "disk/run", "--quiet", "--set", "train.epochs=4",
                          status=1)
        self.assertIn("No space left on device\nhelp: free some space", done.stderr)
        self.assertEqual(self.weights_in("disk/run"), kept)
        (disk / "filler").unlink()
        self.resume("disk/run", "--set", "train.epochs=4")
        self.assertEqual(list((disk / "run").glob("*.tmp*")), [])
        self.assert_same("disk/run", "whole")

    def weights_in(self, out):
        return {path.name: path.read_bytes()
                for path in (self.folder / out).glob("*.safetensors")}

    # What a folder allows does not bind root, unless it gives up the right to pass over that.
    def bound(self):
        """A command that the next one is bound by permissions behind."""
        if os.geteuid() != 0:
            return []
        if not shutil.which("setpriv"):
            self.skipTest("root may write everywhere, and there is no setpriv to give that up")
        return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]

    def run_bound(self, *arguments):
        return subprocess.run([*self.bound(), str(CGRUN), *arguments, "--quiet"], cwd=self.folder,
                              check=False, capture_output=True, text=True, timeout=300)

    def test_a_read_only_folder_is_an_error_before_the_start(self):
        self.train("run", "--set", "train.epochs=1")
        kept = {path.name: path.read_bytes() for path in (self.folder / "run").iterdir()}
        for folder, command in (
                ("closed", ("train", "model.yaml", "--out", "closed/run")),
                ("run", ("train", "--resume", "run", "--set", "train.epochs=2"))):
            (self.folder / folder).mkdir(exist_ok=True)
            (self.folder / folder).chmod(0o555)
            done = self.run_bound(*command)
            (self.folder / folder).chmod(0o755)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("Permission denied", done.stderr)
            self.assertIn(folder, done.stderr)
            self.assertNotIn("epoch ", done.stderr)
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "run").iterdir()},
                         kept)

    def test_a_folder_that_becomes_unwritable_keeps_its_last_whole_checkpoint(self):
        self.train("whole")
        command = [*self.bound(), str(CGRUN), "train", "model.yaml", "--out", "run", "--quiet",
                   "--threads", "1"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None and len(self.checkpoints("run")) < 2:
                time.sleep(0.001)
            (self.folder / "run").chmod(0o555)
            error = run.communicate(timeout=300)[1]
        (self.folder / "run").chmod(0o755)
        if run.returncode == 0:
            self.skipTest("the run ended before its folder was closed")
        self.assertEqual(run.returncode, 2, error)
        self.assertIn("Permission denied", error)
        self.assertLess(self.checkpoints("run")[-1], STEPS)
        self.resume("run")
        self.assert_same("run", "whole")
        # What was being written when the folder was closed could not be removed then.
        self.assertEqual(list((self.folder / "run").glob("*.tmp*")), [])

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

    def test_an_unwritable_folder_is_an_error_before_the_start(self):
        (self.folder / "file").write_text("")
        error = self.refuses("train", "model.yaml", "--out", "file/run")
        self.assertIn("cannot make the folder", error)


# Steps of three batches, images changed by chance, a rate that falls where `valid` stays, an end
# where it stays for long: all that a run remembers between two batches.
REMEMBERING = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 330, classes: 3}
  valid: {split: 0.1}
inputs:
  image: {type: uint8, shape: [3, 10, 10]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - padded: {op: pad, in: image, axes: [2, 3], before: [1, 1], after: [1, 1]}
      - {op: random_crop, size: 10}
      - {op: random_flip, axes: [-1]}
      - {op: random_rotate, degrees: 10}
      - {op: color_jitter, brightness: 0.2, contrast: 0.2}
      - {op: normalize, scale: 1/255}
      - {op: conv, filters: 4, kernel: 3, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.3}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics:
      accuracy: {in: [logits, label]}
      recall: {in: [logits, label], average: none}
train:
  epochs: 60
  batch: 9
  accumulate: 3
  eval_every: 4
  checkpoint_every: 1
  clip: {norm: 1}
  early_stop: {metric: accuracy, patience: 11}
  optimizer:
    op: adam
    lr: 0.02
    schedule: {plateau: {metric: accuracy, factor: 0.5, patience: 2, warmup: 0.5}}
"""


def scalars(path):
    """The records of a file for TensorBoard, without their times."""
    data, records = path.read_bytes(), []
    while data:
        size = struct.unpack("<Q", data[:8])[0]
        event = data[12:12 + size]
        records.append(event[:1] + event[9:])  # the time is the first field, of eight bytes
        data = data[12 + size + 4:]
    return records


class RememberingTest(CliTestCase):
    """Killed twice in the midst of an epoch, at steps that are not the same twice."""

    def setUp(self):
        super().setUp()
        self.write("model.yaml", REMEMBERING)

    def kill_after(self, step, *arguments):
        """Whether the run was killed before its end, a checkpoint of `step` or later being there."""
        command = [str(CGRUN), *map(str, arguments), "--quiet"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and self.newest() < step:
                time.sleep(0.001)
            process.kill()
        return process.returncode == -signal.SIGKILL and 0 < self.newest()

    def newest(self):
        steps = [int(path.stem.split("-")[1])
                 for path in (self.folder / "killed").glob("checkpoint-*.safetensors")]
        return max(steps, default=0)

    def assert_continues(self, *flags):
        begin = ["train", "model.yaml", "--threads", 1, *flags]
        self.cgrun(*begin, "--out", "whole", "--force", "--quiet")
        whole = json.loads((self.folder / "whole/summary.json").read_text())
        for _ in range(10):  # where the machine is busy, a run may end before its kill
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            killed = (self.kill_after(14, *begin, "--out", "killed") and
                      self.kill_after(self.newest() + 5, "train", "--resume", "killed"))
            if killed and self.newest() < whole["steps"]:
                break
        killed_at = self.newest()
        self.assertLess(killed_at, whole["steps"], flags)
        self.cgrun("train", "--resume", "killed", "--quiet")
        run = json.loads((self.folder / "killed/summary.json").read_text())
        self.assertEqual(run["resumed_at_step"], killed_at)
        for key in ("weights_hash", "steps", "epochs", "stopped_early", "train", "valid"):
            self.assertEqual(run[key], whole[key], f"{flags}: {key}")
        self.assertEqual(run["best"]["value"], whole["best"]["value"], flags)
        last = f"checkpoint-{whole['steps']}.safetensors"
        for name in (last, "best.safetensors"):
            self.assertEqual((self.folder / "killed" / name).read_bytes(),
                             (self.folder / "whole" / name).read_bytes(), f"{flags}: {name}")
        logs = [without_seconds((self.folder / out / "metrics.csv").read_text())
                for out in ("killed", "whole")]
        self.assertEqual(*logs, flags)
        files = [[path for path in (self.folder / out).iterdir() if "tfevents" in path.name]
                 for out in ("killed", "whole")]
        self.assertEqual([len(found) for found in files], [1, 1])
        events = [scalars(found[0]) for found in files]
        self.assertEqual(*events, flags)
        self.assertEqual(len(events[0]), len(logs[0]))  # the version, then a record a line
        return whole, logs[0]

    def test_reference_graph(self):
        whole, log = self.assert_continues("--device", "reference")
        self.assertTrue(whole["stopped_early"])
        self.assertGreater(whole["epochs"], 2)
        rates = [float(line[2]) for line in log[1:]]
        self.assertEqual(max(rates), 0.02)
        self.assertLess(min(rates), 0.02)

    def test_reference_eager(self):
        self.assert_continues("--device", "reference", "--mode", "eager")

    def test_cpu_graph(self):
        self.assert_continues("--device", devices("cpu", "blas")[0])

    def test_cpu_eager(self):
        self.assert_continues("--device", devices("cpu", "blas")[0], "--mode", "eager")

    # 10 of 33 batches an epoch: 4 steps, of which the last has one batch.
    def test_fewer_batches_an_epoch(self):
        whole, _ = self.assert_continues("--device", devices("cpu", "blas")[0],
                                         "--limit-batches", 10)
        self.assertEqual(whole["steps"] // 4, whole["epochs"] - (whole["steps"] % 4 > 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
