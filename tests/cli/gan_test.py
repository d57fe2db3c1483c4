#!/usr/bin/env python3
"""GAN pairs: the short form and what it stands for, training, resuming, `cgrun generate`."""

import json
import re
import struct
import unittest

import cli_testing

HEAD = """cgrun: 1
model: pair
device: DEVICE
data:
  train: {format: synthetic, samples: 96, classes: 3}
inputs:
  image: {type: uint8, shape: [1, 6, 6]}
  label: {type: int32, shape: []}
networks:
  artist:
    in: z
    ops:
      - {op: linear, units: 72, activation: relu}
      - {op: reshape, shape: [8, 3, 3]}
      - {op: conv_transpose, filters: 1, kernel: 2, stride: 2, activation: tanh}
  critic:
    in: x
    ops:
      - {op: conv, filters: 4, kernel: 3, padding: 1}
      - {op: leaky_relu, slope: 0.2}
      - {op: flatten}
      - {op: linear, units: 1}
paths:
  prepare:
    mode: forward
    ops:
      - x: {op: normalize, in: image, scale: 2/255, mean: 1}
"""
TRAIN = """train: {epochs: 2, batch: 16SEQUENCE, optimizer: {op: adam, lr: 0.01, beta1: 0.5}}
"""
SHORT = """gan:
  generator: artist
  discriminator: critic
  latent: {op: random_normal, shape: [5]}
  real: x
  loss: LOSS
"""
WRITTEN = """  discriminate:
    trains: critic
    ops:
      - latent: {op: random_normal, shape: [5]}
      - fake: {network: artist, in: latent}
      - real_score: {network: critic, in: x}
      - fake_score: {network: critic, in: fake}
EXTRA    loss: [DISCRIMINATOR]
  generate:
    trains: artist
    ops:
      - latent: {op: random_normal, shape: [5]}
      - fake: {network: artist, in: latent}
      - score: {network: critic, in: fake}
    loss: GENERATOR
    out: fake
"""
PENALTY = """      - mixed: {op: random_mix, in: [x, fake]}
      - mixed_score: {network: critic, in: mixed}
      - slope: {gradient: mixed_score, in: mixed}
      - flat_slope: {op: flatten, in: slope}
      - squares: {op: mul, in: [flat_slope, flat_slope]}
      - square: {op: reduce_sum, axes: [1]}
      - above_zero: {op: add, in: [square, 1.0e-12]}
      - length: {op: sqrt, in: above_zero}
"""


def squares(score, target):
    return f"{{op: squared_error, in: [{score}, {target}], weight: 0.5}}"


def entropy(score, target):
    return f"{{op: binary_cross_entropy, in: [{score}, {target}]}}"


def mean(score, weight):
    return f"{{op: reduce_mean, in: {score}, weight: {weight}}}"


# Each name has its loss with settings, the losses of the discriminator, that of the generator, and more.
PAIRS = {
    "least_squares": ("least_squares", squares("real_score", 1) + ", " + squares("fake_score", 0),
                      squares("score", 1), ""),
    "non_saturating": ("non_saturating",
                       entropy("real_score", 1) + ", " + entropy("fake_score", 0),
                       entropy("score", 1), ""),
    "clipped": ("wasserstein\n  clip: 0.02",
                mean("fake_score", 1) + ", " + mean("real_score", -1), mean("score", -1), ""),
    "penalised": ("wasserstein\n  gradient_penalty: 10",
                  mean("fake_score", 1) + ", " + mean("real_score", -1) +
                  ", {op: squared_error, in: [length, 1], weight: 10}",
                  mean("score", -1), PENALTY),
}


def short(name, steps="", device="reference"):
    return (HEAD + SHORT.replace("LOSS", PAIRS[name][0]) + steps +
            TRAIN.replace("SEQUENCE", "")).replace("DEVICE", device)


def written(name, sequence=""):
    _, discriminator, generator, more = PAIRS[name]
    text = WRITTEN.replace("DISCRIMINATOR", discriminator).replace("GENERATOR", generator)
    if name == "clipped":
        text = text.replace("    trains: critic\n", "    trains: critic\n    clip_weights: 0.02\n")
    return (HEAD + text.replace("EXTRA", more) +
            TRAIN.replace("SEQUENCE", sequence)).replace("DEVICE", "reference")


