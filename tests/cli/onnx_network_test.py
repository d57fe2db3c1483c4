#!/usr/bin/env python3
"""Networks that are models of ONNX: `networks: {trunk: {onnx: FILE}}`."""

import json
import math
import random
import re
import shutil
import struct
import unittest

import onnx_testing as onnx
from cli_testing import ROOT, SANITIZED, CliTestCase, npy, npy_of_floats, png, read_npy, read_safetensors

SIDE, CHANNELS, FILTERS = 4, 2, 3


def numbers(count, seed, low=-0.5, high=0.5):
    """Returns the same numbers each time."""
    source = random.Random(seed)
    return [source.uniform(low, high) for _ in range(count)]


def stages():
    """A network of equal stages for images of 32 by 32, as the page about fine-tuning cuts one."""
    nodes = [onnx.node("Conv", ["photo", "stem.weight"], "x0", kernel_shape=[4, 4], strides=[4, 4])]
    weights = [onnx.floats("stem.weight", [4, 3, 4, 4], numbers(192, 40))]
    for stage in range(1, 5):
        name = f"layer{stage}"
        norm = [f"{name}.bn.{part}" for part in ("weight", "bias", "mean", "var")]
        nodes += [onnx.node("Conv", [f"x{stage - 1}", f"{name}.conv.weight"], f"c{stage}", kernel_shape=[3, 3],
                            pads=[1, 1, 1, 1]),
                  onnx.node("BatchNormalization", [f"c{stage}", *norm], f"b{stage}"),
                  onnx.node("Relu", [f"b{stage}"], f"x{stage}")]
        weights.append(onnx.floats(f"{name}.conv.weight", [4, 4, 3, 3], numbers(144, 40 + stage)))
        weights += [onnx.floats(part, [4], [value] * 4) for part, value in zip(norm, (1.0, 0.0, 0.1, 0.5))]
    nodes += [onnx.node("Flatten", ["x4"], "flat"), onnx.node("Gemm", ["flat", "fc.weight"], "y", transB=1)]
    weights.append(onnx.floats("fc.weight", [7, 256], numbers(7 * 256, 50)))
    return onnx.model(nodes, weights, [onnx.value("photo", ["n", 3, 32, 32])], [onnx.value("y", ["n", 7])])


def trunk(side=SIDE, last="Softmax"):
    """Convolution, batch norm, relu, a scale that is no weight, a pool, and a classifier of five."""
    return onnx.model(
        [onnx.node("Conv", ["photo", "conv1.weight", "conv1.bias"], "c", kernel_shape=[3, 3],
                   pads=[1, 1, 1, 1]),
         onnx.node("BatchNormalization", ["c", "bn.weight", "bn.bias", "bn.mean", "bn.var"], "b"),
         onnx.node("Relu", ["b"], "r"),
         onnx.node("Mul", ["r", "gamma"], "scaled"),
         onnx.node("GlobalAveragePool", ["scaled"], "pooled"),
         onnx.node("Flatten", ["pooled"], "flat"),
         onnx.node("Gemm", ["flat", "fc.weight", "fc.bias"], "logits", transB=1),
         onnx.node(last, ["logits"], "probabilities")],
        [onnx.floats("conv1.weight", [FILTERS, CHANNELS, 3, 3], numbers(FILTERS * CHANNELS * 9, 1)),
         onnx.floats("conv1.bias", [FILTERS], numbers(FILTERS, 2)),
         onnx.floats("bn.weight", [FILTERS], numbers(FILTERS, 3, 0.5, 2)),
         onnx.floats("bn.bias", [FILTERS], numbers(FILTERS, 4)),
         onnx.floats("bn.mean", [FILTERS], numbers(FILTERS, 5)),
         onnx.floats("bn.var", [FILTERS], numbers(FILTERS, 6, 0.5, 2)),
         onnx.floats("gamma", [FILTERS, 1, 1], numbers(FILTERS, 7, 0.5, 2)),
         onnx.floats("fc.weight", [5, FILTERS], numbers(5 * FILTERS, 8)),
         onnx.floats("fc.bias", [5], numbers(5, 9))],
        [onnx.value("photo", ["n", CHANNELS, side, side])],
        [onnx.value("probabilities", ["n", 5])])


