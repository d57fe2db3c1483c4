#!/usr/bin/env python3
"""cgrun plan: looking into a plan, comparing plans, and packing buffers alone."""

import json
import re
import unittest

from cli_testing import CliTestCase

BUFFERS = "id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n"


class PlanTest(CliTestCase):
    def test_compares_planners_on_the_same_graph(self):
        plan = json.loads(self.cgrun("plan", "small.yaml", "--compare", "--json").stdout)
        arenas = {other["planner"]: other["arena_bytes"] for other in plan["compared"]}
        self.assertEqual(set(arenas), {"owl", "singa", "calcgraph", "naive"})
        for planner, arena in arenas.items():
            self.assertGreaterEqual(arena, plan["arena_bytes"], planner)
        self.assertGreater(arenas["naive"], plan["arena_bytes"])
        text = self.cgrun("plan", "small.yaml", "--compare").stdout
        for planner in arenas:
            self.assertRegex(text, rf"(?m)^  {planner} +[\d.]+ [KM]?i?B +\d+\.\d\d ")

    def test_draws_a_page_that_needs_nothing_else(self):
        self.cgrun("plan", "small.yaml", "--html", "plan.html")
        page = (self.folder / "plan.html").read_text()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.S)[1])
        self.assertEqual(len(data), 1)
        names = {buffer["name"] for buffer in data[0]["persistent"]}
        self.assertIn("classify.logits.weight", names)
        self.cgrun("plan", "small.yaml", "--html", "plan.html", "--compare")  # over its own kind
        page = (self.folder / "plan.html").read_text()
        data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.S)[1])
        self.assertEqual(len(data), 5)
        self.assertIn("small.yaml", self.refuses("plan", "small.yaml", "--html", "small.yaml"))

    def test_tells_why_a_value_is_alive(self):
        text = self.cgrun("plan", "small.yaml", "--why", "classify.logits.weight").stdout
        self.assertIn("'classify.logits.weight' in 'train'", text)
        self.assertIn("Kept, as it is state", text)
        lives = json.loads(
            self.cgrun("plan", "small.yaml", "--why", "classify.logits.weight", "--json").stdout)
        self.assertIn("train", {life["entry"] for life in lives})
        for life in lives:
            self.assertEqual(life["bytes"], 16 * 3 * 4)
        errors = self.refuses("plan", "small.yaml", "--why", "classify.logits.wieght")
        self.assertIn("did you mean 'classify.logits.weight'?", errors)

    def test_is_a_budget_check(self):
        self.cgrun("plan", "small.yaml", "--json", "before.json")
        same = self.cgrun("plan", "small.yaml", "--diff", "before.json").stdout
        self.assertIn("A run takes no more than before.", same)
        larger = ("plan", "small.yaml", "--set", "train.batch=64", "--diff", "before.json")
        self.assertRegex(self.cgrun(*larger, status=1).stdout, r"A run takes .* more than before\.")
        self.assertGreater(json.loads(self.cgrun(*larger, "--json", status=1).stdout)["grew_bytes"], 0)
        self.write("notes.json", "{}")
        self.assertIn("notes.json", self.refuses("plan", "small.yaml", "--diff", "notes.json"))
        self.assertIn("nowhere.json", self.refuses("plan", "small.yaml", "--diff", "nowhere.json"))

    def test_packs_buffers_alone(self):
        self.write("buffers.csv", BUFFERS)
        self.cgrun("plan", "buffers.csv", "--time", "1", "--out", "packed.csv")
        packed = (self.folder / "packed.csv").read_text().splitlines()
        self.assertEqual(len(packed), 4)
        self.assertIn("offset", packed[0])
        again = json.loads(self.cgrun("plan", "packed.csv", "--json").stdout)
        self.assertEqual(again["peak_bytes"], 128)
        self.assertIn("soon", self.refuses("plan", "buffers.csv", "--time", "soon"))
        self.assertIn("--time", self.refuses("plan", "buffers.csv", "--planner", "owl", "--time", "1"))

    def test_a_capacity_below_the_bound_is_refused_at_once(self):
        self.write("buffers.csv", BUFFERS)
        errors = self.refuses("plan", "buffers.csv", "--capacity", "127", "--out", "packed.csv",
                              status=1)
        self.assertIn("128", errors)
        self.assertFalse((self.folder / "packed.csv").exists())

    def test_what_needs_a_model_says_so(self):
        self.write("buffers.csv", BUFFERS)
        for flags in (["--compare"], ["--html", "p.html"], ["--why", "a"], ["--diff", "b.json"]):
            self.assertIn("needs a model", self.refuses("plan", "buffers.csv", *flags))
        self.assertFalse((self.folder / "p.html").exists())
        for flags in (["--capacity", "1"], ["--time", "1"], ["--out", "p.csv"]):
            self.assertIn("needs a list of buffers", self.refuses("plan", "small.yaml", *flags))


if __name__ == "__main__":
    unittest.main()
