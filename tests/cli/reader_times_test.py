#!/usr/bin/env python3
"""Tests how the time of each reader grows with its file: no reader may be quadratic.

A case writes a file of n things and one of ten times as many, and has `cgrun` read both. CGRUN_READER_SIZES
multiplies the sizes, up to what each format allows."""

import json
import math
import os
import struct
import subprocess
import unittest

from cli_testing import CGRUN, IMAGES, MODEL, SANITIZED, TABLE, CliTestCase, jpeg, npy, png

TIMES = 10     # things in the large file, for each in the small one
MOST = 1.3     # the largest exponent
LEAST = 0.05   # seconds that are no noise
TRIES = 3      # of which the fastest counts
SCALE = float(os.environ.get("CGRUN_READER_SIZES", "1"))

# The program and the system allow no more than these.
MOST_VALUES = 190_000    # of a model file, and some of the model around them
MOST_CLASSES = 65_536
MOST_ARGUMENTS = 50_000  # short ones, on a command line
MOST_LINKS = 10_000      # names of a file

WORDS = """cgrun: 1
model: words
data: {train: {format: lines, file: lines.txt, length: 4, label: first}}
inputs:
  text: {type: int32, shape: [4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: cast, in: text, to: f32}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
"""
ONE_INPUT = """cgrun: 1
model: sum
data: {train: DATA}
inputs: {x: {type: TYPE, shape: SHAPE}}
paths:
  add:
    ops:
      - {op: cast, in: x, to: f32}
      - {op: flatten}
      - y: {op: linear, units: 1}
    loss: {op: squared_error, in: [y, y]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
"""


def link(data, paths):
    """Writes `data` to all paths, most of which are names of one file."""
    for i, path in enumerate(paths):
        if i % MOST_LINKS == 0:
            first = path
            first.write_bytes(data)
        else:
            os.link(first, path)


