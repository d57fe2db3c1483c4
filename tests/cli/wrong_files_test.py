#!/usr/bin/env python3
"""Files and folders of a command line or a model file that are missing, or of another kind than is wanted."""

import json
import re
import subprocess
import unittest

from cli_testing import CGRUN, MODEL, ROOT, CliTestCase, png


class OtherKindTest(CliTestCase):
    def test_what_is_no_model_file_is_named(self):
        (self.folder / "7.png").write_bytes(png(2, 2, [0, 1, 2, 3]))
        (self.folder / "7.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(20))
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\1\0" + bytes(20))
        (self.folder / "images.gz").write_bytes(b"\x1f\x8b\x08" + bytes(20))
        (self.folder / "labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 0]))
        (self.folder / "w.safetensors").write_bytes(bytes(8))
        (self.folder / "m.onnx").write_bytes(bytes(8))
        (self.folder / "m.pt").write_bytes(b"PK\3\4" + bytes(20))
        self.assertIn("'m.pt' is no whole zip archive",
                      self.refuses("train", "small.yaml", "--weights", "m.pt"))
        self.write("rows.csv", "a,b\n1,2\n")
        self.cgrun("train", "small.yaml", "--out", "run")
        (self.folder / "empty").mkdir()
        for path, what, advice in (("7.png", "a PNG image", "`cgrun predict MODEL 7.png`"),
                                   ("7.jpg", "a JPEG image", "`cgrun predict MODEL 7.jpg`"),
                                   ("x.npy", "a NumPy array", "`cgrun predict MODEL x.npy`"),
                                   ("images.gz", "compressed data", "`data: {train:"),
                                   ("labels", "data of the IDX format", "`data: {train:"),
                                   ("w.safetensors", "a file of weights",
                                    "`cgrun eval MODEL --weights w.safetensors`"),
                                   ("m.pt", "a PyTorch file", "`cgrun graph MODEL` lists"),
                                   ("rows.csv", "a table", "file: rows.csv, label: COLUMN"),
                                   ("run", "a run folder", "`cgrun train --resume run`"),
                                   (".", "a folder", "'./small.yaml'"),
                                   ("empty", "a folder", "`data: {train:")):
            for verb in ("train", "summary"):
                error = self.refuses(verb, path)
                self.assertIn(f"'{path}' is {what}, where a model file (.yaml) is wanted", error)
                self.assertIn(advice, error)
        error = self.refuses("train", "m.onnx")
        self.assertIn("'m.onnx' is an ONNX model, where a model file (.yaml) is wanted", error)
        self.assertIn("`cgrun import m.onnx -o model.yaml`", error)
        self.assertIn("'m.onnx' is not a file of ONNX", self.refuses("summary", "m.onnx"))
        self.assertIn("help: did you mean 'small.yaml'?", self.refuses("train", "small"))
        (self.folder / "models").mkdir()
        self.write("models/net.yaml", MODEL)
        self.assertIn("help: did you mean 'models/net.yaml'?", self.refuses("plan", "net"))
        piped = subprocess.run([str(CGRUN), "summary", "/dev/stdin"], input=MODEL, text=True,
                               capture_output=True, check=False)  # is read once, as a model
        self.assertIn("classify.logits", piped.stdout, piped.stderr)

    def test_a_folder_in_place_of_the_model_in_it(self):
        self.cgrun("train", "small.yaml", "--out", "runs/hands", "--quiet")
        error = self.refuses("plan", "runs/hands")
        self.assertIn("'runs/hands' is a run folder, where a model file (.yaml) is wanted\n"
                      "help: its model file is 'runs/hands/model.yaml'; ", error)
        self.cgrun("plan", "runs/hands/model.yaml")
        self.write("models/one.yaml", MODEL)
        self.assertIn("help: did you mean 'models/one.yaml'?\n", self.refuses("plan", "models"))
        self.write("models/two.yaml", MODEL)
        self.assertIn("help: name a file in it, such as 'models/one.yaml'\n", self.refuses("plan", "models"))

    def test_a_run_folder_in_place_of_a_model(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.assertIn("eval, predict and generate take its weights: `cgrun eval run/model.yaml --weights run`",
                      self.refuses("generate", "run"))

    def test_a_model_file_in_place_of_a_program(self):
        error = self.refuses("disasm", "small.yaml")
        self.assertIn("'small.yaml' is a model file, where a compiled program (.cgb) is wanted", error)
        self.assertIn("`cgrun compile small.yaml -o small.cgb` makes one", error)

    def test_advice_never_names_the_model_file_as_an_output(self):
        error = self.refuses("disasm", "small.yaml")
        self.assertIn("`cgrun compile small.yaml -o small.cgb`", error)


class MissingFilesTest(CliTestCase):
    def test_what_is_missing_is_told_in_one_form(self):
        (self.folder / "photos").mkdir()
        self.write("images.yaml", MODEL.replace("format: synthetic, samples: 65, classes: 3",
                                                "format: images, folder: photo"))
        self.cgrun("train", "small.yaml", "--out", "run")
        for arguments, path, advice in (
                (["train", "smal.yaml"], "smal.yaml", "did you mean 'small.yaml'?"),
                (["train", "nowhere/small.yaml"], "nowhere/small.yaml", "no folder 'nowhere'"),
                (["train", "images.yaml"], "photo", "did you mean 'photos'?"),
                (["train", "--resume", "rum"], "rum", "did you mean 'run'?"),
                (["train", "--resume", "else"], "else", "--resume takes the folder of a run"),
                (["eval", "small.yaml"], "runs/small", "`cgrun train small.yaml` makes it"),
                (["eval", "small.yaml", "--weights", "nun"], "nun", "did you mean 'run'?"),
                (["plan", "rows.csv"], "rows.csv", "the folder where cgrun was started"),
                (["disasm", "small.cgb"], "small.cgb", "the folder where cgrun was started"),
                (["plan", "small.yaml", "--diff", "a.json"], "a.json", "the folder where")):
            error = self.refuses(*arguments)
            self.assertIn(f"cannot open '{path}': No such file or directory\n", error)
            self.assertRegex(error, rf"(?m)^help: .*{re.escape(advice)}", arguments)

    def test_errors_of_a_missing_file_name_it_in_json(self):
        for verb in ("train", "check", "plan"):
            done = self.cgrun(verb, "nofile.yaml", "--json", status=2)
            self.assertEqual(json.loads(done.stdout)["errors"][0]["file"], "nofile.yaml")

    def test_missing_files_are_no_error_of_a_plan_but_typos_beside_them_are(self):
        self.write("small.yaml", MODEL.replace("format: synthetic, samples: 65, classes: 3",
                                               "format: idx, images: a.gz, labels: b.gz"))
        self.assertIn("without the samples themselves: cannot open 'a.gz'", self.cgrun("plan", "small.yaml").stdout)
        self.assertIn("unknown option 'image'",
                      self.refuses("plan", "small.yaml", "--set", "data.train.image=a.gz"))
        error = self.refuses("train", "small.yaml")
        self.assertIn("cannot open 'a.gz': No such file or directory, and 1 other is missing in its "
                      "folder", error)
        self.assertEqual(error.count("error: "), 1)

    def test_data_that_a_script_fetches_is_said_to_be(self):
        for name in ("mnist", "fashion-mnist", "cifar10"):
            self.write("models/m.yaml", MODEL.replace(
                "format: synthetic, samples: 65, classes: 3",
                f"format: idx, images: ../datasets/{name}/a.gz, labels: ../datasets/{name}/b.gz"))
            error = self.refuses("train", "models/m.yaml")
            self.assertIn(f"`scripts/datasets/fetch-{name}` fetches this data", error)
            self.assertTrue((ROOT / f"scripts/datasets/fetch-{name}").exists())


if __name__ == "__main__":
    unittest.main()
