#!/usr/bin/env python3
"""Number types: `precision`, `type` and `dtype`, and what devices compute in."""

import os
import unittest

from cli_testing import MODEL, PRICES, MistakesTestCase


class PrecisionTest(MistakesTestCase):
    def test_a_precision_by_another_name_leads_to_one_that_there_is(self):
        for name in ("fp16", "half", "float16"):
            error = self.refuses("train", "small.yaml", "--precision", name)
            self.assertIn(f"'precision' must be f32, f64 or bf16, not '{name}'\n", error)
            self.assertNotIn("'f16'", error)
        self.assertIn("did you mean 'bf16'?", self.refuses("train", "small.yaml", "--precision", "bfloat16"))
        self.assertIn("f32, bf16 and f64 are what there is",
                      self.refuses("train", "small.yaml", "--precision", "f16"))

    def test_number_types_by_other_names(self):
        self.of_train("write `precision: f32`", "dtype: float32")
        for key in ("dtype", "type"):
            self.helps("write `type: f32`; of images in files `type: uint8`, which `normalize` makes "
                       "f32", "dtype" if key == "dtype" else "float32", "type: uint8",
                       f"{key}: float32")
        self.helps("did you mean 'f32'?", "float32", "epochs: 2", "epochs: 2\n  precision: float32")

    def test_what_is_not_carried_out_is_said_by_every_verb(self):
        self.write("half.yaml", MODEL.replace("batch: 20", "batch: 20\n  precision: f16"))
        verbs = (["train"], ["plan"], ["graph"], ["summary"], ["compile", "-o", "m.cgb"],
                 ["eval", "--weights", "w.safetensors"])
        for verb, *flags in verbs:
            for arguments in (["half.yaml"], ["small.yaml", "--precision", "f16"]):
                error = self.refuses(verb, *arguments, *flags)
                self.assertIn("this version does not carry out 'precision: f16' yet", error)
                self.assertIn("f32, bf16 and f64 are what there is", error)

    def test_tf32_is_refused_but_on_gpus(self):
        self.write("rounded.yaml", MODEL.replace("batch: 20", "batch: 20\n  precision: tf32"))
        line = 1 + (self.folder / "rounded.yaml").read_text().split("\n").index("  precision: tf32")
        for device in ("blas", "reference"):
            for verb in ("train", "plan", "check"):
                error = self.refuses(verb, "rounded.yaml", "--device", device)
                self.assertIn(f"rounded.yaml:{line}:14: error: 'precision: tf32' is for device cuda "
                              f"alone, not '{device}'\n", error)
                self.assertIn("help: tf32 is a number type of GPUs; write `precision: f32`, or "
                              "`bf16`\n", error)
                self.assertEqual(error.count("error: "), 1, error)
        error = self.refuses("bench", "small.yaml", "--precision", "tf32")
        self.assertIn("--precision tf32: error: 'precision: tf32' is for device cuda alone, not "
                      "'auto'\n", error)

    def test_inputs_of_f32_are_widened_for_f64(self):
        self.write("rows.csv", "area,rooms,price\n" + "".join(
            f"{40 + i},{i % 5},{1 + 1000 * i}\n" for i in range(61)))
        self.write("prices.yaml", PRICES)
        for mode in ("graph", "eager"):
            self.cgrun("train", "prices.yaml", "--precision", "f64", "--mode", mode, "--quiet",
                       "--force", "--out", "run", "--set", "train.optimizer.lr=1.0e-9")
        self.cgrun("eval", "prices.yaml", "--weights", "run", "--precision", "f64", "--split", "train")
        self.cgrun("predict", "prices.yaml", "--weights", "run", "--precision", "f64", "rows.csv")
        self.cgrun("check", "prices.yaml", "--precision", "f64", "--device", "reference")
        self.write("spare.yaml", MODEL.replace("inputs:\n", "inputs:\n  spare: {type: f32, shape: [4]}\n"))
        for verb in (("check", "--device", "reference"), ("train", "--dry-run", "--quiet")):
            told = self.cgrun(verb[0], "spare.yaml", "--precision", "f64", *verb[1:]).stderr
            self.assertIn("warning: nothing reads input 'spare'", told)
            self.assertNotIn("widened", told)

    def test_bf16_is_warned_of_where_nothing_multiplies_it(self):
        slow = "--precision bf16: warning: device 'cpu' has no kernels here that multiply bf16"
        old = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "XDG_CACHE_HOME": str(self.folder / "cache")}
        few = ["small.yaml", "--device", "cpu", "--threads", 1]
        for verb in (["train", "--dry-run"], ["plan"], ["bench", "--rounds", 1, "--steps", 1],
                     ["bench", "--isolate", "--rounds", 1, "--steps", 1]):
            told = self.cgrun(verb[0], *few, *verb[1:], "--precision", "bf16", env=old).stderr
            self.assertEqual(told.count(slow), 1, verb)
            self.assertIn("steps are probably slower than in f32\nhelp: `--precision f32`, or a", told)
            self.assertNotIn("bf16", self.cgrun(verb[0], *few, *verb[1:], env=old).stderr, verb)
        version = self.cgrun("--version").stdout
        here = self.cgrun("train", *few, "--dry-run", "--precision", "bf16").stderr
        self.assertEqual(slow in here, "_BF16" not in version and "_AMX" not in version)


if __name__ == "__main__":
    unittest.main()
