#!/usr/bin/env python3
"""Weights that verbs take from a file or a run: which they are, and whether they fit the model."""

import json
import unittest

from cli_testing import MODEL, TABLE, CliTestCase, png


class WeightsTest(CliTestCase):
    def test_which_weights_are_taken(self):
        self.cgrun("train", "small.yaml", "--quiet", "--out", "run", "--set", "train.epochs=1")
        (self.folder / "x.png").write_bytes(png(4, 4, bytes(16)))
        predict = ["predict", "small.yaml", "x.png", "--weights", "run", "--dry-run"]
        self.assertRegex(self.cgrun(*predict).stderr,
                         r"weights: run/checkpoint-\d+\.safetensors: step \d+ of epoch 1\n")
        (self.folder / "run" / "summary.json").unlink()  # as after a kill
        self.assertRegex(self.cgrun(*predict).stderr, r"step \d+ of epoch 1; the run did not come to its end\n")

    def test_eval_names_its_weights_once(self):
        self.cgrun("train", "small.yaml", "--quiet")
        done = self.cgrun("eval", "small.yaml")
        self.assertEqual((done.stderr + done.stdout).count("runs/small/"), 1, done.stderr + done.stdout)

    def test_weights_that_fit_by_chance_are_refused(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        wide = MODEL.replace("- {op: flatten}", "- {op: flatten}\n      - hidden: {op: linear, units: 7}")
        self.write("wide.yaml", wide)
        error = self.refuses("train", "wide.yaml", "--weights", "run")
        self.assertIn("hardly anything in run/checkpoint-8.safetensors fits this model, only "
                      "classify.logits (bias):\n      classify.logits.weight: f32[3, 16] in the file, "
                      "f32[3, 7] in the model\n", error)
        self.write("wide.yaml", wide + "weights: run\n")
        for verb in ("train", "check"):
            self.assertIn("hardly anything in run/", self.refuses(verb, "wide.yaml"))
        # A last layer that is replaced leaves the weights before it.
        self.write("wide.yaml", wide)
        self.cgrun("train", "wide.yaml", "--out", "wide", "--quiet")
        self.write("tuned.yaml", wide.replace("logits: {op: linear, units: 3}",
                                              "logits: {op: linear, units: 5}"))
        done = self.cgrun("train", "tuned.yaml", "--weights", "wide", "--out", "tuned")
        self.assertIn("weights: 2 tensors loaded", done.stderr)

    def test_weights_of_a_model_of_images_do_not_fit_a_table(self):
        for i in range(4):
            path = self.folder / f"photos/{'ab'[i % 2]}/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(4, 4, range(i, i + 16)))
        self.write("photos.yaml", MODEL.replace("model: small", "model: photos")
                   .replace("{format: synthetic, samples: 65, classes: 3}",
                            "{format: images, folder: photos}")
                   .replace("  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "")
                   .replace("units: 3", "units: 2"))
        self.cgrun("train", "photos.yaml", "--quiet")
        self.write("rows.csv", "a,town,kind\n1,Ulm,x\n2,Bonn,y\n3,Ulm,x\n4,Bonn,y\n")
        self.write("new.csv", "a,town\n1,Ulm\n")
        text = (TABLE.replace("label: kind", "label: kind, categories: [town]")
                .replace("  features: {shape: [2]}\n",
                         "  features: {shape: [1]}\n  categories: {type: int32, shape: [1]}\n")
                .replace("      - logits: {op: linear, in: features, units: 2}",
                         "      - {op: embedding, in: categories, entries: 3, units: 2}\n"
                         "      - town: {op: flatten}\n"
                         "      - both: {op: concat, in: [features, town]}\n"
                         "      - logits: {op: linear, units: 2}"))
        self.write("table.yaml", text)
        self.cgrun("check", "table.yaml")
        error = self.refuses("predict", "table.yaml", "new.csv", "--weights", "runs/photos")
        self.assertIn(" does not fit this model:", error)
        self.assertIn("help: these are the weights of model 'photos', whose data are 'images', not "
                      "'csv': ", error)
        self.assertNotIn("the categories are those", error)

    def test_evaluating_a_program_needs_no_optimizer_state(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        weights = (self.folder / "run/checkpoint-8.safetensors").read_bytes()
        size = int.from_bytes(weights[:8], "little")
        header = json.loads(weights[8:8 + size])
        data, kept = b"", {}
        for name, tensor in header.items():
            if name == "__metadata__" or name.endswith("momentum"):
                continue
            begin, end = tensor["data_offsets"]
            kept[name] = {**tensor, "data_offsets": [len(data), len(data) + end - begin]}
            data += weights[8 + size + begin:8 + size + end]
        self.assertLess(len(kept), len(header) - 1, "nothing was left out")
        text = json.dumps(kept).encode()
        (self.folder / "w.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        results = {json.loads(self.cgrun("eval", model, "--weights", "w.safetensors",
                                         "--json").stdout)["metrics"]["loss"]
                   for model in ("small.yaml", "small.cgb")}
        self.assertEqual(len(results), 1, results)


if __name__ == "__main__":
    unittest.main()
