#!/usr/bin/env python3
"""`cgrun bench`: its table, its JSON and its flags, on a model that takes no time."""

import json
import unittest

from cli_testing import MODEL, CliTestCase

STANDARD = ["eager", "eager, nothing freed", "graph, no passes", "graph, serial", "graph, bfs",
            "graph, memory"]


class BenchTest(CliTestCase):
    def bench(self, *flags, rounds=2, steps=3):
        few = ["--threads", 1]
        few += (["--rounds", rounds] if rounds else []) + (["--steps", steps] if steps else [])
        return self.cgrun("bench", "small.yaml", *few, *flags)

    def json(self, *flags, **counts):
        return json.loads(self.bench(*flags, "--json", **counts).stdout)

    def names(self, result):
        return [case["name"] for case in result["cases"]]

    def test_json_has_what_is_promised(self):
        result = self.json()
        self.assertEqual((result["model"], result["mode"]), ("small", "train"))
        self.assertTrue(result["device"])
        self.assertEqual((result["rounds"], result["steps_per_round"]), (2, 3))
        self.assertIs(result["isolated"], False)
        self.assertEqual(self.names(result), STANDARD)
        eager = result["cases"][0]
        for case in result["cases"]:
            self.assertEqual(case["batch"], 20)
            self.assertGreaterEqual(case["reserved_bytes"], case["peak_bytes"])
            self.assertGreater(case["build_seconds"], 0)
            self.assertAlmostEqual(case["reduction"],
                                   1 - case["peak_bytes"] / eager["peak_bytes"])
            self.assertNotIn("fault", case)
            self.assertNotIn("profile", case)
            self.assertIn("break_even_step", case)
            if case["name"] == "eager, nothing freed":
                for key in ("seconds_per_iteration", "samples_per_second",
                            "allocations_after_first_step"):
                    self.assertIsNone(case[key], key)
                continue
            time = case["seconds_per_iteration"]
            self.assertLessEqual(time["min"], time["median"])
            self.assertLessEqual(time["median"], time["max"])
            self.assertAlmostEqual(case["samples_per_second"] * time["median"], 20)
            rounds = case["round_seconds"]
            self.assertEqual((len(rounds), min(rounds), max(rounds)),
                             (2, time["min"], time["max"]))
            ratios = [a / b for a, b in zip(eager["round_seconds"], rounds)]
            self.assertAlmostEqual(case["speedup"], sum(ratios) / 2)
            self.assertNotIn("speedup_interval", case)  # two rounds are too few
            self.assertIn(case["allocations_after_first_step"], (0, None))  # sanitizers count none

    def test_text_says_how_it_was_measured(self):
        text = self.bench().stdout
        self.assertIn("2 rounds of 3 steps, taking turns", text)
        self.assertIn("memory: the most in tensors and workspaces at once", text)
        for name in STANDARD:
            self.assertIn(name, text)
        self.assertNotIn("no losses were compared", text)

    def test_text_has_intervals_from_six_rounds_on(self):
        few, enough = self.bench().stdout, self.bench(rounds=6, steps=1).stdout
        self.assertNotIn("95 %", few)
        self.assertIn("speedup: the median of each round's own; an interval takes 6 rounds", few)
        self.assertIn("graph: all passes, and operators in that order; no passes: in the order memory;", few)
        self.assertIn("  95 %  break-even", enough)
        self.assertIn("an interval that holds it by 95 %", enough)

    def test_text_has_a_column_of_time(self):
        lines = self.bench().stdout.splitlines()
        head = next(line for line in lines if line.startswith("case"))
        result = self.json("--out", "timed")
        self.assertRegex(head, r"  time s/it  +min–max s  +it/s  +samples/s  ")
        text = (self.folder / "timed/bench.txt").read_text()
        row = next(line for line in text.splitlines() if line.startswith("graph, memory"))
        shown = float(row.split()[5])
        median = result["cases"][-1]["seconds_per_iteration"]["median"]
        self.assertAlmostEqual(shown / median, 1, delta=0.01)

    def test_out_is_a_folder_with_text_and_numbers(self):
        printed = self.bench("--out", "benches/first").stdout
        folder = self.folder / "benches/first"
        self.assertEqual(sorted(file.name for file in folder.iterdir()),
                         ["bench.json", "bench.txt"])
        self.assertEqual((folder / "bench.txt").read_text(), printed)
        again = self.refuses("bench", "small.yaml", "--out", "benches/first")
        self.assertIn("holds a benchmark already", again)
        self.assertIn("--force", again)
        printed = self.bench("--out", "benches/first", "--force", "--json").stdout
        self.assertEqual((folder / "bench.json").read_text(), printed)
        self.assertIn("is no folder", self.refuses("bench", "small.yaml", "--out", "small.yaml"))

    def test_out_of_isolated_cases(self):
        self.bench("--isolate", "--out", "apart", "--only", "eager")
        result = json.loads((self.folder / "apart/bench.json").read_text())
        self.assertEqual((self.names(result), result["isolated"]), (["eager"], True))

    def test_dry_run_builds_and_runs_nothing(self):
        for flags in ((), ("--isolate",)):
            result = self.json("--dry-run", "--out", "none", *flags)
            self.assertIs(result["dry_run"], True)
            self.assertEqual(self.names(result), STANDARD)
            planned = [case["planned_bytes"] for case in result["cases"]]
            self.assertEqual(planned[:2], [None, None])
            measured = [case["peak_bytes"] for case in self.json()["cases"]]
            self.assertEqual(planned[2:], measured[2:])
            self.assertNotIn("losses", result["cases"][0])
            self.assertFalse((self.folder / "none").exists())
        self.assertIn("nothing was run (--dry-run)", self.bench("--dry-run").stdout)

    def test_limit_batches_repeats_the_first_ones(self):
        def losses(*flags):
            return self.json("--only", "graph, memory", *flags)["cases"][0]["losses"]
        four, two = losses(), losses("--limit-batches", 2)
        self.assertEqual(four[:2], two[:2])
        self.assertNotEqual(four[2:4], two[2:4])
        self.assertEqual(four, losses("--limit-batches", 100))

    def test_small_numbers_keep_their_digits(self):
        row = next(line for line in self.bench().stdout.splitlines() if "graph, memory" in line)
        memory, reserved, time, spread = row.split()[3:7]  # "graph," "memory" 20 …
        for number in (memory, reserved, time, *spread.split("–")):
            self.assertRegex(number, r"^\d*\.0*[1-9]\d*$")
            self.assertGreaterEqual(len(number.replace(".", "").lstrip("0")), 3, row)

    def test_rounds_are_as_many_as_two_seconds_take(self):
        result = self.json("--only", "eager", rounds=None, steps=None)
        self.assertIn(result["rounds"], (20, 21))
        self.assertGreater(result["steps_per_round"], 10)

    def test_speedup_has_an_interval(self):
        for case in self.json(rounds=7, steps=1)["cases"][2:]:
            low, high = case["speedup_interval"]
            self.assertLessEqual(low, case["speedup"])
            self.assertLessEqual(case["speedup"], high)

    def test_infer_runs_the_forward_path(self):
        result = self.json("--infer")
        self.assertEqual(result["mode"], "infer")
        self.assertEqual(self.names(result), STANDARD)

    def test_passes_leave_out_one_at_a_time(self):
        self.write("small.yaml", MODEL.replace("      - {op: flatten}\n", "      - unused: {op: neg}\n"
                                               "      - {op: flatten, in: pixels}\n"))
        result = self.json("--passes", rounds=1, steps=1)
        names = self.names(result)
        self.assertEqual(names[:2], ["eager", "graph, all passes"])
        timed = [one for one in result["passes"] if not one["changes_nothing"]]
        self.assertEqual(names[2:], ["without " + one["name"] for one in timed])
        self.assertIn("without dead_code", names)
        all_bytes = result["cases"][1]["peak_bytes"]
        for case, gain in zip(result["cases"][2:], timed):
            self.assertEqual(gain["bytes"], case["peak_bytes"] - all_bytes)
            self.assertGreater(gain["speedup"], 0)

    def test_passes_that_change_nothing_are_not_timed(self):
        result = self.json("--passes", rounds=1, steps=1)
        self.assertEqual(self.names(result), ["eager", "graph, all passes"])
        every = json.loads(self.cgrun("plan", "small.yaml", "--passes", "--json").stdout)
        self.assertEqual([one["name"] for one in result["passes"]],
                         [one["name"] for one in every["passes"]["passes"]])
        for one in result["passes"]:
            self.assertEqual((one["bytes"], one["changes_nothing"]), (0, True), one)
            self.assertNotIn("speedup", one)
        text = self.bench("--passes", rounds=1, steps=1).stdout
        self.assertIn("changes nothing, as the program is the same without it", text)
        self.assertIn("dead_code", text)
        self.assertNotIn("95 %", text)

    def test_a_pass_that_is_asked_for_is_timed(self):
        result = self.json("--passes", "--only", "without dead_code", rounds=1, steps=1)
        self.assertEqual(self.names(result), ["without dead_code"])

    def test_one_line_of_progress_where_stderr_is_no_terminal(self):
        self.assertEqual(self.bench().stderr, "bench: measuring 6 cases …\n")
        self.assertEqual(self.bench("--passes").stderr, "bench: measuring 2 cases …\n")
        self.assertEqual(self.bench("--quiet").stderr, "")

    def test_one_order(self):
        self.assertEqual(self.names(self.json("--order", "dfs")),
                         STANDARD[:3] + ["graph, dfs"])

    def test_only_one_case(self):
        result = self.json("--only", "graph, bfs")
        self.assertEqual(self.names(result), ["graph, bfs"])
        for key in ("reduction", "speedup", "break_even_step"):
            self.assertIsNone(result["cases"][0][key], key)
        text = self.bench("--only", "eager").stdout
        for word in ("reduction", "speedup", "break-even"):
            self.assertNotIn(word, text)
        near = self.refuses("bench", "small.yaml", "--only", "graph, bsf")
        self.assertIn("did you mean 'graph, bfs'?", near)
        far = self.refuses("bench", "small.yaml", "--only", "nothing of the kind")
        for name in STANDARD:
            self.assertIn(f"'{name}'", far)

    def test_isolated_cases_take_the_same_steps(self):
        self.bench("--isolate", "--json", "bench.json", "--set", "train.batch=10", rounds=1,
                   steps=None)
        result = json.loads((self.folder / "bench.json").read_text())
        self.assertEqual(self.names(result), STANDARD)
        self.assertIs(result["isolated"], True)
        self.assertGreater(result["steps_per_round"], 0)
        for case in result["cases"]:  # of a whole process
            self.assertGreater(case["peak_bytes"], 1 << 20)
            self.assertGreater(case["peak_bytes"], case["reserved_bytes"])

    def test_isolated_cases_have_rounds_and_intervals(self):
        result = self.json("--isolate", rounds=7, steps=2)
        for case in result["cases"]:
            if case["seconds_per_iteration"]:
                rounds = case["round_seconds"]
                self.assertEqual(len(rounds), 7)
                self.assertEqual(sorted(rounds)[3], case["seconds_per_iteration"]["median"])
        for case in result["cases"][2:]:
            low, high = case["speedup_interval"]
            self.assertLess(low, case["speedup"])
            self.assertLess(case["speedup"], high)
        few = self.bench("--isolate", rounds=6, steps=1).stdout
        self.assertIn("speedup: by the medians; an interval takes 7 rounds", few)
        self.assertNotIn("95 %", few)

    def test_isolated_text_says_so(self):
        text = self.bench("--isolate", "--only=graph, memory", "--steps=2", steps=None).stdout
        self.assertIn("2 rounds of 2 steps, each case in a process of its own", text)
        self.assertIn("resident of its process", text)
        self.assertNotIn("taking turns", text)

    def test_isolated_case_alone(self):
        result = self.json("--isolate", "--only", "graph, bfs")
        self.assertEqual(self.names(result), ["graph, bfs"])
        self.assertEqual(result["steps_per_round"], 3)

    def test_isolated_cases_take_json_wherever_it_stands(self):
        few = ["--isolate", "--only", "eager", "--threads=1", "--rounds=1", "--steps=1"]
        for flags in (["small.yaml", "--json", "-"], ["--json", "small.yaml"],
                      ["small.yaml", "--json=out.json"], ["--json", "out.json", "small.yaml"]):
            printed = self.cgrun("bench", *few, *flags).stdout
            file = self.folder / "out.json"
            result = json.loads(file.read_text() if file.exists() else printed)
            self.assertEqual(self.names(result), ["eager"], flags)
            file.unlink(missing_ok=True)

    def test_isolated_faults_are_told(self):
        self.write("small.yaml", MODEL.replace("scale: 1/255", "scale: 1.0e+38"))
        done = self.cgrun("bench", "small.yaml", "--isolate", "--only", "eager", "--threads", 1,
                          "--rounds", 1, "--steps", 1, status=1)
        self.assertIn("error: 'eager': its loss in step", done.stdout)

    def test_isolated_cases_have_no_profile(self):
        for flag in ("-v", "--profile"):
            self.refuses("bench", "small.yaml", "--isolate", flag)

    def test_profiled_case_shows_what_profiling_costs(self):
        result = self.json("-v")
        self.assertEqual(self.names(result), STANDARD + ["graph, memory, profiled"])
        self.assertNotIn("profile", result["cases"][-1])
        self.assertIn("speedup", result["cases"][-1])

    def test_profiles_are_in_json_too(self):
        cases = self.json("-v", "--only", "eager")["cases"]
        train = cases[0]["profile"]["entries"][0]
        self.assertEqual(train["runs"], 3)
        self.assertGreater(len(train["operators"]), 3)
        for operator in train["operators"]:
            self.assertGreater(operator["calls"], 0)
        flatten = [o for o in train["operators"] if "flatten" in o["name"]]
        self.assertTrue(all(o["bytes"] == 0 for o in flatten), flatten)


if __name__ == "__main__":
    unittest.main()
