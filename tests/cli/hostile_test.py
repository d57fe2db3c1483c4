#!/usr/bin/env python3
"""Files that mean harm: names with bytes that steer a terminal, damaged checkpoints and programs,
and headers that a slow reader takes minutes for."""

import json
import struct
import time
import unittest
import zlib

from cli_testing import MODEL, PAIR, SANITIZED, SHARED_DATA, TABLE, CliTestCase, png, read_safetensors

FAULTS = SHARED_DATA / "faults"
ESCAPE = "\x1b[31mred\x07\udcff\u202e"  # the last but one is the byte FF in a name
FOLDER = MODEL.replace("format: synthetic, samples: 65, classes: 3", "format: images, folder: pics") \
              .replace("  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "")
# The inputs of a batch norm are nearly equal, and more so in each block, so that gradients are very
# steep.
STEEP = """cgrun: 1
model: steep
data:
  train: {format: synthetic, samples: 64, classes: 4}
  test: {format: synthetic, samples: 4, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}
blocks:
  bottle:
    params: {project: false}
    in: x
    ops:
      - {op: conv, in: x, filters: 2, kernel: 1, activation: relu}
      - y: {op: conv, filters: 4, kernel: 1}
      - side: {op: conv, in: x, filters: 4, kernel: 1, if: "${project}"}
      - side: {op: reduce_sum, in: x, if: "${!project}"}
      - {op: add, in: [y, side]}
paths:
  classify:
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
      - {block: bottle, with: {project: true}}
      - {block: bottle, repeat: 4}
      - {op: batch_norm, activation: relu, init: {scale: ones, shift: {constant: 0.1}}}
      - {op: global_avg_pool}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.01}}
"""


class TerminalTest(CliTestCase):
    def run_bytes(self, *arguments, status=0):
        done = self.cgrun(*arguments, status=status, errors="surrogateescape")
        return done.stdout, done.stderr

    def assert_clean(self, text, where):
        for byte in ("\x1b", "\x07", "\x9b", "\x7f", "\u202e"):
            self.assertNotIn(byte, text, where)
        text.encode("utf-8")  # no bytes that are none

    def pictures(self):
        for name in (ESCAPE, "blue"):
            folder = self.folder / "pics" / name
            folder.mkdir(parents=True)
            for i in range(12):
                (folder / f"{ESCAPE}{i}.png").write_bytes(png(4, 4, [i * 9 % 256] * 16))
        return self.write("pics.yaml", FOLDER.replace("units: 3", "units: 2"))

    def test_names_of_folders_and_images(self):
        model = self.pictures()
        for arguments in (("check", model), ("check", model, "--json"),
                          ("train", model, "--out", "run"), ("eval", model, "--weights", "run",
                                                             "--split", "train")):
            out, err = self.run_bytes(*arguments)
            self.assert_clean(out + err, arguments)
        page = (self.folder / "run/report.html").read_bytes().decode("utf-8")
        self.assert_clean(page, "report.html")
        image = f"pics/{ESCAPE}/{ESCAPE}1.png"
        for more in ((), ("--json",), ("--json", "of.json"), ("--out", "predicted"), ("--csv", "of.csv")):
            out, err = self.run_bytes("predict", model, image, "--weights", "run", *more)
            self.assert_clean(out + err, more)
        self.assert_clean((self.folder / "of.csv").read_bytes().decode("utf-8"), "of.csv")
        json.loads((self.folder / "of.json").read_bytes().decode("utf-8"))
        (self.folder / image).write_bytes(b"no picture")
        out, err = self.run_bytes("check", model, status=2)
        self.assertIn("?[31mred??", err)
        self.assert_clean(out + err, "an error")

    def test_names_of_columns(self):
        self.write("table.yaml", TABLE)
        (self.folder / "rows.csv").write_bytes(
            b"a\x1b[31m,b\x07\xff,kind\n" + b"1,2,u\n3,4,v\n" * 8)
        out, err = self.run_bytes("check", "table.yaml")
        self.assertIn("a?[31m,b??,kind", err)
        self.assert_clean(out + err, "columns")

    def test_names_of_tensors_and_programs(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        weights = sorted((self.folder / "run").glob("*.safetensors"))[-1]
        header, data = read_safetensors(weights)
        header["\x1b[31mred\x07"] = {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2}
        del header["__metadata__"]
        text = json.dumps(header).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        out, err = self.run_bytes("train", "small.yaml", "--weights", "w.safetensors", "--out", "r2")
        self.assertIn("?[31mred?", err)
        self.assert_clean(out + err, "tensors")

    def damaged_program(self, old, new):
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        data = (self.folder / "small.cgb").read_bytes()
        payload = data[24:]
        self.assertIn(old, payload)
        payload = payload.replace(old, new)
        head = data[:12] + struct.pack("<IQ", zlib.crc32(payload), len(payload))
        (self.folder / "bad.cgb").write_bytes(head + payload)

    def test_a_program_with_a_text_that_is_not_utf_8(self):
        self.damaged_program(b"classify", b"cl\x1bss\xfffy")
        for more in ((), ("--json",)):
            out, err = self.run_bytes("disasm", "bad.cgb", *more)
            self.assert_clean(out + err, more)
        self.assertIn("cl?ss?fy", self.run_bytes("disasm", "bad.cgb")[0])

    def test_a_program_that_is_not_sound_is_named(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.damaged_program(b"foffset\x00", b"foffset\x01")
        for arguments in (("disasm", "bad.cgb"), ("eval", "bad.cgb", "--weights", "run")):
            error = self.refuses(*arguments)
            self.assertIn("bad.cgb: the program is not sound", error)


class ModelsTest(CliTestCase):
    def test_a_model_without_inputs(self):
        self.write("gan.yaml", PAIR.replace("  image: {type: uint8, shape: [1, 4, 4]}\n", "").replace(
            PAIR[PAIR.index("paths:"):PAIR.index("gan:")], "").replace(
            "loss: least_squares", "loss: wasserstein\n  gradient_penalty: 10"))
        for arguments in (("plan",), ("check",), ("train", "--dry-run")):
            error = self.refuses(arguments[0], "gan.yaml", *arguments[1:])
            self.assertIn("synthetic data are made for inputs, and this model has none", error)

    def test_a_network_that_is_too_steep_is_no_fault_of_ours(self):
        self.write("steep.yaml", STEEP)
        self.assert_steep(self.cgrun("check", "steep.yaml"))

    def test_steep_models_are_no_fault_of_the_program(self):
        for filters, repeat in ((4, 2), (8, 4), (12, 6)):
            with self.subTest(filters=filters, repeat=repeat):
                self.write("steep.yaml", STEEP.replace("filters: 4", f"filters: {filters}").replace(
                    "repeat: 4", f"repeat: {repeat}"))
                self.assertNotIn("fault", self.cgrun("check", "steep.yaml").stderr)

    def assert_steep(self, done):
        """The check passed, said that it could not compare all, and found no fault of cgrun's."""
        self.assertRegex(done.stdout, r"not compared in \d+ other directions: they change within the "
                                      r"smallest step: the loss is far too steep for differences\n")
        self.assertRegex(done.stdout, r"\nreference +not compared: rounding to f32 changes what this "
                                      r"network's gradients are: the loss is far too steep")
        self.assertIn(": no errors, no warnings.\n", done.stdout)
        self.assertNotIn("fault of cgrun", done.stdout + done.stderr)

    # Files in which a search found faults of earlier versions.
    @unittest.skipUnless(FAULTS.is_dir(), "CGRUN_SHARED_DATA names no folder with a folder faults")
    def test_what_found_faults_finds_none(self):
        self.assert_steep(self.cgrun("check", FAULTS / "check-false-alarm.yaml"))
        for verb in ("check", "plan"):
            self.assertIn("fz_1943.yaml:4:3: error: synthetic data are made for inputs, and this model "
                          "has none\n", self.cgrun(verb, FAULTS / "fz_1943.yaml", status=2).stderr)
        program = FAULTS / "reg_48_disasm.cgb"
        self.assertIn(" threa?s)\n", self.cgrun("disasm", program).stdout)
        fingerprint = json.loads(self.cgrun("disasm", program, "--json").stdout)["fingerprint"]
        self.assertIn(" threa\ufffds", fingerprint)


class DamagedCheckpointsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("table.yaml", TABLE)
        self.write("rows.csv", "alpha,beta,kind\n" + "1,2,u\n3,4,v\n" * 8)
        self.cgrun("train", "table.yaml", "--out", "run", "--quiet")
        self.weights = sorted((self.folder / "run").glob("*.safetensors"))[-1]

    def flip(self, text, bit=1):
        data = bytearray(self.weights.read_bytes())
        at = data.find(text)
        self.assertGreater(at, 0, text)
        data[at] ^= bit
        (self.folder / "w.safetensors").write_bytes(data)

    def test_a_damaged_name_of_a_column(self):
        self.flip(b"alpha")
        for verb, *more in (("eval", "table.yaml", "--split", "train"),
                            ("predict", "table.yaml", "rows.csv")):
            error = self.refuses(verb, *more, "--weights", "w.safetensors")
            self.assertIn("'w.safetensors' is damaged", error)

    def test_a_damaged_key_of_the_checksum(self):
        for bit in (1, 2, 4, 8, 16):
            self.flip(b"cgrun:checksum", bit)
            error = self.refuses("eval", "table.yaml", "--split", "train", "--weights",
                                 "w.safetensors")
            self.assertIn("w.safetensors", error)


class LargeHeadersTest(CliTestCase):
    """Guards against readers whose time grows faster than the file."""

    def seconds(self, *arguments, status):
        """Returns the seconds of a command. With a sanitizer, which is slower, it is a fifth of them."""
        begin = time.monotonic()
        self.cgrun(*arguments, status=status)
        return (time.monotonic() - begin) / (5 if SANITIZED else 1)

    def test_many_tensors(self):
        header = {f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
                  for i in range(20_000)}
        text = json.dumps(header).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
        self.assertLess(self.seconds("eval", "small.yaml", "--weights", "w.safetensors", status=2),
                        10)

    def test_many_keys_of_a_plan(self):
        self.write("p.json", json.dumps({"arena_bytes": 1, "buffers": [],
                                         **{f"k{i}": i for i in range(100_000)}}))
        self.assertLess(self.seconds("plan", "small.yaml", "--diff", "p.json", status=1), 10)

    def test_many_keys_of_a_model(self):
        for text in ("".join(f"k{i}: 1\n" for i in range(50_000)),
                     "a: {" + ", ".join("b: 1" for _ in range(50_000)) + "}\n"):
            self.write("m.yaml", MODEL + text)
            self.assertLess(self.seconds("check", "m.yaml", status=2), 20)

    def test_many_values_on_one_line_of_a_model(self):
        for text in ("b: {" + ",".join(f"x{i}: [1]" for i in range(30_000)) + f', z: "{"x" * 3_500_000}"}}\n',
                     "b: {" + ",".join(f"x{i}" for i in range(60_000)) + "}\n",
                     "b: {c: (" + ",".join(map(str, range(60_000))) + ")}\n"):
            self.write("m.yaml", MODEL + text)
            self.assertLess(self.seconds("check", "m.yaml", status=2), 10, text[:20])

    def test_many_errors_of_a_model(self):
        self.write("m.yaml", MODEL + "".join(f"k{i}: 1\n" for i in range(50_000)))
        for flags, printed in (((), "stderr"), (("--json",), "stdout")):
            done = getattr(self.cgrun("check", "m.yaml", *flags, status=2), printed)
            self.assertLess(len(done), 100_000)
            self.assertIn("and 49900 more, which are not shown", done)
            self.assertIn("'k99'", done)
            self.assertNotIn("'k100'", done)

    def test_many_columns_of_a_table(self):
        columns = 60_000
        def row(number):
            return ",".join([str(number)] + [str(i % 7) for i in range(1, columns)])
        header = ",".join(f"c{i}" for i in range(columns))
        self.write("rows.csv", f"{header}\n{row(0)}\n{row(1)}\n")
        self.write("table.yaml", TABLE.replace("label: kind", "label: c0")
                                      .replace("shape: [2]", f"shape: [{columns - 1}]"))
        self.cgrun("train", "table.yaml", "--out", "run")
        self.assertLess(self.seconds("predict", "table.yaml", "rows.csv", "--weights", "run", status=0), 10)

    def test_many_buffers_at_a_time(self):
        self.write("b.csv", "id,lower,upper,size\n" + "".join(f"b{i},0,1,64\n" for i in range(95_000)))
        self.assertLess(self.seconds("plan", "b.csv", status=0), 8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
