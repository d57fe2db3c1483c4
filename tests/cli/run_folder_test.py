#!/usr/bin/env python3
"""Run folders: where they are, how they are named, and what of them `--force` and a later run may clear."""

import json
import unittest

from cli_testing import MODEL, CliTestCase


class RunFolderTest(CliTestCase):
    def test_train_says_where_weights_and_run_folder_are(self):
        result = json.loads(self.cgrun("train", "small.yaml", "--out", "a/run", "--json").stdout)
        self.assertEqual((result["run_folder"], result["weights"]),
                         ("a/run", "a/run/checkpoint-8.safetensors"))

    def test_a_name_has_one_mark_for_a_character(self):
        text = MODEL.replace("model: small\n", "").replace("epochs: 2", "epochs: 1")
        self.write("Müller flats.yaml", text)
        self.cgrun("train", "Müller flats.yaml", "--quiet")
        self.assertTrue((self.folder / "runs/M_ller_flats").is_dir())

    def test_a_folder_that_cannot_be_made(self):
        error = self.refuses("train", "small.yaml", "--out", "/proc/nothing")
        self.assertIn("cannot make the folder '/proc/nothing': ", error)
        self.assertIn("help: --out DIR takes another", error)

    def test_the_run_folder_is_never_the_folder_of_what_is_read(self):
        self.write("mine/model.yaml", MODEL)
        self.write("mine/metrics.csv", "epoch\n")
        for out in ("mine", "mine/", "./mine/../mine"):
            error = self.refuses("train", "mine/model.yaml", "--out", out, "--force")
            self.assertIn("which this run reads", error)
        self.assertEqual((self.folder / "mine/model.yaml").read_text(), MODEL)
        self.cgrun("train", "small.yaml", "--out", "run")
        error = self.refuses("train", "small.yaml", "--weights", "run/checkpoint-8.safetensors",
                             "--out", "run", "--force")
        self.assertIn("which this run reads", error)
        self.assertTrue((self.folder / "run/checkpoint-8.safetensors").exists())

    def test_force_clears_what_runs_left_and_nothing_else(self):
        self.write("notes/model.yaml", "mine\n")
        self.assertIn("no run left it",
                      self.refuses("train", "small.yaml", "--out", "notes", "--force"))
        self.assertEqual((self.folder / "notes/model.yaml").read_text(), "mine\n")
        for name in ("metrics.csv", "report.html", "summary.json"):
            self.write(f"figures/{name}", "mine\n")
        self.assertIn("no run left it",
                      self.refuses("train", "small.yaml", "--out", "figures", "--force"))
        self.assertEqual((self.folder / "figures/metrics.csv").read_text(), "mine\n")
        (self.folder / "empty").mkdir()
        for flags in ([], ["--force"]):
            self.cgrun("train", "small.yaml", "--out", "empty", *flags)

    def test_a_failed_run_does_not_block_the_corrected_one(self):
        (self.folder / "there").mkdir()
        for out, flags in (("a/b/run", []), ("there", []), ("there/", ["--force"])):
            error = self.cgrun("train", "small.yaml", "--out", out, "--set",
                               "train.optimizer.lr=1e39", *flags, status=1).stderr
            self.assertIn("is not finite", error)
            self.assertIn("is not finite", (self.folder / out / "failure.txt").read_text())
            self.assertTrue((self.folder / out / "checkpoint-0.safetensors").exists())
        self.cgrun("train", "small.yaml", "--out", "there")
        self.assertFalse((self.folder / "there/failure.txt").exists())
        self.assertIn("exists already", self.refuses("train", "small.yaml", "--out", "there"))


if __name__ == "__main__":
    unittest.main()
