#!/usr/bin/env python3
"""Pixels that are too large for a network: `check` and `train` warn of them."""

import unittest

from cli_testing import MODEL, CliTestCase

PIXELS = "{op: normalize, in: image, scale: 1/255}"


class InputSizesTest(CliTestCase):
    def warnings(self, text, verb="check"):
        self.write("given.yaml", text)
        flags = ["--dry-run", "--quiet"] if verb == "train" else ["--device", "reference"]
        return self.cgrun(verb, "given.yaml", *flags).stderr

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
