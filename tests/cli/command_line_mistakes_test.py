#!/usr/bin/env python3
"""Wrong verbs, flags and values of flags: the error says what the verb takes, and its exit status is 2."""

import unittest

from cli_testing import MODEL, CliTestCase


class CommandLineMistakesTest(CliTestCase):
    def test_wrong_options_are_explained_in_our_own_words(self):
        for arguments, message, advice in (
                (["train", "small.yaml", "--threads", "0"],
                 "--threads must be 1 to 1024, not '0'", "--threads: the number of threads that kernels use"),
                (["train", "small.yaml", "--limit-batches", "-1"],
                 "--limit-batches must be an integer, at least 1, not '-1'", "at most N batches"),
                (["train", "small.yaml", "--mode", "egaer"],
                 "--mode must be graph or eager, not 'egaer'", "did you mean 'eager'?"),
                (["train", "small.yaml", "--out"], "--out needs a value: DIR", "the run folder"),
                (["train", "small.yaml", "--out", "a", "--out", "b"],
                 "--out is given more than once", "it takes one value"),
                (["train", "--resume", "a", "--out", "b"],
                 "--out and --resume exclude each other", "leave one of them out"),
                (["plan"], "`cgrun plan` needs MODEL", "MODEL: model file"),
                (["summary", "small.yaml", "-j"], "`cgrun summary` has no flag '-j'",
                 "`cgrun summary --help` lists its arguments"),
                (["--verison"], "`cgrun` has no flag '--verison'", "did you mean `cgrun --version`?"),
                (["version"], "there is no verb 'version'", "write `cgrun --version`"),
                (["ops", "pool"], "there is no operator 'pool'",
                 "did you mean one of max_pool, avg_pool, global_avg_pool?"),
                (["--batch", "3"], "a verb must come before '--batch'", "`cgrun --help`")):
            error = self.refuses(*arguments)
            self.assertIn("error: " + message + "\n", error)
            self.assertIn(advice, error)

    def test_an_unknown_verb_is_an_error_with_help_too(self):
        for arguments in (["prophesy"], ["prophesy", "--help"], ["prophesy", "x", "-h"]):
            self.assertIn("the verbs are train, search", self.refuses(*arguments))
        for theirs, ours in (("fit", "train"), ("test", "eval"), ("infer", "predict"), ("validate", "check")):
            self.assertIn(f"did you mean `cgrun {ours}`?", self.refuses(theirs, "small.yaml"))
        self.assertIn("`cgrun export` writes them", self.refuses("convert", "small.yaml"))

    def test_errors_name_the_flags_that_were_typed(self):
        for arguments in (["--batch", "0"], ["--seed", "x"], ["--order", "bsf"],
                          ["--zones", "no"], ["--precision", "f1"], ["--device", "gpux"]):
            error = self.refuses("plan", "small.yaml", *arguments)
            self.assertTrue(error.startswith(" ".join(arguments) + ": error: "), error)

    def test_keys_that_are_given_as_flags(self):
        for arguments, text in ((["--epoch", "3"], "train.epochs=3"),
                                (["--epochs=3"], "train.epochs=3"),
                                (["--lr", "0.1"], "train.optimizer.lr=0.1"),
                                (["--accumulate"], "train.accumulate=…")):
            self.assertIn(f"`--set {text}`", self.refuses("train", "small.yaml", *arguments))
        for theirs, ours in (("--batch-size", "--batch"), ("--gpu", "--device"), ("--dtype", "--precision")):
            self.assertIn(f"help: write '{ours}'", self.refuses("train", "small.yaml", theirs, "3"))

    def test_flags_of_other_programs(self):
        for verb in ("train", "eval"):
            for flag, help_text in (("--learning-rate", "`--set train.optimizer.lr=3`"),
                                    ("--max-epochs", "`--set train.epochs=3`"),
                                    ("--test", "`--set data.test.file=3`"),
                                    ("--valid", "`--set data.valid.file=3`"),
                                    ("--output", "write '--out'")):
                self.assertIn(help_text, self.refuses(verb, "small.yaml", flag, "3"), (verb, flag))

    def test_flags_for_threads(self):
        for flags in (["--workers", "1000"], ["--workers=-1"], ["--num-workers", "x"]):
            error = self.refuses("train", "small.yaml", *flags)
            self.assertIn("samples ahead; `--threads N`, 1 to 1024, is for the kernels", error)
        self.assertIn("--threads must be 1 to 1024, not '-1'",
                      self.refuses("train", "small.yaml", "--threads", "-1"))

    def test_ranges_of_numbers_are_short(self):
        self.assertIn("error: --temperature must be a number from 0 to 100, not '400'\n",
                      self.refuses("generate", "small.yaml", "--temperature", "400"))

    def test_a_device_that_is_not_there(self):
        done = self.cgrun("devices")
        if "built without CUDA" not in done.stdout:
            print("a device that is not there: not tested, as this build has CUDA")
            return
        for flags in (["--device", "cuda"], ["--set", "device=cuda"]):
            self.assertIn("or use --device cpu\n", self.refuses("train", "small.yaml", *flags))
        self.write("gpu.yaml", MODEL + "device: cuda\n")
        self.assertRegex(self.refuses("train", "gpu.yaml"), r"gpu\.yaml:\d+:9: error: .*\n +device: cuda\n")
        for right, wrong, told in (("{op: flatten}", "{op: flaten}", "there is no operator 'flaten'"),
                                   ("epochs: 2", "epochs: two", "'epochs' must be an integer")):
            self.write("gpu.yaml", MODEL.replace(right, wrong) + "device: cuda\n")
            for verb in ("train", "check", "plan"):
                error = self.refuses(verb, "gpu.yaml")
                self.assertIn(told, error)
                self.assertIn("error: device 'cuda' is not in this build: built without CUDA\n", error)
                self.assertEqual(error.count("error: "), 2, error)

    def test_what_the_command_line_changes(self):
        done = self.refuses("check", "small.yaml", "--set", "paths.classify.ops.logits.units=2")
        self.assertIn("note: the command line changes this file, which is shown without that: "
                      "--set paths.classify.ops.logits.units=2\n", done)

    def test_input_that_is_wrong_is_2_for_every_verb(self):
        self.write("no_test.yaml", MODEL.replace("  test: {", "  valid: {"))
        self.write("w.safetensors", "cgrun: 1\n")
        for arguments in (["eval", "small.yaml", "--weights", "none"], ["eval", "none.cgb"],
                          ["eval", "none.cgb", "--weights", "w"], ["disasm", "small.yaml"],
                          ["eval", "small.yaml", "--weights", "w.safetensors"],
                          ["train", "small.yaml", "--weights", "w.safetensors"],
                          ["eval", "no_test.yaml", "--weights", "w.safetensors"]):
            self.refuses(*arguments)
        if "built without CUDA" in self.cgrun("devices").stdout:
            for arguments in (["train", "small.yaml"], ["plan", "small.yaml"],
                              ["eval", "small.yaml", "--weights", "w.safetensors"]):
                self.assertIn("--device cpu", self.refuses(*arguments, "--device", "cuda"))


if __name__ == "__main__":
    unittest.main()
