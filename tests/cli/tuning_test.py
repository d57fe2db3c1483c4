#!/usr/bin/env python3
"""--tune: kernels are measured once, and chosen by their times from then on."""

import json
import os
import re
import unittest
import unittest.mock

from cli_testing import CliTestCase


class TuningTest(CliTestCase):
    def record(self):
        files = list((self.folder / "cache/cgrun").glob("tuning-*.json"))
        self.assertEqual(len(files), 1, files)
        return files[0]

    def hash(self, done):
        return re.search(r"hash ([0-9a-f]{16})", done.stdout)[1]

    def test_a_record_is_made_once_and_used_from_then_on(self):
        first = self.cgrun("train", "small.yaml", "--tune", "--out", "a")
        self.assertRegex(first.stderr, r"tuning: \d+ times measured in .*, kept in .*tuning-")
        record = json.loads(self.record().read_text())
        self.assertTrue(all(seconds > 0 for seconds in record["seconds"].values()))
        name = re.search(r"kept in \S+ \((\w+)\)", first.stderr).group(1)
        before = self.record().read_bytes()
        second = self.cgrun("train", "small.yaml", "--out", "b")
        self.assertIn(f"({name}); `CGRUN_TUNING=none` does without", second.stderr)
        self.assertEqual(self.record().read_bytes(), before)
        self.assertEqual(self.hash(first), self.hash(second))
        for folder in ("a", "b"):  # the run folder says which record it was
            run = json.loads((self.folder / folder / "run.json").read_text())
            self.assertEqual(run["tuning"], name)

    def test_nothing_is_measured_for_a_run_whose_folder_exists(self):
        (self.folder / "a").mkdir()
        (self.folder / "a/file").write_text("mine")
        error = self.refuses("train", "small.yaml", "--tune", "--out", "a")
        self.assertIn("no run left it", error)
        self.assertFalse((self.folder / "cache").exists())

    def test_none_is_no_file(self):
        self.cgrun("train", "small.yaml", "--tune", "--out", "a")
        with unittest.mock.patch.dict(os.environ, {"CGRUN_TUNING": "none"}):
            self.assertNotIn("tuning:", self.cgrun("plan", "small.yaml").stderr)
            error = self.refuses("train", "small.yaml", "--tune", "--out", "b")
        self.assertIn("--tune makes a tuning record, and CGRUN_TUNING=none does without one", error)
        self.assertFalse((self.folder / "none").exists())

    def test_a_dry_run_measures_and_writes_nothing(self):
        plain = self.cgrun("train", "small.yaml", "--dry-run").stdout
        done = self.cgrun("train", "small.yaml", "--tune", "--dry-run")
        self.assertRegex(done.stderr, r"tuning: a run would measure the kernels .*tuning-.*; this dry run "
                                      r"measures nothing, and chooses kernels by estimates\n")
        self.assertNotIn("times measured", done.stderr)
        self.assertEqual(done.stdout, plain)
        self.assertFalse((self.folder / "cache").exists())
        self.assertFalse((self.folder / "runs").exists())
        self.cgrun("train", "small.yaml", "--tune", "--out", "a")
        before = self.record().read_bytes()
        for verb in (["train"], ["eval", "--weights", "a"]):
            done = self.cgrun(verb[0], "small.yaml", *verb[1:], "--tune", "--dry-run")
            self.assertRegex(done.stderr, r"chooses kernels by the record there \(\w+\)\n")
        self.assertEqual(self.record().read_bytes(), before)

    def test_without_a_record_nothing_is_said_or_written(self):
        done = self.cgrun("train", "small.yaml", "--out", "a")
        self.assertNotIn("tuning", done.stderr)
        self.assertFalse((self.folder / "cache").exists())
        self.assertEqual(json.loads((self.folder / "a/run.json").read_text())["tuning"], "")

    def test_a_resumed_run_says_where_the_record_is_another(self):
        self.cgrun("train", "small.yaml", "--out", "a")
        self.cgrun("plan", "small.yaml", "--tune")
        done = self.cgrun("train", "--resume", "a", "--set", "train.epochs=3")
        self.assertRegex(done.stderr, r"warning: .*began without a tuning record")

    def test_a_record_that_is_damaged_is_a_warning_until_it_is_made_anew(self):
        self.cgrun("plan", "small.yaml", "--tune")
        self.record().write_text("{")
        done = self.cgrun("train", "small.yaml", "--out", "a")
        self.assertIn("is no tuning record; `--tune` makes a new one", done.stderr)
        self.cgrun("plan", "small.yaml", "--tune")
        self.assertNotIn("is no tuning record", self.cgrun("plan", "small.yaml").stderr)

    def test_all_verbs_of_models_take_it(self):
        self.cgrun("train", "small.yaml", "--out", "a")
        for verb in (["bench", "--rounds", 1, "--steps", 1], ["compile", "-o", "small.cgb"],
                     ["eval", "--weights", "a"], ["check"]):
            with self.subTest(verb):
                done = self.cgrun(verb[0], "small.yaml", *verb[1:], "--tune")
                self.assertIn("times measured", done.stderr)


if __name__ == "__main__":
    unittest.main()
