#!/usr/bin/env python3
"""`cgrun export`: a trained model becomes an ONNX model, which `cgrun import` reads."""

import json
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, npy, read_npy

# A running sum of what is read.
SUMS = """cgrun: 1
model: sums
inputs: {x: {shape: [2]}, sum: {shape: [2]}, y: {shape: [2]}}
paths:
  p:
    ops:
      - now: {op: add, in: [x, sum]}
      - z: {op: linear, units: 2}
    loss: {op: squared_error, in: [z, y]}
update: {now: sum}
data: {train: {format: synthetic, samples: 8}}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.1}}
"""


class ExportTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", MODEL)
        self.cgrun("train", "small.yaml", "--out", "runs/small", "--quiet")

    def test_an_exported_model_predicts_the_same(self):
        out = self.cgrun("export", "small.yaml", "-o", "m.onnx").stdout
        self.assertEqual(out, "m.onnx: 4 nodes, 51 weights, opset 7, IR version 3\n"
                              "input:  image uint8[batch, 1, 4, 4]\n"
                              "output: logits float[batch, 3]\n")
        self.cgrun("import", "m.onnx", "-o", "again.yaml")
        (self.folder / "x.npy").write_bytes(npy((5, 1, 4, 4), bytes(range(80))))
        self.cgrun("predict", "small.yaml", "x.npy", "--out", "before")
        self.cgrun("predict", "again.yaml", "x.npy", "--out", "after")
        before, after = (read_npy(self.folder / name / "logits.npy") for name in ("before", "after"))
        self.assertEqual(tuple(before[0]), (5, 3))
        self.assertEqual(before[0], after[0])
        for wanted, found in zip(before[1], after[1]):
            self.assertAlmostEqual(wanted, found, delta=1e-6)
        self.assertGreater(max(map(abs, before[1])), 0.01)

    def test_a_run_stands_for_its_model_and_its_weights(self):
        self.cgrun("export", "small.yaml", "-o", "a.onnx")
        self.cgrun("export", "runs/small", "-o", "b.onnx")
        self.assertEqual((self.folder / "a.onnx").read_bytes(), (self.folder / "b.onnx").read_bytes())
        self.cgrun("export", "runs/small")
        self.assertEqual((self.folder / "a.onnx").read_bytes(),
                         (self.folder / "small.onnx").read_bytes())
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        self.cgrun("export", "small.cgb", "-o", "c.onnx")
        self.assertEqual((self.folder / "a.onnx").read_bytes(), (self.folder / "c.onnx").read_bytes())

    def test_an_onnx_model_is_written_anew(self):
        self.cgrun("export", "small.yaml", "-o", "m.onnx")
        out = self.cgrun("export", "m.onnx", "-o", "late.onnx", "--opset", 20, "--batch", 2).stdout
        self.assertIn("opset 20, IR version 9\ninput:  image uint8[2, 1, 4, 4]\n", out)
        (self.folder / "x.npy").write_bytes(npy((2, 1, 4, 4), bytes(range(32))))
        self.cgrun("predict", "m.onnx", "x.npy", "--out", "before")
        self.cgrun("predict", "late.onnx", "x.npy", "--out", "after")
        before, after = (read_npy(self.folder / name / "logits.npy") for name in ("before", "after"))
        self.assertEqual(before, after)
        self.write("m.yaml", "")
        error = self.refuses("export", "m.onnx", "-o", "./m.onnx", "--force")
        self.assertIn("what is read", error)

    def test_files_that_exist_stay(self):
        self.write("m.onnx", "")
        self.assertIn("'m.onnx' exists, so it is not replaced",
                      self.refuses("export", "small.yaml", "-o", "m.onnx"))
        self.cgrun("export", "small.yaml", "-o", "m.onnx", "--force")
        self.write("notes.txt", "mine\n")
        self.assertIn("is not an ONNX model",
                      self.refuses("export", "small.yaml", "-o", "notes.txt", "--force"))
        self.assertIn("what is read",
                      self.refuses("export", "small.yaml", "-o", "small.yaml", "--force"))
        self.assertIn("there is no folder",
                      self.refuses("export", "small.yaml", "-o", "nowhere/m.onnx"))

    def test_many_weights_lie_beside_the_model(self):
        wide = MODEL.replace("- {op: flatten}", "- {op: flatten}\n      - {op: linear, units: 32}")
        self.write("wide.yaml", wide.replace("model: small", "model: wide"))
        self.cgrun("train", "wide.yaml", "--quiet")
        out = self.cgrun("export", "wide.yaml", "--inline", "1k").stdout
        self.assertIn("weights in wide.onnx.data, opset 7, IR version 4", out)
        (self.folder / "wide.onnx").unlink()
        self.assertIn("'wide.onnx.data' exists",
                      self.refuses("export", "wide.yaml", "--inline", "1k"))
        self.assertFalse((self.folder / "wide.onnx").exists())
        self.cgrun("export", "wide.yaml", "--inline", "1k", "--force")
        self.cgrun("import", "wide.onnx", "-o", "again.yaml")
        (self.folder / "x.npy").write_bytes(npy((1, 1, 4, 4), bytes(range(16))))
        self.cgrun("predict", "wide.yaml", "x.npy", "--out", "before")
        self.cgrun("predict", "again.yaml", "x.npy", "--out", "after")
        before, after = (read_npy(self.folder / name / "logits.npy")[1]
                         for name in ("before", "after"))
        for wanted, found in zip(before, after):
            self.assertAlmostEqual(wanted, found, delta=1e-6)
        for wrong in ("2GiB", "many", "-1"):
            self.assertIn("no size of at most 1 GiB",
                          self.refuses("export", "wide.yaml", f"--inline={wrong}", "--force"))

    def test_batch_opset_and_path(self):
        out = self.cgrun("export", "small.yaml", "--batch", 4, "--opset", 17).stdout
        self.assertIn("opset 17, IR version 8\ninput:  image uint8[4, 1, 4, 4]\n"
                      "output: logits float[4, 3]\n", out)
        self.write("two.yaml", MODEL.replace("  classify:\n    ops:\n      - pixels: {op: normalize, "
                                             "in: image, scale: 1/255}\n",
                                             "  prepare:\n    mode: forward\n    ops:\n"
                                             "      - pixels: {op: normalize, in: image, scale: 1/255}"
                                             "\n  classify:\n    ops:\n").replace("{op: flatten}",
                                                                                "{op: flatten, in: "
                                                                                "pixels}"))
        out = self.cgrun("export", "two.yaml", "-o", "two.onnx", "--path", "prepare", "--weights",
                         "runs/small").stdout
        self.assertIn("two.onnx: 2 nodes, 0 weights, opset 7, IR version 3\n", out)
        self.assertIn("output: pixels float[batch, 1, 4, 4]\n", out)
        error = self.refuses("export", "two.yaml", "--path", "prepar", "--weights", "runs/small")
        self.assertIn("two.yaml has no path 'prepar'", error)
        self.assertIn("did you mean 'prepare'?", error)

    def test_a_state_is_an_input_and_an_output(self):
        self.write("sums.yaml", SUMS)
        self.cgrun("train", "sums.yaml", "--quiet")
        done = self.cgrun("export", "sums.yaml")
        self.assertIn("input:  x float[batch, 2]\ninput:  sum float[batch, 2]\n"
                      "output: z float[batch, 2]\noutput: now float[batch, 2]\n", done.stdout)
        self.assertIn("the state 'sum' is an input, and 'now' is what it becomes: begin with zeros",
                      done.stderr)

    def test_weights_must_fit(self):
        self.write("wide.yaml", MODEL.replace("units: 3", "units: 4"))
        error = self.refuses("export", "wide.yaml", "-o", "wide.onnx", "--weights", "runs/small")
        self.assertIn("does not fit this model:\n", error)
        self.assertIn("classify.logits.weight: f32[3, 16] in the file, f32[4, 16] in the model",
                      error)
        self.write("more.yaml", MODEL.replace("- {op: flatten}",
                                              "- {op: flatten}\n      - {op: batch_norm}"))
        error = self.refuses("export", "more.yaml", "-o", "more.onnx", "--weights", "runs/small")
        self.assertIn("batch_norm", error)
        self.assertIn("not in the file", error)
        self.write("new.yaml", MODEL.replace("model: small", "model: new"))
        self.assertIn("--weights takes another run folder",
                      self.refuses("export", "new.yaml", "-o", "new.onnx"))
        self.assertEqual(list(self.folder.glob("*.onnx")), [])

    def test_what_onnx_cannot_say_is_named_with_its_line(self):
        self.write("mix.yaml", MODEL.replace(
            "- {op: flatten}", "- {op: random_mix, in: [pixels, pixels]}\n      - {op: flatten}"))
        error = self.refuses("export", "mix.yaml", "-o", "mix.onnx", "--weights", "runs/small")
        self.assertIn("mix.yaml:13:14:", error)
        self.assertIn("'random_mix' cannot be exported", error)
        self.assertFalse((self.folder / "mix.onnx").exists())

    def test_metadata_say_what_is_known_of_the_data(self):
        self.write("rows.csv", "a,b,kind\n" + 8 * "1,2,cat\n3,5,dog\n2,9,cat\n")
        self.write("table.yaml", TABLE.replace("label: kind", "label: kind, standardize: true"))
        self.cgrun("train", "table.yaml", "--quiet")
        done = self.cgrun("export", "table.yaml")
        self.assertIn("the model reads standardized numbers", done.stderr)
        data = (self.folder / "table.onnx").read_bytes()
        for key in (b"classes.label", b"data.names.columns", b"data.numbers.mean",
                    b"data.numbers.deviation"):
            self.assertIn(key, data)
        self.assertNotIn(b"checksum", data)
        self.assertNotIn("standardized", self.cgrun("export", "small.yaml").stderr)

    def test_json_says_what_was_written(self):
        result = json.loads(self.cgrun("export", "small.yaml", "--json").stdout)
        self.assertEqual(result, {"model": "small.onnx", "nodes": 4, "weights": 51,
                                  "external_data": None, "opset": 7, "ir_version": 3,
                                  "inputs": ["image uint8[batch, 1, 4, 4]"],
                                  "outputs": ["logits float[batch, 3]"]})


if __name__ == "__main__":
    unittest.main()
