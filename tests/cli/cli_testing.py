"""A test case that runs the real `cgrun` in a folder of its own."""

import ast
import contextlib
import functools
import json
import os
import pathlib
import struct
import subprocess
import tempfile
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


def npy(shape, data, descriptor="|u1"):
    """A .npy file with these bytes as its elements."""
    text = repr({"descr": descriptor, "fortran_order": False, "shape": tuple(shape)}).encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def npy_of_floats(shape, numbers):
    """A .npy file of f32."""
    return npy(shape, struct.pack(f"<{len(numbers)}f", *numbers), "<f4")


def read_npy(path):
    """Shape and numbers of an f32 or int32 array."""
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


class ControlGroup:
    """A control group with a limit on `memory` or `cpu`, of version 1 or 2, for a `with`."""

    LIMITS = {"memory": ("memory.limit_in_bytes", "memory.max"), "cpu": ("cpu.cfs_quota_us", "cpu.max")}

    def __init__(self, controller, limit):
        self.controller = controller
        self.limit = limit
        self.folder = None

    def __enter__(self):
        root = pathlib.Path("/sys/fs/cgroup")
        one = root / self.controller
        version = 1 if one.is_dir() else 2
        self.folder = (one if version == 1 else root) / f"cgrun-test-{os.getpid()}"
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
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    @classmethod
    @functools.cache
    def why_not(cls, controller, limit):
        """Why there are none here; "" where there are."""
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
        """Runs cgrun in the test's folder; the result has the texts stdout and stderr. What other
        runs of this machine have cached is not there."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment,
                   **options}
        done = subprocess.run([str(CGRUN), *map(str, arguments)], cwd=self.folder, text=True,
                              check=False, stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def refuses(self, *arguments, status=2, **options):
        """Standard error of a command that the user got wrong."""
        done = self.cgrun(*arguments, status=status, **options)
        self.assertEqual(done.stdout, "", f"{arguments} printed a result beside its error")
        self.assertIn("error: ", done.stderr, arguments)
        return done.stderr
