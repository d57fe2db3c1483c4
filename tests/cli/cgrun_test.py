#!/usr/bin/env python3
"""Runs the real `cgrun`: every verb, its errors, their exit statuses and where they are printed.

Golden texts stand in tests/cli/golden. After a wanted change:
    bazel build //src/cli:cgrun
    CGRUN_UPDATE_GOLDEN=1 CGRUN=bazel-bin/src/cli/cgrun tests/cli/cgrun_test.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from cli_testing import CGRUN, MODEL, ROOT

GOLDEN = ROOT / "tests/cli/golden"
VERBS = ["train", "eval", "predict", "generate", "check", "bench", "plan", "graph", "compile", "disasm",
         "import", "export", "summary", "ops", "devices", "completion"]

# Each fault of a model file has a golden text of the same name.
BAD_MODELS = {
    "unknown_key": MODEL.replace("epochs: 2", "epoch: 2"),
    "unknown_operator": MODEL.replace("op: linear", "op: liner"),
    "unknown_input": MODEL.replace("in: image", "in: imge"),
    "wrong_value": MODEL.replace("units: 3", "units: 0"),
    "duplicate_key": MODEL.replace("  batch: 20", "  batch: 20\n  batch: 30"),
    "syntax": MODEL.replace("shape: []}", "shape: []"),
    "wrong_shape": MODEL.replace("      - {op: flatten}\n", "").replace(
        "{op: linear, units: 3}", "{op: matmul, in: [pixels, label]}"),
    "two_errors": MODEL.replace("op: sgd", "op: sdg").replace("in: image", "in: imge"),
    "no_loss_input": MODEL.replace("in: [logits, label]}\n    metrics", "in: logits}\n    metrics"),
    "no_data": MODEL.replace(", samples: 65", "").replace("format: synthetic, classes: 3}",
                                                          "format: idx, images: nowhere}", 1),
}

ONE_LINE = re.compile(r"^[^\s:][^:]*:\d+:\d+: error: \S")
ESCAPE = "\x1b"


class CgrunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("small.yaml", MODEL)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def cgrun(self, *arguments):
        """Runs cgrun in the test's folder; returns status, standard output, standard error."""
        done = subprocess.run([str(CGRUN), *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        self.assertNotIn(ESCAPE, done.stdout + done.stderr, "colour codes in a pipe")
        return done.returncode, done.stdout, done.stderr

    def succeeds(self, *arguments):
        status, out, err = self.cgrun(*arguments)
        self.assertEqual(status, 0, f"{arguments}: {out}{err}")
        self.assertNotIn("error:", err)
        return out

    def refuses(self, *arguments, status=2):
        """Standard error of a command that the user got wrong; nothing else may be printed."""
        actual, out, err = self.cgrun(*arguments)
        self.assertEqual(actual, status, f"{arguments}: {out}{err}")
        self.assertEqual(out, "", f"{arguments} printed a result beside its error")
        self.assertRegex(err, r"(?m)^(\S.*: )?error: \S", str(arguments))
        for word in ("terminate called", "Aborted", "what():", "internal error", "Traceback"):
            self.assertNotIn(word, err)
        return err

    def compare(self, name, text):
        path = GOLDEN / name
        if os.environ.get("CGRUN_UPDATE_GOLDEN"):
            path.write_text(text)
        self.assertEqual(text, path.read_text(), f"tests/cli/golden/{name} differs")

    # Help and version.

    def test_help_lists_every_verb(self):
        out = self.succeeds("--help")
        for verb in VERBS:
            self.assertRegex(out, rf"(?m)^  {verb} +\S")

    def test_every_verb_has_help_with_examples_and_common_flags(self):
        for verb in VERBS:
            out = self.succeeds(verb, "--help")
            self.assertIn("Examples:", out, verb)
            self.assertIn(f"  cgrun {verb}", out)
            for flag in ("--json", "--quiet", "--no-color", "--help"):
                self.assertIn(flag, out, verb)

    def test_examples_of_help_use_flags_that_there_are(self):
        for verb in VERBS:
            text, examples = self.succeeds(verb, "--help").split("Examples:")
            for flag in re.findall(r"(?<=\s)--?[a-z][a-z-]*", examples):
                self.assertIn(flag, text, f"{verb}: {flag}")

    def test_help_is_a_word_too(self):
        self.assertEqual(self.succeeds("help"), self.succeeds("--help"))
        self.assertEqual(self.succeeds("help", "help"), self.succeeds("--help"))
        for verb in VERBS:
            self.assertEqual(self.succeeds("help", verb), self.succeeds(verb, "--help"))
        self.assertIn("did you mean `cgrun train`?", self.refuses("help", "trian"))

    def test_version(self):
        out = self.succeeds("--version")
        self.assertRegex(out, r"^cgrun \d+\.\d+\nlibraries: CLI11 ")
        kernels = re.search(r"(?m)^kernels: (.+)", out)[1]
        self.assertIn(kernels, self.succeeds("devices"))  # which names the instruction set

    # Results.

    def test_graph_draws_pictures(self):
        for entry, lanes in (("train", 3), ("eval", 1), ("predict", 1)):
            svg = self.succeeds("graph", "small.yaml", "--entry", entry, "--svg")
            root = xml.etree.ElementTree.fromstring(svg)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
            headings = [text for text in texts if text in ("FORWARD", "BACKWARD", "UPDATE")]
            self.assertEqual(len(headings), lanes, entry)
            self.assertIn("logits", texts)
            self.assertIn("small.yaml:", svg)
        self.assertEqual(svg, self.succeeds("graph", "small.yaml", "--entry", "predict", "--svg", "-"))
        dot = self.succeeds("graph", "small.yaml", "--dot")
        self.assertTrue(dot.startswith("digraph "))
        self.assertEqual(self.succeeds("graph", "small.yaml", "--svg", "g.svg", "--dot", "g.dot"), "")
        self.assertEqual((self.folder / "g.dot").read_text(), dot)
        xml.etree.ElementTree.parse(self.folder / "g.svg")
        self.succeeds("graph", "small.yaml", "--svg", "g.svg", "--full")  # over its own kind

    def test_graph_refuses_pictures_that_cannot_be(self):
        for arguments, words in ((["--svg", "--dot"], "both write to standard output"),
                                 (["--full"], "--full is for pictures"),
                                 (["--svg", "small.yaml"], "small.yaml"),
                                 (["--dot", "nowhere/g.dot"], "nowhere")):
            self.assertIn(words, self.refuses("graph", "small.yaml", *arguments))
        status, _, err = self.cgrun("graph", "small.yaml", "--svg", "g.svg", "--json")
        self.assertEqual(status, 2)
        self.assertIn("--json is the listing as JSON", err)
        self.assertIn("cgrun: 1", (self.folder / "small.yaml").read_text())

    def test_json_of_every_verb_parses(self):
        self.succeeds("compile", "small.yaml", "-o", "small.cgb")
        for arguments in (["plan", "small.yaml"], ["graph", "small.yaml"], ["summary", "small.yaml"],
                          ["compile", "small.yaml", "-o", "m.cgb"], ["disasm", "small.cgb"],
                          ["ops"], ["ops", "conv"], ["devices"], ["completion", "zsh"]):
            self.assertTrue(json.loads(self.succeeds(*arguments, "--json")), arguments)
        trained = json.loads(self.succeeds("train", "small.yaml", "--out", "run", "--json"))
        self.assertEqual(trained["steps"], 8)
        weights = self.folder / "run/checkpoint-8.safetensors"
        evaluated = json.loads(
            self.succeeds("eval", "small.yaml", "--weights", weights, "--json"))
        self.assertEqual(evaluated["samples"], 40)
        self.assertEqual(evaluated["metrics"]["accuracy"], trained["test"]["accuracy"])

    def test_errors_are_json_too(self):
        self.write("wrong.yaml", MODEL.replace("units: 3", "unit: 3").replace("epochs:", "epoch:"))
        place = {"file", "line", "column", "message", "help"}
        for status, arguments in (
                (2, ["train", "wrong.yaml"]), (2, ["plan", "wrong.yaml"]), (2, ["eval", "small.yaml"]),
                (2, ["train", "nowhere.yaml"]), (2, ["train", "small.yaml", "--epoch", "3"]),
                (2, ["train", "small.yaml", "--memory", "1MiB"]), (2, ["trian", "small.yaml"])):
            text = self.cgrun(*arguments)
            status_of_json, out, err = self.cgrun(*arguments, "--json")
            self.assertEqual((text[0], status_of_json), (status, status), arguments)
            # For people it is as without --json, but for what two processes measure of their base.
            told = [re.sub(r"[\d.]+(?= ?MiB)", "N", one) if "--memory" in arguments else one
                    for one in (text[2], err)]
            self.assertEqual((text[1], told[0]), ("", told[1]), arguments)
            errors = json.loads(out)["errors"]
            self.assertEqual(len(errors), err.count("error: "), arguments)
            for error in errors:
                self.assertEqual(set(error), place)
                self.assertIn(f"error: {error['message']}\n", err)
        errors = json.loads(self.cgrun("train", "wrong.yaml", "--json")[1])["errors"]
        self.assertTrue(errors)
        lines = (self.folder / "wrong.yaml").read_text().splitlines()
        for error in errors:
            self.assertEqual(error["file"], "wrong.yaml")
            key = lines[error["line"] - 1][error["column"] - 1:]
            self.assertTrue(key.startswith(("unit: 3", "epoch:", "op: linear", "linear", "{op: linear")),
                            key)
        # To a file goes the result alone.
        self.assertEqual(self.cgrun("train", "wrong.yaml", "--json", "out.json")[1], "")
        self.assertFalse((self.folder / "out.json").exists())

    def test_json_to_a_file_leaves_the_text(self):
        text = self.succeeds("summary", "small.yaml")
        self.assertEqual(self.succeeds("summary", "small.yaml", "--json", "out.json"), text)
        json.loads((self.folder / "out.json").read_text())

    def test_devices_say_where_their_peaks_are_doubtful(self):
        text = self.succeeds("devices", "--json", "devices.json")
        host = json.loads((self.folder / "devices.json").read_text())["host"]
        rates = [peak["flops_per_second"] for peak in host["peaks"]]
        self.assertEqual(text.count("peak: "), len(rates))
        self.assertEqual("as on a busy machine" in text, rates[-1] < rates[0], text)

    def test_json_to_a_dash_is_printed(self):
        json.loads(self.succeeds("summary", "small.yaml", "--json", "-"))
        self.assertFalse((self.folder / "-").exists())

    def test_plan_of_buffers(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n")
        plan = json.loads(self.succeeds("plan", "buffers.csv", "--json"))
        self.assertEqual((plan["peak_bytes"], plan["optimal"]), (128, True))
        self.assertEqual(set(plan["offsets"]), {"a", "b", "c"})
        self.assertEqual(self.cgrun("plan", "buffers.csv", "--capacity", "127")[0], 1)
        self.succeeds("plan", "buffers.csv", "--capacity", "128")

    def test_results_are_the_same_twice(self):
        for arguments in (["graph", "small.yaml"], ["summary", "small.yaml"], ["ops"]):
            self.assertEqual(self.succeeds(*arguments), self.succeeds(*arguments))
        for name in ("a.cgb", "b.cgb"):
            self.succeeds("compile", "small.yaml", "-o", name)
        self.assertEqual((self.folder / "a.cgb").read_bytes(),
                         (self.folder / "b.cgb").read_bytes())

    # Wrong command lines.

    def test_wrong_verbs_and_flags_are_explained(self):
        self.write("small.cgb", "no program\n")
        commands = [
            ["trian"], ["nonsense"], ["train", "--epoch"], ["train", "small.yaml", "--outt", "x"],
            ["train"], ["plan", "small.yaml", "more"], ["compile", "small.yaml"],
            ["eval", "small.yaml"], ["ops", "rellu"], ["plan", "small.yaml", "--order", "bsf"],
            ["plan", "small.yaml", "--planner", "naiv"], ["plan", "small.yaml", "--zones", "both"],
            ["plan", "small.yaml", "--batch", "many"], ["plan", "small.yaml", "--batch", "0"],
            ["plan", "small.yaml", "--device", "referense"],
            ["plan", "small.yaml", "--set", "train.epoch=3"], ["plan", "small.yaml", "--set", "x"],
            ["graph", "small.yaml", "--disable-pass", "dead_cod"],
            ["graph", "small.yaml", "--stop-after-pass", "none"],
            ["plan", "small.yaml", "--precision", "f33"],
            ["plan", "small.yaml", "--precision", "tf32"], ["plan", "small.yaml", "--seed", "x"],
            ["plan", "missing.yaml"], ["plan", "."], ["plan", "missing.csv"],
            ["disasm", "missing.cgb"], ["disasm", "small.cgb"], ["train", "small.cgb"],
            ["eval", "small.yaml", "--weights", "missing.safetensors"],
            ["eval", "small.yaml", "--weights", "small.cgb"],
            ["eval", "small.yaml", "--weights", "w", "--split", "tset"],
            ["compile", "small.yaml", "-o", "no/such/folder/m.cgb"],
            ["plan", "small.yaml", "--json", "no/such/folder/plan.json"],
            ["plan", "small.yaml", "--csv", "no/such/folder/plan.csv"],
        ]
        text = ""
        for command in commands:
            text += f"$ cgrun {' '.join(command)}\n" + self.refuses(*command)
        self.compare("command_lines.txt", text)

    def test_no_verb_shows_the_help_as_an_error(self):
        status, out, err = self.cgrun()
        self.assertEqual((status, out), (2, ""))
        self.assertIn("Verbs", err)

    # Wrong model files.

    def test_wrong_models_are_explained(self):
        for name, text in BAD_MODELS.items():
            with self.subTest(name):
                self.assertNotEqual(text, MODEL)
                self.write("m.yaml", text)
                err = self.refuses("train", "m.yaml", "--out", "run")
                self.compare(name + ".txt", err.replace(str(self.folder), "FOLDER"))
                self.assertFalse((self.folder / "run").exists(), "left a run folder")

    def test_errors_show_line_caret_and_help(self):
        for name in ("unknown_key", "unknown_operator", "unknown_input", "wrong_value",
                     "duplicate_key", "two_errors"):
            lines = self.refuses("plan", self.write("m.yaml", BAD_MODELS[name])).splitlines()
            headlines = [i for i, line in enumerate(lines) if ONE_LINE.match(line)]
            self.assertEqual(len(headlines), 2 if name == "two_errors" else 1, lines)
            for i in headlines:
                _, line, column, _ = lines[i].split(":", 3)
                shown = BAD_MODELS[name].splitlines()[int(line) - 1]
                self.assertIn(shown.strip(), lines[i + 1])
                self.assertRegex(lines[i + 2], r"^[ |]*\^~*$")
                start = lines[i + 1].index(shown.strip()) - (len(shown) - len(shown.lstrip()))
                self.assertEqual(lines[i + 2].index("^"), start + int(column) - 1, name)

    def test_every_verb_that_compiles_refuses_alike(self):
        self.write("m.yaml", BAD_MODELS["two_errors"])
        texts = {self.refuses("plan", "m.yaml"), self.refuses("graph", "m.yaml"),
                 self.refuses("compile", "m.yaml", "-o", "m.cgb"), self.refuses("train", "m.yaml")}
        self.assertEqual(len(texts), 1, texts)
        self.assertFalse((self.folder / "m.cgb").exists())

    # Runs.

    def test_train_leaves_a_run_folder_and_refuses_to_replace_it(self):
        self.succeeds("train", "small.yaml", "--out", "run")
        left = sorted(path.name for path in (self.folder / "run").iterdir())
        self.assertEqual(left, ["checkpoint-0.safetensors", "checkpoint-4.safetensors",
                                "checkpoint-8.safetensors", "events.out.tfevents.cgrun",
                                "metrics.csv", "model.yaml", "report.html", "run.json", "summary.json"])
        before = (self.folder / "run/summary.json").read_bytes()
        self.assertIn("--force", self.refuses("train", "small.yaml", "--out", "run"))
        self.assertEqual((self.folder / "run/summary.json").read_bytes(), before)
        self.write("run/mine.txt", "mine")
        self.succeeds("train", "small.yaml", "--out", "run", "--force", "--set", "train.epochs=1")
        left = sorted(path.name for path in (self.folder / "run").iterdir())
        self.assertEqual(left, ["checkpoint-0.safetensors", "checkpoint-4.safetensors",
                                "events.out.tfevents.cgrun", "metrics.csv", "mine.txt",
                                "model.yaml", "report.html", "run.json", "summary.json"])
        self.assertIn("is a file", self.refuses("train", "small.yaml", "--out", "small.yaml"))

    def test_the_resolved_model_file_trains_to_the_same_weights(self):
        self.succeeds("train", "small.yaml", "--out", "a", "--seed", "3")
        shutil.copy(self.folder / "a/model.yaml", self.folder / "again.yaml")
        self.succeeds("train", "again.yaml", "--out", "b")
        self.assertEqual((self.folder / "a/checkpoint-8.safetensors").read_bytes(),
                         (self.folder / "b/checkpoint-8.safetensors").read_bytes())

    def test_compiled_programs_train_and_say_when_they_do_not_fit(self):
        self.succeeds("compile", "small.yaml", "-o", "small.cgb")
        self.succeeds("train", "small.yaml", "--out", "a")
        status, _, err = self.cgrun("train", "small.cgb", "--out", "b")
        self.assertEqual((status, "compiled again" in err), (0, False), err)
        self.assertEqual((self.folder / "a/checkpoint-8.safetensors").read_bytes(),
                         (self.folder / "b/checkpoint-8.safetensors").read_bytes())
        status, _, err = self.cgrun("train", "small.cgb", "--out", "c", "--batch", "13")
        self.assertEqual(status, 0, err)
        self.assertIn("small.cgb is compiled again: the settings are not those", err)
        self.succeeds("compile", "small.yaml", "-o", "two.cgb", "--threads", "2")
        status, _, err = self.cgrun("train", "two.cgb", "--out", "d", "--threads", "1")
        self.assertEqual((status, err.splitlines()[0]),
                         (0, "two.cgb is compiled again: it was compiled for 2 threads; this run has 1 thread"))

    def test_damaged_programs_are_refused(self):
        self.succeeds("compile", "small.yaml", "-o", "small.cgb")
        whole = (self.folder / "small.cgb").read_bytes()
        for damaged, text in ((whole[:-1], "truncated"), (whole + b"\0", "longer than it declares, by 1 byte"),
                              (whole[:8] + b"\x09" + whole[9:], "format 9"),
                              (whole[:-1] + b"?", "checksum"), (b"", "no compiled program")):
            (self.folder / "small.cgb").write_bytes(damaged)
            for verb in ("disasm", "train"):
                err = self.refuses(verb, "small.cgb")
                self.assertIn(text, err)
                self.assertIn("help: compile it again", err)

    def test_values_of_flags_are_not_empty(self):
        for flag in ("--memory", "--batch", "--out", "--seed"):
            err = self.refuses("train", "small.yaml", flag, "")
            self.assertIn(f"the value of {flag} is empty\nhelp: leave the flag out", err)

    def test_more_threads_than_openmp_may_have_are_refused(self):
        os.environ["OMP_THREAD_LIMIT"] = "1"
        self.addCleanup(os.environ.pop, "OMP_THREAD_LIMIT")
        err = self.refuses("train", "small.yaml", "--threads", "2")
        self.assertIn("--threads 2 is more than the 1 that OMP_THREAD_LIMIT allows", err)
        self.succeeds("train", "small.yaml", "--quiet")

    def test_weights_of_another_model_are_refused(self):
        self.succeeds("train", "small.yaml", "--out", "run")
        self.write("wide.yaml", MODEL.replace("units: 3", "units: 4"))
        err = self.refuses("eval", "wide.yaml", "--weights", "run/checkpoint-8.safetensors")
        self.assertIn("classify.logits.weight", err)

    def test_quiet_runs_print_results_alone(self):
        # No accuracy, which is at chance for random labels: a warning tells of it.
        self.write("small.yaml", MODEL.replace("    metrics: {accuracy: {in: [logits, label]}}\n", ""))
        status, out, err = self.cgrun("train", "small.yaml", "--quiet")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out)
        self.assertTrue((self.folder / "runs/small/summary.json").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
