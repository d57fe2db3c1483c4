#!/usr/bin/env python3
"""Mistakes that new users make: nothing of theirs is lost, and the text says what to do."""

import signal
import subprocess
import time
import unittest

from cli_testing import CGRUN, MODEL, CliTestCase


class MistakesTest(CliTestCase):
    def test_what_is_not_carried_out_is_said_by_every_verb(self):
        self.write("auto.yaml", MODEL.replace("batch: 20", "batch: auto"))
        verbs = (["train"], ["plan"], ["graph"], ["summary"], ["compile", "-o", "m.cgb"],
                 ["eval", "--weights", "w.safetensors"])
        for verb, *flags in verbs:
            for arguments in (["auto.yaml"], ["small.yaml", "--batch", "auto"]):
                error = self.refuses(verb, *arguments, *flags)
                self.assertIn("this version does not carry out 'batch: auto' yet", error)

    # What users wrote is theirs.

    def test_outputs_replace_neither_inputs_nor_files_of_another_kind(self):
        self.write("notes.txt", "mine\n")
        self.write("buffers.csv", "id,lower,upper,size\na,0,2,64\n")
        for arguments in (["compile", "small.yaml", "-o", "small.yaml"],
                          ["compile", "small.yaml", "-o", "./notes.txt"],
                          ["plan", "small.yaml", "--json", "small.yaml"],
                          ["plan", "small.yaml", "--csv", "notes.txt"],
                          ["plan", "buffers.csv", "--json", "buffers.csv"],
                          ["ops", "conv", "--json", "notes.txt"]):
            self.assertIn("give another file", self.refuses(*arguments))
        self.write("model.json", '{"cgrun": 1}')
        self.assertIn("what is read", self.refuses("plan", "model.json", "--json", "model.json"))
        self.assertEqual((self.folder / "small.yaml").read_text(), MODEL)
        self.assertEqual((self.folder / "notes.txt").read_text(), "mine\n")

    def test_outputs_replace_their_own_kind(self):
        for _ in range(2):
            self.cgrun("compile", "small.yaml", "-o", "small.cgb", "--json", "small.json")
            self.cgrun("plan", "small.yaml", "--csv", "small.csv")

    def test_advice_never_names_the_model_file_as_an_output(self):
        error = self.refuses("disasm", "small.yaml")
        self.assertIn("`cgrun compile MODEL -o M.cgb`", error)

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
        (self.folder / "empty").mkdir()
        for flags in ([], ["--force"]):
            self.cgrun("train", "small.yaml", "--out", "empty", *flags)

    def test_a_failed_run_does_not_block_the_corrected_one(self):
        (self.folder / "there").mkdir()
        for out, flags in (("a/b/run", []), ("there", []), ("there/", ["--force"])):
            error = self.cgrun("train", "small.yaml", "--out", out, "--set",
                               "train.optimizer.lr=1e39", *flags, status=1).stderr
            self.assertIn("is not finite", error)
        self.assertFalse((self.folder / "a").exists())
        self.assertEqual(list((self.folder / "there").iterdir()), [])
        self.cgrun("train", "small.yaml", "--out", "there")

    # Exit statuses.

    def test_output_that_cannot_be_written_is_a_failure(self):
        for arguments in (["plan", "small.yaml"], ["summary", "small.yaml", "--json"], ["ops"],
                          ["graph", "small.yaml"], ["devices"], ["--help"], ["plan", "--help"],
                          ["train", "small.yaml", "--out", "run"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                error = self.cgrun(*arguments, status=1, stdout=full).stderr
            self.assertIn("could not be written", error)

    def test_signals_end_with_130(self):
        self.write("long.yaml", MODEL.replace("samples: 65", "samples: 9000000"))
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            for delay in (0.05, 0.5):
                with subprocess.Popen([str(CGRUN), "train", "long.yaml", "--out", "run", "--force"],
                                      cwd=self.folder, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as process:
                    time.sleep(delay)
                    process.send_signal(signal_number)
                    self.assertEqual(process.wait(), 130)

    def test_an_unknown_verb_is_an_error_with_help_too(self):
        for arguments in (["predict"], ["predict", "--help"], ["predict", "x", "-h"]):
            self.assertIn("the verbs are train, eval", self.refuses(*arguments))


if __name__ == "__main__":
    unittest.main(verbosity=2)