@unittest.skipIf(SANITIZED, "a sanitizer's times are not those of the program")
class ReaderTimesTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet", "--threads", 1)

    def seconds(self, arguments, status):
        """Returns the processor time of a command."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "OMP_NUM_THREADS": "1"}
        with open(self.folder / "told", "w", encoding="utf-8") as told, subprocess.Popen(
                [str(CGRUN), *map(str, arguments)], cwd=self.folder, env=environment,
                stdin=subprocess.DEVNULL, stdout=told, stderr=told) as run:
            _, ended, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(ended)
        text = (self.folder / "told").read_text(errors="replace")
        self.assertEqual(run.returncode, status, f"{arguments}: {text[:2000]}")
        return used.ru_utime + used.ru_stime

    def fastest(self, make, count, status, tries):
        return min(self.seconds(make(count), status) for _ in range(tries))

    def holds(self, make, small, status=0, most=math.inf):
        """`make(n)` writes a file of n things, at most `most`, and returns the arguments of a command that reads
        it."""
        small = int(min(small * SCALE, most // TIMES))
        start = self.fastest(make, 10, status, 1)
        for tries in range(1, TRIES + 1):
            few = self.fastest(make, small, status, tries) - start
            many = self.fastest(make, TIMES * small, status, tries) - start
            grows = math.log(max(many, 1e-3) / max(few, LEAST)) / math.log(TIMES)
            if grows <= MOST:
                break
        told = f"{small:,}: {few:.2f} s, {TIMES * small:,}: {many:.2f} s"
        print(f"{self.id().rsplit('.', maxsplit=1)[1]:40} {told}", flush=True)
        self.assertLessEqual(grows, MOST, f"{told}: grows with the power {grows:.2f}")

    def test_operators_of_a_model(self):
        def make(count):
            ops = "".join("      - {op: relu}\n" for _ in range(count))
            self.write("m.yaml", MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n" + ops))
            return "graph", "m.yaml", "--stop-after-pass", "dead_code"
        self.holds(make, 2000, most=MOST_VALUES // 3)

    def test_keys_of_a_model(self):
        for text in (lambda n: "".join(f"k{i}: {{a: [1, 2], b: '{i}'}}\n" for i in range(n)),
                     lambda n: "k: {" + ", ".join(f"k{i}: 1" for i in range(n)) + "}\n",
                     lambda n: "k: [" + ", ".join(f"[{i}]" for i in range(n)) + "]\n",
                     lambda n: "k:\n" + "".join(f"  - a: 1\n    b: {i}\n" for i in range(n)),
                     lambda n: "k: |\n" + "".join(f"  text {i}\n" for i in range(n)),
                     lambda n: "".join(f"# comment {i}\n" for i in range(n)) + "k: 1\n",
                     lambda n: 'k: "' + "\\n" * n + '"\n',
                     lambda n: "k: " + "x y " * n + "\n",
                     lambda n: "k: x\n" + "".join(f"  more {i}\n" for i in range(n))):
            with self.subTest(text(3)):
                self.holds(lambda n, text=text: ("check", self.write("m.yaml", MODEL + text(n))), 5000, status=2)

    def test_blocks_and_names_of_a_model(self):
        for text in (lambda n: MODEL + "blocks:\n" + "".join(
                         f"  b{i}: {{in: x, ops: [{{op: relu}}]}}\n" for i in range(n)),
                     lambda n: MODEL + "networks:\n" + "".join(
                         f"  b{i}: {{in: x, ops: [{{op: relu}}]}}\n" for i in range(n)),
                     lambda n: MODEL.replace("      - {op: flatten}", "".join(
                         f"      - y{i}: {{op: relu, in: pixels}}\n" for i in range(n)) + "      - {op: flatten}")):
            with self.subTest(text(3)):
                self.holds(lambda n, text=text: ("graph", self.write("m.yaml", text(n)), "--stop-after-pass",
                                                 "dead_code"), 2000, most=MOST_VALUES // 9)

    def test_settings_of_the_command_line(self):
        self.holds(lambda n: ("graph", "small.yaml", *("--set=train.epochs=3" for _ in range(n))), 2000,
                   most=MOST_ARGUMENTS)

    def table(self, header, rows, **changes):
        self.write("rows.csv", header + "\n" + "".join(rows))
        text = TABLE
        for old, new in changes.items():
            text = text.replace({"label": "label: kind", "shape": "shape: [2]"}[old], new)
        return "train", self.write("table.yaml", text), "--dry-run"

    def test_rows_of_a_table(self):
        self.holds(lambda n: self.table("a,b,kind", (f"{i},{i % 7}.25,{'uv'[i % 2]}\n" for i in range(n))), 20_000)

    def test_quoted_cells_of_a_table(self):
        self.holds(lambda n: self.table("a,b,kind", (f'"{i}","{i % 7}","{"uv"[i % 2]}"\n' for i in range(n))), 20_000)

    def test_one_quoted_cell_of_a_table(self):
        self.holds(lambda n: self.table("a,b,kind", ("1,2,u\n", '3,4,"' + 'x""\n' * n + '"\n')), 50_000)

    def test_gaps_of_a_table(self):
        for missing in ("mean", "drop"):
            self.holds(lambda n, missing=missing: self.table(
                "a,b,kind", (f"{'' if i % 3 else i},{i % 7},{'uv'[i % 2]}\n" for i in range(n)),
                label=f"label: kind, missing: {missing}, standardize: true"), 20_000)

    def test_wrong_rows_of_a_table(self):
        self.holds(lambda n: self.table("a,b,kind", (f"{i},x{i},{'uv'[i % 2]}\n" for i in range(n))), 20_000, status=2)

    def test_columns_of_a_table(self):
        self.holds(lambda n: self.table(",".join(f"c{i}" for i in range(n)) + ",kind",
                                        (",".join(["1"] * n) + f",{kind}\n" for kind in "uvuv"),
                                        shape=f"shape: [{n}]"), 10_000)

    def test_labels_of_a_table(self):
        def make(count):
            made = self.table("a,b,kind", (f"1,2,name{i}\n" for i in range(count)))
            self.write("table.yaml", (self.folder / "table.yaml").read_text().replace("units: 2", f"units: {count}"))
            return made
        self.holds(make, 5000, most=MOST_CLASSES)

    def test_named_columns_of_a_table(self):
        self.holds(lambda n: self.table(
            ",".join(f"c{i}" for i in range(n)) + ",kind", (",".join(["1"] * n) + f",{kind}\n" for kind in "uvuv"),
            shape=f"shape: [{n}]", label="label: kind, columns: [" + ",".join(f"c{i}" for i in range(n)) + "]"), 3000)

    def lines(self, lines, **changes):
        self.write("lines.txt", "".join(lines))
        text = WORDS
        for old, new in changes.items():
            text = text.replace({"label": "label: first", "units": "units: 2"}[old], new)
        return "train", self.write("words.yaml", text), "--dry-run"

    def test_lines(self):
        self.holds(lambda n: self.lines(f"{'ab'[i % 2]}\tone two three\n" for i in range(n)), 20_000)

    def test_words_of_lines(self):
        self.holds(lambda n: self.lines(f"{'ab'[i % 2]}\tw{i} x{i} y\n" for i in range(n)), 10_000)

    def test_words_of_one_line(self):
        self.holds(lambda n: self.lines(("a\tone two\n", "b\t" + " ".join(f"w{i}" for i in range(n)) + "\n"),
                                        label="label: first, truncate: true"), 50_000)

    def test_words_of_a_vocabulary(self):
        def make(count):
            self.write("vocabulary.txt", "".join(f"w{i}\n" for i in range(count)))
            return self.lines(("a\tw1 w2\n", "b\tw3\n"), label="label: first, vocabulary: vocabulary.txt")
        self.holds(make, 20_000)

    def test_classes_of_lines(self):
        self.holds(lambda n: self.lines((f"c{i}\tone two\n" for i in range(n)), units=f"units: {n}"), 5000,
                   most=MOST_CLASSES)

    def test_a_list_of_classes(self):
        self.holds(lambda n: self.lines(
            ("c1\tone two\n", "c2\tone\n"), units=f"units: {n}",
            label="label: first, classes: [" + ",".join(f"c{i}" for i in range(n)) + "]"), 3000)

    def test_text_as_bytes(self):
        def make(count):
            self.write("text.txt", "some text\n" * count)
            text = ONE_INPUT.replace("DATA", "{format: text, file: text.txt, length: 8}")
            return "train", self.write("m.yaml", text.replace("TYPE", "uint8").replace("SHAPE", "[8]")), "--dry-run"
        self.holds(make, 100_000)

    def array(self, data, kind, shape):
        text = ONE_INPUT.replace("DATA", data).replace("TYPE", kind).replace("SHAPE", shape)
        return "train", self.write("m.yaml", text), "--dry-run"

    def test_arrays(self):
        def make(count):
            (self.folder / "x.npy").write_bytes(npy([count, 4], bytes(4 * count)))
            return self.array("{format: npy, x: x.npy}", "f32", "[4]")
        self.holds(make, 200_000)

    def test_idx(self):
        def make(count):
            (self.folder / "x.idx").write_bytes(struct.pack(">BBBBII", 0, 0, 8, 2, count, 4) + bytes(4 * count))
            return self.array("{format: idx, images: x.idx}", "uint8", "[4]")
        self.holds(make, 200_000)

    def test_cifar(self):
        def make(count):
            (self.folder / "x.bin").write_bytes(bytes(3073 * count))
            self.array("{format: cifar, files: [x.bin]}", "uint8", "[3, 32, 32]")
            text = (self.folder / "m.yaml").read_text().replace("32]}}", "32]}, label: {type: int32, shape: []}}")
            return "train", self.write("m.yaml", text), "--dry-run"
        self.holds(make, 2000)

    def pictures(self, count, classes):
        """Writes folders of one image under many names: the folders are what is large."""
        folder = self.folder / f"photos{count}"
        if not folder.exists():
            folder.mkdir()
            for i in range(min(count, classes)):
                (folder / f"c{i}").mkdir()
            link(png(8, 8, bytes(64)), [folder / f"c{i % classes}" / f"{i}.png" for i in range(count)])
        text = IMAGES.replace("folder: photos", f"folder: photos{count}").replace("units: 2", f"units: {classes}")
        return "train", self.write("photos.yaml", text), "--dry-run"

    def test_images_of_a_folder(self):
        self.holds(lambda n: self.pictures(n, 2), 2000)

    def picture(self, data):
        folder = self.folder / "one"
        for kind in "ab":
            (folder / kind).mkdir(parents=True, exist_ok=True)
            (folder / kind / "1.jpg").write_bytes(data)
        text = IMAGES.replace("folder: photos", "folder: one")
        return "train", self.write("photos.yaml", text), "--dry-run"

    def test_headers_of_images(self):
        picture, (begin, end) = jpeg(8, 8), (b"\x89PNG\r\n\x1a\n", png(8, 8, bytes(64))[8:])
        header, rest = end[:25], end[25:]
        for name, data in (("comments", lambda n: picture[:2] + n * b"\xff\xfe\0\2" + picture[2:]),
                           ("fill bytes", lambda n: picture[:2] + 4 * n * b"\xff" + picture[2:]),
                           ("chunks", lambda n: begin + header + n * b"\0\0\0\0tEXt\0\0\0\0" + rest)):
            with self.subTest(name):
                self.holds(lambda n, data=data: self.picture(data(n)), 100_000)

    def test_folders_of_images(self):
        self.holds(lambda n: self.pictures(n, n), 600)

    def test_labels_of_images(self):
        def make(count):
            folder = self.folder / f"all{count}"
            if not folder.exists():
                self.pictures(count, 1)
                (self.folder / f"photos{count}/c0").rename(folder)
            self.write("labels.csv", "".join(f"{i}.png,{i % 2}\n" for i in range(count)))
            text = IMAGES.replace("folder: photos", f"folder: all{count}, labels: labels.csv")
            return "train", self.write("photos.yaml", text), "--dry-run"
        self.holds(make, 2000)

    def weights(self, header, data=b""):
        text = json.dumps(header).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        return "eval", "small.yaml", "--weights", "w.safetensors"

    def test_tensors_of_a_file(self):
        self.holds(lambda n: self.weights({f"t{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
                                           for i in range(n)}, bytes(4 * n)), 10_000, status=2)

    def test_empty_tensors_of_a_file(self):
        self.holds(lambda n: self.weights({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
                                           for i in range(n)}), 10_000, status=2)

    def test_notes_of_a_file(self):
        self.holds(lambda n: self.weights({"__metadata__": {f"k{i}": "text" for i in range(n)}}), 20_000, status=2)

    def test_checkpoints_of_a_run(self):
        def make(count):
            run = self.folder / f"run{count}"
            if not run.exists():
                subprocess.run(["cp", "-r", self.folder / "run", run], check=True)
                newest = max(run.glob("checkpoint-*.safetensors"))
                link(newest.read_bytes(), [run / f"checkpoint-{100 + i}.safetensors" for i in range(count)])
            return "eval", "small.yaml", "--weights", run.name
        self.holds(make, 2000)

    def plan_of(self, buffers, **more):
        self.write("p.json", json.dumps({"arena_bytes": 1, "buffers": buffers, **more}))
        return "plan", "small.yaml", "--diff", "p.json"

    def test_buffers_of_a_plan(self):
        self.holds(lambda n: self.plan_of([{"name": f"b{i}", "bytes": 64} for i in range(n)]), 10_000, status=1)

    def test_keys_of_a_plan(self):
        self.holds(lambda n: self.plan_of([], **{f"k{i}": i for i in range(n)}), 20_000, status=1)

    def test_buffers_of_a_problem(self):
        for rows in (lambda i: f"b{i},{i},{i + 1},64\n", lambda i: f"b{i},0,1,64\n"):
            with self.subTest(rows(1)):
                def make(count, rows=rows):
                    self.write("b.csv", "id,lower,upper,size\n" + "".join(map(rows, range(count))))
                    return "plan", "b.csv", "--planner", "naive"
                self.holds(make, 9000, most=100_000)

    def test_operators_of_a_program(self):
        def make(count):
            if not (self.folder / f"{count}.cgb").exists():
                ops = "".join("      - {op: sigmoid}\n      - {op: linear, units: 4}\n" for _ in range(count // 2))
                self.write("m.yaml", MODEL.replace("      - {op: flatten}\n", "      - {op: flatten}\n" + ops))
                self.cgrun("compile", "m.yaml", "-o", f"{count}.cgb", "--threads", 1)
            return "disasm", f"{count}.cgb"
        self.holds(make, 100, most=10_000)

    def resumed(self, count, change):
        """A run that goes on, whose folder `change` has changed."""
        run = self.folder / f"run{count}"
        if run.exists():
            subprocess.run(["rm", "-r", run], check=True)
        subprocess.run(["cp", "-r", self.folder / "run", run], check=True)
        change(run)
        return "train", "--resume", run.name, "--set", "train.epochs=3", "--threads", "1"

    def test_lines_of_a_log(self):
        def make(count):
            def change(run):
                log = (run / "metrics.csv").read_text().splitlines(keepends=True)
                (run / "metrics.csv").write_text(log[0] + count * log[1])
            return self.resumed(count, change)
        self.holds(make, 50_000)

    def test_records_of_events(self):
        def make(count):
            def change(run):
                events = next(run.glob("*tfevents*"))
                whole = events.read_bytes()
                first = 16 + struct.unpack("<Q", whole[:8])[0]
                second = 16 + struct.unpack("<Q", whole[first:first + 8])[0]
                events.write_bytes(whole[:first] + count * whole[first:first + second])
            return self.resumed(count, change)
        self.holds(make, 50_000)

    def test_parts_of_a_run(self):
        def make(count):
            def change(run):
                settings = json.loads((run / "run.json").read_text())
                part = {"date": "", "version": "", "command": "", "step": 0}
                settings["parts"] = [part] * count
                (run / "run.json").write_text(json.dumps(settings, separators=(",", ":")))
            return self.resumed(count, change)
        self.holds(make, 1500, most=15_000)

    def test_kept_values_of_a_run(self):
        def make(count):
            def change(run):
                names = [f"v{i}.npy" for i in range(count)]
                settings = json.loads((run / "run.json").read_text())
                settings["kept_files"] = names
                (run / "run.json").write_text(json.dumps(settings, separators=(",", ":")))
                link(b"a file", [run / name for name in names])
            return self.resumed(count, change)
        self.holds(make, 6000, most=60_000)

    def test_inputs_of_a_prediction(self):
        def make(count):
            (self.folder / "x.npy").write_bytes(npy([count, 1, 4, 4], bytes(16 * count)))
            return "predict", "small.yaml", "x.npy", "--weights", "run"
        self.holds(make, 10_000)

    def test_rows_of_a_prediction(self):
        self.write("table.yaml", TABLE)
        self.write("rows.csv", "a,b,kind\n" + "1,2,u\n3,4,v\n" * 8)
        self.cgrun("train", "table.yaml", "--out", "tables", "--quiet")

        def make(count):
            self.write("rows.csv", "a,b,kind\n" + "1,2,u\n" * count)
            return "predict", "table.yaml", "rows.csv", "--weights", "tables", "--json"
        self.holds(make, 5000)

    def test_files_of_a_prediction(self):
        def make(count):
            if not (self.folder / f"in{count}").exists():
                (self.folder / f"in{count}").mkdir()
                link(png(4, 4, bytes(16)), [self.folder / f"in{count}/{i}.png" for i in range(count)])
            return "predict", "small.yaml", f"in{count}", "--weights", "run"
        self.holds(make, 500)


if __name__ == "__main__":
    unittest.main(verbosity=2)
