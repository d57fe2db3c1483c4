"""A test case that runs the real `cgrun` in a folder of its own."""

import ast
import contextlib
import functools
import itertools
import json
import math
import os
import pathlib
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

ROOT = pathlib.Path.cwd()
CGRUN = ROOT / os.environ.get("CGRUN", "src/cli/cgrun")
# A sanitizer has memory of its own, and takes minutes where else there are seconds.
SANITIZED = b"__asan_init" in CGRUN.read_bytes()
# Data that do not belong to the project; tests that use them run if they are there.
SHARED_DATA = pathlib.Path(os.environ.get("CGRUN_SHARED_DATA", "/nowhere"))

MODEL = """cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 65, classes: 3}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  epochs: 2
  batch: 20
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""

# `MODEL` with a fifth of its training data set aside for validation.
SPLIT = MODEL.replace("samples: 65, classes: 3}", "samples: 200, classes: 3}\n  valid: {split: 0.2}")

# A classifier of the rows of a table.
TABLE = """cgrun: 1
model: table
data: {train: {format: csv, file: rows.csv, label: kind}}
inputs:
  features: {shape: [2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - logits: {op: linear, in: features, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}
"""

# A regression of the rows of a table.
PRICES = (TABLE.replace("label: kind", "label: price, standardize: true")
          .replace("{type: int32, shape: []}", "{shape: [1]}").replace("units: 2", "units: 1")
          .replace("softmax_cross_entropy", "squared_error"))

# It classifies a table that has gaps and two columns of texts.
HOUSES = """cgrun: 1
model: houses
data:
  train: {format: csv, file: train.csv, label: sold, missing: drop, categories: [town, roof]}
  test: {format: csv, file: test.csv, label: sold, missing: drop}
inputs:
  features: {shape: [2]}
  town: {type: int32, shape: []}
  roof: {type: int32, shape: []}
  sold: {type: int32, shape: []}
paths:
  judge:
    ops:
      - place: {op: embedding, in: town, entries: 4, units: 3}
      - top: {op: embedding, in: roof, entries: 3, units: 2}
      - {op: concat, in: [features, place, top]}
      - {op: linear, units: 6, activation: relu}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, sold]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.01}}
"""

# It classifies the images in the folders of two classes.
IMAGES = """cgrun: 1
model: photos
data: {train: {format: images, folder: photos}}
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 4, optimizer: {op: sgd, lr: 0.05}}
"""

# A generator draws small images, and a discriminator judges them.
PAIR = """cgrun: 1
model: pair
data: {train: {format: synthetic, samples: 24}}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
networks:
  artist: {in: z, ops: [{op: linear, units: 16}]}
  critic: {in: x, ops: [{op: linear, units: 1}]}
paths:
  prepare:
    mode: forward
    ops: [{op: normalize, in: image, scale: 2/255, mean: 1}, {x: {op: flatten}}]
gan:
  generator: artist
  discriminator: critic
  latent: {op: random_normal, shape: [5]}
  real: x
  loss: least_squares
  optimizer: {op: sgd, lr: 0.01}