MODEL = """cgrun: 1
model: tuned
data:
  train: {format: synthetic, samples: 65, classes: 3}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [2, 4, 4]}
  label: {type: int32, shape: []}
networks:
  trunk: {onnx: trunk.onnx, outputs: [flat]}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - features: {network: trunk, in: pixels}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
    out: [logits, features]
train:
  epochs: 2
  batch: 20
  optimizer: {op: sgd, lr: 0.5}
"""
BATCH_NORM = ("scale", "shift", "running_mean", "running_var")


class OnnxNetworkTest(CliTestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "trunk.onnx").write_bytes(trunk())
        self.write("m.yaml", MODEL)

    def test_a_search_begins_each_trial_with_the_weights_of_the_file(self):
        self.write("m.yaml", MODEL.replace("samples: 65, classes: 3}", "samples: 65, classes: 3}\n  valid: {split: 0.2}")
                   .replace("outputs: [flat]", "outputs: [flat], frozen: true"))
        self.write("s.yaml", "cgrun: 1\nmodel: m.yaml\nmetric: {name: accuracy}\nmethod: grid\nkeep: 2\n"
                             "parameters: {train.optimizer.lr: [0.1, 0.5]}\n")
        self.cgrun("search", "s.yaml", "--jobs", 1)
        self.cgrun("train", "m.yaml", "--out", "alone", "--threads", 1)
        trials = [self.tensors(f"searches/s/trials/{i}/best.safetensors") for i in (1, 2)]
        alone = self.tensors("alone/best.safetensors")
        for name, content in alone.items():
            if name.startswith("trunk."):
                self.assertEqual([trial[name] for trial in trials], [content, content], name)
        self.assertNotEqual(trials[0]["classify.logits.weight"], trials[1]["classify.logits.weight"])

    def test_an_ensemble_has_the_networks_of_its_members(self):
        self.write("m.yaml", MODEL.replace("samples: 65, classes: 3}", "samples: 65, classes: 3}\n  valid: {split: 0.2}"))
        self.write("s.yaml", "cgrun: 1\nmodel: m.yaml\nmetric: loss\nmethod: grid\nkeep: 2\nensemble: {top: 2}\n"
                             "parameters: {train.optimizer.lr: [0.1, 0.5]}\n")
        self.cgrun("search", "s.yaml")
        (self.folder / "trunk.onnx").unlink()  # what a run has is enough
        count = 6
        pixels = bytes(random.Random(1).randrange(256) for _ in range(count * 2 * SIDE * SIDE))
        (self.folder / "x.npy").write_bytes(npy([count, 2, SIDE, SIDE], pixels))
        rows = []
        for folder in ("ensemble", "trials/1", "trials/2"):
            self.cgrun("predict", f"searches/s/{folder}/model.yaml", "x.npy", "--weights", f"searches/s/{folder}",
                       "--out", "out")
            logits = read_npy(self.folder / "out/logits.npy")[1]
            rows.append([math.exp(number) for number in logits])
        for i in range(0, count * 3, 3):
            shares = [[number / sum(row[i:i + 3]) for number in row[i:i + 3]] for row in rows]
            for together, *alone in zip(*shares):
                self.assertAlmostEqual(together, sum(alone) / 2, delta=1e-6)
            self.assertNotEqual(shares[1], shares[2])

    def with_network(self, keys):
        self.write("m.yaml", MODEL.replace("outputs: [flat]", "outputs: [flat], " + keys))

    def tensors(self, file):
        header, data = read_safetensors(self.folder / file)
        header.pop("__metadata__", None)
        return {name: data[slice(*tensor["data_offsets"])] for name, tensor in header.items()}

    def changed(self, run="runs/tuned"):
        """Returns the names of the trunk's parameters that training changed."""
        folder = self.folder / run
        last = max(folder.glob("checkpoint-*.safetensors"),
                   key=lambda file: int(file.stem.partition("-")[2]))
        first, after = self.tensors(f"{run}/checkpoint-0.safetensors"), self.tensors(last)
        self.assertEqual(first.keys(), after.keys())
        self.assertTrue(any(first[name] != after[name] for name in first), "nothing was trained")
        return {name.removeprefix("trunk.") for name in first
                if name.startswith("trunk.") and first[name] != after[name]}

    def layers(self):
        listed = json.loads(self.cgrun("summary", "m.yaml", "--json").stdout)["layers"]
        return {layer["name"].rpartition(".")[2]: (layer["parameters"], layer["trained"])
                for layer in listed}

    def test_every_verb_takes_it(self):
        for verb in ("plan", "summary", "graph", "check"):
            self.cgrun(verb, "m.yaml")
        self.cgrun("bench", "m.yaml", "--rounds", "1", "--limit-batches", "1")
        self.cgrun("compile", "m.yaml", "-o", "m.cgb")
        told = self.cgrun("train", "m.yaml", "--out", "run").stderr
        self.assertIn("weights of networks: trunk.onnx\n", told)
        self.cgrun("train", "m.cgb", "--out", "compiled")
        for name, bits in self.tensors("run/checkpoint-8.safetensors").items():
            self.assertEqual(self.tensors("compiled/checkpoint-8.safetensors")[name], bits, name)
        self.cgrun("eval", "m.yaml", "--weights", "run")
        self.cgrun("eval", "m.cgb", "--weights", "run")

    def test_a_cut_leaves_out_what_follows(self):
        def trunk_layers(output):
            self.write("m.yaml", MODEL.replace("outputs: [flat]", f"outputs: [{output}]").replace(
                "- logits", "- flatten\n      - logits"))
            listed = json.loads(self.cgrun("summary", "m.yaml", "--json").stdout)["layers"]
            return [layer["op"] for layer in listed if ".features." in layer["name"]]
        whole = ["conv", "batch_norm", "relu", "mul", "global_avg_pool", "flatten", "linear"]
        for output, count in (("logits", 7), ("flat", 6), ("Relu_r", 3), ("c", 1)):
            found = [op for op in trunk_layers(output) if op not in ("parameter", "reshape")]
            self.assertEqual(found, whole[:count], output)

    def test_layers_learn_and_constants_do_not(self):
        layers = self.layers()
        self.assertEqual(layers["conv1"], (57, 57))
        self.assertEqual(layers["bn"], (6, 0))
        self.assertEqual(layers["gamma"], (3, 0))
        self.assertEqual(layers["logits"], (12, 12))
        self.cgrun("train", "m.yaml")
        self.assertEqual(self.changed(), {"conv1.weight", "conv1.bias"})

    def test_summary_counts_what_is_trained(self):
        self.with_network("frozen: true")
        lines = self.cgrun("summary", "m.yaml").stdout.splitlines()
        self.assertRegex(lines[2], r"parameters +trained +FLOPs")
        self.assertRegex(lines[-1], r"total +78 +12 ")
        self.write("m.yaml", MODEL.replace(", outputs: [flat]", "").replace("[logits, features]",
                                                                           "logits"))
        self.assertRegex(self.cgrun("summary", "m.yaml").stdout.splitlines()[-1], "total +104 +95 ")

    def test_a_frozen_trunk_gives_what_the_model_gives(self):
        self.with_network("frozen: true")
        self.cgrun("train", "m.yaml", "--out", "run")
        self.assertEqual(self.changed("run"), set())
        pixels = [random.Random(5).randrange(256) for _ in range(6 * CHANNELS * SIDE * SIDE)]
        shape = (6, CHANNELS, SIDE, SIDE)
        (self.folder / "x.npy").write_bytes(npy_of_floats(shape, [p / 255 for p in pixels]))
        self.write("pixels.yaml", MODEL.replace("outputs: [flat]", "outputs: [flat], frozen: true")
                   .replace("uint8", "f32").replace("scale: 1/255", "scale: 1"))
        self.cgrun("predict", "pixels.yaml", "x.npy", "--weights", "run", "--out", "tuned")
        (self.folder / "cut.onnx").write_bytes(trunk(last="Identity"))
        self.write("cut.yaml", "cgrun: 1\ninputs: {image: {shape: [2, 4, 4]}}\n"
                   "networks: {trunk: {onnx: trunk.onnx, outputs: [flat]}}\n"
                   "paths: {p: {mode: forward, ops: [flat: {network: trunk, in: image}], "
                   "out: flat}}\n")
        self.cgrun("predict", "cut.yaml", "x.npy", "--out", "cut")
        self.cgrun("predict", "cut.onnx", "x.npy", "--out", "whole")
        found = list(read_npy(self.folder / "tuned/features.npy")[1])
        self.assertEqual(list(read_npy(self.folder / "cut/flat.npy")[1]), found)
        logits = list(read_npy(self.folder / "whole/probabilities.npy")[1])
        weight, bias = numbers(5 * FILTERS, 8), numbers(5, 9)
        for n in range(6):
            for unit in range(5):
                wanted = bias[unit] + sum(found[FILTERS * n + k] * weight[FILTERS * unit + k]
                                          for k in range(FILTERS))
                self.assertTrue(math.isclose(logits[5 * n + unit], wanted, abs_tol=1e-5))

    def test_names_say_what_learns(self):
        for keys, learns in (
                ("train: bn", {"conv1.weight", "conv1.bias", "bn.scale", "bn.shift"}),
                # The batch's own statistics take away what the bias before them adds.
                ("train: [bn, '*.running_*']", {"conv1.weight", *("bn." + t for t in BATCH_NORM)}),
                ("frozen: conv1.bias", {"conv1.weight"}),
                ("frozen: true, train: [gamma, bn.scale]", {"gamma.value", "bn.scale"}),
                ("frozen: ['conv*'], train: '*.shift'", {"bn.shift"}),
                ("frozen: false", {"conv1.weight", "conv1.bias"})):
            self.with_network(keys)
            self.cgrun("train", "m.yaml", "--force")
            self.assertEqual(self.changed(), learns, keys)

    def test_one_of_equal_stages_may_learn(self):
        (self.folder / "trunk.onnx").write_bytes(stages())
        self.write("m.yaml", MODEL.replace("[2, 4, 4]", "[3, 32, 32]").replace(
            "outputs: [flat]", "outputs: [flat], frozen: true, train: ['layer3*']").replace("lr: 0.5", "lr: 0.001"))
        self.cgrun("train", "m.yaml")
        self.assertEqual(self.changed(), {"layer3_conv.weight", "layer3_bn.scale", "layer3_bn.shift"})
        learn = [layer for layer, (_, trained) in self.layers().items() if trained]
        self.assertEqual(learn, ["layer3_conv", "layer3_bn", "logits"])

    def test_a_run_needs_no_file_of_onnx(self):
        self.with_network("frozen: bn")
        self.cgrun("train", "m.yaml", "--out", "whole", "--set", "train.epochs=4")
        self.cgrun("train", "m.yaml", "--out", "parts")
        (self.folder / "trunk.onnx").rename(self.folder / "away.onnx")
        self.cgrun("train", "--resume", "parts", "--set", "train.epochs=4")
        for name, bits in self.tensors("whole/checkpoint-16.safetensors").items():
            self.assertEqual(self.tensors("parts/checkpoint-16.safetensors")[name], bits, name)
        self.cgrun("eval", "parts/model.yaml", "--weights", "parts")
        home, self.folder = self.folder, self.folder / "elsewhere"
        self.folder.mkdir()
        self.cgrun("eval", "../parts/model.yaml", "--weights", "../parts")
        self.folder = home
        self.cgrun("export", "parts", "-o", "tuned.onnx")
        (self.folder / "x.npy").write_bytes(npy_of_floats((3, 2, 4, 4), [1.0] * 96))
        self.cgrun("predict", "parts/model.yaml", "x.npy", "--weights", "parts", "--out", "ours")
        self.cgrun("predict", "tuned.onnx", "x.npy", "--out", "theirs")
        for ours, theirs in zip(read_npy(self.folder / "ours/logits.npy")[1],
                                read_npy(self.folder / "theirs/logits.npy")[1]):
            self.assertTrue(math.isclose(ours, theirs, abs_tol=1e-5))
        self.cgrun("train", "parts/model.yaml", "--weights", "parts", "--out", "next")
        told = self.refuses("train", "parts/model.yaml", "--out", "again")
        self.assertIn("trunk.onnx': No such file", told)
        self.assertIn("--weights begins with those of a run", told)

    def test_a_run_resumes_by_its_model_file(self):
        self.cgrun("train", "m.yaml", "--out", "run")
        self.cgrun("train", "m.yaml", "--resume", "run", "--set", "train.epochs=3")
        (self.folder / "files").mkdir()
        (self.folder / "trunk.onnx").rename(self.folder / "files/moved.onnx")
        self.write("m.yaml", MODEL.replace("trunk.onnx", "files/moved.onnx"))
        self.cgrun("train", "m.yaml", "--resume", "run", "--set", "train.epochs=4")
        self.assertNotIn("differs", self.cgrun("eval", "m.yaml", "--weights", "run").stderr)
        self.write("m.yaml", MODEL.replace("trunk.onnx, ", "files/moved.onnx, frozen: true, "))
        self.assertIn("frozen", self.refuses("train", "m.yaml", "--resume", "run"))

    def test_weights_replace_those_of_onnx(self):
        self.cgrun("train", "m.yaml", "--out", "run")
        self.cgrun("train", "m.yaml", "--weights", "run", "--out", "next")
        first = self.tensors("next/checkpoint-0.safetensors")
        for name, bits in self.tensors("run/checkpoint-8.safetensors").items():
            if ":" not in name:  # counters are the run's own
                self.assertEqual(first[name], bits, name)

    def test_untrained_heads_are_told(self):
        told = self.refuses("eval", "m.yaml")
        self.assertIn("trunk.onnx does not have all parameters of this model:", told)
        self.assertIn("classify.logits.weight: not in the file", told)
        self.assertIn("`cgrun train m.yaml` trains them", told)

    def test_several_networks_with_several_values(self):
        self.write("m.yaml", MODEL.replace(
            "  trunk: {onnx: trunk.onnx, outputs: [flat]}",
            "  trunk: {onnx: trunk.onnx, outputs: [Flatten_flat, pooled], frozen: true}\n"
            "  head: {onnx: head.onnx, in: numbers}").replace(
                "- features: {network: trunk, in: pixels}",
                "- {network: trunk, in: pixels, out: [features, map]}\n"
                "      - {network: head, in: features}"))
        (self.folder / "head.onnx").write_bytes(onnx.model(
            [onnx.node("MatMul", ["numbers", "w.weight"], "y")],
            [onnx.floats("w.weight", [FILTERS, 4], numbers(FILTERS * 4, 20))],
            [onnx.value("numbers", ["n", FILTERS])], [onnx.value("y", ["n", 4])]))
        self.cgrun("train", "m.yaml", "--out", "run")
        first = self.tensors("run/checkpoint-0.safetensors")
        self.assertEqual({name for name in first if name.startswith("head.")}, {"head.y.weight"})
        self.assertEqual(self.changed("run"), set())

    def test_mistakes(self):
        def told(keys):
            self.write("m.yaml", MODEL.replace("onnx: trunk.onnx, outputs: [flat]", keys))
            return self.refuses("train", "m.yaml")
        self.assertIn("did you mean 'flat'?", told("onnx: trunk.onnx, outputs: [flta]"))
        self.assertIn("its last values are", told("onnx: trunk.onnx, outputs: [unheard_of]"))
        self.assertIn("m.yaml:10:17: error: ", told("onnx: truncated.onnx"))
        self.assertIn("did you mean 'conv1'?", told("onnx: trunk.onnx, frozen: conv2"))
        self.assertIn("'frozen' goes with `onnx`", told("in: x, ops: [flatten], frozen: true"))
        self.assertIn("`out` names the outputs", told("in: x, ops: [flatten], outputs: y"))
        self.assertIn("'trunk' needs 'ops'", told("in: x"))
        self.assertIn("does not name the input 'photo'", told("onnx: trunk.onnx, in: []"))
        self.assertIn("has no input 'image'", told("onnx: trunk.onnx, in: image"))
        self.assertIn("must be a map", told("onnx: trunk.onnx, dims: 3"))
        (self.folder / "sized.onnx").write_bytes(trunk(side="side"))
        self.assertIn("`dims: {NAME: N}`", told("onnx: sized.onnx, outputs: [flat]"))
        self.write("m.yaml", MODEL.replace("trunk.onnx", "sized.onnx").replace(
            "[flat]", "[flat], dims: {side: 4}"))
        self.cgrun("train", "m.yaml", "--limit-batches", "1")

    def test_no_copy_of_the_weights_stays(self):
        if SANITIZED:
            self.skipTest("a sanitizer has memory of its own")
        rows, columns = 512, 8192  # 16 MiB, which the file has transposed
        weight = (onnx.field(1, columns) + onnx.field(1, rows) + onnx.field(2, onnx.FLOAT) +
                  onnx.field(8, "w") + onnx.field(9, struct.pack("<f", 0.001) * (rows * columns)))
        (self.folder / "trunk.onnx").write_bytes(onnx.model(
            [onnx.node("MatMul", ["x", "w"], "flat")], [weight], [onnx.value("x", ["n", columns])],
            [onnx.value("flat", ["n", rows])]))
        text = MODEL.replace("- features", f"- flatten\n      - {{op: linear, units: {columns}}}\n"
                             "      - features").replace("in: pixels}", "in: wide}").replace(
                                 "- {op: linear", "- wide: {op: linear")
        self.write("m.yaml", text)
        taken = self.watched("train", "m.yaml", "--limit-batches", "1").most_anonymous
        own = "trunk: {in: x, ops: [{op: linear, units: 512, bias: false}]}"
        self.write("m.yaml", text.replace("trunk: {onnx: trunk.onnx, outputs: [flat]}", own))
        without = self.watched("train", "m.yaml", "--limit-batches", "1", "--force").most_anonymous
        self.assertGreater(without, 16 << 20)
        self.assertLess(taken, without + (4 << 20))

    def test_the_schema_agrees(self):
        try:
            import jsonschema  # pylint: disable=import-outside-toplevel
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            self.skipTest(f"{error}: Debian's packages python3-jsonschema and python3-yaml have it")
        schema = jsonschema.Draft7Validator(json.loads(self.cgrun("ops", "--schema").stdout))
        cut = "onnx: trunk.onnx, outputs: [flat]"
        for keys, fits in ((cut, True), ("onnx: trunk.onnx", True), (cut + ", in: photo", True),
                           (cut + ", frozen: true, train: [bn, 'conv1.*']", True),
                           (cut + ", frozen: , dims: {}, constants: {}", True),
                           (cut + ", ops: , out: ", True), ("onnx: , in: x, ops: [flatten]", True),
                           (cut + ", dims: {side: 0}", False), (cut + ", dims: 4", False),
                           (cut + ", out: y", False), ("in: x", False), ("in: , ops: []", False),
                           (cut + ", layers: 3", False),
                           ("in: x, ops: [flatten], outputs: y", False),
                           ("in: x, ops: [flatten], train: '*'", False)):
            text = MODEL.replace("onnx: trunk.onnx, outputs: [flat]", keys)
            self.write("m.yaml", text)
            self.cgrun("plan", "m.yaml", status=0 if fits else 2)
            self.assertEqual(schema.is_valid(yaml.safe_load(text)), fits, keys)
        self.write("m.yaml", MODEL)
        self.cgrun("train", "m.yaml", "--out", "run")
        text = (self.folder / "run/model.yaml").read_text()
        of_run = yaml.safe_load(text.replace("1e-05", "0.00001"))  # a number with a point for YAML 1.1
        self.assertEqual([*schema.iter_errors(of_run)], [])

    def test_what_has_no_gradient_is_named(self):
        (self.folder / "trunk.onnx").write_bytes(onnx.model(
            [onnx.node("Gemm", ["x", "fc.weight"], "a", transB=1), onnx.node("Hardmax", ["a"], "up")],
            [onnx.floats("fc.weight", [3, 32], numbers(96, 30))],
            [onnx.value("x", ["n", 32])], [onnx.value("up", ["n", 3])]))
        self.write("m.yaml", MODEL.replace("outputs: [flat]", "outputs: [up]").replace(
            "- features", "- flat: flatten\n      - features").replace("in: pixels}", "in: flat}"))
        told = self.cgrun("train", "m.yaml").stderr
        self.assertIn("m.yaml:10:17: warning: the loss of path 'classify' gives trunk.fc.weight no gradient\n", told)
        self.assertIn("none flows through 'one_hot' (classify.features.up)", told)
        self.assertEqual(self.changed(), set())

    def test_the_page_about_fine_tuning(self):
        page = (ROOT / "docs/how-to/onnx-fine-tune.md").read_text()
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
        (self.folder / "trunk.onnx").write_bytes(stages())
        for part in ("train", "test"):
            for sign in range(10):
                folder = self.folder / "photos" / part / str(sign)
                folder.mkdir(parents=True)
                colours = bytes(random.Random(sign).randbytes(3 * 1024))
                (folder / "1.png").write_bytes(png(32, 32, colours))
        shutil.copy(self.folder / "photos/test/3/1.png", self.folder / "photo.jpg")
        models = [block for kind, block in blocks if kind == "yaml"]
        commands = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
        self.assertEqual((len(models), len(commands)), (2, 4))
        self.write("signs.yaml", models[0])
        for command in commands:
            self.cgrun(*command.split("  #")[0].split()[1:])
        _, before, after = models[0].partition("networks:\n")
        own = after.partition("paths:")[0]
        for network in models[1].splitlines()[1:]:
            self.assertIn("onnx: trunk.onnx", network)
            self.assertIn(before + own, models[0])
            renamed = "  trunk" + network[network.index(":"):].partition("  #")[0] + "\n"
            self.write("signs.yaml", models[0].replace(before + own, before + renamed))
            self.cgrun("train", "signs.yaml", "--force", "--set", "train.epochs=1")
        self.write("signs.yaml", models[0])
        header = next(block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
                      if "trained" in block and not kind)
        self.assertEqual(header.split(), self.cgrun("summary", "signs.yaml").stdout.splitlines()[2].split())

    def test_an_onnx_file_itself_is_refused(self):
        told = self.refuses("train", "trunk.onnx")
        self.assertIn("`networks: {trunk: {onnx: trunk.onnx, outputs: [VALUE]}}`", told)


if __name__ == "__main__":
    unittest.main()
