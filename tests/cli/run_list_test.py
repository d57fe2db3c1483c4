#!/usr/bin/env python3
"""Tests `cgrun runs`, which shows runs beside each other."""

import json
import unittest

import cli_testing


class RunListTest(cli_testing.CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", cli_testing.SPLIT)

    def train(self, out, *settings):
        self.cgrun("train", "small.yaml", "--out", out, *[f"--set={setting}" for setting in settings])

    def test_shows_what_differs(self):
        self.train("runs/slow", "train.optimizer.lr=0.001")
        self.train("runs/fast", "train.optimizer.lr=0.1")
        lines = self.cgrun("runs").stdout.splitlines()
        self.assertEqual(lines[0].split()[:2], ["run", "train.optimizer.lr"])
        self.assertEqual([line.split()[:2] for line in lines[2:]], [["runs/fast", "0.1"], ["runs/slow", "0.001"]])
        listed = json.loads(self.cgrun("runs", "--json").stdout)
        self.assertEqual(listed["differing"], ["train.optimizer.lr"])
        for run in listed["runs"]:
            summary = json.loads((self.folder / run["folder"] / "summary.json").read_text())
            self.assertEqual(run["summary"], summary)
            self.assertIn(f"{summary['valid']['accuracy']:.6g}", "\n".join(lines))

    def test_finds_the_runs_of_a_search(self):
        self.write("search.yaml", "cgrun: 1\nmodel: small.yaml\nmetric: accuracy\nmethod: grid\n"
                   "parameters: {paths.classify.ops.logits.init: [zeros, he_normal], train.seed: [1, 2]}\n")
        self.cgrun("search", "search.yaml", "--out", "s")
        listed = json.loads(self.cgrun("runs", "s/trials", "--json").stdout)
        self.assertEqual(len(listed["runs"]), 3)
        self.assertLessEqual(set(listed["differing"]), {"paths.classify.ops.logits.init", "train.seed"})
        self.assertTrue(listed["differing"])

    def test_a_run_that_goes_on_has_no_summary(self):
        self.train("runs/one")
        (self.folder / "runs/one/summary.json").unlink()
        self.assertIn("unfinished", self.cgrun("runs").stdout)

    def test_draws_the_curves(self):
        self.train("runs/one")
        self.train("runs/two", "train.seed=3")
        self.cgrun("runs", "--html", "runs.html")
        page = (self.folder / "runs.html").read_text()
        for name in ("one", "two"):
            self.assertIn(f">{name}</text>", page)

    def test_mistakes(self):
        self.assertIn("there is no folder 'runs'", self.refuses("runs"))
        (self.folder / "runs").mkdir()
        self.assertIn("there is no run in 'runs'", self.refuses("runs"))
        self.write("runs/x/run.json", "{}")
        self.write("runs/x/model.yaml", "a: [")
        self.assertIn("is not YAML", self.refuses("runs"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
