#!/usr/bin/env python3
"""`--weights`: what a run takes of another one's file, and what it says of the rest."""

import array
import json
import struct
import unittest

from cli_testing import MODEL, SANITIZED, CliTestCase, read_safetensors

ADAM = MODEL.replace("{op: sgd, lr: 0.05, momentum: 0.9}", "{op: adam, lr: 0.01}")


def tensors(file):
    """The tensors of a safetensors file, as bytes by name."""
    header, data = read_safetensors(file)
    header.pop("__metadata__", None)
    return {name: data[slice(*tensor["data_offsets"])] for name, tensor in header.items()}


class FineTuningTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("adam.yaml", ADAM)
        self.cgrun("train", "adam.yaml", "--out", "run", "--quiet")

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def test_an_optimizer_begins_anew(self):
        last = tensors(self.folder / "run/checkpoint-8.safetensors")
        self.assertTrue(any(last["classify.logits.weight.m"]), "nothing to leave behind")
        done = self.cgrun("train", "adam.yaml", "--weights", "run", "--out", "next")
        first = tensors(self.folder / "next/checkpoint-0.safetensors")
        self.assertEqual(first["classify.logits.weight"], last["classify.logits.weight"])
        for name in ("classify.logits.weight.m", "classify.logits.weight.v"):
            self.assertFalse(any(first[name]), name)
        self.assertIn("weights: 2 tensors loaded from run/checkpoint-8.safetensors\n"
                      "  loaded              classify.logits (bias, weight)\n"
                      "  skipped, of a run   classify.logits.bias (m, v), classify.logits.weight "
                      "(m, v)\n", done.stderr)

    def converted(self, kind, code):
        """The weights of the run as another type, in a file, and as f32 has them then."""
        found = {name: struct.unpack(f"<{len(data) // 4}f", data)
                 for name, data in tensors(self.folder / "run/checkpoint-8.safetensors").items()
                 if name in ("classify.logits.weight", "classify.logits.bias")}
        header, body, read = {}, b"", {}
        for name, numbers in found.items():
            if kind == "BF16":
                data = b"".join(struct.pack("<f", number)[2:] for number in numbers)
                numbers = [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0]
                           for i in range(0, len(data), 2)]
            else:
                numbers = [number * 1.000000001 for number in numbers]
                data = struct.pack(f"<{len(numbers)}{code}", *numbers)
                numbers = struct.unpack(f"<{len(numbers)}{code}", data)
            shape = [3, 16] if name.endswith("weight") else [3]
            header[name] = {"dtype": kind, "shape": shape,
                            "data_offsets": [len(body), len(body) + len(data)]}
            body += data
            read[name] = struct.pack(f"<{len(numbers)}f", *numbers)
        text = json.dumps(header).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
        return read

    def test_weights_of_other_types_are_converted(self):
        for kind, code, note in (("F16", "e", "2 tensors of f16 were converted to f32"),
                                 ("F64", "d", "2 tensors of f64 were rounded to f32"),
                                 ("BF16", "", "2 tensors of bf16 were converted to f32")):
            read = self.converted(kind, code)
            done = self.cgrun("train", "adam.yaml", "--weights", "w.safetensors", "--out", kind)
            self.assertIn(f"note: {note}\n", done.stderr)
            first = tensors(self.folder / kind / "checkpoint-0.safetensors")
            for name, data in read.items():
                self.assertEqual(first[name], data, (kind, name))
            done = self.cgrun("eval", "adam.yaml", "--weights", "w.safetensors")
            self.assertIn(f"note: {note}\n", done.stderr)

    def written(self, kind, code, number):
        """Weights of such a type whose bias is such a number."""
        bias, weight = struct.pack(f"<3{code}", number, 0, 0), struct.pack(f"<48{code}", *[0.5] * 48)
        header = {"classify.logits.bias": {"dtype": kind, "shape": [3], "data_offsets": [0, len(bias)]},
                  "classify.logits.weight": {"dtype": kind, "shape": [3, 16],
                                             "data_offsets": [len(bias), len(bias + weight)]}}
        text = json.dumps(header).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bias + weight)

    def test_a_number_that_is_too_large_is_refused(self):
        self.written("F64", "d", 1e300)
        for arguments in (("eval",), ("train", "--out", "large")):
            error = self.refuses(arguments[0], "adam.yaml", "--weights", "w.safetensors", *arguments[1:])
            self.assertIn("'w.safetensors' holds 1e+300 in tensor 'classify.logits.bias', which is too "
                          "large for f32", error)

    def test_weights_that_are_not_finite_are_named(self):
        said = "'w.safetensors' holds NaN or infinite numbers in tensor 'classify.logits.bias': "
        for kind, code in (("F32", "f"), ("F16", "e"), ("F64", "d")):
            self.written(kind, code, float("nan"))
            done = self.cgrun("eval", "adam.yaml", "--weights", "w.safetensors")
            self.assertIn(said, done.stderr, kind)
            self.assertIn("is not finite, as the weights are not\n", done.stderr, kind)
            self.assertNotIn("reads its data", done.stderr, kind)
        done = self.cgrun("train", "adam.yaml", "--weights", "w.safetensors", "--out", "next", status=1)
        self.assertIn(said, done.stderr)

    @unittest.skipIf(SANITIZED, "the memory of a sanitizer is in no plan")
    def test_a_conversion_stays_within_the_plan(self):
        wide = MODEL.replace("- logits: {", "- {op: linear, units: 2048}\n      - {op: linear, units: 1024}\n"
                             "      - logits: {")
        self.write("wide.yaml", wide)
        self.cgrun("train", "wide.yaml", "--out", "wide", "--quiet", "--limit-batches", "1", "--set", "train.epochs=1")
        header, body = {}, b""
        for name, data in tensors(self.folder / "wide/checkpoint-1.safetensors").items():
            if not name.startswith("classify.") or name.endswith(".momentum"):
                continue
            shape = {"weight": {2048 * 16: [2048, 16], 1024 * 2048: [1024, 2048], 3 * 1024: [3, 1024]},
                     "bias": {n: [n] for n in (2048, 1024, 3)}}[name.split(".")[-1]][len(data) // 4]
            numbers = array.array("d", array.array("f", data)).tobytes()
            header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(body), len(body) + len(numbers)]}
            body += numbers
        text = json.dumps(header).encode()
        (self.folder / "wide.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
        done = self.cgrun("train", "wide.yaml", "--weights", "wide.safetensors", "--out", "next",
                          "--limit-batches", "1", "--set", "train.epochs=1")
        self.assertIn("6 tensors of f64 were rounded", done.stderr)
        self.assertGreater(len(body), 2**24, "no copy that would be seen")
        summary = self.summary("next")
        self.assertLessEqual(summary["measured_peak_bytes"], summary["planned_peak_bytes"])

    def test_what_is_not_in_the_file_is_told_with_quiet_too(self):
        layer = "      - {op: linear, units: 5}\n      - logits"
        self.write("wider.yaml", ADAM.replace("      - logits", layer).replace("logits:", "scores:")
                   .replace("[logits,", "[scores,"))
        error = self.refuses("train", "wider.yaml", "--weights", "run", "--out", "none")
        self.assertIn("nothing in run/checkpoint-8.safetensors fits this model", error)
        self.write("longer.yaml", ADAM.replace("      - logits", "      - {op: linear, units: 16}\n"
                                               "      - logits"))
        done = self.cgrun("train", "longer.yaml", "--weights", "run", "--out", "longer", "--quiet")
        self.assertIn("warning: run/checkpoint-8.safetensors does not have all of this model, which "
                      "keeps its initial values for:\n      classify.linear[0] (weight, bias)\n",
                      done.stderr)
        weights = self.summary("longer")["initial_weights"]
        self.assertEqual(weights["file"], "run/checkpoint-8.safetensors")
        self.assertEqual(weights["loaded"], ["classify.logits.bias", "classify.logits.weight"])
        self.assertEqual(weights["not_in_file"],
                         ["classify.linear[0].weight", "classify.linear[0].bias"])
        self.assertNotIn("initial_weights", self.summary("run"))

    def test_another_shape_is_a_warning_and_another_name_is_listed(self):
        self.write("more.yaml", ADAM.replace("units: 3", "units: 4").replace("classes: 3", "classes: 4"))
        error = self.refuses("train", "more.yaml", "--weights", "run", "--out", "none")
        self.assertIn("classify.logits.weight: f32[3, 16] in the file, f32[4, 16] in the model", error)
        self.write("renamed.yaml", ADAM.replace("classify:", "sort:"))
        self.assertIn("nothing in", self.refuses("train", "renamed.yaml", "--weights", "run"))


if __name__ == "__main__":
    unittest.main()
