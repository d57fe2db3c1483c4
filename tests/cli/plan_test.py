#!/usr/bin/env python3
"""cgrun plan: looking into a plan, comparing plans, and packing buffers alone."""

import json
import re
import unittest

from cli_testing import MODEL, ROOT, SANITIZED, CliTestCase, devices

BUFFERS = "id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n"


# 0 → 1, 1 → 2, 1 → 3, 2 and 3 → 4, 1 and 4 → 5: 64 KiB each, and each may lie where an input lay.
PEBBLES = """cgrun: 1
model: pebbles
keep: [n5]
inputs:
  seed: {type: f32, shape: [1]}
paths:
  play:
    mode: forward
    ops:
      - n0: {op: random_uniform, shape: [16384]}
      - n1: {op: relu, in: n0}
      - n2: {op: relu, in: n1}
      - n3: {op: tanh, in: n1}
      - n4: {op: add, in: [n2, n3]}
      - n5: {op: mul, in: [n1, n4]}
"""


class PlanTest(CliTestCase):
    def test_the_frontier_of_a_small_graph_is_proved(self):
        self.write("pebbles.yaml", PEBBLES)
        told = json.loads(self.cgrun("plan", "pebbles.yaml", "--frontier", "--batch", "1",
                                     "--json").stdout)
        self.assertTrue(told["exact"]["complete"])
        points = [(point["runs"], point["arena_bytes"] >> 16) for point in told["exact"]["points"]]
        self.assertEqual(points, [(6, 3), (8, 2)])
        text = self.cgrun("plan", "pebbles.yaml", "--frontier", "--batch", "1").stdout
        self.assertRegex(text, "over all orders and recomputations of its operators one by one, "
                               "in place where their kernels can(, with .*)?, proved:")
        self.assertRegex(text, r"(?m)^ +128 KiB +66\.7 % .* 8$")

    def test_no_plan_takes_less_than_what_is_proved_unless_the_text_says_so(self):
        for operators in ("relu sigmoid tanh", "abs sigmoid tanh relu", "sigmoid"):
            names = operators.split()
            chain = "".join(f"      - a{i}: {{op: {name}, in: {f'a{i - 1}' if i else 'n0'}}}\n"
                            for i, name in enumerate(names))
            last = f"a{len(names) - 1}"
            self.write("chain.yaml", PEBBLES.split("      - n1")[0] + chain +
                       f"      - n5: {{op: add, in: [{last}, n0]}}\n")
            done = self.cgrun("plan", "chain.yaml", "--frontier", "--batch", "1", "--json")
            told = json.loads(done.stdout)
            self.assertTrue(told["exact_fused"]["complete"])
            self.assert_beaten_proofs_say_so("chain.yaml")

    def assert_beaten_proofs_say_so(self, *model):
        """Each of the proofs that are printed, if a plan takes less than it, and only then."""
        for threads in (1, 2):
            frontier = ("plan", *model, "--frontier", "--threads", threads, "--batch", 1)
            told = json.loads(self.cgrun(*frontier, "--json").stdout)
            text = self.cgrun(*frontier).stdout
            least = min(row["arena_bytes"] for row in told["frontier"])
            proofs = text.split("\nThe least of")[1:]
            self.assertGreater(len(proofs), 0, text)
            keys = ["exact", "exact_fused"] if len(proofs) == 2 else ["exact"]
            for proof, key in zip(proofs, keys):
                proved = min(point["arena_bytes"] for point in told[key]["points"])
                self.assertEqual("A plan above takes less" in proof, least < proved, text)

    def test_no_option_of_a_plan_takes_less_than_what_is_proved_of_the_graph_as_it_is_compiled(self):
        """Guards against a proof that forgets what planning can do, such as to write in place."""
        head = PEBBLES.split("      - n1")[0].replace("shape: [16384]", "shape: [128, 128]")
        products = head + ("      - n1: {op: relu, in: n0}\n      - n2: {op: matmul, in: [n1, n1]}\n"
                           "      - n3: {op: tanh, in: n2}\n      - n4: {op: matmul, in: [n3, n1]}\n"
                           "      - n5: {op: sigmoid, in: n4}\n")
        in_place = head + ("      - n1: {op: softmax, in: n0}\n      - n2: {op: softmax, in: n1}\n"
                           "      - n5: {op: softmax, in: n2}\n")
        models = {"pebbles.yaml": PEBBLES, "products.yaml": products, "small.yaml": MODEL, "in-place.yaml": in_place,
                  "diamond.yaml": PEBBLES.replace("tanh, in: n1", "tanh, in: n0")}
        fused = 0
        for name, text in models.items():
            self.write(name, text)
            plan = ("plan", name, "--threads", 1, "--batch", 1)
            told = json.loads(self.cgrun(*plan, "--frontier", "--json").stdout)
            self.assertTrue(told["exact_fused"]["complete"], name)
            proved = min(point["arena_bytes"] for point in told["exact_fused"]["points"])
            fused += len(told["exact_fused"]["points"]) > 0 and told["exact"] != told["exact_fused"]
            usual = json.loads(self.cgrun(*plan, "--json").stdout)
            options = [("--order", order) for order in ("memory", "serial", "bfs", "dfs", "least_peak")]
            options += [("--planner", planner) for planner in ("owl", "singa", "calcgraph", "naive")]
            options += [("--memory", usual["total_bytes"] - usual["arena_bytes"] * i // 16) for i in range(0, 16, 2)]
            arenas = []
            for option in options:
                done = self.cgrun(*plan, *option, "--json", status=None)
                if done.returncode == 0:
                    arenas.append(json.loads(done.stdout)["arena_bytes"])
            self.assertGreaterEqual(len(arenas), 9, name)
            self.assertLessEqual(proved, min(arenas), name)
            self.assert_beaten_proofs_say_so(name)
        self.assertGreater(fused, 1, "in most of these graphs, fusion changes nothing")

    def test_the_frontier_of_lenet_has_several_rows(self):
        told = json.loads(self.cgrun("plan", ROOT / "models/lenet.yaml", "--frontier", "--threads",
                                     "1", "--json").stdout)
        self.assertGreater(len(told["frontier"]), 1)
        self.assertTrue(any(row["without"] for row in told["frontier"]))

    def test_the_frontier_of_plans_falls_in_memory_and_rises_in_time(self):
        self.write("deep.yaml", MODEL.replace("shape: [1, 4, 4]", "shape: [3, 32, 32]").replace(
            "      - {op: flatten}\n",
            "      - {op: conv, filters: 16, kernel: 3, padding: 1, activation: relu}\n" * 6 +
            "      - {op: flatten}\n"))
        told = json.loads(self.cgrun("plan", "deep.yaml", "--frontier", "--json").stdout)
        rows = told["frontier"]
        self.assertGreater(len(rows), 2)
        for before, row in zip(rows, rows[1:]):
            self.assertLess(row["arena_bytes"], before["arena_bytes"])
            self.assertGreater(row["seconds"], before["seconds"])
            if not before["without"]:
                self.assertGreater(row["second_runs"], 0)
        usual = [row for row in rows if row["usual"]]
        plan = json.loads(self.cgrun("plan", "deep.yaml", "--json").stdout)
        self.assertEqual([row["arena_bytes"] for row in usual], [plan["arena_bytes"]])
        # A run under a cap takes what the frontier says; what a sanitizer takes differs by more.
        if not SANITIZED:
            cap = plan["total_bytes"] - plan["arena_bytes"] + rows[-1]["arena_bytes"]
            capped = json.loads(self.cgrun("plan", "deep.yaml", "--memory", cap + (1 << 20),
                                           "--json").stdout)
            self.assertLess(capped["arena_bytes"], plan["arena_bytes"])
        text = self.cgrun("plan", "deep.yaml", "--frontier").stdout
        self.assertIn("as planned without a cap", text)

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

    def test_tells_whose_a_workspace_is(self):
        lenet = ROOT / "models/lenet.yaml"
        plan = json.loads(self.cgrun("plan", lenet, "--json").stdout)
        names = [buffer["name"] for buffer in plan["buffers"]
                 if buffer["zone"] == "workspace" and buffer["entry"] == "train"]
        self.assertTrue(names)
        for name in names:
            self.assertIn(f"'{name}' in 'train': workspace of the kernel",
                          self.cgrun("plan", lenet, "--why", name).stdout)
        self.assertRegex(self.refuses("plan", lenet, "--why", ".workspace"), "no value|names of workspaces")

    def test_values_are_told_of_by_names_that_exist(self):
        errors = self.refuses("plan", "small.yaml", "--why", "classify.logits.wieght")
        self.assertIn("did you mean 'classify.logits.weight'?", errors)

    def test_the_end_of_a_name_is_enough_where_one_has_it(self):
        whole = self.cgrun("plan", "small.yaml", "--why", "classify.logits.weight").stdout
        self.assertEqual(self.cgrun("plan", "small.yaml", "--why", "logits.weight").stdout, whole)
        self.assertEqual(self.cgrun("plan", "small.yaml", "--why", "weight").stdout, whole)
        self.write("two.yaml", MODEL.replace("      - logits:", "      - {op: linear, units: 5}\n"
                                             "      - logits:"))
        error = self.refuses("plan", "two.yaml", "--why", "weight")
        self.assertIn("'weight' is the end of 2 names of values", error)
        self.assertIn("did you mean 'classify.linear[0].weight' or 'classify.logits.weight'?", error)
        self.assertIn("did you mean 'classify.logits.weight'?",
                      self.refuses("plan", "two.yaml", "--why", "logits.wieght"))
        self.assertIn("did you mean 'grad(classify.logits.weight)'?",
                      self.refuses("plan", "two.yaml", "--why", "logits.weight.grad"))
        self.assertIn("no value is called 'eight'", self.refuses("plan", "two.yaml", "--why", "eight"))

    def test_flags_that_would_be_left_out_exclude_each_other(self):
        for flags in (("--frontier", "--html"), ("--frontier", "--compare"), ("--frontier", "--passes"),
                      ("--frontier", "--why"), ("--frontier", "--diff"), ("--why", "--html"),
                      ("--diff", "--compare"), ("--diff", "--passes")):
            with self.subTest(flags):
                values = [[flag] if flag in ("--frontier", "--compare", "--passes") else [flag, "x.html"]
                          for flag in flags]
                error = self.refuses("plan", "small.yaml", *sum(values, []))
                self.assertIn(f"{flags[0]} and {flags[1]} exclude each other", error)
        self.assertFalse((self.folder / "x.html").exists())

    def test_examples_in_help_have_values(self):
        self.write("buffers.csv", BUFFERS)
        self.assertIn("`cgrun plan models/lenet.yaml --html plan.html`",
                      self.refuses("plan", "buffers.csv", "--html", "x.html"))
        self.assertIn("`cgrun plan models/lenet.yaml --compare`",
                      self.refuses("plan", "buffers.csv", "--compare"))
        self.assertIn("`cgrun plan buffers.csv --capacity 2097152`",
                      self.refuses("plan", "small.yaml", "--capacity", "3"))
        self.assertIn("`cgrun plan buffers.csv --out packed.csv`",
                      self.refuses("plan", "small.yaml", "--out", "x.csv"))

    def test_tells_of_the_operator_that_computes_a_fused_one(self):
        self.write("fused.yaml", MODEL.replace(
            "      - {op: flatten}\n", "      - conv1: {op: conv, filters: 4, kernel: 3, padding: 1, "
            "activation: relu}\n      - pool1: {op: max_pool, kernel: 2}\n      - {op: flatten}\n"))
        pool = self.cgrun("plan", "fused.yaml", "--device", "cpu", "--why", "classify.pool1")
        self.assertEqual(pool.stderr, "")
        for name in ("conv1", "classify.conv1"):
            done = self.cgrun("plan", "fused.yaml", "--device", "cpu", "--why", name)
            self.assertEqual(
                done.stderr,
                "note: 'classify.conv1' was fused into 'classify.pool1' (conv + relu + max_pool), and "
                "takes no bytes of its own: the kernel hands it on as it computes, in its workspace or in the "
                "bytes of its result; this is of 'classify.pool1'\n")
            self.assertEqual(done.stdout, pool.stdout)
        done = self.cgrun("plan", "fused.yaml", "--device", "cpu", "--why", "conv1.relu", "--json")
        self.assertIn("note: 'classify.conv1.relu' was fused into 'classify.pool1'", done.stderr)
        life = json.loads(done.stdout)[0]
        self.assertEqual((life["name"], life["fused_value"]),
                         ("classify.pool1", "classify.conv1.relu"))
        self.assertNotIn("fused_value", self.cgrun("plan", "fused.yaml", "--device", "cpu", "--why",
                                                   "pool1", "--json").stdout)

    def test_names_that_were_fused_in_training_alone(self):
        layer = ("      - {op: conv, filters: 4, kernel: 3, padding: 1, activation: relu}\n"
                 "      - {op: max_pool, kernel: 2}\n")
        text = MODEL.replace("      - {op: flatten}\n", 2 * layer + "      - {op: flatten}\n")
        text = text.replace("[1, 4, 4]", "[1, 16, 16]")
        why = ["plan", "fused.yaml", "--device", "cpu", "--why"]
        self.write("fused.yaml", text.replace("  test:", "  # test:"))
        error = self.refuses(*why, "relu")
        self.assertIn("did you mean 'classify.conv[0].relu' or 'classify.conv[1].relu'?", error)
        self.write("fused.yaml", text)
        done = self.cgrun(*why, "conv[1].relu")
        self.assertIn("'classify.conv[1].relu' in 'eval'", done.stdout)
        self.assertIn("note: 'classify.conv[1].relu' was fused into 'classify.max_pool[1]' (conv + relu "
                      "+ max_pool) in 'train', and takes no bytes of its own there", done.stderr)

    def test_names_mean_what_they_mean_to_keep(self):
        self.write("two.yaml", MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n"
                                             "      - {op: linear, units: 5, activation: relu}\n"
                                             "      - fc: {op: linear, units: 5, activation: tanh}\n"))

        def why(name, model="two.yaml", device="reference"):
            done = self.cgrun("plan", model, "--device", device, "--why", name, "--json")
            return [life["name"] for life in json.loads(done.stdout)], done.stderr
        for name, value in (("linear[0]", "classify.linear[0]"), ("classify.linear[0]", "classify.linear[0]"),
                            ("fc", "classify.fc")):
            names, note = why(name)
            activation = "relu" if "linear" in name else "tanh"
            self.assertEqual(names[0], f"{value}.{activation}")
            if value in names:
                self.assertEqual(f"note: '{name}' is what its activation makes, '{value}.{activation}', as "
                                 f"for --keep; '{value}', which that reads, is behind it\n", note)
            else:
                self.assertIn(f"note: '{value}' was fused into '{value}.{activation}'", note)
        for name, value in (("fc.w", "classify.fc.weight"), ("logits.weight", "classify.logits.weight"),
                            ("linear[0].weight", "classify.linear[0].weight"), ("label", "label"),
                            ("grad(logits)", "classify.loss.grad"),
                            ("grad(logits.weight)", "classify.logits.dweight"),
                            ("classify.grad(logits.w)", "classify.logits.dweight")):
            self.assertEqual(why(name)[0][0], value)
        error = self.refuses("plan", "two.yaml", "--why", "grad(pixels)")
        self.assertIn("a step does not compute grad(pixels): nothing reads it\n"
                      "help: `--keep 'grad(pixels)'` has it computed\n", error)
        idle = MODEL.replace("      - {op: flatten}\n",
                             "      - flat: {op: flatten}\n      - idle: {op: exp}\n")
        idle = idle.replace("{op: linear,", "{op: linear, in: flat,")
        self.write("idle.yaml", idle)
        self.assertIn("'idle' is not computed: nothing reads it, so that it is taken out when the graph is "
                      "optimised\nhelp: `--keep 'idle'` has it computed\n",
                      self.refuses("plan", "idle.yaml", "--why", "idle"))
        self.assertIn("no value is called 'lgits' once",
                      self.refuses("plan", "two.yaml", "--why", "grad(lgits)"))
        self.assertIn("no loss depends on label", self.refuses("plan", "two.yaml", "--why", "grad(label)"))

    def test_tells_of_gradients_and_activations_within_other_operators(self):
        self.write("norm.yaml", MODEL.replace(
            "      - {op: flatten}\n", "      - {op: conv, filters: 4, kernel: 3, padding: 1}\n"
            "      - {op: batch_norm, activation: relu}\n      - {op: flatten}\n"
            "      - wide: {op: linear, units: 4096}\n"))
        done = self.cgrun("plan", "norm.yaml", "--device", "cpu", "--why", "batch_norm[0]")
        self.assertIn("note: 'classify.batch_norm[0]' was fused into 'classify.batch_norm[0].relu' "
                      "(batch_norm + relu), and takes no bytes of its own", done.stderr)
        self.assertIn("'classify.batch_norm[0].relu' in 'train'", done.stdout)
        done = self.cgrun("plan", "norm.yaml", "--device", "cpu", "--why", "grad(wide.weight)")
        if done.stderr:  # by its kernel
            self.assertIn("note: 'grad(wide.weight)' was fused into 'classify.wide.weight.sgd' (matmul + "
                          "sgd), and takes no bytes of its own", done.stderr)
        else:
            self.assertIn("'classify.wide.dweight' in 'train'", done.stdout)

    def test_tells_what_each_pass_did(self):
        self.write("small.yaml", MODEL.replace("      - {op: flatten}\n", "      - unused: {op: neg}\n"
                                               "      - {op: flatten, in: pixels}\n"))
        text = self.cgrun("plan", "small.yaml", "--passes").stdout
        self.assertRegex(text, r"(?m)^  pass over 'train' +rounds +operators +time$")
        effects = json.loads(self.cgrun("plan", "small.yaml", "--passes", "--json").stdout)["passes"]
        names = [one["name"] for one in effects["passes"]]
        self.assertEqual(names[:2], ["dead_code", "constant_folding"])
        self.assertEqual(names[-5:],
                         ["layouts", "rematerialise", "swap", "smaller_workspaces", "lanes"])
        for name in names:
            self.assertRegex(text, rf"(?m)^  {name} +(not run|\d+ +(unchanged|changed|[-+][1-9]\d*) +[\d.]+ ms)")
        self.assertEqual(effects["passes"][0]["nodes_added"], -1)
        added = sum(one["nodes_added"] for one in effects["passes"])
        self.assertEqual(effects["nodes_after"], effects["nodes_before"] + added)
        without = json.loads(self.cgrun("plan", "small.yaml", "--passes", "--json", "--disable-pass",
                                        "dead_code").stdout)["passes"]["passes"]
        self.assertEqual([one["name"] for one in without if one["rounds"] == 0],
                         ["dead_code", "swap", "smaller_workspaces"])
        self.assertNotIn("passes", json.loads(self.cgrun("plan", "small.yaml", "--json").stdout))

    def test_names_what_is_fused(self):
        self.write("fused.yaml", MODEL.replace("units: 3}", "units: 3, activation: relu}"))
        for device in devices("cpu"):
            plan = ["plan", "fused.yaml", "--device", device]
            for flags in (["--passes"], ["--full"]):
                text = self.cgrun(*plan, *flags).stdout
                self.assertRegex(text, r"(?m)^  fused in 'train' +made of$", flags)
                self.assertRegex(text, r"(?m)^  classify.logits.relu +classify.logits \+ relu$")
            self.assertNotIn("fused in", self.cgrun(*plan).stdout)
            self.assertIn({"node": "classify.logits.relu", "name": "classify.logits + relu",
                           "operators": "linear + relu"},
                          json.loads(self.cgrun(*plan, "--json").stdout)["fused"])
            without = self.cgrun(*plan, "--passes", "--disable-pass", "fuse_activations",
                                 "--disable-pass", "fuse_updates").stdout
            self.assertNotIn("fused in", without)

    def machine(self, name, **host):
        """A file of a machine like this one, but for some of what its host has."""
        self.cgrun("devices", "--json", name)
        machine = json.loads((self.folder / name).read_text())
        machine["host"].update(host)
        return machine

    def test_plans_for_a_machine_that_is_not_there(self):
        big = self.machine("big.json", description="large", free_bytes=1 << 40, total_bytes=1 << 41,
                           peaks=[{"threads": 3}])
        self.write("big.json", json.dumps(big))
        done = self.cgrun("plan", "small.yaml", "--device", "big.json", "--json")
        self.assertIn("planned for 'big.json': large, 2.00 TiB of memory, 1.00 TiB of it free; device ",
                      done.stderr)
        self.assertIn(", 3 threads\n", done.stderr)
        self.assertNotIn("kernels there", done.stderr)
        here = self.cgrun("plan", "small.yaml", "--threads", "3", "--json")
        self.assertEqual(json.loads(done.stdout)["arena_bytes"], json.loads(here.stdout)["arena_bytes"])
        big["devices"] = [{"name": "reference", "kernels": "reference 0"}]
        self.write("old.json", json.dumps(big))
        done = self.cgrun("plan", "small.yaml", "--device", "old.json", "--json")
        self.assertEqual(json.loads(done.stdout)["device"], "reference")
        self.assertIn("kernels there: reference 0\n      kernels here:  reference ", done.stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer's memory is no base of a run")
    def test_finds_the_batch_of_a_machine_that_is_not_there(self):
        large = ["plan", "small.yaml", "--set", "inputs.image.shape=[1, 128, 128]", "--json"]
        needed = json.loads(self.cgrun(*large, "--batch", "32").stdout)
        small = self.machine("small.json", free_bytes=needed["total_bytes"])
        self.write("small.json", json.dumps(small))
        done = self.cgrun(*large, "--batch", "auto", "--device", "small.json")
        self.assertLessEqual(json.loads(done.stdout)["total_bytes"], needed["total_bytes"])
        self.assertIn("; a batch of ", done.stderr)
        done = self.cgrun(*large, "--batch", "64", "--device", "small.json")
        self.assertIn("of the machine in 'small.json' are free", done.stderr)

    def test_a_file_that_is_no_machine_is_refused(self):
        for text in ("", "[", "[]", "{}", '{"host": 3}', '{"devices": [], "host": {"description": "x"}}'):
            self.write("bad.json", text)
            error = self.refuses("plan", "small.yaml", "--device", "bad.json")
            self.assertIn("'bad.json' is not what `cgrun devices --json` writes", error)
            self.assertIn("help: write one on that machine: cgrun devices --json bad.json", error)
        machine = self.machine("far.json")
        machine["devices"] = [{"name": "cuda", "description": "a GPU"}]
        self.write("far.json", json.dumps(machine))
        self.assertIn("has no device with kernels that this build has",
                      self.refuses("plan", "small.yaml", "--device", "far.json"))
        self.refuses("plan", "small.yaml", "--device", "nowhere.json")
        self.refuses("train", "small.yaml", "--device", "far.json")

    def test_notes_a_batch_larger_than_the_data(self):
        note = "a batch of 200 is more than the training data has: 65 samples"
        for verb in (["plan"], ["compile", "-o", "m.cgb"]):
            done = self.cgrun(verb[0], "small.yaml", "--batch", "200", *verb[1:])
            self.assertIn(note, done.stderr)
        self.assertEqual(self.cgrun("plan", "small.yaml", "--batch", "65").stderr, "")

    def test_is_a_budget_check(self):
        self.cgrun("plan", "small.yaml", "--json", "before.json")
        same = self.cgrun("plan", "small.yaml", "--diff", "before.json").stdout
        self.assertIn("Arena and data take no more than before.", same)
        larger = ("plan", "small.yaml", "--set", "train.batch=64", "--diff", "before.json")
        self.assertRegex(self.cgrun(*larger, status=1).stdout, r"Arena and data take .* more than before\.")
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
        for flags in (["--compare"], ["--passes"], ["--html", "p.html"], ["--why", "a"],
                      ["--diff", "b.json"], ["--batch", "3"], ["--memory", "1MiB"]):
            self.assertIn("needs a model", self.refuses("plan", "buffers.csv", *flags))
        self.assertFalse((self.folder / "p.html").exists())
        for flags in (["--capacity", "1"], ["--time", "1"], ["--out", "p.csv"]):
            self.assertIn("needs a list of buffers", self.refuses("plan", "small.yaml", *flags))

    def test_a_value_of_a_path_that_runs_twice(self):
        self.write("twice.yaml", MODEL + "  sequence: [{classify: 3}]\n")
        done = self.cgrun("plan", "twice.yaml", "--why", "logits")
        self.assertIn("classify.logits", done.stdout)
        self.assertNotIn("[0]", self.refuses("plan", "twice.yaml", "--why", "logit"))

    def test_a_value_of_several_that_match(self):
        layers = "".join(f"      - conv{i}: {{op: linear, units: 4}}\n" for i in range(12))
        self.write("small.yaml", MODEL.replace("      - logits:", f"{layers}      - logits:"))
        error = self.refuses("plan", "small.yaml", "--why", "conv")
        self.assertIn("error: no value is called 'conv' once the graph is optimised\n"
                      "help: names with a part that begins so: 'classify.conv0.weight', ", error)
        self.assertRegex(error, r"help: (names .*: )('classify\.conv\S+', ){8}… and \d+ more; `cgrun graph MODEL` "
                                r"and `cgrun plan MODEL --full` list them\n")
        error = self.refuses("plan", "small.yaml", "--why", "bias")
        self.assertIn("error: 'bias' is the end of 13 names of values\n"
                      "help: they are 'classify.conv0.bias', 'classify.conv1.bias', ", error)
        self.assertIn("'classify.conv7.bias', … and 5 more; ", error)
        error = self.refuses("plan", "small.yaml", "--why", "conv3.")
        self.assertIn("'classify.conv3.weight'", error)
        self.assertNotIn("conv4", error)


if __name__ == "__main__":
    unittest.main()
