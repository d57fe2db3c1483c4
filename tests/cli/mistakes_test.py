#!/usr/bin/env python3
"""Mistakes that new users make: nothing of theirs is lost, and the text says what to do."""

import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from cli_testing import CGRUN, MODEL, ROOT, CliTestCase, npy, png


class MistakesTest(CliTestCase):
    def test_what_is_not_carried_out_is_said_by_every_verb(self):
        self.write("half.yaml", MODEL.replace("batch: 20", "batch: 20\n  precision: f16"))
        verbs = (["train"], ["plan"], ["graph"], ["summary"], ["compile", "-o", "m.cgb"],
                 ["eval", "--weights", "w.safetensors"])
        for verb, *flags in verbs:
            for arguments in (["half.yaml"], ["small.yaml", "--precision", "f16"]):
                error = self.refuses(verb, *arguments, *flags)
                self.assertIn("this version does not carry out 'precision: f16' yet", error)
                self.assertIn("f32, bf16 and f64 are what there is", error)

    def test_tf32_is_refused_but_on_gpus(self):
        self.write("rounded.yaml", MODEL.replace("batch: 20", "batch: 20\n  precision: tf32"))
        line = 1 + (self.folder / "rounded.yaml").read_text().split("\n").index("  precision: tf32")
        for device in ("blas", "reference"):
            for verb in ("train", "plan", "check"):
                error = self.refuses(verb, "rounded.yaml", "--device", device)
                self.assertIn(f"rounded.yaml:{line}:14: error: 'precision: tf32' is for device cuda "
                              f"alone, not '{device}'\n", error)
                self.assertIn("help: tf32 is a number type of GPUs; write `precision: f32`, or "
                              "`bf16`\n", error)
                self.assertEqual(error.count("error: "), 1, error)
        error = self.refuses("bench", "small.yaml", "--precision", "tf32")
        self.assertIn("--precision tf32: error: 'precision: tf32' is for device cuda alone, not "
                      "'auto'\n", error)

    def test_wrong_options_are_explained_in_our_own_words(self):
        for arguments, message, advice in (
                (["train", "small.yaml", "--threads", "0"],
                 "--threads must be 1 to 1024, not '0'", "--threads: threads of the kernels"),
                (["train", "small.yaml", "--limit-batches", "-1"],
                 "--limit-batches must be an integer, at least 1, not '-1'", "at most N batches"),
                (["train", "small.yaml", "--mode", "egaer"],
                 "--mode must be graph or eager, not 'egaer'", "did you mean 'eager'?"),
                (["train", "small.yaml", "--out"], "--out needs a value: DIR", "the run folder"),
                (["train", "small.yaml", "--out", "a", "--out", "b"],
                 "--out is given more than once", "it takes one value"),
                (["train", "--resume", "a", "--out", "b"],
                 "--out and --resume exclude each other", "leave one of them out"),
                (["plan"], "`cgrun plan` needs MODEL", "MODEL: model file"),
                (["summary", "small.yaml", "-j"], "`cgrun summary` has no flag '-j'",
                 "`cgrun summary --help` lists its arguments"),
                (["--verison"], "`cgrun` has no flag '--verison'", "did you mean `cgrun --version`?"),
                (["version"], "there is no verb 'version'", "write `cgrun --version`"),
                (["ops", "pool"], "there is no operator 'pool'",
                 "did you mean one of max_pool, avg_pool, global_avg_pool?"),
                (["--batch", "3"], "a verb must come before '--batch'", "`cgrun --help`")):
            error = self.refuses(*arguments)
            self.assertIn("error: " + message + "\n", error)
            self.assertIn(advice, error)

    def test_errors_of_all_sections_come_at_once(self):
        text = MODEL.replace("epochs: 2", "epoch: 2").replace("units: 3", "unit: 3").replace(
            "op: sgd", "op: sdg").replace("samples: 65", "sampels: 65").replace(
            "in: image", "in: imge")
        self.write("wrong.yaml", text)
        for verb in ("train", "plan", "check"):
            error = self.refuses(verb, "wrong.yaml")
            for message in ("unknown key 'epoch'", "'linear' has no key 'unit'",
                            "there is no optimizer 'sdg'", "unknown option 'sampels'",
                            "there is no value 'imge'"):
                self.assertIn(message, error)

    def test_an_image_with_its_channels_elsewhere_is_refused(self):
        (self.folder / "x.npy").write_bytes(npy((6, 4, 5, 3), bytes(6 * 4 * 5 * 3)))
        (self.folder / "y.npy").write_bytes(npy((6,), bytes(4 * 6), "<i4"))
        text = re.sub(r"data:\n.*\n.*\n",
                      "data: {train: {format: npy, image: x.npy, label: y.npy}}\n", MODEL)
        self.write("last.yaml", text.replace("[1, 4, 4]", "[3, 4, 5]"))
        error = self.refuses("train", "last.yaml", "--batch", "2")
        self.assertIn("input 'image' is uint8[3, 4, 5], but the data's 'image' is uint8[4, 5, 3]",
                      error)
        self.assertIn("perm: [0, 3, 1, 2]", error)
        self.write("right.yaml", text.replace("[1, 4, 4]", "[4, 5, 3]"))
        self.cgrun("train", "right.yaml", "--batch", "2", "--dry-run")

    def test_what_is_no_model_file_is_named(self):
        (self.folder / "7.png").write_bytes(png(2, 2, [0, 1, 2, 3]))
        (self.folder / "7.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(20))
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\1\0" + bytes(20))
        (self.folder / "images.gz").write_bytes(b"\x1f\x8b\x08" + bytes(20))
        (self.folder / "labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 0]))
        (self.folder / "w.safetensors").write_bytes(bytes(8))
        (self.folder / "m.onnx").write_bytes(bytes(8))
        (self.folder / "m.pt").write_bytes(b"PK\3\4" + bytes(20))
        self.assertIn("`safetensors.torch.save_file(",
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
                                   ("m.onnx", "an ONNX model", "YAML"),
                                   ("m.pt", "a PyTorch file", "`cgrun graph MODEL` lists"),
                                   ("rows.csv", "a table", "file: rows.csv, label: COLUMN"),
                                   ("run", "a run folder", "`cgrun train --resume run`"),
                                   (".", "a folder", "'./small.yaml'"),
                                   ("empty", "a folder", "`data: {train:")):
            for verb in ("train", "summary"):
                error = self.refuses(verb, path)
                self.assertIn(f"'{path}' is {what}, where a model file (.yaml) is wanted", error)
                self.assertIn(advice, error)
        self.assertIn("help: did you mean 'small.yaml'?", self.refuses("train", "small"))
        (self.folder / "models").mkdir()
        self.write("models/net.yaml", MODEL)
        self.assertIn("help: did you mean 'models/net.yaml'?", self.refuses("plan", "net"))
        piped = subprocess.run([str(CGRUN), "summary", "/dev/stdin"], input=MODEL, text=True,
                               capture_output=True, check=False)  # is read once, as a model
        self.assertIn("classify.logits", piped.stdout, piped.stderr)

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

    def test_a_batch_larger_than_the_data_is_warned_of(self):
        shown = self.cgrun("train", "small.yaml", "--batch", "200", "--dry-run").stderr
        self.assertIn("warning: a batch of 200 is more than the training data has: 65 samples", shown)
        shown = self.cgrun("train", "small.yaml", "--batch", "65", "--dry-run").stderr
        self.assertNotIn("warning", shown)

    # Their machine is, too.

    def test_threads_do_not_spin_for_long_unless_the_user_says_so(self):
        def environment(**chosen):
            clean = {k: v for k, v in os.environ.items()
                     if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
            return {**clean, "OMP_DISPLAY_ENV": "verbose", **chosen}

        def spins(**chosen):
            shown = self.cgrun("devices", env=environment(**chosen)).stderr
            return re.findall(r"GOMP_SPINCOUNT = '(\d+)'", shown)[-1]

        self.assertEqual(spins(), "2000")
        self.assertEqual(spins(GOMP_SPINCOUNT="77"), "77")
        self.assertEqual(spins(OMP_WAIT_POLICY="passive"), "0")

    def test_the_process_keeps_its_name(self):
        clean = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        (self.folder / "other-name").symlink_to(CGRUN)
        for program in (str(CGRUN), "./other-name"):
            text = MODEL.replace("epochs: 2", "time: 60s")
            with subprocess.Popen([program, "train", self.write("long.yaml", text), "--force", "--quiet"],
                                  cwd=self.folder, env=clean, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                while not (self.folder / "runs/small/metrics.csv").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                name = pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()
                started = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
                process.terminate()
                process.wait()
            self.assertIn(b"GOMP_SPINCOUNT=2000", started)
            self.assertEqual(name, program.split("/")[-1])
            shutil.rmtree(self.folder / "runs")

    # What users wrote is theirs.

    def test_outputs_replace_neither_inputs_nor_files_of_another_kind(self):
        self.write("notes.txt", "mine\n")
        self.write("buffers.csv", "id,lower,upper,size\na,0,2,64\n")
        for arguments in (["compile", "small.yaml", "-o", "small.yaml"],
                          ["compile", "small.yaml", "-o", "./notes.txt"],
                          ["plan", "small.yaml", "--json", "small.yaml"],
                          ["plan", "small.yaml", "--csv", "notes.txt"],
                          ["plan", "buffers.csv", "--json", "buffers.csv"],
                          ["ops", "conv", "--json", "notes.txt"]):
            self.assertIn("give another file", self.refuses(*arguments))
        self.write("model.json", '{"cgrun": 1}')
        self.assertIn("what is read", self.refuses("plan", "model.json", "--json", "model.json"))
        self.assertEqual((self.folder / "small.yaml").read_text(), MODEL)
        self.assertEqual((self.folder / "notes.txt").read_text(), "mine\n")

    def test_outputs_replace_their_own_kind(self):
        for _ in range(2):
            self.cgrun("compile", "small.yaml", "-o", "small.cgb", "--json", "small.json")
            self.cgrun("plan", "small.yaml", "--csv", "small.csv")

    def test_advice_never_names_the_model_file_as_an_output(self):
        error = self.refuses("disasm", "small.yaml")
        self.assertIn("`cgrun compile small.yaml -o small.cgb`", error)

    def test_the_run_folder_is_never_the_folder_of_what_is_read(self):
        self.write("mine/model.yaml", MODEL)
        self.write("mine/metrics.csv", "epoch\n")
        for out in ("mine", "mine/", "./mine/../mine"):
            error = self.refuses("train", "mine/model.yaml", "--out", out, "--force")
            self.assertIn("which this run reads", error)
        self.assertEqual((self.folder / "mine/model.yaml").read_text(), MODEL)
        self.cgrun("train", "small.yaml", "--out", "run")
        error = self.refuses("train", "small.yaml", "--weights", "run/checkpoint-8.safetensors",
                             "--out", "run", "--force")
        self.assertIn("which this run reads", error)
        self.assertTrue((self.folder / "run/checkpoint-8.safetensors").exists())

    def test_force_clears_what_runs_left_and_nothing_else(self):
        self.write("notes/model.yaml", "mine\n")
        self.assertIn("no run left it",
                      self.refuses("train", "small.yaml", "--out", "notes", "--force"))
        self.assertEqual((self.folder / "notes/model.yaml").read_text(), "mine\n")
        for name in ("metrics.csv", "report.html", "summary.json"):
            self.write(f"figures/{name}", "mine\n")
        self.assertIn("no run left it",
                      self.refuses("train", "small.yaml", "--out", "figures", "--force"))
        self.assertEqual((self.folder / "figures/metrics.csv").read_text(), "mine\n")
        (self.folder / "empty").mkdir()
        for flags in ([], ["--force"]):
            self.cgrun("train", "small.yaml", "--out", "empty", *flags)

    def test_a_failed_run_does_not_block_the_corrected_one(self):
        (self.folder / "there").mkdir()
        for out, flags in (("a/b/run", []), ("there", []), ("there/", ["--force"])):
            error = self.cgrun("train", "small.yaml", "--out", out, "--set",
                               "train.optimizer.lr=1e39", *flags, status=1).stderr
            self.assertIn("is not finite", error)
            self.assertIn("is not finite", (self.folder / out / "failure.txt").read_text())
            self.assertTrue((self.folder / out / "checkpoint-0.safetensors").exists())
        self.cgrun("train", "small.yaml", "--out", "there")
        self.assertFalse((self.folder / "there/failure.txt").exists())
        self.assertIn("exists already", self.refuses("train", "small.yaml", "--out", "there"))

    # Exit statuses.

    def test_output_that_cannot_be_written_is_a_failure(self):
        for arguments in (["plan", "small.yaml"], ["summary", "small.yaml", "--json"], ["ops"],
                          ["graph", "small.yaml"], ["devices"], ["--help"], ["plan", "--help"],
                          ["train", "small.yaml", "--out", "run"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                error = self.cgrun(*arguments, status=1, stdout=full).stderr
            self.assertIn("not all of the output could be written", error)

    def wait_for_handler(self, pid, signal_number):
        """Returns when the process handles the signal: a busy machine starts it slowly."""
        status = pathlib.Path(f"/proc/{pid}/status")
        for _ in range(3000):
            caught = int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16)
            if caught >> (signal_number - 1) & 1:
                return
            time.sleep(0.02)
        self.fail("no handler after a minute")

    def test_signals_end_with_130(self):
        self.write("long.yaml", MODEL.replace("samples: 65", "samples: 9000000"))
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for delay in (0.3, 1.0):
                with subprocess.Popen([str(CGRUN), "train", "long.yaml", "--out", "run", "--force"],
                                      cwd=self.folder, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as process:
                    try:
                        self.wait_for_handler(process.pid, signal_number)
                        time.sleep(delay)
                        process.send_signal(signal_number)
                        self.assertEqual(process.wait(timeout=60), 130)
                    finally:  # of a failure too: `with` waits for the process
                        process.kill()

    def test_an_unknown_verb_is_an_error_with_help_too(self):
        for arguments in (["prophesy"], ["prophesy", "--help"], ["prophesy", "x", "-h"]):
            self.assertIn("the verbs are train, eval", self.refuses(*arguments))
        for theirs, ours in (("fit", "train"), ("test", "eval"), ("infer", "predict"), ("validate", "check")):
            self.assertIn(f"did you mean `cgrun {ours}`?", self.refuses(theirs, "small.yaml"))
        self.assertIn("model files in YAML", self.refuses("export", "small.yaml"))

    # Data.

    def refused_alike(self, *flags):
        """What plan, compile and train say of small.yaml."""
        texts = {self.refuses("plan", "small.yaml", *flags),
                 self.refuses("compile", "small.yaml", "-o", "m.cgb", *flags),
                 self.refuses("train", "small.yaml", *flags)}
        self.assertEqual(len(texts), 1, texts)
        return texts.pop()

    def test_plan_and_compile_find_what_train_finds(self):
        for flags, text in (
                (["--set", "data.train.clases=4"], "unknown option 'clases'"),
                (["--set", "data.train.format=synthetik"], "did you mean 'synthetic'?"),
                (["--set", "train.optimizer.schedule=cosin"], "there is no schedule 'cosin'"),
                (["--set", "train.optimizer.schedule={step: {evry: 2}}"], "no argument 'evry'")):
            self.assertIn(text, self.refused_alike(*flags))

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

    def write_idx(self, name, sizes):
        header = bytes([0, 0, 8, len(sizes)]) + b"".join(size.to_bytes(4, "big") for size in sizes)
        (self.folder / name).write_bytes(header + bytes(math.prod(sizes)))

    def test_shapes_of_images_and_swapped_files(self):
        self.write_idx("images", [6, 5, 4])
        self.write_idx("labels", [6])
        idx = MODEL.replace("format: synthetic, samples: 65, classes: 3",
                            "format: idx, images: images, labels: labels")
        self.write("small.yaml", idx)
        self.assertIn("write `image: {type: uint8, shape: [1, 5, 4]}`", self.refused_alike())
        self.write("small.yaml", idx.replace("images: images, labels: labels",
                                             "images: labels, labels: images"))
        self.assertIn("exchange the two", self.refused_alike())

    def test_a_plan_of_more_memory_than_there_is_says_so(self):
        done = self.cgrun("plan", "small.yaml", "--set",
                          "paths.classify.ops.logits.units=1000000000")
        self.assertRegex(done.stderr, "this takes .*, and a process here may take .*: `cgrun train` looks")

    # What is printed.

    def test_errors_name_the_flags_that_were_typed(self):
        for arguments in (["--batch", "0"], ["--seed", "x"], ["--order", "bsf"],
                          ["--zones", "no"], ["--precision", "f1"], ["--device", "gpux"]):
            error = self.refuses("plan", "small.yaml", *arguments)
            self.assertTrue(error.startswith(" ".join(arguments) + ": error: "), error)

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

    def test_train_says_where_weights_and_run_folder_are(self):
        result = json.loads(self.cgrun("train", "small.yaml", "--out", "a/run", "--json").stdout)
        self.assertEqual((result["run_folder"], result["weights"]),
                         ("a/run", "a/run/checkpoint-8.safetensors"))

    def test_input_that_is_wrong_is_2_for_every_verb(self):
        self.write("no_test.yaml", MODEL.replace("  test: {", "  valid: {"))
        self.write("w.safetensors", "cgrun: 1\n")
        for arguments in (["eval", "small.yaml", "--weights", "none"], ["eval", "none.cgb"],
                          ["eval", "none.cgb", "--weights", "w"], ["disasm", "small.yaml"],
                          ["eval", "small.yaml", "--weights", "w.safetensors"],
                          ["train", "small.yaml", "--weights", "w.safetensors"],
                          ["eval", "no_test.yaml", "--weights", "w.safetensors"]):
            self.refuses(*arguments)
        if "built without CUDA" in self.cgrun("devices").stdout:
            for arguments in (["train", "small.yaml"], ["plan", "small.yaml"],
                              ["eval", "small.yaml", "--weights", "w.safetensors"]):
                self.assertIn("--device cpu", self.refuses(*arguments, "--device", "cuda"))

    def test_keys_that_are_given_as_flags(self):
        for arguments, text in ((["--epoch", "3"], "train.epochs=3"),
                                (["--epochs=3"], "train.epochs=3"),
                                (["--lr", "0.1"], "train.optimizer.lr=0.1"),
                                (["--accumulate"], "train.accumulate=…")):
            self.assertIn(f"`--set {text}`", self.refuses("train", "small.yaml", *arguments))
        for theirs, ours in (("--batch-size", "--batch"), ("--gpu", "--device"), ("--dtype", "--precision")):
            self.assertIn(f"help: write '{ours}'", self.refuses("train", "small.yaml", theirs, "3"))

    def test_the_reference_of_operators(self):
        for name in ("conv", "batch_norm", "softmax_cross_entropy", "sgd"):
            text = self.cgrun("ops", name).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        for key in ("activation", "init", "regularize", "frozen", "lr"):
            self.assertRegex(self.cgrun("ops", "conv").stdout, rf"(?m)^  {key} ")
        self.assertRegex(self.cgrun("ops", "sgd").stdout, r"(?m)^  schedule ")
        self.assertIn("write 'linear'", self.refuses("ops", "dense"))
        self.assertIn("help: 'cosine' is a schedule of the learning rate (", self.refuses("ops", "cosine"))
        for word, names in (("loss", ("hinge", "squared_error")), ("Losses", ("hinge", "huber")),
                            ("optimizers", ("adam", "sgd")), ("activation", ("relu", "gelu"))):
            error = self.refuses("ops", word)
            self.assertRegex(error, r"help: the (losses|optimizers|activations) are \w+, ")
            for name in names:
                self.assertIn(name, error)
        self.assertRegex(self.refuses("ops", "hyperbolic"), "help: it stands in what is said of tanh")
        self.assertRegex(self.refuses("ops", "image"), r"said of \w+, .*, … and \d+ more \(`cgrun ops`")
        for word, written in (("constant", "`schedule: constant`"), ("step", "`schedule: {step: …}`")):
            self.assertIn(written, self.refuses("ops", word))
        for word in ("schedule", "schedules"):
            self.assertRegex(self.refuses("ops", word),
                             "help: the schedules of the learning rate are constant, cosine, .* and plateau")
        for word in ("lossy", "metrical"):
            self.assertNotRegex(self.refuses("ops", word), "the (losses|metrics) are")
        for word in ("xyzzy", "qq", "the", "with"):
            self.assertIn("help: `cgrun ops` lists them\n", self.refuses("ops", word))
        self.assertIn("`unroll` uses it for each place", self.refuses("ops", "LSTM"))

    def test_errors_of_operators_show_what_the_user_gave_alone(self):
        self.write("small.yaml", MODEL.replace("{op: flatten}", "{op: dropout, in: label}"))
        self.assertNotIn(".step", self.refuses("graph", "small.yaml"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