train: {epochs: 9, batch: 8}
"""


def png(width, height, pixels):
    """A PNG file of 8 bits: a number a pixel is grey, three are colour."""
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check
    row = len(pixels) // height
    rows = b"".join(b"\0" + bytes(pixels[i:i + row]) for i in range(0, len(pixels), row))
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if row == width else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def jpeg(width, height, progressive=False):
    """Returns a JPEG file of grey pixels in three channels, which is small whatever its size."""
    def part(marker, data):
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data
    sizes = struct.pack(">BHHB", 8, height, width, 3)
    frame = sizes + b"".join(bytes([i, 0x11, 0]) for i in (1, 2, 3))
    codes = b"".join(part(0xC4, bytes([kind << 4, 1] + 15 * [0] + [0])) for kind in (0, 1))
    scan = bytes([3, 1, 0, 2, 0, 3, 0, 0, 0 if progressive else 63, 0])
    # Each block has a difference of 0 and, in a whole scan, the end of the block: a bit each.
    blocks = 3 * -(-width // 8) * -(-height // 8)
    bits = blocks * (1 if progressive else 2)
    return (b"\xff\xd8" + part(0xDB, bytes([0] + 64 * [1])) + part(0xC2 if progressive else 0xC0, frame) +
            codes + part(0xDA, scan) + bytes(-(-bits // 8)) + b"\xff\xd9")


def npy(shape, data, descriptor="|u1"):
    """Returns a .npy file that has these bytes as its elements."""
    text = repr({"descr": descriptor, "fortran_order": False, "shape": tuple(shape)}).encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def npy_of_floats(shape, numbers):
    """A .npy file of f32."""
    return npy(shape, struct.pack(f"<{len(numbers)}f", *numbers), "<f4")


def read_npy(path):
    """Returns the shape and the numbers of an f32 or int32 array."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    kind = {"<f4": "f", "<i4": "i"}[header["descr"]]
    values = struct.unpack(f"<{(len(data) - 10 - size) // 4}{kind}", data[10 + size:])
    return header["shape"], values


def read_safetensors(path):
    """The header of a safetensors file, and the bytes behind it."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def write_zeros_as_safetensors(path, shapes):
    """Writes f32 tensors of these names and shapes."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


