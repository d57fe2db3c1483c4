#!/usr/bin/env python3
"""Verbs that take a compiled program where they take a model: plan, graph, summary, bench."""

import json
import unittest

from cli_testing import MODEL, CliTestCase

VERBS = (["plan"], ["graph"], ["summary"], ["bench", "--rounds", "1", "--steps", "1"])


class ProgramVerbsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.cgrun("compile", "small.yaml", "-o", "small.cgb", "--threads", 1)

    def json(self, *arguments):
        return json.loads(self.cgrun(*arguments, "--json").stdout)

    def test_plan_shows_the_layout_that_the_program_carries(self):
        planned = self.json("plan", "small.yaml", "--threads", 1)
        carried = self.json("plan", "small.cgb")
        for key in ("model", "device", "mode", "batch", "arena_bytes", "peak_bytes"):
            self.assertEqual(carried[key], planned[key], key)
        names = [entry["name"] for entry in planned["entries"]]
        self.assertEqual([entry["name"] for entry in carried["entries"]], names)
        disassembled = self.json("disasm", "small.cgb")["entries"]
        for entry, listed in zip(carried["entries"], disassembled):
            self.assertEqual(entry["instructions"], len(listed["instructions"]))
            self.assertEqual(entry["operands"],
                             sum(len(i["operands"]) for i in listed["instructions"]))
            self.assertLessEqual(entry["lower_bound_bytes"], entry["transient_bytes"])
            self.assertLessEqual(entry["transient_bytes"], carried["arena_bytes"])
        self.assertLessEqual(carried["lower_bound_bytes"], carried["arena_bytes"])
        for made_up in ("planner", "plan_seconds", "base_bytes", "total_bytes"):
            self.assertNotIn(made_up, carried)

    def test_plan_names_what_lies_where(self):
        offsets = {buffer["name"]: (buffer["offset"], buffer["bytes"])
                   for buffer in self.json("plan", "small.yaml", "--threads", 1)["buffers"]
                   if buffer["entry"] in ("", "train")}
        carried = {buffer["name"]: (buffer["offset"], buffer["bytes"])
                   for buffer in self.json("plan", "small.cgb")["buffers"]
                   if buffer["entry"] in ("", "train")}
        for state in ("classify.logits.weight", "classify.logits.bias"):
            self.assertEqual(carried[state], offsets[state])
        same = [name for name, place in carried.items() if offsets.get(name) == place]
        self.assertGreater(len(same), 6, (carried, offsets))

    def test_plan_as_text_and_page(self):
        text = self.cgrun("plan", "small.cgb", "--html", "plan.html").stdout
        for part in ("small.cgb: 'small', compiled for ", "entry point", "instructions",
                     "persistent region", "lower bound", "Nothing was planned"):
            self.assertIn(part, text)
        self.assertIn("classify.logits.weight", (self.folder / "plan.html").read_text())
        full = self.cgrun("plan", "small.cgb", "--full").stdout
        self.assertGreater(len(full.splitlines()), len(text.splitlines()))
        self.assertIn("every buffer", full)

    def test_graph_is_that_of_the_program(self):
        graph = self.json("graph", "small.cgb")
        listed = self.json("disasm", "small.cgb")["entries"][0]["instructions"]
        self.assertEqual([node["name"] for node in graph["nodes"]], [i["name"] for i in listed])
        self.assertEqual([node["op"] for node in graph["nodes"]], [i["op"] for i in listed])
        text = self.cgrun("graph", "small.cgb").stdout
        self.assertIn("@" + listed[0]["kernel"], text)
        self.assertIn("update classify.logits.weight <- ", text)
        names = {value["name"] for value in graph["values"]}
        for node in graph["nodes"]:
            self.assertLessEqual(set(node["inputs"]) | set(node["outputs"]), names)

    def test_graph_draws_pictures(self):
        svg = self.cgrun("graph", "small.cgb", "--svg").stdout
        self.assertTrue(svg.startswith("<svg"))
        self.assertIn("logits", svg)
        dot = self.cgrun("graph", "small.cgb", "--dot", "--entry", "eval").stdout
        self.assertTrue(dot.startswith("digraph"))
        error = self.refuses("graph", "small.cgb", "--entry", "predict")
        self.assertIn("has no entry point 'predict'", error)
        self.assertIn("its entry points are train", error)

    def test_summary_is_that_of_its_model(self):
        self.assertEqual(self.json("summary", "small.cgb"), self.json("summary", "small.yaml"))

    def test_bench_runs_its_model(self):
        result = self.json("bench", "small.cgb", "--rounds", 1, "--steps", 1, "--threads", 1)
        self.assertEqual((result["model"], len(result["cases"])), ("small", 6))
        apart = self.json("bench", "small.cgb", "--rounds", 1, "--steps", 1, "--isolate",
                          "--only", "eager")
        self.assertEqual(apart["cases"][0]["name"], "eager")

    def test_flags_that_would_compile_again_are_refused(self):
        for flags in (["--batch", 10], ["--device", "reference"], ["--set", "train.batch=2"]):
            for verb in ("plan", "graph"):
                error = self.refuses(verb, "small.cgb", *flags)
                self.assertIn(f"{flags[0]} needs a model, not a compiled program", error)
        for flag in ("--compare", "--passes", "--frontier"):
            self.assertIn("needs a model", self.refuses("plan", "small.cgb", flag))

    def test_damaged_programs_are_named(self):
        whole = (self.folder / "small.cgb").read_bytes()
        cut = whole[:len(whole) // 2]
        flipped = bytes([*whole[:-9], whole[-9] ^ 1, *whole[-8:]])
        for name, damaged in (("cut.cgb", cut), ("flipped.cgb", flipped), ("none.cgb", b"none")):
            (self.folder / name).write_bytes(damaged)
            for verb, *flags in VERBS:
                self.assertIn(f"error: {name}: ", self.refuses(verb, name, *flags))
        for verb, *flags in VERBS:
            self.assertIn("missing.cgb", self.refuses(verb, "missing.cgb", *flags))

    def test_one_entry_point_is_no_entry_points(self):
        text = MODEL.replace("samples: 65", "samples: 60")
        self.write("one.yaml", text[:text.index("  test:")] + text[text.index("inputs:"):])
        self.assertIn("one.cgb: 1 entry point, ",
                      self.cgrun("compile", "one.yaml", "-o", "one.cgb").stdout)
        self.assertRegex(self.cgrun("compile", "small.yaml", "-o", "small.cgb").stdout,
                         r"small.cgb: [2-9] entry points, ")


if __name__ == "__main__":
    unittest.main()
