#!/usr/bin/env python3
"""The malformed files of $CGRUN_SHARED_DATA/bad-inputs.tar.xz through the verbs that take such files.

A verb ends with a status of its own and a message, never by a signal or a sanitizer, and the message
is not one about the command line. Every file goes through one verb, in turn; with CGRUN_ALL_VERBS=1
through all of them, which takes minutes.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import threading
import unittest

import cli_testing

ARCHIVE = pathlib.Path(os.environ.get("CGRUN_SHARED_DATA", "")) / "bad-inputs.tar.xz"
MODEL_VERBS = (["summary"], ["plan"], ["graph"], ["check"], ["compile", "-o", "x.cgb"],
               ["train", "--dry-run", "--out", "x"], ["eval"], ["bench", "--rounds", "1"],
               ["predict", "x.npy"], ["generate"])
# Those that open the data of a model file; `run` is a run of the same model, where one is needed.
DATA_VERBS = (["train", "--dry-run", "--out", "x"], ["check", "--device", "cpu"], ["plan"],
              ["eval", "--weights", "run", "--split", "train"], ["bench", "--rounds", "1"],
              ["compile", "-o", "x.cgb"])
TABLE = """cgrun: 1
model: table
data: {train: {format: csv, file: FILE}}
inputs: {x: {type: f32, shape: [2]}}
paths:
  learn:
    ops: [{y: {op: linear, in: x, units: 1}}]
    loss: {op: squared_error, in: [y, 0]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.1}}
"""


@unittest.skipUnless(ARCHIVE.is_file(), "CGRUN_SHARED_DATA names no folder with bad-inputs.tar.xz")
class BadInputsTest(cli_testing.CliTestCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["tar", "-xf", ARCHIVE, "-C", self.folder], check=True)
        self.bad = self.folder / "bad-inputs"
        self.lock = threading.Lock()
        self.refused = 0

    def files(self, *folders):
        files = [file for folder in folders for file in (self.bad / folder).rglob("*")
                 if file.is_file()]
        self.assertGreater(len(files), 20, folders)
        return sorted(files)

    def try_verb(self, *arguments):
        """Any end is fine that is cgrun's own; returns what it said."""
        threads = [] if arguments[0] in ("disasm", "import") else ["--threads", "1"]
        done = subprocess.run([str(cli_testing.CGRUN), *map(str, arguments), *threads],
                              cwd=self.folder, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = done.stderr.decode("utf-8", "replace")
        self.assertIn(done.returncode, (0, 1, 2), f"{arguments}: {errors}")
        for word in ("Sanitizer", "runtime error", "terminate called", "internal error",
                     "has no flag", "--help`"):
            self.assertNotIn(word, errors, arguments)
        if done.returncode != 0:
            self.assertIn("error: ", errors, arguments)
            with self.lock:
                self.refused += 1
        return errors

    def each(self, files, verbs, command, says="", least=None):
        """The verbs of a file run at once; each writes what no other one does."""
        every = os.environ.get("CGRUN_ALL_VERBS") == "1"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for i, file in enumerate(files):
                commands = [command(verb, file)
                            for verb in (verbs if every else [verbs[i % len(verbs)]])]
                for arguments, errors in zip(commands, pool.map(lambda all: self.try_verb(*all), commands)):
                    self.assertIn(says, errors, f"{arguments} of {file}")
        self.assertGreater(self.refused, least or len(files) // 2)

    def test_model_files(self):
        def command(verb, file):
            shutil.copy(file, self.folder / "bad.yaml")
            return [verb[0], "bad.yaml", *verb[1:]]

        self.each(self.files("yaml"), MODEL_VERBS, command)

    def test_programs(self):
        def command(verb, file):
            shutil.copy(file, self.folder / "bad.cgb")
            return [verb, "bad.cgb", *(["x.npy"] if verb == "predict" else [])]

        self.each(self.files("go-fuzz-corpus/protobuf"),
                  ("train", "eval", "check", "predict", "generate", "disasm"), command,
                  says="bad.cgb: this is no compiled program\n")

    def test_onnx_models(self):
        def command(verb, file):
            shutil.copy(file, self.folder / "bad.onnx")
            return [*verb, "bad.onnx"]

        files = self.files("onnx", "go-fuzz-corpus/protobuf")
        self.each([file for i, file in enumerate(files) if "onnx" in file.parts or i % 8 == 0],
                  [["import", "-o", "x.yaml", "--force"]], command)

    def test_pictures(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        pictures = self.files("jpeg", "png", "go-fuzz-corpus/jpeg", "go-fuzz-corpus/png")
        for i, file in enumerate(pictures):
            suffix = ".jpg" if "jpeg" in str(file) else ".png"
            target = self.folder / "pictures" / f"{i}{suffix}"
            target.parent.mkdir(exist_ok=True)
            shutil.copy(file, target)
        self.try_verb("predict", "small.yaml", "pictures", "--weights", "run")
        self.write("folder.yaml", cli_testing.MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: images, folder: classes}"))

        def command(verb, file):
            folder = self.folder / "classes"
            shutil.rmtree(folder, ignore_errors=True)
            for name in ("one", "two"):  # a single class is refused before images are looked at
                (folder / name).mkdir(parents=True)
                shutil.copy(file, folder / name)
            return [verb[0], "folder.yaml", *verb[1:]]

        self.each(sorted((self.folder / "pictures").iterdir()), DATA_VERBS, command, least=50)

    def test_compressed_files(self):
        files = self.files("go-fuzz-corpus/gzip")
        self.write("idx.yaml", cli_testing.MODEL.replace(
            "{format: synthetic, samples: 65, classes: 3}", "{format: idx, images: bad.gz}"))

        def command(verb, file):
            shutil.copy(file, self.folder / "bad.gz")
            shutil.copy(file, self.folder / "bad.csv.gz")
            shutil.copy(file, self.folder / "bad.npy.gz")
            self.write("csv.yaml", TABLE.replace("FILE", "bad.csv.gz"))
            if verb[0] == "predict":
                return [verb[0], "small.yaml", "bad.npy.gz", "bad.csv.gz", "--weights", "run"]
            return [verb[0], verb[1], *verb[2:]]

        verbs = [[verb[0], model, *verb[1:]] for verb in DATA_VERBS
                 for model in ("idx.yaml", "csv.yaml")]
        self.cgrun("train", "small.yaml", "--out", "run")
        self.each(files, [*verbs, ["predict"]], command)

    def test_tables(self):
        self.write("csv.yaml", TABLE.replace("FILE", "bad.csv"))
        self.write("good.csv", "a,b\n1,2\n3,4\n")
        self.write("good.yaml", TABLE.replace("FILE", "good.csv"))
        self.cgrun("train", "good.yaml", "--out", "run")

        def command(verb, file):
            shutil.copy(file, self.folder / "bad.csv")
            if verb[0] == "predict":
                return ["predict", "good.yaml", "bad.csv", "--weights", "run"]
            if verb == ["plan", "bad.csv"]:  # a packing problem is a table, too
                return verb
            return [verb[0], "csv.yaml", *verb[1:]]

        self.each(self.files("go-fuzz-corpus/csv"), [*DATA_VERBS, ["predict"], ["plan", "bad.csv"]], command)


if __name__ == "__main__":
    unittest.main()