class ControlGroup:
    """Makes a control group of version 1 or 2, with a limit on `memory` or `cpu`, for a `with`."""

    made = itertools.count()
    LIMITS = {"memory": ("memory.limit_in_bytes", "memory.max"), "cpu": ("cpu.cfs_quota_us", "cpu.max")}

    def __init__(self, controller, limit):
        self.controller = controller
        self.limit = limit
        self.folder = None

    def __enter__(self):
        root = pathlib.Path("/sys/fs/cgroup")
        one = root / self.controller
        version = 1 if one.is_dir() else 2
        self.folder = (one if version == 1 else root) / f"cgrun-test-{os.getpid()}-{next(self.made)}"
        self.folder.mkdir()
        try:
            (self.folder / self.LIMITS[self.controller][version - 1]).write_text(str(self.limit))
        except OSError:
            self.folder.rmdir()
            raise
        return self

    def join(self):
        """Puts this process into the group."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def __exit__(self, *_):
        for _ in range(50):  # a process that has ended is in the group for a moment longer
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)

    @classmethod
    @functools.cache
    def why_not(cls, controller, limit):
        """Returns why there are none here; "" where there are."""
        try:
            with cls(controller, limit) as group:
                subprocess.run(["true"], preexec_fn=group.join, check=True)  # pylint: disable=W1509
        except (OSError, subprocess.SubprocessError) as error:
            return f"no control group can be made here: {error}"
        return ""


def devices(*names):
    """Those of `names` that this build has kernels for; says which it lacks."""
    done = subprocess.run([str(CGRUN), "devices", "--json"], text=True, check=True,
                          stdout=subprocess.PIPE)
    there = {device["name"] for device in json.loads(done.stdout)["devices"] if "kernels" in device}
    for name in names:
        if name not in there:
            print(f"not on '{name}': it is not in this build")
    return [name for name in names if name in there]


class CliTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("small.yaml", MODEL)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def cgrun(self, *arguments, status=0, **options):
        """Runs cgrun in the test's folder; the result has the texts stdout and stderr. It
        has a cache of its own. If `status` is None, any exit status will do."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment,
                   **options}
        done = subprocess.run([str(CGRUN), *map(str, arguments)], cwd=self.folder, text=True,
                              check=False, stdin=subprocess.DEVNULL, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def watched(self, *arguments, status=0, **options):
        """Does as cgrun() does. The result has `most_anonymous`, too: the most anonymous memory that
        was seen from outside, in bytes, which is looked at about a thousand times a second."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        page = os.sysconf("SC_PAGESIZE")
        most = 0
        with subprocess.Popen([str(CGRUN), *map(str, arguments)], cwd=self.folder, text=True, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **options) as run:
            def watch():
                nonlocal most
                with contextlib.suppress(OSError), open(f"/proc/{run.pid}/statm", "rb", 0) as pages:
                    while text := os.pread(pages.fileno(), 128, 0):
                        _, resident, shared = map(int, text.split()[:3])
                        most = max(most, (resident - shared) * page)
                        time.sleep(0.0005)

            watcher = threading.Thread(target=watch)
            watcher.start()
            stdout, stderr = run.communicate()
            watcher.join()
        if status is not None:
            self.assertEqual(run.returncode, status, f"{arguments}: {stdout}{stderr}")
        done = subprocess.CompletedProcess(arguments, run.returncode, stdout, stderr)
        done.most_anonymous = most
        return done

    def refuses(self, *arguments, status=2, **options):
        """Standard error of a command that the user got wrong."""
        done = self.cgrun(*arguments, status=status, **options)
        self.assertEqual(done.stdout, "", f"{arguments} printed a result beside its error")
        self.assertIn("error: ", done.stderr, arguments)
        return done.stderr


class MistakesTestCase(CliTestCase):
    """A test case of model files with mistakes, each of which is a change of a right one."""

    def errors(self, text, *changes, verb="check"):
        """Returns what `verb` says of a model; of each pair in `changes` the second text replaces the first."""
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        return self.refuses(verb, self.write("wrong.yaml", text))

    def only(self, text, *changes, verb="check"):
        """The same, of one error."""
        error = self.errors(text, *changes, verb=verb)
        self.assertEqual(error.count("error: "), 1, error)
        return error

    def refused_alike(self, *flags):
        """Returns what `plan`, `compile` and `train` all say of small.yaml."""
        texts = {self.refuses("plan", "small.yaml", *flags),
                 self.refuses("compile", "small.yaml", "-o", "m.cgb", *flags),
                 self.refuses("train", "small.yaml", *flags)}
        self.assertEqual(len(texts), 1, texts)
        return texts.pop()

    def marked(self, part, old, new, text=MODEL, errors=1):
        """Checks `text` with `new` for `old`, and returns the errors: so many, the first of which is
        marked where `part` begins in `new`."""
        error = self.errors(text, (old, new))
        self.assertEqual(error.count("error: "), errors, error)
        lines = error.splitlines()
        caret = next(i for i, line in enumerate(lines) if line.strip().startswith("^"))
        place = lines[caret - 1][lines[caret].index("^"):]
        self.assertTrue(place.startswith(part), error)
        self.assertRegex(lines[0], r"^wrong.yaml:\d+:\d+: error: ")
        return error

    def helps(self, help_text, part, old, new, **options):
        """`help_text` is the help of the error that is marked at `part`."""
        self.assertIn(f"help: {help_text}\n", self.marked(part, old, new, **options))

    def of_train(self, help_text, key, **options):
        """`help_text` is the help of a wrong `key` of `train`."""
        self.helps(help_text, key.split(":")[0], "epochs: 2", f"epochs: 2\n  {key}", **options)


class HousesTestCase(MistakesTestCase):
    """A test case of `HOUSES`, whose data are there."""

    HEAD = "rooms,age,town,roof,sold\n"
    TOWNS, ROOFS, SOLD = ("Rome", "Oslo", "Bonn"), ("flat", "steep"), ("yes", "no")

    def setUp(self):
        super().setUp()
        self.write("houses.yaml", HOUSES)
        self.write("train.csv", self.houses(30))
        self.write("test.csv", self.houses(9))

    def houses(self, count):
        """The text of a table with `count` rows."""
        return self.HEAD + "".join(
            f"{i % 5},{i % 7},{self.TOWNS[i % 3]},{self.ROOFS[i % 2]},{self.SOLD[i % 2]}\n"
            for i in range(count))
