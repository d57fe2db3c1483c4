#!/usr/bin/env python3
"""Tests runs that are interrupted, planned, limited or dry, with their weights, memory and reports."""

import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import time
import unittest

from cli_testing import CGRUN, IMAGES, TABLE, CliTestCase, png

MODEL = """
cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 500, classes: 4}
  test: {format: synthetic, samples: 70, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 6, 6]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255, mean: 0.5, std: 0.29}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 2, batch: 50, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
"""


class RunsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", MODEL)
        self.model = self.folder / "small.yaml"

    def test_flags_that_would_do_nothing_are_refused(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        error = self.refuses("eval", "small.yaml", "--weights", "run", "--out", "kept")
        self.assertIn("--out is a folder for what is kept, and nothing is", error)
        self.assertFalse((self.folder / "kept").exists())
        self.cgrun("eval", "small.yaml", "--weights", "run", "--out", "kept", "--keep", "logits")
        self.write("line.yaml", MODEL.replace("metrics: {accuracy: {in: [logits, label]}}", "").replace(
            "label: {type: int32, shape: []}", "label: {type: f32, shape: [4]}").replace(
            "softmax_cross_entropy", "squared_error"))
        self.write("table.csv", "")
        error = self.refuses("predict", "line.yaml", "table.csv", "--top", "2", "--weights", "run")
        self.assertIn("--top shows classes, and this model predicts values", error)

    def test_a_checkpoint_is_no_run_folder(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        file = max((self.folder / "run").glob("checkpoint-*.safetensors")).name
        for name in (file, "checkpoint-7.safetensors"):
            error = self.refuses("train", "--resume", f"run/{name}")
            self.assertIn(f"'run/{name}' is a checkpoint, and --resume takes the run folder", error)
            self.assertIn("help: `--resume run` goes on from the newest checkpoint in it", error)

    def test_what_is_kept_of_an_operator_without_a_name(self):
        self.write("two.yaml", MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n"
                                             "      - {op: linear, units: 5, activation: relu}\n"
                                             "      - {op: linear, units: 5, activation: tanh}\n"))
        self.cgrun("train", "two.yaml", "--out", "run", "--keep", "flatten[0]", "--keep", "linear[0]",
                   "--keep", "grad(classify.linear[1])", "--device", "cpu")
        for name, columns in (("flatten[0]", 36), ("linear[0]", 5), ("grad(classify.linear[1])", 5)):
            data = (self.folder / f"run/{name}.npy").read_bytes()
            self.assertRegex(data[:128], rb"'shape': \(\d+, %d\)" % columns, name)
        relu = (self.folder / "run/linear[0].npy").read_bytes()
        numbers = struct.unpack(f"<{(len(relu) - 128) // 4}f", relu[128:])
        self.assertGreaterEqual(min(numbers), 0, "what its activation makes, as of one with a name")
        error = self.refuses("train", "small.yaml", "--keep", "flatten[7]", "--dry-run")
        self.assertIn("there is no value or parameter 'flatten[7]' to keep\n"
                      "help: did you mean 'classify.flatten[0]'?\n", error)

    def test_each_wrong_name_to_keep_is_blamed_alone(self):
        names = ("logits", "logitz", "logits.w", "grad(logits.wieght)")
        error = self.refuses("train", "small.yaml", *(f"--keep={name}" for name in names), "--dry-run")
        self.assertEqual(error.count("error: "), 2, error)
        self.assertIn("--keep logitz: error: there is no value or parameter 'logitz' to keep\n"
                      "help: did you mean 'logits'?\n", error)
        self.assertIn("--keep grad(logits.wieght): error: there is no value or parameter "
                      "'logits.wieght' to keep\nhelp: did you mean 'classify.logits.weight'?\n", error)
        self.write("wide.yaml", MODEL.replace("      - logits:", "".join(
            f"      - fc{i}: {{op: linear, units: 4}}\n" for i in range(40)) + "      - logits:"))
        error = self.refuses("train", "wide.yaml", "--keep", "nothing_such", "--dry-run")
        self.assertNotIn("fc7", error)
        self.assertIn("`cgrun graph MODEL` and `cgrun plan MODEL --full` list them", error)
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet", "--keep=logits",
                   "--keep=flatten[0]")
        self.assertIn("\nkeep: [logits, \"flatten[0]\"]\n", (self.folder / "run/model.yaml").read_text())
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=3", "--quiet")

    def test_verbose_tells_what_checkpoints_took(self):
        text = self.cgrun("train", "small.yaml", "--out", "run", "-v").stdout
        self.assertRegex(text, r"(?m)^checkpoints: 3 in .*s of the run's .*s$")
        self.assertNotIn("busy machine", text)  # a short run tells nothing

    def test_the_page_says_how_the_run_came_about(self):
        self.cgrun("train", "small.yaml", "--out", "my run", "--seed", "7", "--threads", "1")
        pages = [(self.folder / "my run/report.html").read_text()]
        self.cgrun("train", "--resume", "my run", "--set", "train.epochs=3")
        pages.append((self.folder / "my run/report.html").read_text())
        when = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} by cgrun \d+\.\d+"
        for page in pages:
            self.assertRegex(page, rf"<td>started</td><td>{when}</td>")
            for name, value in (("command", "cgrun train small.yaml --out 'my run' --seed 7 "
                                            "--threads 1"), ("threads", "1"), ("seed", "7")):
                self.assertIn(f"<tr><td>{name}</td><td>{value}</td></tr>", page)
            self.assertRegex(page, r"<td>device</td><td>\w+</td>")
        self.assertNotIn("<td>resumed</td>", pages[0])
        self.assertRegex(pages[1], rf"<td>resumed</td><td>{when}, at step 20</td>")
        self.assertIn("<td>cgrun train --resume 'my run' --set train.epochs=3</td>", pages[1])

    def test_an_interrupt_leaves_out_what_was_not_measured(self):
        run = self.folder / "run"
        with subprocess.Popen([CGRUN, "train", self.model, "--out", run, "--set",
                               "data.train.samples=2000000", "--batch", "2"],
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            while not list(run.glob("checkpoint-[1-9]*")) and process.poll() is None:
                time.sleep(0.05)
                if (run / "metrics.csv").exists():
                    process.send_signal(signal.SIGUSR1)  # a checkpoint, once there is a step
            process.send_signal(signal.SIGINT)
            text, errors = process.communicate()
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("run folder", text)
        self.assertNotIn("(0 samples)", text)
        self.assertNotIn("\ntest", text)
        summary = json.loads((run / "summary.json").read_text())
        self.assertTrue(summary["interrupted"])
        self.assertEqual(summary["test"], {})
        step = summary["steps"]
        self.assertIn(f"interrupted in epoch 1, after step {step}; checkpoint written to "
                      f"{run}/checkpoint-{step}.safetensors; go on with: "
                      f"cgrun train --resume {run}\n", errors)
        self.assertTrue((run / f"checkpoint-{step}.safetensors").exists())
        self.assertRegex(text, r"\nsteps .*, interrupted\n")
        errors = self.cgrun("train", self.model, "--out", run, status=2).stderr
        self.assertIn(f"`cgrun train --resume {run}` goes on with it", errors)
        done = self.cgrun("train", "--resume", run, "--set", "train.epochs=null", "--set",
                          f"train.steps={step + 5}")
        self.assertRegex(done.stdout, rf"\nsteps .* in 1 epoch; 5 of them since step {step:,}, ")
        resumed = json.loads((run / "summary.json").read_text())
        self.assertEqual((resumed["steps"], resumed["resumed_at_step"]), (step + 5, step))
        self.assertRegex(done.stdout, r"samples/s since it was resumed \(10 samples\)")

    def assert_near(self, planned, measured):
        """Within 1 %, or 1 MiB."""
        self.assertLessEqual(abs(planned - measured), max(1 << 20, planned // 100))

    def test_plan_train_and_eval_agree_on_memory(self):
        if "sanitizer" in self.cgrun("train", self.model, "--out", "run").stdout:
            self.skipTest("a sanitizer's memory is its own")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertGreater(summary["process_peak_bytes"], summary["measured_peak_bytes"])
        self.assertRegex(self.cgrun("train", self.model, "--out", "again").stderr,
                         r"(?m)^memory: planned .* \(arena .*, data .*, base .*\)$")
        plan = json.loads(self.cgrun("plan", self.model, "--json").stdout)
        self.assert_near(plan["total_bytes"], summary["planned_peak_bytes"])
        self.assert_near(plan["total_bytes"], summary["measured_peak_bytes"])
        evaluation = json.loads(self.cgrun(
            "eval", self.model, "--weights", "run/checkpoint-20.safetensors", "--json").stdout)
        self.assert_near(evaluation["planned_peak_bytes"], evaluation["measured_peak_bytes"])

    def test_every_evaluation_says_of_which_weights_it_is(self):
        # The loss of `valid` gets worse from the first epoch on, at such a rate.
        flags = ["--set", "data.valid={split: 0.1}", "--set", "train.optimizer.lr=30", "--set",
                 "train.epochs=3"]
        run = self.folder / "run"
        done = self.cgrun("train", self.model, "--out", run, *flags)
        summary = json.loads((run / "summary.json").read_text())
        best, steps = summary["best"]["step"], summary["steps"]
        self.assertLess(best, steps)
        self.assertRegex(done.stdout, rf"test .*by the weights of step {steps}, the last\)")
        place = f"best.safetensors: step {best} of epoch {summary['best']['epoch']}"
        self.assertIn(f"{place}; `cgrun eval` and `predict` take it, not the last", done.stdout)
        self.assertIn("by the weights of step", (run / "report.html").read_text())
        eval_flags = ["eval", self.model, "--weights"]
        text = self.cgrun(*eval_flags, run, *flags).stdout
        last = f"{run}/checkpoint-{steps}.safetensors"
        self.assertIn(f"{place}, the best of its run; the last are in {last}", text)
        self.assertIn(f"{last}: step {steps} of epoch 3\n", self.cgrun(*eval_flags, last, *flags).stdout)
        places = []
        for file in (run, last):
            result = json.loads(self.cgrun(*eval_flags, file, "--json", *flags).stdout)
            places.append((result["weights_step"], result["weights_epoch"]))
        self.assertEqual(places, [(best, summary["best"]["epoch"]), (steps, 3)])

    def lines_on_a_terminal(self, *arguments):
        """Lines of epochs that a terminal shows."""
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        with subprocess.Popen([CGRUN, *map(str, arguments)], stdout=follower, cwd=self.folder,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TERM": "xterm"}) as process:
            os.close(follower)
            shown = b""
            while True:
                try:
                    part = os.read(leader, 1 << 16)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                shown += part
            said = process.stderr.read()
        self.assertEqual(process.returncode, 0, said)
        return re.findall(r"(?m)^epoch +(\d+)/", shown.decode()), said

    def test_a_terminal_gets_few_lines_of_many_epochs(self):
        flags = ["train", self.model, "--limit-batches", "1", "--force"]
        for epochs, shown in ((3, [1, 2, 3]), (40, list(range(1, 41))),
                              (120, [1, *range(5, 121, 5)]), (41, [1, *range(2, 42, 2)])):
            length = ["--set", f"train.epochs={epochs}"]
            lines, said = self.lines_on_a_terminal(*flags, "--out", "run", *length)
            self.assertEqual([int(line) for line in lines], shown)
            self.assertEqual("run/metrics.csv has all" in said, epochs > 40, said)
            self.assertEqual(len((self.folder / "run/metrics.csv").read_text().splitlines()), epochs + 1)
        done = self.cgrun(*flags, "--out", "run", "--set", "train.epochs=120")
        self.assertEqual(done.stdout.count("epoch "), 120)  # no terminal, but a file or a pipe

    def test_a_warm_up_longer_than_the_run_is_warned_of(self):
        schedule = "train.optimizer.schedule={cosine: {warmup: 3}}"
        for verb, flags in (("train", ["--dry-run"]), ("plan", []), ("check", [])):
            text = self.cgrun(verb, self.model, *flags, "--set", schedule).stderr
            self.assertIn("warning: the warm-up takes 30 steps, and the run has 20", text)
            self.assertIn("an epoch has 10 steps", text)
            text = self.cgrun(verb, self.model, *flags, "--set", schedule, "--set",
                              "train.epochs=3").stderr
            self.assertNotIn("warm-up", text)

    def test_a_run_says_how_long_it_waited_for_its_data(self):
        done = self.cgrun("train", self.model, "--out", "run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertLess(summary["loader_wait_seconds"], summary["train_seconds"])
        self.assertLess(summary["train_seconds"], summary["seconds"])
        self.assertAlmostEqual(summary["samples_per_second"] * summary["train_seconds"], 1000, 6)
        self.assertRegex(done.stdout, r"samples/s; [0-9.]+ s of [0-9.]+ s were spent waiting for the loader")

    def test_it_waits_for_images_that_are_large(self):
        for label in ("a", "b"):
            (self.folder / "photos" / label).mkdir(parents=True)
            for i in range(4):
                (self.folder / f"photos/{label}/{i}.png").write_bytes(
                    png(1500, 1000, bytes(3 * 1500 * 1000)))
        self.write("photos.yaml", IMAGES.replace("folder: photos", "folder: photos, decode: stream"))
        self.cgrun("train", "photos.yaml", "--out", "run", "--quiet")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertGreater(summary["loader_wait_seconds"], 0.5 * summary["train_seconds"])

    def test_a_verb_of_model_files_names_the_verb_for_a_program(self):
        self.cgrun("compile", self.model, "-o", "small.cgb")
        errors = self.cgrun("compile", "-o", "again.cgb", "small.cgb", status=2).stderr
        self.assertIn("error: 'small.cgb' is a compiled program", errors)
        self.assertIn("`cgrun disasm small.cgb` lists", errors)
        self.assertIn("softmax_cross_entropy", self.cgrun("disasm", "small.cgb").stdout)

    def test_listings_show_what_fused_operators_do(self):
        layers = "- {op: conv, filters: 2, kernel: 3}\n      - {op: leaky_relu, slope: 0.25}\n      "
        self.write("fused.yaml", MODEL.replace("- {op: flatten}", layers + "- {op: flatten}"))
        self.cgrun("compile", "fused.yaml", "-o", "fused.cgb", "--threads", 1)
        for listing in (["disasm", "fused.cgb"], ["graph", "fused.yaml"]):
            shown = self.cgrun(*listing).stdout
            self.assertRegex(shown, r" %\d = leaky_relu\(%\d\) \{slope=0.25\}\n", listing)
            result = json.loads(self.cgrun(*listing, "--json").stdout)
            nodes = result["nodes"] if "nodes" in result else result["entries"][0]["instructions"]
            bodies = [node["body"] for node in nodes if "body" in node]
            self.assertTrue(any(inner == {"op": "leaky_relu", "attributes": "slope=0.25",
                                          "operands": [-1]} for body in bodies for inner in body))
            self.assertTrue(all(("body" in node) == (node["op"] == "fused") for node in nodes))
        picture = self.cgrun("graph", "fused.yaml", "--dot", "-", "--threads", 1).stdout
        self.assertIn("{slope=0.25}", picture)

    def test_plan_prints_the_ratio_to_the_bound(self):
        self.assertRegex(self.cgrun("plan", self.model).stdout, r"lower bound .*, ratio 1\.\d{4}")
        buffers = self.write("b.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,64\n")
        self.assertRegex(self.cgrun("plan", buffers).stdout, r"ratio +1\.0000, optimal")

    def test_weights_that_do_not_fit_are_never_silent(self):
        self.cgrun("train", self.model, "--out", "run", "--quiet")
        weights = "run/checkpoint-20.safetensors"
        other = self.write("other.yaml", MODEL.replace("logits", "other"))
        errors = self.cgrun("train", other, "--weights", weights, "--quiet", status=2).stderr
        self.assertIn(f"error: nothing in {weights} fits this model", errors)
        self.assertFalse((self.folder / "runs").exists())
        wider = self.write("wider.yaml", MODEL.replace("units: 4", "units: 5"))
        errors = self.cgrun("train", wider, "--weights", weights, "--quiet", status=2).stderr
        self.assertIn("classify.logits.weight: f32[4, 36] in the file, f32[5, 36] in the model",
                      errors)
        deeper = self.write("deeper.yaml", MODEL.replace(
            "- logits: {op: linear, units: 4}",
            "- logits: {op: linear, units: 4}\n      - scaled: {op: linear, units: 4}").replace(
                "in: [logits", "in: [scaled"))
        errors = self.cgrun("train", deeper, "--weights", weights, "--quiet").stderr
        self.assertIn("keeps its initial values for:\n      classify.scaled (weight, bias)\n", errors)
        half = self.write("half.yaml", MODEL.replace("[1, 6, 6]", "[1, 6, 5]"))
        errors = self.cgrun("train", half, "--weights", weights, "--quiet", "--force", status=2).stderr
        self.assertIn("classify.logits.weight: f32[4, 36] in the file, f32[4, 30]", errors)
        self.cgrun("train", deeper, "--out", "deep", "--quiet")
        (self.folder / "half.yaml").write_text((self.folder / deeper).read_text().replace(
            "scaled: {op: linear, units: 4}", "scaled: {op: linear, units: 5}"))
        errors = self.cgrun("train", half, "--weights", "deep", "--quiet", "--force").stderr
        self.assertIn("warning: some of", errors)
        self.assertIn("classify.scaled.weight: f32[4, 4] in the file, f32[5, 4]", errors)

    def test_it_takes_the_processors_that_it_may_use(self):
        one = min(os.sched_getaffinity(0))
        self.cgrun("train", "small.yaml", "--out", "run",
                   preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        run = json.loads((self.folder / "run/run.json").read_text())
        self.assertEqual(run["threads"], 1)

    def test_versions_of_all_libraries(self):
        version = self.cgrun("--version").stdout
        devices = self.cgrun("devices").stdout
        for library in ["CLI11", "fmt", "nlohmann-json", "yaml-cpp", "zlib"]:
            self.assertRegex(version, library + r" \d+\.\d+")
            self.assertRegex(devices, library + r" \d+\.\d+")
        libraries = json.loads(self.cgrun("devices", "--json").stdout)["libraries"]
        self.assertRegex(libraries["yaml-cpp"], r"^\d+\.\d+")

    def test_limit_batches(self):
        self.cgrun("train", self.model, "--out", "run", "--limit-batches", "3")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(summary["steps"], 6)
        evaluation = self.cgrun("eval", self.model, "--weights", "run/checkpoint-6.safetensors",
                                "--limit-batches", "1", "--json").stdout
        self.assertEqual(json.loads(evaluation)["samples"], 50)
        for wrong in ["0", "-1", "many"]:
            self.cgrun("train", self.model, "--limit-batches", wrong, "--dry-run", status=2)

    def test_a_dry_run_runs_and_writes_nothing(self):
        before = sorted(self.folder.iterdir())
        text = self.cgrun("train", self.model, "--dry-run").stdout
        self.assertIn("planned", text)
        self.assertIn("nothing was run", text)
        result = json.loads(self.cgrun("train", self.model, "--dry-run", "--json").stdout)
        self.assertEqual((result["steps"], result["batch"]), (20, 50))
        self.assertGreater(result["planned_peak_bytes"], 0)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        self.cgrun("train", self.model, "--dry-run", "--weights", "none.safetensors", status=2)
        self.cgrun("train", self.model, "--out", "run", "--quiet")
        done = self.cgrun("train", self.model, "--out", "run", "--dry-run")
        self.assertIn("warning: the run folder 'run' exists already: ", done.stderr)
        self.cgrun("eval", self.model, "--weights", "run/checkpoint-20.safetensors", "--dry-run")

    def test_eager_mode_learns_the_same(self):
        summaries = {}
        for mode in ["graph", "eager"]:
            text = self.cgrun("train", self.model, "--out", mode, "--mode", mode,
                              "--disable-pass", "fuse_activations").stdout
            self.assertRegex(text, rf"\nmode +{mode}")
            summaries[mode] = json.loads((self.folder / mode / "summary.json").read_text())
            self.assertEqual(summaries[mode]["mode"], mode)
        graph, eager = summaries["graph"], summaries["eager"]
        for key in ["weights_hash", "steps", "train", "test"]:
            self.assertEqual(eager[key], graph[key], key)
        self.assertEqual(graph["live_peak_bytes"], graph["reserved_peak_bytes"])
        self.assertGreaterEqual(eager["live_peak_bytes"], graph["live_peak_bytes"])
        self.assertIsNone(eager["planned_peak_bytes"])
        plan = json.loads(self.cgrun("plan", self.model, "--json").stdout)
        self.assertEqual(plan["eager_peak_bytes"], eager["live_peak_bytes"])
        self.assertIn("at their peak", self.cgrun(
            "eval", self.model, "--weights", "eager/checkpoint-20.safetensors",
            "--mode", "eager").stdout)
        metrics = [json.loads(self.cgrun(
            "eval", self.model, "--weights", "graph/checkpoint-20.safetensors", "--mode", mode,
            "--json").stdout)["metrics"] for mode in ["graph", "eager"]]
        self.assertEqual(metrics[0], metrics[1])

    def test_evaluations_agree_in_both_modes(self):
        """To the last bit without what eager mode has not, and to rounding with it."""
        conv = self.write("conv.yaml", MODEL.replace(
            "      - {op: flatten}\n",
            "      - {op: conv, filters: 6, kernel: 3, activation: relu}\n"
            "      - {op: batch_norm, activation: relu}\n      - {op: flatten}\n"))
        self.cgrun("train", conv, "--out", "run", "--quiet")

        def evaluate(*flags):
            done = self.cgrun("eval", conv, "--weights", "run", "--json", *flags)
            result = json.loads(done.stdout)
            self.assertEqual(result["samples"], 70)
            return result["mode"], result["metrics"]

        mode, eager = evaluate("--mode", "eager")
        self.assertEqual(mode, "eager")
        plain = evaluate("--disable-pass", "fuse_activations", "--disable-pass", "layouts")
        self.assertEqual(plain, ("graph", eager))
        mode, graph = evaluate()
        self.assertEqual((mode, graph.keys()), ("graph", eager.keys()))
        for name, value in eager.items():
            self.assertAlmostEqual(graph[name], value, delta=1e-4 * max(1, abs(value)), msg=name)

    def test_a_program_moves_with_its_data(self):
        """Guards against relative paths that start where the program was compiled."""
        self.write("project/data/rows.csv", "a,b,kind\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n")
        self.write("project/models/table.yaml", TABLE.replace("rows.csv", "../data/rows.csv"))
        self.cgrun("compile", "project/models/table.yaml", "-o", "project/table.cgb")
        self.cgrun("train", "project/models/table.yaml", "--out", "before")
        (self.folder / "project").rename(self.folder / "moved")
        done = self.cgrun("train", "moved/table.cgb", "--out", "after")
        self.assertNotIn("compiled again", done.stderr)
        self.assertEqual((self.folder / "after/checkpoint-2.safetensors").read_bytes(),
                         (self.folder / "before/checkpoint-2.safetensors").read_bytes())
        self.cgrun("eval", self.folder / "moved/table.cgb", "--weights", "after",
                   "--split", "train")
        self.assertIn(f"{self.folder}/moved/data/rows.csv",
                      (self.folder / "after/model.yaml").read_text())

    def test_a_program_without_its_data_says_so(self):
        self.write("data/rows.csv", "a,b,kind\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n")
        self.cgrun("compile", self.write("t.yaml", TABLE.replace("rows.csv", "data/rows.csv")),
                   "-o", "t.cgb")
        self.write("other/t.cgb", "")
        (self.folder / "other/t.cgb").write_bytes((self.folder / "t.cgb").read_bytes())
        error = self.refuses("train", "other/t.cgb", "--out", "lost")
        self.assertIn("there is no folder 'other/data'; paths in a compiled program start at its folder: "
                      "it moves together with its data, or compile it there\n", error)
        (self.folder / "other/link.cgb").symlink_to("../t.cgb")
        self.cgrun("train", "other/link.cgb", "--out", "linked", "--quiet")

    def test_a_whole_path_stays_what_it_is_in_a_program(self):
        self.write("data/rows.csv", "a,b,kind\n1,2,0\n3,4,1\n")
        self.write("project/table.yaml", TABLE.replace("rows.csv", f"{self.folder}/data/rows.csv"))
        self.cgrun("compile", "project/table.yaml", "-o", "project/table.cgb")
        (self.folder / "project").rename(self.folder / "moved")
        self.cgrun("train", "moved/table.cgb", "--out", "run")
        (self.folder / "data").rename(self.folder / "moved/data")
        error = self.refuses("train", "moved/table.cgb", "--out", "again")
        self.assertIn(f"{self.folder}/data/rows.csv", error)

    def test_eager_mode_runs_the_model_of_a_program(self):
        self.cgrun("compile", self.model, "-o", "small.cgb")
        for source in [self.model, "small.cgb"]:
            self.cgrun("train", source, "--mode", "eager", "--out", "run", "--force")
            summary = json.loads((self.folder / "run/summary.json").read_text())
            self.assertEqual(summary["mode"], "eager")

    def test_eager_mode_says_that_it_has_no_plan(self):
        text = self.cgrun("train", self.model, "--mode", "eager", "--dry-run").stdout
        self.assertIn("not planned", text)
        result = json.loads(self.cgrun("train", self.model, "--mode", "eager", "--dry-run",
                                       "--json").stdout)
        self.assertIsNone(result["planned_peak_bytes"])
        self.cgrun("train", self.model, "--mode", "lazy", "--dry-run", status=2)

    def test_what_a_killed_run_had_begun_to_write_goes(self):
        left = self.folder / "run" / "checkpoint-7.safetensors.tmp"
        self.cgrun("train", self.model, "--out", "run")
        left.write_text("half")
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=3")
        self.assertFalse(left.exists())
        left.write_text("half")
        self.cgrun("train", self.model, "--out", "run", "--force")
        self.assertFalse(left.exists())

    def test_memory_that_runs_out_is_said(self):
        if "sanitizer" in self.cgrun("train", self.model, "--out", "run").stdout:
            self.skipTest("a sanitizer takes all addresses")
        limit = 3 << 30
        result = subprocess.run(
            [CGRUN, "train", self.model, "--set", "data.train.samples=500000000"],
            cwd=self.folder, text=True, capture_output=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertIn(result.returncode, (1, 2))  # 2 where the machine itself has less
        self.assertRegex(result.stderr, "error: (memory ran out|.* are free|.* that are left)")
        self.assertNotIn("internal error", result.stderr)

    def test_more_samples_than_memory_can_order_have_a_place(self):
        errors = self.cgrun("train", self.model, "--set", "data.train.samples=1099511627776",
                            status=2).stderr
        self.assertIn("error: the order of 1099511627776 samples takes 8.0 TiB, more than the", errors)
        self.assertTrue(errors.startswith("--set data.train.samples="), errors)
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
