#!/usr/bin/env python3
"""cgrun predict: images and arrays in, classes and values out; and what is kept of a run."""

import json
import struct
import unittest

from cli_testing import MODEL, CliTestCase, npy, png, read_npy

SIDE = 4


def tile(pixels):
    return png(SIDE, SIDE, pixels)


# The class is the quarter of the image that is bright.
QUARTERS = [[255 if (i // 2 % 2, i // 8) == quarter else 9 for i in range(SIDE * SIDE)]
            for quarter in ((0, 0), (1, 0), (0, 1), (1, 1))]
NAMES = ["nord west", "nord ost", "süd west", "süd ost"]


class PredictTest(CliTestCase):
    def setUp(self):
        super().setUp()
        for pixels, name in zip(QUARTERS, NAMES):
            folder = self.folder / "train" / name
            folder.mkdir(parents=True)
            for i in range(6):
                (folder / f"{i}.png").write_bytes(tile([max(0, p - i) for p in pixels]))
        self.write("quarters.yaml", MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: images, folder: train}")
            .replace("  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "")
            .replace("units: 3", "units: 4").replace("model: small", "model: quarters")
            .replace("epochs: 2", "epochs: 30"))

    def train(self, *flags):
        self.cgrun("train", "quarters.yaml", "--quiet", *flags)

    def save(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name

    def predict(self, *arguments, status=0):
        return json.loads(self.cgrun("predict", "quarters.yaml", *arguments, "--json",
                                     status=status).stdout)

    def names(self, result):
        return [item["outputs"]["logits"]["classes"][0]["name"] for item in result["predictions"]]

    def test_classes_have_their_names_without_the_training_data(self):
        self.train()
        (self.folder / "train").rename(self.folder / "gone")
        (self.folder / "runs/quarters").rename(self.folder / "elsewhere")
        for i, pixels in enumerate(QUARTERS):
            self.save(f"new/{i}.png", tile(pixels))
        result = self.predict("new", "--weights", "elsewhere")
        self.assertEqual(sorted(self.names(result)), sorted(NAMES))
        order = sorted(NAMES)  # the labels
        for item, name in zip(result["predictions"], NAMES):
            top = item["outputs"]["logits"]["classes"]
            self.assertEqual((top[0]["name"], top[0]["class"], len(top)),
                             (name, order.index(name), 1))
            self.assertGreater(top[0]["probability"], 0.5)
        self.assertEqual(result["errors"], [])
        text = self.cgrun("predict", "quarters.yaml", "new", "--weights", "elsewhere").stdout
        self.assertIn("new/2.png  süd west", text)

    def test_json_to_a_file_says_what_was_written_alone(self):
        self.train()
        self.save("a.png", tile(QUARTERS[1]))
        done = self.cgrun("predict", "quarters.yaml", "a.png", "--json", "all.json")
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"(?m)^wrote all.json, [\d.]+ \w+$")
        written = json.loads((self.folder / "all.json").read_text())
        printed = self.predict("a.png")
        for result in (written, printed):  # what a process takes differs by pages
            for key in ("measured_peak_bytes", "process_peak_bytes"):
                self.assertGreater(result.pop(key), 0)
        self.assertEqual(written, printed)

    def test_top_probabilities_fall_and_add_up_to_1(self):
        self.train()
        result = self.predict(self.save("a.png", tile(QUARTERS[1])), "--top", "9")
        top = [entry["probability"] for entry in
               result["predictions"][0]["outputs"]["logits"]["classes"]]
        self.assertEqual(len(top), 4)
        self.assertEqual(top, sorted(top, reverse=True))
        done = self.cgrun("predict", "quarters.yaml", "a.png", "--top", "9")
        self.assertIn("note: --top 9 shows all classes, for there are 4\n", done.stderr)
        self.assertAlmostEqual(sum(top), 1, places=6)

    def test_images_and_arrays_in_every_mode_and_batch_agree(self):
        self.train()
        images = [self.save(f"{i}.png", tile(pixels)) for i, pixels in enumerate(QUARTERS)]
        pixels = bytes(sum(QUARTERS, []))
        several = self.save("several.npy", npy([4, SIDE, SIDE], pixels))
        one = self.save("one.npy", npy([1, 1, SIDE, SIDE], pixels[:SIDE * SIDE]))
        for flags in ([], ["--mode", "eager"], ["--batch", "3"], ["--batch", "1"],
                      ["--device", "reference"]):
            result = self.predict(*images, several, one, *flags, "--out", "out")
            self.assertEqual(self.names(result), NAMES + NAMES + NAMES[:1])
            self.assertEqual([item.get("index") for item in result["predictions"]],
                             [None] * 4 + [0, 1, 2, 3] + [None])
            shape, logits = read_npy(self.folder / "out/logits.npy")
            self.assertEqual(shape, (9, 4))
            for i in range(16):
                self.assertAlmostEqual(logits[i], logits[16 + i], places=5)

    def test_bad_files_are_reported_and_the_others_predicted(self):
        self.train()
        good = self.save("good.png", tile(QUARTERS[0]))
        bad = {"missing.png": "No such file or directory",
               self.save("cut.png", tile(QUARTERS[0])[:60]): "is cut off",
               self.save("text.png", b"hello"): "neither a JPEG nor a PNG image",
               self.save("empty.npy", b""): "'empty.npy'",
               self.save("header.npy", b"\x93NUMPY\1\0v\0{'descr'"):
                   "declares a header of 118 bytes, but has 8",
               "links/moved.png": "No such file or directory",
               self.save("half.npy", npy([4, SIDE, SIDE], bytes(40))): "has 40 after its header",
               self.save("negative.npy", npy([-5, SIDE, SIDE], b"")): "'negative.npy'",
               self.save("none.npy", npy([0, SIDE, SIDE], b"")): "holds no samples",
               self.save("last.npy", npy([SIDE, SIDE, 3], bytes(48))):
                   "holds [4, 4, 3], but input 'image' is uint8[1, 4, 4]",
               self.save("float.npy", npy([SIDE, SIDE], struct.pack("<16f", *[0.5] * 16), "<f4")):
                   "element [0, 0] is 0.5, which no uint8 can hold",
               "nothing": "holds no samples"}
        (self.folder / "nothing").mkdir()
        (self.folder / "links").mkdir()
        (self.folder / "links/moved.png").symlink_to("nowhere")
        inputs = [name.replace("links/moved.png", "links") for name in bad]
        done = self.cgrun("predict", "quarters.yaml", *inputs, good, "--json", status=2)
        result = json.loads(done.stdout)
        self.assertEqual([item["file"] for item in result["predictions"]], [good])
        self.assertEqual({error["file"] for error in result["errors"]}, set(bad))
        for error in result["errors"]:
            self.assertIn(bad[error["file"]], error["message"])
            self.assertIn(error["message"], done.stderr)
        self.assertNotIn("good.png", done.stderr)
        self.assertIn("is cut off", self.refuses("predict", "quarters.yaml", "cut.png"))
        self.refuses("predict", "quarters.yaml", "negative.npy", "none.npy")

    def test_mistakes(self):
        image = self.save("a.png", tile(QUARTERS[0]))
        self.assertIn("needs something to predict", self.refuses("predict", "quarters.yaml"))
        error = self.refuses("predict", "quarters.yaml", image)
        self.assertIn("cannot open 'runs/quarters': No such file or directory", error)
        self.assertIn("`cgrun train quarters.yaml`", error)
        self.train()
        for weights in ("nowhere", image):
            self.assertIn(weights, self.refuses("predict", "quarters.yaml", image, "--weights",
                                                weights))
        self.assertIn("does not fit this model", self.refuses(
            "predict", "small.yaml", image, "--weights", "runs/quarters"))
        self.assertIn("--top", self.refuses("predict", "quarters.yaml", image, "--top", "0"))
        array = self.save("out/logits.npy", npy([1, SIDE, SIDE], bytes(16)))
        self.assertIn("it is what is read",
                      self.refuses("predict", "quarters.yaml", array, "--out", "out"))
        self.save("out/logits.npy", b"mine")
        self.assertIn("is not a NumPy array, so it is not replaced",
                      self.refuses("predict", "quarters.yaml", image, "--out", "out"))

    def test_values_of_a_model_without_classes(self):
        self.write("line.yaml", """cgrun: 1
data: {train: {format: npy, x: x.npy, z: z.npy}}
inputs:
  x: {shape: [2]}
  z: {shape: [1]}
paths:
  fit:
    ops:
      - y: {op: linear, in: x, units: 1}
    loss: {op: squared_error, in: [y, z]}
train: {epochs: 2, batch: 4, optimizer: {op: sgd, lr: 0.1}}
""")
        self.save("x.npy", npy([8, 2], struct.pack("<16f", *range(16)), "<f4"))
        self.save("z.npy", npy([8, 1], struct.pack("<8f", *[0.1] * 8), "<f4"))
        self.cgrun("train", "line.yaml", "--quiet", "--set", "train.optimizer.lr=0")
        result = json.loads(self.cgrun("predict", "line.yaml", "x.npy", "--out", "out",
                                       "--json").stdout)
        shape, values = read_npy(self.folder / "out/y.npy")
        self.assertEqual(shape, (8, 1))
        self.assertNotEqual(values[0], values[1])
        self.assertEqual([item["outputs"]["y"]["values"][0] for item in result["predictions"]],
                         list(values))
        text = self.cgrun("predict", "line.yaml", "x.npy").stdout
        self.assertRegex(text, r"x\.npy\[7\] +-?\d")
        points = {line.rindex(".") for line in text.splitlines() if line.startswith("x.npy[")}
        self.assertEqual(len(points), 1, text)
        error = self.refuses("predict", "line.yaml", self.save("a.png", tile(QUARTERS[0])))
        self.assertIn("no image can feed input 'x', which is f32[2]", error)

    def test_sizes_that_no_file_holds(self):
        for shape in ("(4611686018427387904, 8, 8)", "(9223372036854775800, 2)"):
            header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
            (self.folder / "huge.npy").write_bytes(
                b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n")
            done = self.cgrun("predict", "small.yaml", "huge.npy", "huge.npy", "--out", "none",
                              status=2)
            self.assertIn("declares more elements than it can hold", done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_names_of_fewer_classes_than_outputs(self):
        self.write("quarters.yaml", (self.folder / "quarters.yaml").read_text().replace(
            "units: 4", "units: 6"))
        self.train()
        done = self.cgrun("predict", "quarters.yaml", self.save("a.png", tile(QUARTERS[1])), "--top",
                          "6", "--json")
        shown = json.loads(done.stdout)["predictions"][0]["outputs"]["logits"]["classes"]
        self.assertEqual(shown[0]["name"], NAMES[1])
        self.assertEqual({entry["name"] for entry in shown}, {*NAMES, "4", "5"})
        self.assertIn("warning: 'logits' has 6 classes, but there are names of 4", done.stderr)

    def test_several_inputs_are_named(self):
        self.write("two.yaml", """cgrun: 1
inputs:
  a: {shape: [2]}
  b: {shape: [2]}
paths:
  add:
    mode: forward
    ops:
      - sum: {op: add, in: [a, b]}
""")
        self.save("a.npy", npy([3, 2], struct.pack("<6f", *range(6)), "<f4"))
        self.save("b.npy", npy([2], struct.pack("<2f", 1, 2), "<f4"))
        self.save("w.safetensors", struct.pack("<Q", 2) + b"{}")
        predict = ("predict", "two.yaml", "--weights", "w.safetensors")
        error = self.refuses(*predict, "a.npy")
        self.assertIn("the model reads 'a', 'b'", error)
        self.assertIn("a=FILE.npy b=FILE.npy", error)
        error = self.refuses(*predict, "a=a.npy")
        self.assertIn("error: no file is given for input 'b'\n", error)
        self.assertIn("help: each input takes one: `a=FILE.npy b=FILE.npy`\n", error)
        error = self.refuses(*predict, "a=a.npy", "b=b.npy")
        self.assertIn("'a' 3, 'b' 1", error)
        text = self.cgrun(*predict, "a=a.npy", "b=b.npy", "b=b.npy", "b=b.npy", "--json").stdout
        self.assertEqual([item["outputs"]["sum"]["values"]
                          for item in json.loads(text)["predictions"]], [[1, 3], [3, 5], [5, 7]])

    def test_what_an_unchanged_input_leads_to_runs_once(self):
        self.write("pair.yaml", """cgrun: 1
inputs:
  context: {shape: [2]}
  x: {shape: [2]}
paths:
  join:
    mode: forward
    ops:
      - far: {op: tanh, in: context}
      - near: {op: tanh, in: x}
      - sum: {op: add, in: [far, near]}
train: {batch: 1}
""")
        self.save("x.npy", npy([4, 2], struct.pack("<8f", *range(8)), "<f4"))
        self.save("same.npy", npy([2], struct.pack("<2f", 1, 2), "<f4"))
        self.save("other.npy", npy([2], struct.pack("<2f", 3, 4), "<f4"))
        self.save("w.safetensors", struct.pack("<Q", 2) + b"{}")
        predict = ("predict", "pair.yaml", "--weights", "w.safetensors", "x=x.npy")
        contexts = [f"context={name}.npy" for name in ("same", "same", "other", "other")]
        parts = json.loads(self.cgrun(*predict, *contexts, "--json").stdout)
        # The first sample runs 3 operators, a new x alone 2, both 3, and the last 2.
        self.assertEqual(parts["operators"], {"run": 10, "of": 12})
        self.assertIn("10 of 12 operators ran: the inputs of the others stayed the same.\n",
                      self.cgrun(*predict, *contexts).stdout)
        for flags in (["--mode", "eager"], ["--batch", "4"]):
            whole = json.loads(self.cgrun(*predict, *contexts, *flags, "--json").stdout)
            self.assertNotIn("operators", whole)
            self.assertEqual(whole["predictions"], parts["predictions"])
        self.assertNotIn("operators ran", self.cgrun(*predict, *contexts, "--batch", "4").stdout)

    def test_evaluations_take_the_same_weights(self):
        error = self.refuses("eval", "small.yaml")
        self.assertIn("cannot open 'runs/small': No such file or directory", error)
        self.assertIn("`--weights runs/other`", error)
        self.cgrun("train", "small.yaml", "--quiet", "--set", "data.valid={split: 0.2}")
        array = self.save("x.npy", npy([SIDE, SIDE], bytes(SIDE * SIDE)))
        used = set()
        for weights in ([], ["--weights", "runs/small"]):
            for verb in (["eval", "small.yaml"], ["predict", "small.yaml", array]):
                done = self.cgrun(*verb, *weights, "--json")
                used.add(json.loads(done.stdout)["weights"])
                self.assertEqual("weights: runs/small/best.safetensors" in done.stderr,
                                 verb[0] == "predict")  # eval has them in its summary
        self.assertEqual(used, {"runs/small/best.safetensors"})
        self.cgrun("train", "small.yaml", "--quiet", "--out", "runs/plain")
        self.assertRegex(json.loads(self.cgrun("eval", "small.yaml", "--weights", "runs/plain",
                                               "--json").stdout)["weights"], r"checkpoint-8\.")

    def test_a_dry_run_and_a_limit(self):
        self.train()
        images = [self.save(f"{i}.png", tile(QUARTERS[i % 4])) for i in range(5)]
        self.assertEqual(self.predict(*images, "--dry-run")["predictions"], [])
        for count, text in [(1, "1 sample\n"), (5, "5 samples\n")]:
            done = self.cgrun("predict", "quarters.yaml", *images[:count], "--dry-run")
            self.assertIn(f", batch {count}: {text}", done.stdout)
        limited = self.predict(*images, "--batch", "2", "--limit-batches", "1")
        self.assertEqual(len(limited["predictions"]), 2)


class KeepTest(CliTestCase):
    def test_values_parameters_and_gradients_are_left_in_the_run_folder(self):
        keep = ["--keep", "logits", "--keep", "logits.w", "--keep", "grad(logits.w)", "--keep",
                "grad(pixels)"]
        results = []
        for mode in ("graph", "eager"):
            self.cgrun("train", "small.yaml", "--out", mode, "--mode", mode, "--quiet", *keep)
            # The last batch of an epoch is one of 5 samples.
            results.append({path.name: read_npy(path) for path in (self.folder / mode).glob("*.npy")})
        graph, eager = results
        self.assertEqual({name: shape for name, (shape, _) in graph.items()},
                         {"logits.npy": (5, 3), "logits.w.npy": (3, 16),
                          "grad(logits.w).npy": (3, 16), "grad(pixels).npy": (5, 1, 4, 4)})
        self.assertEqual(graph.keys(), eager.keys())
        for name, (_, values) in graph.items():
            self.assertGreater(max(map(abs, values)), 0, name)
            for a, b in zip(values, eager[name][1]):
                self.assertAlmostEqual(a, b, places=5, msg=name)
        self.cgrun("train", "small.yaml", "--out", "graph", "--force", "--quiet")
        self.assertEqual(list((self.folder / "graph").glob("*.npy")), [])

    def test_a_gradient_is_that_of_the_step(self):
        """One step of plain gradient descent: new = old − rate · gradient."""
        flags = ["--set", "train.optimizer={op: sgd, lr: 0.5}", "--limit-batches", "1", "--set",
                 "train.epochs=1", "--quiet"]
        self.cgrun("train", "small.yaml", "--out", "old", "--keep", "logits.weight", *flags, "--set",
                   "train.optimizer.lr=0")
        self.cgrun("train", "small.yaml", "--out", "new", "--keep", "logits.weight", "--keep",
                   "grad(logits.weight)", *flags)
        old = read_npy(self.folder / "old/logits.weight.npy")[1]
        new = read_npy(self.folder / "new/logits.weight.npy")[1]
        gradient = read_npy(self.folder / "new/grad(logits.weight).npy")[1]
        self.assertGreater(max(map(abs, gradient)), 1e-4)
        for a, b, g in zip(old, new, gradient):
            self.assertAlmostEqual(b, a - 0.5 * g, places=6)

    def test_evaluations_and_predictions_keep_values_where_out_says(self):
        self.cgrun("train", "small.yaml", "--quiet")
        self.assertIn("--keep needs a folder", self.refuses(
            "eval", "small.yaml", "--weights", "runs/small", "--keep", "pixels"))
        done = self.cgrun("eval", "small.yaml", "--weights", "runs/small", "--keep", "pixels",
                          "--keep", "grad(pixels)", "--out", "kept")
        self.assertIn("there are no gradients here", done.stderr)
        self.assertEqual(read_npy(self.folder / "kept/pixels.npy")[0], (20, 1, 4, 4))
        (self.folder / "x.npy").write_bytes(npy([5, 4, 4], bytes(range(80))))
        self.cgrun("predict", "small.yaml", "x.npy", "--keep", "pixels", "--out", "kept")
        shape, values = read_npy(self.folder / "kept/pixels.npy")
        self.assertEqual(shape, (5, 1, 4, 4))
        self.assertAlmostEqual(values[79], 79 / 255, places=6)

    def test_a_plan_counts_and_shows_what_is_kept(self):
        keep = ("--keep", "pixels", "--keep", "grad(logits)")
        plain = json.loads(self.cgrun("plan", "small.yaml", "--json").stdout)
        kept = json.loads(self.cgrun("plan", "small.yaml", "--json", *keep).stdout)
        self.assertGreater(kept["data_bytes"], plain["data_bytes"])
        self.assertGreaterEqual(kept["arena_bytes"], plain["arena_bytes"])
        text = self.cgrun("plan", "small.yaml", "--full", *keep).stdout
        self.assertIn("Kept until the end of the step: pixels, grad(logits).", text)
        for line in text.splitlines():
            if " kept " in line:
                self.assertTrue(line.lstrip().startswith("train"), line)
        marks = text.count(") kept ") + text.count(") peak kept ")
        self.assertEqual(marks, 4)  # of full and of partial batches
        marked = [buffer for buffer in kept["buffers"] if buffer["kept"]]
        self.assertEqual(len(marked), 4)
        self.assertTrue(all(buffer["entry"].startswith("train") for buffer in marked), marked)
        self.assertFalse(any(buffer["kept"] for buffer in plain["buffers"]))

    def test_what_cannot_be_kept(self):
        for name, text in (("logitz", "did you mean 'logits'?"),
                           ("grad(logits.weigt)", "there is no value or parameter 'logits.weigt'"),
                           ("grad(label)", "there is no grad(label)")):
            self.assertIn(text, self.refuses("train", "small.yaml", "--keep", name))
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
