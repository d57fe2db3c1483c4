#!/usr/bin/env python3
"""Tests that cgrun check finds mistakes in files and data, and compares gradients and devices."""

import json
import unittest

from cli_testing import MODEL, SANITIZED, TABLE, CliTestCase


class CheckTest(CliTestCase):
    def check(self, *arguments, status=0):
        return json.loads(self.cgrun("check", *arguments, "--json", status=status).stdout)

    def test_a_good_model(self):
        result = self.check("small.yaml")
        self.assertTrue(result["ok"])
        self.assertEqual(result["data"], {"train": {"samples": 65}, "test": {"samples": 40}})
        self.assertEqual(sum((check["parameters"] for check in result["gradients"]), []),
                         ["classify.logits.weight", "classify.logits.bias"])
        for check in result["gradients"]:
            self.assertNotEqual(check["analytic"], 0)
            self.assertLess(check["error"], 1e-5)
            self.assertLess(check["error"], check["tolerance"])
            self.assertLess(check["tolerance"], 0.1)
        compared = {item["device"]: item.get("compared") for item in result["devices"]}
        self.assertEqual(compared["reference"], 3)
        self.assertEqual(compared["blas"], 3)
        self.assertIn("small.yaml: no errors, no warnings.",
                      self.cgrun("check", "small.yaml").stdout)
        self.assertFalse((self.folder / "runs").exists())
        # The heading is followed by a row for the gradients and one for each device.
        table = self.cgrun("check", "small.yaml").stdout.split("\n\n")[1].splitlines()
        self.assertEqual(table[0].split(), ["error", "tolerance"])
        for name, row in zip(["gradients", "reference"], table[1:]):
            self.assertRegex(row, rf"^{name} +\d\.\de-\d\d +\d\.\de-\d\d  ok  ")
        self.assertEqual(len({row.index("  ok  ") for row in table[1:] if "  ok  " in row}), 1)

    def test_one_device(self):
        devices = self.check("small.yaml", "--device", "reference")["devices"]
        self.assertEqual([item["device"] for item in devices], ["reference"])

    def test_all_mistakes_of_a_file_and_its_data_in_one_run(self):
        self.write("bad.yaml", MODEL.replace("units: 3", "units: 2").replace(
            "{op: flatten}", "{op: flaten}").replace("format: synthetic, samples: 40",
                                                     "format: synthetik, samples: 40"))
        error = self.refuses("check", "bad.yaml")
        self.assertIn("did you mean 'flatten'?", error)
        self.assertIn("did you mean 'synthetic'?", error)
        result = self.check("bad.yaml", status=2)
        self.assertFalse(result["ok"])
        self.assertEqual(len(result["errors"]), 2)
        errors = json.loads(self.cgrun("plan", "bad.yaml", "--json", status=2).stdout)["errors"]
        self.assertEqual(result["errors"], errors)  # in the form of all verbs
        self.assertEqual(errors[0]["file"], "bad.yaml")
        self.assertGreater(errors[0]["line"], 0)
        self.assertEqual(list(result), ["model", "ok", "errors", "warnings"])  # no zeros
        self.write("broken.yaml", MODEL.replace("op: flatten}", "op: flatten"))
        result = self.check("broken.yaml", status=2)
        self.assertEqual((result["model"], result["ok"]), ("broken.yaml", False))
        self.assertIn("is not closed", result["errors"][0]["message"])

    def test_what_computes_in_a_type_of_its_own_has_no_differences(self):
        self.write("cast.yaml", MODEL.replace("{op: flatten}", "{op: cast, to: f32}\n"
                                              "      - {op: flatten}"))
        result = self.check("cast.yaml")
        self.assertTrue(result["ok"])
        self.assertEqual(result["gradients"], [])
        self.assertIn("the file fixes number types", self.cgrun("check", "cast.yaml").stdout)

    def test_a_loss_that_is_not_finite(self):
        self.write("bad.yaml", MODEL.replace("scale: 1/255", "scale: 1.0e+308"))
        error = self.cgrun("check", "bad.yaml", status=1).stderr
        self.assertIn("is not finite with the initial values", error)
        self.assertNotIn("an operator between them and the loss has a wrong gradient", error)

    def test_labels_and_missing_files(self):
        self.assertIn("has the label 2, but the 2 classes", self.refuses(
            "check", "small.yaml", "--set", "paths.classify.ops.logits.units=2"))
        self.assertIn("No such file or directory", self.refuses(
            "check", "small.yaml", "--set", "data.test={format: idx, images: a.gz, labels: b.gz}"))

    def test_what_nobody_reads_is_a_warning(self):
        self.write("idle.yaml", MODEL.replace(
            "inputs:\n", "inputs:\n  mask: {type: uint8, shape: [4]}\n").replace(
                "      - logits: {op: linear, units: 3}\n",
                "      - idle: {op: linear, units: 5}\n"
                "      - logits: {op: linear, in: pixels2, units: 3}\n").replace(
                    "      - {op: flatten}\n", "      - pixels2: {op: flatten}\n"))
        result = self.check("idle.yaml", "--set", "data={}")
        self.assertTrue(result["ok"])
        text = " ".join(item["message"] for item in result["warnings"])
        self.assertIn("nothing reads input 'mask'", text)
        self.assertIn("nothing reads what classify.idle computes", text)
        self.assertIn("there is no training data", text)
        done = self.cgrun("check", "idle.yaml", "--set", "data={}")
        self.assertEqual(done.stderr.count("warning: "), len(result["warnings"]))
        self.assertIn(f"idle.yaml: no errors, {len(result['warnings'])} warnings.", done.stdout)
        self.assertIn(": no errors, 1 warning.", self.cgrun(
            "check", "small.yaml", "--set", "data.test=null", "--device", "reference").stdout)

    def test_a_path_that_learns_nothing_is_a_warning(self):
        for keys, help_text in (("units: 3, frozen: true", "or all are frozen; `mode: forward`"),
                                ("units: 3, frozen: {weight: true, bias: true}", "or all are")):
            self.write("idle.yaml", MODEL.replace("units: 3", keys))
            for verb in ("train", "check"):
                flags = ["--dry-run", "--quiet"] if verb == "train" else ["--device", "reference"]
                error = self.cgrun(verb, "idle.yaml", *flags).stderr
                self.assertIn("idle.yaml:10:3: warning: path 'classify' learns nothing\n"
                              "      classify:\n      ^~~~~~~~\nhelp: it has no parameters, ", error)
                self.assertIn(help_text, error)
        self.write("rounded.yaml", MODEL.replace(
            "{op: linear, units: 3}", "{op: linear, units: 3}\n"
            "      - whole: {op: cast, to: int32}\n      - fraction: {op: cast, to: f32}").replace(
                "[logits, label]", "[fraction, label]"))
        error = self.cgrun("train", "rounded.yaml", "--dry-run", "--quiet").stderr
        self.assertIn("path 'classify' learns nothing", error)
        self.assertIn("help: its loss gives none of its parameters a gradient\n", error)
        self.write("half.yaml", MODEL.replace("units: 3", "units: 3, frozen: {weight: true}"))
        self.assertEqual(self.cgrun("train", "half.yaml", "--dry-run", "--quiet").stderr, "")

    def test_what_no_path_reads_train_tells_too(self):
        self.write("idle.yaml", MODEL.replace(
            "inputs:\n", "inputs:\n  mask: {type: uint8, shape: [4]}\n"))
        for arguments in (["train", "idle.yaml", "--dry-run", "--quiet"],
                          ["check", "idle.yaml", "--device", "reference"]):
            self.assertIn("idle.yaml:7:3: warning: nothing reads input 'mask'\n",
                          self.cgrun(*arguments).stderr)
        # There is no warning if another path of the file reads the mask, though training does not
        # run that path.
        self.write("other.yaml", MODEL.replace(
            "inputs:\n", "inputs:\n  mask: {type: f32, shape: [4]}\n").replace(
            "paths:\n", "paths:\n  aside:\n    mode: forward\n    ops: [{op: relu, in: mask}]\n")
            .replace("train:\n  epochs", "train:\n  sequence: [classify]\n  epochs"))
        self.assertNotIn("nothing reads input",
                         self.cgrun("train", "other.yaml", "--dry-run", "--quiet").stderr)

    def test_a_summary_finds_mistakes_of_optimizers(self):
        for wrong, message in (("op: sdg", "there is no optimizer 'sdg'"),
                               ("op: sgd, momentun: 1", "'sgd' has no key 'momentun'"),
                               ("op: sgd, schedule: cosin", "did you mean 'cosine'?"),
                               ("op: sgd, schedule: {step: {evry: 2}}", "did you mean 'every'?"),
                               ("op: sgd, schedule: plateau", "looks at validation data")):
            self.write("wrong.yaml", MODEL.replace("op: sgd", wrong))
            for verb in ("summary", "train", "check", "plan"):
                self.assertIn(message, self.refuses(verb, "wrong.yaml"), verb)

    def test_what_train_refuses_check_refuses(self):
        self.write("w.safetensors", "\2\0\0\0\0\0\0\0{}")
        for setting, text in (
                ("train.early_stop={metric: accuracy, patience: 3}", "'early_stop' looks at the data"),
                ("train.keep_best=accuracy", "'keep_best' looks at the data of `valid`"),
                ("train.epochs=9000000000000000000", "more steps than 64 bits count"),
                ("weights=none.safetensors", "none.safetensors"),
                ("weights=w.safetensors", "fits this model"),
                ("weights=small.yaml", "small.yaml")):
            for verb in ("train", "check"):
                self.assertIn(text, self.refuses(verb, "small.yaml", "--set", setting), verb)
        self.assertFalse((self.folder / "runs").exists())
        self.assertIn("there is no metric 'acuracy'", self.refuses(
            "check", "small.yaml", "--set", "train.keep_best=acuracy", "--set",
            "data.valid={split: 0.1}"))

    def test_check_plan_and_train_agree_on_memory(self):
        if "sanitizer" in self.cgrun("train", "small.yaml", "--out", "run").stdout:
            self.skipTest("a sanitizer's memory is its own")
        planned = json.loads((self.folder / "run/summary.json").read_text())["planned_peak_bytes"]
        for flags in ((), ("--keep", "pixels")):
            total = json.loads(self.cgrun("plan", "small.yaml", "--json", *flags).stdout)["total_bytes"]
            needed = self.check("small.yaml", *flags)["needed_bytes"]
            self.assertLessEqual(abs(needed - total), max(1 << 20, total // 100))
            self.assertLessEqual(abs(needed - planned), max(1 << 20, planned // 100))

    def test_a_gradient_of_rounding_is_not_wrong(self):
        """A bias before a batch norm changes no loss."""
        self.write("norm.yaml", MODEL.replace(
            "      - {op: flatten}\n", "      - {op: conv, filters: 4, kernel: 3}\n"
            "      - {op: batch_norm}\n      - {op: relu}\n      - {op: flatten}\n"))
        for seed in range(4):
            result = self.check("norm.yaml", "--seed", seed, "--device", "reference")
            self.assertTrue(result["ok"], result)
            biases = [check for check in result["gradients"]
                      if check["parameters"] == ["classify.conv[0].bias"]]
            self.assertLess(abs(biases[0]["analytic"]), 1e-12)

    def test_a_cap_is_kept_as_train_keeps_it(self):
        for flags in (["--memory", "1KiB"], ["--set", "train.memory=1KiB"],
                      ["--batch", "auto", "--memory", "1KiB"]):
            self.assertIn("more than the cap of 1 KiB", self.refuses("check", "small.yaml", *flags))
            self.assertIn("more than the cap of 1 KiB",
                          self.refuses("train", "small.yaml", *flags, "--out", "run"))
            result = self.check("small.yaml", *flags, status=2)
            self.assertFalse(result["ok"])
            self.assertEqual(len(result["errors"]), 1, result)
            self.assertIn("more than the cap of 1 KiB", result["errors"][0]["message"])
        # Data that are wrong are told, however little memory there may be.
        self.assertIn("did you mean 'synthetic'?", self.refuses(
            "check", "small.yaml", "--memory", "1KiB", "--set", "data.test.format=synthetik"))
        result = self.check("small.yaml", "--memory", "1GiB")
        self.assertTrue(result["ok"])
        if not SANITIZED:  # what a process measures as its base differs by pages, and is rounded
            self.assertAlmostEqual(result["needed_bytes"], self.check("small.yaml")["needed_bytes"], delta=2**19)

    def test_more_memory_than_there_is(self):
        self.assertIn("more than the free memory of", self.refuses(
            "check", "small.yaml", "--set", "paths.classify.ops.logits.units=1000000000"))

    def test_a_model_with_validation_data_needs_no_test_data(self):
        self.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n")
        self.write("good.yaml", TABLE)
        self.assertIn("there is no test data", self.cgrun("check", "good.yaml").stderr)
        done = self.cgrun("check", "good.yaml", "--set", "data.valid.split=0.5")
        self.assertEqual(done.stderr, "")
        self.assertIn("good.yaml: no errors, no warnings.\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
