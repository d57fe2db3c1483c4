#!/usr/bin/env python3
"""Inputs and targets whose numbers are too large for a network: `check` and `train` warn of them."""

import unittest

from cli_testing import MODEL, PRICES, CliTestCase

PIXELS = "{op: normalize, in: image, scale: 1/255}"


class InputSizesTest(CliTestCase):
    def write_prices(self, first):
        self.write("rows.csv", "area,rooms,price\n" + "".join(
            f"{40 + i},{i % 5},{first + 1000 * i}\n" for i in range(61)))

    def warnings(self, text, verb="check"):
        self.write("given.yaml", text)
        flags = ["--dry-run", "--quiet"] if verb == "train" else ["--device", "reference"]
        return self.cgrun(verb, "given.yaml", *flags).stderr

    def test_large_targets_are_doubted(self):
        self.write_prices(220000)
        for verb in ("check", "train"):
            error = self.warnings(PRICES, verb)
            self.assertIn("the targets of 'label' are large numbers (mean 250000, deviation 17607): ",
                          error)
            self.assertIn("`- y: {op: mul, in: [scaled, 100000]}`", error)
            self.assertEqual(error.count("are large numbers"), 1, error)
        self.cgrun("train", "given.yaml", "--out", "run", "--quiet")
        for verb in (("eval", "given.yaml", "--weights", "run", "--split", "train"),
                     ("train", "given.yaml", "--weights", "run", "--out", "on", "--dry-run")):
            self.assertNotIn("are large numbers", self.cgrun(*verb).stderr)
        for loss in ("absolute_error", "huber", "smooth_l1"):
            self.assertIn("the targets of", self.warnings(PRICES.replace("squared_error", loss)))

    def test_targets_of_a_model_that_knows_their_size_are_not(self):
        self.write_prices(220000)
        layer = "      - logits: {op: linear, in: features, units: 1}\n"
        scaled = layer.replace("logits", "scaled") + "      - logits: {op: mul, in: [scaled, 100000]}\n"
        self.assertNotIn("targets", self.warnings(PRICES.replace(layer, scaled)))
        small = layer + "      - small: {op: div, in: [label, 100000]}\n"
        self.assertNotIn("targets", self.warnings(
            PRICES.replace(layer, small).replace("[logits, label]", "[logits, small]")))
        known = layer.replace("units: 1", "units: 1, init: {bias: {constant: 250000}}")
        self.assertNotIn("targets", self.warnings(PRICES.replace(layer, known)))
        self.write("rows.csv", "a,b,price\n1,2,341\n3,4,120\n5,7,80\n")
        self.assertNotIn("targets", self.warnings(PRICES))

    def test_pixels_that_are_not_scaled_are_doubted(self):
        for op in ("{op: normalize, in: image, mean: 0.5, std: 0.5}", "{op: normalize, in: image}",
                   "{op: cast, in: image, to: f32}"):
            for verb in ("check", "train"):
                error = self.warnings(MODEL.replace(PIXELS, op), verb)
                self.assertRegex(error, r"given.yaml:\d+:\d+: warning: pixels reach 'linear' as numbers "
                                 r"from (0|-1) to \d{3}: ")
                self.assertIn("`{op: normalize, scale: 1/255}`", error)

    def test_pixels_of_a_usual_size_are_not(self):
        self.assertEqual(self.warnings(MODEL), "")
        for op in ("{op: normalize, in: image, mean: 127, std: 64}",
                   "{op: normalize, in: image}\n      - {op: batch_norm}"):
            self.assertEqual(self.warnings(MODEL.replace(PIXELS, op)), "")
        behind = MODEL.replace(PIXELS, "{op: cast, in: image, to: f32}").replace(
            "      - {op: flatten}", "      - {op: conv, filters: 2, kernel: 3}\n      - batch_norm\n"
            "      - {op: flatten}")
        self.assertEqual(self.warnings(behind), "")
        self.assertIn("pixels reach 'conv'", self.warnings(behind.replace("      - batch_norm\n", "")))


if __name__ == "__main__":
    unittest.main()