def tensors(path):
    """The f32 tensors of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    result = {}
    for name, tensor in json.loads(data[8:8 + size]).items():
        if name == "__metadata__" or tensor["dtype"] != "F32":
            continue
        begin, end = (8 + size + offset for offset in tensor["data_offsets"])
        result[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return result


class GanTest(cli_testing.CliTestCase):
    def hash(self, text, *flags):
        model = self.write("pair.yaml", text)
        done = self.cgrun("train", model, "--force", "--out", "run", *flags)
        return re.search(r"hash ([0-9a-f]{16})", done.stdout)[1]

    def test_the_short_form_is_the_written_one(self):
        for name in PAIRS:
            with self.subTest(name):
                listings = []
                for text in (short(name), written(name)):
                    self.write("pair.yaml", text)
                    listings.append(re.sub(r"pair\.yaml:\d+:\d+", "",
                                           self.cgrun("graph", "pair.yaml").stdout))
                self.assertEqual(listings[0], listings[1])
                self.assertEqual(self.hash(short(name)), self.hash(written(name)))

    def test_steps_are_a_sequence(self):
        given = self.hash(short("clipped", "  steps: {discriminator: 3}\n"))
        sequence = ", sequence: [prepare, {discriminate: 3}, generate]"
        self.assertEqual(self.hash(written("clipped", sequence)), given)
        self.assertNotEqual(self.hash(short("clipped")), given)

    def test_both_modes_have_the_same_bits(self):
        for name in PAIRS:
            with self.subTest(name):
                self.assertEqual(self.hash(short(name)),
                                 self.hash(short(name), "--mode", "eager"))

    def test_both_networks_and_optimizers_are_resumed(self):
        whole = self.hash(short("non_saturating"), "--set", "train.epochs=4")
        self.hash(short("non_saturating"), "--set", "train.epochs=3")
        states = tensors(self.folder / "run" / "checkpoint-18.safetensors")
        for state in ("artist.linear[0].weight.m", "critic.linear[0].weight.v"):
            self.assertTrue(any(states[state]), state)
        done = self.cgrun("train", "--resume", "run", "--set", "train.epochs=4")
        self.assertIn(whole, done.stdout)

    def test_a_pair_is_resumed_inside_an_epoch_bit_for_bit(self):
        often = ("--set", "train.checkpoint_every=4", "--set", "train.keep_last=9")
        for device in cli_testing.devices("reference", "cpu"):
            for name in ("least_squares", "penalised"):
                with self.subTest(f"{name} on {device}"):
                    whole = self.hash(short(name, device=device), *often)
                    last = self.folder / "run/checkpoint-12.safetensors"
                    bits = last.read_bytes()
                    for step in (8, 12):  # what came behind step 4 of the 6 of an epoch
                        (self.folder / f"run/checkpoint-{step}.safetensors").unlink()
                    done = self.cgrun("train", "--resume", "run")
                    self.assertIn("checkpoint-4.safetensors: step 4 of epoch 1", done.stderr)
                    self.assertIn(whole, done.stdout)
                    self.assertEqual(last.read_bytes(), bits)

    def test_the_plan_tells_what_the_paths_share(self):
        self.write("pair.yaml", short("clipped", "  steps: {discriminator: 3}\n"))
        text = self.cgrun("plan", "pair.yaml", "--json", "plan.json").stdout
        plan = json.loads((self.folder / "plan.json").read_text())
        paths = {path["name"]: path for path in plan["paths"]}
        self.assertEqual(list(paths), ["prepare", "discriminate", "generate"])
        self.assertEqual([path["repetitions"] for path in paths.values()], [1, 3, 1])
        self.assertIn("path of 'train'", text)

        # Each path trains one network, and both run both: artist 5·72 + 72 + 8·4 + 1 numbers,
        # critic 4·9 + 4 + 144 + 1.
        artist, critic = 4 * (360 + 72 + 32 + 1), 4 * (36 + 4 + 144 + 1)
        self.assertEqual(paths["generate"]["parameter_bytes"], artist)
        self.assertEqual(paths["discriminate"]["parameter_bytes"], critic)
        self.assertEqual(paths["prepare"]["state_bytes"], 0)
        shared = plan["shared_by_paths"]
        self.assertGreaterEqual(shared["state_bytes"], artist + critic)
        self.assertLess(shared["state_bytes"], paths["generate"]["state_bytes"])

        # The path `discriminate` reads the results of `prepare`. The paths use all other addresses
        # in turn.
        self.assertGreaterEqual(shared["passed_bytes"], 4 * 16 * 36)
        self.assertGreater(shared["transient_bytes"], shared["passed_bytes"])
        self.assertLessEqual(shared["transient_bytes"], paths["discriminate"]["transient_bytes"])

    # Its exit status says that all cases have the same losses.
    def test_bench_runs_both_paths(self):
        self.write("pair.yaml", short("penalised", device="auto"))
        peaks = []
        for flags in ([], ["--infer"]):
            done = self.cgrun("bench", "pair.yaml", "--rounds", 1, "--steps", 1, "--json", *flags)
            cases = json.loads(done.stdout)["cases"]
            for case in cases:
                self.assertGreater(case["peak_bytes"], 0, case["name"])
                self.assertEqual(len(case["losses"]), 6, case["name"])
            peaks.append({case["name"]: case["peak_bytes"] for case in cases})
        for name in ("eager", "graph, memory"):
            self.assertLess(peaks[1][name], peaks[0][name], name)

    def test_each_path_tells_its_loss(self):
        names = ["discriminate.loss", "generate.loss"]
        self.write("pair.yaml", short("penalised", "  steps: {discriminator: 2}\n"))
        told = self.cgrun("train", "pair.yaml", "--out", "run")
        first = (self.folder / "run/metrics.csv").read_text().splitlines()
        self.assertEqual(first[0].split(",")[-2:], ["train_" + name for name in names])
        self.assertEqual(len(first), 3)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(list(summary["train"]), names)
        self.assertNotEqual(*summary["train"].values())
        events = next((self.folder / "run").glob("events*")).read_bytes()
        page = (self.folder / "run/report.html").read_text()
        for name in names:
            self.assertRegex(told.stdout, rf"epoch 2/2 .*{name} -?\d")
            self.assertIn(b"train/" + name.encode(), events)
            self.assertIn(name, page)
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=3")
        longer = (self.folder / "run/metrics.csv").read_text().splitlines()
        self.assertEqual(longer[:2], first[:2])
        self.assertEqual(len(longer), 4)

    def test_no_test_data_are_missed(self):
        for text in (short("least_squares"), written("least_squares")):
            self.write("pair.yaml", text)
            result = json.loads(self.cgrun("check", "pair.yaml", "--json").stdout)
            self.assertFalse(any("test data" in item["message"] for item in result["warnings"]))
        # Two paths that train the same are no pair.
        self.write("pair.yaml", written("least_squares").replace("trains: artist",
                                                                 "trains: [artist, critic]"))
        result = json.loads(self.cgrun("check", "pair.yaml", "--json").stdout)
        self.assertTrue(any("test data" in item["message"] for item in result["warnings"]))

    def test_weights_are_clipped(self):
        self.hash(short("clipped"))
        weights = tensors(self.folder / "run" / "checkpoint-12.safetensors")
        bound = struct.unpack("<f", struct.pack("<f", 0.02))[0]
        critic = [abs(w) for name in ("conv[0].weight", "linear[0].weight")
                  for w in weights["critic." + name]]
        self.assertEqual(max(critic), bound)
        self.assertGreater(max(map(abs, weights["artist.linear[0].weight"])), bound)

    def test_gradients_are_right(self):
        for name in PAIRS:
            with self.subTest(name):
                self.write("pair.yaml", short(name))
                self.cgrun("check", "pair.yaml")

    def test_gradients_of_a_repeated_path_are_right(self):
        self.write("pair.yaml", short("penalised", "  steps: {discriminator: 3}\n"))
        result = json.loads(self.cgrun("check", "pair.yaml", "--json").stdout)
        checked = [(check["path"], name) for check in result["gradients"]
                   for name in check["parameters"]]
        self.assertEqual(len(checked), len(set(checked)))
        self.assertEqual({path for path, _ in checked}, {"discriminate", "generate"})
        unread = [warning for warning in result["warnings"] if "nothing reads what" in warning["message"]]
        self.assertEqual(unread, [])

    # The values that a repeated path has learned stay where they were, as in eager mode.
    def test_repetition_takes_no_more_than_eager_mode(self):
        for steps in (1, 2, 5):
            self.write("pair.yaml", short("clipped", f"  steps: {{discriminator: {steps}}}\n"))
            done = self.cgrun("bench", "pair.yaml", "--batch", 1, "--rounds", 1, "--steps", 1,
                              "--json")
            peaks = {case["name"]: case["peak_bytes"] for case in json.loads(done.stdout)["cases"]}
            self.assertLess(peaks["graph, memory"], peaks["eager"], steps)

    def test_every_device_learns(self):
        for device in cli_testing.devices("blas", "cpu"):
            self.hash(short("least_squares", device=device))

    def test_a_sheet(self):
        self.hash(short("least_squares"))
        done = self.cgrun("generate", "pair.yaml", "--weights", "run", "-n", "10", "--json",
                          "drawn.json")
        self.assertIn("10 samples of 'fake', [1, 6, 6] each: pair.png", done.stdout)
        sheet = (self.folder / "pair.png").read_bytes()
        self.assertEqual(sheet[:8], b"\x89PNG\r\n\x1a\n")
        # The sheet has four columns and three rows of 6 pixels, margins of 2, and 8 bits of grey.
        self.assertEqual(struct.unpack(">IIBB", sheet[16:26]), (34, 26, 8, 0))
        self.assertEqual(json.loads((self.folder / "drawn.json").read_text())["samples"], 10)
        draw = ["generate", "pair.yaml", "--weights", "run", "-n", "10", "--out"]
        self.cgrun(*draw, "again.png")
        self.cgrun(*draw, "other.png", "--seed", "5")
        self.cgrun(*draw, "eager.png", "--mode", "eager")
        self.assertEqual((self.folder / "again.png").read_bytes(), sheet)
        self.assertEqual((self.folder / "eager.png").read_bytes(), sheet)
        self.assertNotEqual((self.folder / "other.png").read_bytes(), sheet)
        self.cgrun(*draw, "large.png", "--scale", "3")
        self.assertEqual(struct.unpack(">II", (self.folder / "large.png").read_bytes()[16:24]),
                         (4 * 20 + 2, 3 * 20 + 2))
        self.assertIn("--scale must be 1 to 16", self.refuses(*draw, "x.png", "--scale", "17"))
        self.assertIn("an array of numbers", self.refuses(*draw, "x.npy", "--scale", "2"))
        self.cgrun(*draw, "x.npy")
        self.assertIn(b"(10, 1, 6, 6)", (self.folder / "x.npy").read_bytes()[:128])

    def test_pictures_of_others_are_left_alone(self):
        self.hash(short("least_squares"))
        draw = ["generate", "pair.yaml", "--weights", "run", "-n", "4"]
        self.cgrun(*draw)
        self.assertIn(b"tEXtSoftware\0cgrun", (self.folder / "pair.png").read_bytes()[:64])
        self.cgrun(*draw, "--seed", "5")  # its own
        mine = cli_testing.png(4, 4, range(16))
        for name in ("mine.png", "mine.npy"):
            (self.folder / name).write_bytes(mine)
            self.assertIn(f"'{name}' exists and is no sheet of images", self.refuses(*draw, "--out", name))
            self.assertEqual((self.folder / name).read_bytes(), mine)
            self.cgrun(*draw, "--out", name, "--force")
            self.assertNotEqual((self.folder / name).read_bytes(), mine)
        self.write("empty.png", "")
        self.cgrun(*draw, "--out", "empty.png")

    def test_a_critic_gives_any_number(self):
        sigmoid = "units: 1, activation: sigmoid}"
        for name, warned in (("clipped", True), ("least_squares", False)):
            self.write("pair.yaml", short(name).replace("units: 1}", sigmoid))
            warnings = self.cgrun("train", "pair.yaml", "--dry-run").stderr
            self.assertEqual("'critic' is to give any number, and 'sigmoid' gives none beyond 1"
                             in warnings, warned, warnings)

    def test_predict_knows_who_draws(self):
        self.write("pair.yaml", short("least_squares"))
        (self.folder / "a.png").write_bytes(cli_testing.png(6, 6, range(36)))
        self.assertIn("`cgrun generate`", self.refuses("predict", "pair.yaml", "a.png"))

    def test_mistakes(self):
        def error(change, to):
            text = short("least_squares")
            self.assertIn(change, text)
            self.write("pair.yaml", text.replace(change, to))
            return self.refuses("train", "pair.yaml")

        self.assertIn("there is no network 'artst'", error("generator: artist", "generator: artst"))
        self.assertIn("'clip' belongs to `loss: wasserstein`",
                      error("loss: least_squares", "loss: least_squares\n  clip: 0.1"))
        self.assertIn("needs 'clip' or 'gradient_penalty'",
                      error("loss: least_squares", "loss: wasserstein"))
        self.assertIn("'fake' is what the pair calls a value of its own",
                      error("real: x", "real: fake"))
        self.assertIn("the name 'generate' is taken", error("  prepare:", "  generate:"))
        self.assertIn("'gan' needs 'latent'",
                      error("  latent: {op: random_normal, shape: [5]}\n", ""))
        self.assertIn("say the same twice", self.both_sequences())
        self.write("small.yaml", cli_testing.MODEL)
        self.assertIn("generates nothing", self.refuses("generate", "small.yaml"))
        self.assertIn("neither a .png nor an .npy",
                      self.refuses("generate", self.write("pair.yaml", short("least_squares")),
                                   "--out", "x.jpg"))

    def both_sequences(self):
        text = short("least_squares", "  steps: {generator: 2}\n")
        self.write("pair.yaml", text.replace("batch: 16", "batch: 16, sequence: [prepare]"))
        return self.refuses("train", "pair.yaml")

    def test_more_images_than_a_sheet_has(self):
        self.write("pair.yaml", cli_testing.PAIR)
        for count in ("20000", "99999999"):
            error = self.refuses("generate", "pair.yaml", "-n", count)
            self.assertIn(f"-n, --count must be 1 to 10000 for a model of images, not '{count}'\n", error)
            self.assertIn("help: a sheet has no room for more; another --seed makes other samples", error)
        self.assertIn("-n, --count must be an integer, at least 1, not '0'",
                      self.refuses("generate", "pair.yaml", "-n", "0"))

    def refused_pair(self, text):
        return self.refuses("check", self.write("wrong.yaml", text))

    def test_losses_of_a_pair_by_other_names(self):
        for theirs, ours in (("bce", "non_saturating"), ("vanilla", "non_saturating"),
                             ("LSGAN", "least_squares"), ("wgan-gp", "wasserstein")):
            error = self.refused_pair(cli_testing.PAIR.replace("loss: least_squares", f"loss: {theirs}"))
            self.assertIn(f"help: did you mean '{ours}'?", error)

    def test_a_mistake_in_a_pair_is_told_once(self):
        right = self.cgrun("check", self.write("pair.yaml", cli_testing.PAIR), "--device", "reference")
        self.assertEqual(right.stderr, "")
        for wrong in (("discriminator: critic", "discriminator: kritik"),
                      ("{op: linear, units: 16}", "{op: conv, filters: 3, kernel: 3}"),
                      ("generator: artist", "generator: artst")):
            error = self.refused_pair(cli_testing.PAIR.replace(*wrong))
            self.assertEqual(error.count("error: "), 1, error)


if __name__ == "__main__":
    unittest.main()
