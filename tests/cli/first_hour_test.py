#!/usr/bin/env python3
"""Numbers of the wrong size that no message names, and other things that new users ran into."""

import unittest

import cli_testing
from cli_testing import MODEL, TABLE

PRICES = (TABLE.replace("label: kind", "label: price, standardize: true")
          .replace("{type: int32, shape: []}", "{shape: [1]}").replace("units: 2", "units: 1")
          .replace("softmax_cross_entropy", "squared_error"))
PIXELS = "{op: normalize, in: image, scale: 1/255}"
PAIR = """cgrun: 1
data: {train: {format: synthetic, samples: 8}}
inputs: {image: {shape: [16]}}
networks:
  painter: {in: z, ops: [{op: linear, units: 16}]}
  critic: {in: x, ops: [{op: linear, units: 1}]}
gan:
  generator: painter
  discriminator: critic
  latent: {op: random_normal, shape: [8]}
  real: image
  loss: least_squares
train: {epochs: 1, batch: 4, optimizer: {op: adam, lr: 0.001}}
"""


class FirstHourTest(cli_testing.CliTestCase):
    def write_prices(self, first):
        self.write("rows.csv", "area,rooms,price\n" + "".join(
            f"{40 + i},{i % 5},{first + 1000 * i}\n" for i in range(61)))

    def warnings(self, text, verb="check"):
        self.write("given.yaml", text)
        flags = ["--dry-run", "--quiet"] if verb == "train" else ["--device", "reference"]
        return self.cgrun(verb, "given.yaml", *flags).stderr

    def refused(self, text):
        return self.refuses("check", self.write("wrong.yaml", text))

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
            "      - {op: flatten}", "      - {op: conv, filters: 2, kernel: 3}\n      - batch_norm\n      - {op: flatten}")
        self.assertEqual(self.warnings(behind), "")
        self.assertIn("pixels reach 'conv'", self.warnings(behind.replace("      - batch_norm\n", "")))

    def test_a_file_without_train_is_told(self):
        text = MODEL[:MODEL.index("train:\n  epochs")]
        error = self.warnings(text)
        self.assertIn("given.yaml: warning: this file has no `train:`: it can be planned and "
                      "evaluated, but not trained\n", error)
        self.assertIn("for example `train: {", error)
        self.assertIn("for example `train: {", self.refuses("train", "given.yaml"))

    def test_a_batch_of_all_samples_says_how_long_an_epoch_is(self):
        self.write("small.yaml", MODEL)
        error = self.cgrun("train", "small.yaml", "--batch", "auto", "--dry-run").stderr
        self.assertRegex(error, r"batch: 65, the most that there is to try: .*; an epoch is then one "
                         r"step: .* `--batch N` or a cap, `--memory SIZE`, gives\n")

    def test_inputs_of_f32_are_widened_for_f64(self):
        self.write_prices(1)
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

    def test_a_name_has_one_mark_for_a_character(self):
        text = MODEL.replace("model: small\n", "").replace("epochs: 2", "epochs: 1")
        self.write("Müller flats.yaml", text)
        self.cgrun("train", "Müller flats.yaml", "--quiet")
        self.assertTrue((self.folder / "runs/M_ller_flats").is_dir())

    def test_a_picture_is_not_called_as_another_kind_is(self):
        self.write("small.yaml", MODEL)
        for name in ("x.png", "x.JPG", "x.pdf"):
            error = self.refuses("graph", "small.yaml", "--svg", name)
            self.assertIn(f"'{name}' is a name of another kind of file: --svg writes an SVG picture",
                          error)
            self.assertIn("`--svg graph.svg`", error)
            self.assertFalse((self.folder / name).exists())
        self.cgrun("graph", "small.yaml", "--svg", "x.svg")

    def test_losses_of_a_pair_by_other_names(self):
        for theirs, ours in (("bce", "non_saturating"), ("vanilla", "non_saturating"),
                             ("LSGAN", "least_squares"), ("wgan-gp", "wasserstein")):
            error = self.refused(PAIR.replace("loss: least_squares", f"loss: {theirs}"))
            self.assertIn(f"help: did you mean '{ours}'?", error)

    def test_a_mistake_in_a_pair_is_told_once(self):
        self.assertEqual(self.warnings(PAIR), "")
        for wrong in (("discriminator: critic", "discriminator: kritik"),
                      ("{op: linear, units: 16}", "{op: conv, filters: 3, kernel: 3}"),
                      ("generator: painter", "generator: paintr")):
            error = self.refused(PAIR.replace(*wrong))
            self.assertEqual(error.count("error: "), 1, error)


if __name__ == "__main__":
    unittest.main()
