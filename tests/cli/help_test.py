#!/usr/bin/env python3
"""Tests `cgrun help`, `--help`, `--version` and `cgrun ops`, as text and as JSON."""

import json
import unittest

from cli_testing import MODEL, CliTestCase


class HelpTest(CliTestCase):
    def help(self, *arguments):
        return json.loads(self.cgrun(*arguments).stdout)

    def test_help_for_programs(self):
        whole = self.help("help", "--json")
        self.assertEqual(whole, self.help("--help", "--json"))
        self.assertEqual(whole, self.help("--json", "--help"))
        verbs = {verb["name"]: verb for verb in whole["verbs"]}
        listed = self.cgrun("--help").stdout.split("Verbs:\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(list(verbs), [line.split()[0] for line in listed])
        self.assertEqual([flag["names"][-1] for flag in whole["flags"]], ["--help", "--version"])
        train = verbs["train"]
        for line in (("help", "train", "--json"), ("train", "--help", "--json"), ("help", "--json", "train"),
                     ("train", "small.yaml", "--json", "-", "--help")):
            self.assertEqual(self.help(*line), train, line)
        self.assertEqual([argument["name"] for argument in train["arguments"]], ["MODEL"])
        flags = {flag["names"][-1]: flag for flag in train["flags"]}
        self.assertEqual(flags["--mode"]["words"], ["graph", "eager"])
        self.assertEqual(flags["--json"]["value_is_optional"], True)
        self.assertNotIn("value", flags["--force"])
        self.assertIn("cgrun train models/lenet.yaml", train["examples"])
        text = self.cgrun("train", "--help").stdout
        for name in flags:
            self.assertIn(name, text)

    def test_a_file_for_json_gets_no_help(self):
        shown = self.cgrun("train", "small.yaml", "--json", "small.yaml", "--help").stdout
        self.assertEqual(shown, self.cgrun("help", "train").stdout)
        self.assertEqual((self.folder / "small.yaml").read_text(), MODEL)

    def test_versions_for_programs(self):
        versions = self.help("--version", "--json")
        self.assertIn(f"cgrun {versions['version']}\n", self.cgrun("--version").stdout)
        self.assertIn("zlib", versions["libraries"])
        self.assertIn("errors", json.loads(self.cgrun("help", "trian", "--json", status=2).stdout))


class OperatorsTest(CliTestCase):
    def test_the_reference_of_operators(self):
        for name in ("conv", "batch_norm", "softmax_cross_entropy", "sgd"):
            text = self.cgrun("ops", name).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        for key in ("activation", "init", "regularize", "frozen", "lr"):
            self.assertRegex(self.cgrun("ops", "conv").stdout, rf"(?m)^  {key} ")
        self.assertRegex(self.cgrun("ops", "sgd").stdout, r"(?m)^  schedule ")
        self.assertIn("write 'linear'", self.refuses("ops", "dense"))
        self.assertIn("help: 'cosine' is a schedule of the learning rate (", self.refuses("ops", "cosine"))
        for word, names in (("loss", ("hinge", "squared_error")), ("Losses", ("hinge", "huber")),
                            ("optimizers", ("adam", "sgd")), ("activation", ("relu", "gelu"))):
            error = self.refuses("ops", word)
            self.assertRegex(error, r"help: the (losses|optimizers|activations) are \w+, ")
            for name in names:
                self.assertIn(name, error)
        self.assertRegex(self.refuses("ops", "hyperbolic"), "help: it stands in what is said of acosh, .* and tanh")
        self.assertRegex(self.refuses("ops", "image"), r"said of \w+, .*, … and \d+ more \(`cgrun ops`")
        for word, written in (("constant", "`schedule: constant`"), ("step", "`schedule: {step: …}`")):
            self.assertIn(written, self.refuses("ops", word))
        for word in ("schedule", "schedules"):
            self.assertRegex(self.refuses("ops", word),
                             "help: the schedules of the learning rate are constant, cosine, .* and plateau")
        for word in ("lossy", "metrical"):
            self.assertNotRegex(self.refuses("ops", word), "the (losses|metrics) are")
        for word in ("xyzzy", "qq", "qq", "with"):
            self.assertIn("help: `cgrun ops` lists them\n", self.refuses("ops", word))
        self.assertIn("`unroll` uses it for each place", self.refuses("ops", "LSTM"))

    def test_ops_answers_with_what_a_word_is(self):
        for word, part in (("xavier", "`init: glorot_uniform`"), ("glorot", "`init: glorot_uniform`"),
                           ("he", "`init: he_normal`"), ("kaiming", "`init: he_normal`"),
                           ("warmup", "`schedule: {cosine: {warmup: …}}`"),
                           ("l2", "'regularize' is a key"), ("regularisation", "'regularize' is a key"),
                           ("pooling", "the pools are avg_pool, global_avg_pool and max_pool"),
                           ("dice", "there is none: "), ("device", "write `device: …`"),
                           ("lr", "`train: {optimizer: {op: sgd, lr: …}}`"),
                           ("learning rate", "`train: {optimizer: {op: sgd, lr: …}}`"),
                           ("momentum", "a key of batch_norm, rmsprop and sgd"),
                           ("augment", "random_flip"), ("batchnorm", "write 'batch_norm'"),
                           ("lstm", "`unroll`"), ("gru", "`unroll`"), ("batch_size", "`train: {batch: …}`"),
                           ("schedule", "the schedules of the learning rate are ")):
            self.assertIn(part, self.refuses("ops", word))


if __name__ == "__main__":
    unittest.main()
