#!/usr/bin/env python3
"""Run folders that are damaged, full, closed or in use: what is whole stays, and the error says why."""

import fcntl
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import time
import unittest

from cli_testing import CGRUN, npy
from resume_testing import MODEL, STEPS, ResumeTestCase


class DamagedRunTest(ResumeTestCase):
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
        (self.folder / "x.npy").write_bytes(npy([1, 1, 12, 12], bytes(144)))
        for verb in (["eval", "model.yaml"], ["predict", "model.yaml", "x.npy"]):
            done = self.cgrun(*verb, "--weights", "run", "--quiet")
            self.assertIn("run/best.safetensors", done.stderr)
            self.assertIn("run/checkpoint-30.safetensors", done.stderr)
            self.assertIn(warning, done.stderr)

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

    # A folder's permissions do not bind root, unless it gives up the right to pass over them.
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
        # The refused run could not remove its half-written files from the closed folder. So the
        # resumed run has to.
        self.assertEqual(list((self.folder / "run").glob("*.tmp*")), [])

    def test_an_unwritable_folder_is_an_error_before_the_start(self):
        (self.folder / "file").write_text("")
        error = self.refuses("train", "model.yaml", "--out", "file/run")
        self.assertIn("cannot make the folder", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
