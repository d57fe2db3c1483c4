#!/usr/bin/env python3
"""Small files that declare, or inflate to, more than memory holds: they are refused, or held within the plan,
before memory is taken."""

import json
import shutil
import struct
import unittest
import zlib

from cli_testing import IMAGES, MODEL, SANITIZED, TABLE, CliTestCase, ControlGroup, jpeg, npy, png

MIB = 2**20
SAMPLE = MIB // 4  # what a process may take between two looks at its own memory
LITTLE = 64 * MIB  # more than any process here takes that reads none of it
IDX = MODEL.replace("format: synthetic, samples: 65, classes: 3", "format: idx, images: images.gz, labels: labels")
NPY = MODEL.replace("format: synthetic, samples: 65, classes: 3", "format: npy, image: image.npy, label: label.npy")
LINES = """cgrun: 1
data: {train: {format: FORMAT, file: text.gz, length: 16}}
inputs: {text: {type: int32, shape: [16]}}
paths:
  p:
    ops: [x: {op: cast, in: text, to: f32}, y: {op: linear, in: x, units: 1}, z: {op: mul, in: [y, 0]}]
    loss: {op: squared_error, in: [y, z]}
train: {steps: 2, batch: 2, optimizer: {op: sgd, lr: 0.01}}
"""


def zeros_in_gzip(head, count):
    """A gzip file of `head` and so many zeros, without a moment in which they are there."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(MIB)
    return b"".join([packer.compress(head), *(packer.compress(block) for _ in range(count // MIB)), packer.flush()])


@unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
class DeclaredSizesTest(CliTestCase):
    def save(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def refused(self, *arguments, says, **options):
        done = self.watched(*arguments, status=None, **options)
        self.assertIn(done.returncode, (1, 2), arguments)
        self.assertRegex(done.stderr, says, arguments)
        self.assertLess(len(done.stderr), 3000, arguments)
        self.assertLess(done.most_anonymous, LITTLE, arguments)

    def refused_by_all(self, model, says, *flags):
        for verb in ("train", "check", "plan"):
            self.refused(verb, model, *flags, says=says)

    def test_a_large_image_is_planned_with_what_decoding_takes(self):
        self.images_are_planned("a.png", png(8000, 8000, bytes(3 * 8000 * 8000)), 8000)

    def test_so_are_jpeg_files(self):
        self.images_are_planned("a.jpg", jpeg(3000, 4000), 3000)
        self.images_are_planned("a.jpg", jpeg(3000, 4000, progressive=True), 3000)

    def images_are_planned(self, name, data, width):
        self.assertLess(len(data), MIB)
        self.write("photos.yaml", IMAGES.replace("batch: 4", "batch: 2"))
        shutil.rmtree(self.folder / "photos", ignore_errors=True)
        self.save(f"photos/cat/{name}", data)
        self.save("photos/dog/small.png", png(8, 8, bytes(192)))
        image, flags = f"photos/cat/{name}", ("--threads", 1)
        train = ("train", "photos.yaml", *flags, "--force", "--set", "train.epochs=1")
        for decode in ("stream", "ahead"):
            self.holds(width, *train, "--out", "run", "--set", f"data.train.decode={decode}")
        self.holds(width, "predict", "photos.yaml", image, *flags, "--weights", "run")
        says = rf"this image of {width} x \d000 pixels takes .* while it is decoded, more than"
        self.refused(*train, "--memory", "32MiB", "--out", "other", says=f"{name}: error: {says} the cap of 32 MiB")
        if why_not := ControlGroup.why_not("memory", 60 * MIB):
            print(why_not)
            return
        with ControlGroup("memory", 60 * MIB) as group:
            for verb in (("check", "photos.yaml", *flags), (*train, "--out", "other"),
                         ("predict", "photos.yaml", image, *flags, "--weights", "run")):
                self.refused(*verb, says=f"{says}|the run takes", preexec_fn=group.join)

    def holds(self, width, *arguments):
        """Runs a verb that decodes one image so wide, of three bytes a pixel."""
        done = self.watched(*arguments, "--json")
        result = json.loads(done.stdout)
        planned, measured = result["planned_peak_bytes"], result["measured_peak_bytes"]
        self.assertGreater(done.most_anonymous, 3 * width * 4000)
        self.assertLessEqual(measured, planned)
        self.assertLessEqual(done.most_anonymous, measured + SAMPLE)

    def test_headers_of_arrays(self):
        self.save("label.npy", npy([6], bytes(24), "<i4"))
        for shape in ([10**15, 1, 4, 4], [2**62, 1, 4, 4], [10**7, 1, 4, 4]):
            self.save("image.npy", npy(shape, b"few"))
            self.write("npy.yaml", NPY)
            self.refused_by_all("npy.yaml", r"image.npy' declares \[\d+, 1, 4, 4\] elements of '\|u1', .*(has 3 after|than a file)")
            self.refused("predict", "small.yaml", "image.npy", "--weights", self.weights(),
                         says=r"image.npy' declares .*elements")

    def weights(self):
        if not (self.folder / "trained").exists():
            self.cgrun("train", "small.yaml", "--out", "trained", "--quiet")
        return "trained"

    def test_headers_of_idx(self):
        self.save("labels", struct.pack(">BBBBI", 0, 0, 8, 1, 6) + bytes(6))
        self.write("idx.yaml", IDX)
        for count in (2**32 - 1, 10**7):
            head = struct.pack(">BBBBIII", 0, 0, 8, 3, count, 4, 4)
            self.save("images.gz", head + b"few")
            self.refused_by_all("idx.yaml", r"images.gz' declares \d+ x 4 x 4 elements of uint8, \d+ bytes, but has 3")

    def test_files_that_inflate(self):
        size = 160 * MIB
        self.save("labels", struct.pack(">BBBBI", 0, 0, 8, 1, 6) + bytes(6))
        self.save("label.npy", npy([6], bytes(24), "<i4"))
        self.write("idx.yaml", IDX)
        self.save("images.gz", zeros_in_gzip(struct.pack(">BBBBIII", 0, 0, 8, 3, size // 16, 4, 4), size))
        self.write("npy.yaml", NPY)
        self.save("image.npy", zeros_in_gzip(npy([size // 16, 1, 4, 4], b""), size))
        cap = ("--memory", "60MiB")
        for model, says in (("idx.yaml", "'labels' holds 6 labels, but"), ("npy.yaml", "'label.npy' holds 6 samples, but")):
            self.refused("train", model, *cap, says=says)
        self.save("text.gz", zeros_in_gzip(b"to be or not", size))
        self.write("lines.yaml", LINES.replace("FORMAT", "lines"))
        self.refused("train", "lines.yaml", *cap, says="text.gz.*(inflates to more than the cap of 60 MiB|a line of more than)")
        self.write("text.yaml", LINES.replace("FORMAT", "text").replace("16", "256"))
        done = self.watched("train", "text.yaml", *cap, "--json")
        self.assertLessEqual(done.most_anonymous, json.loads(done.stdout)["planned_peak_bytes"])

    def test_lines_of_tables(self):
        self.write("table.yaml", TABLE)
        long = b"1" * (100 * MIB)
        for name, data in (("a line", b"a,b,kind\n" + long + b",2,0\n"), ("a header", long + b"\n1,2,0\n"),
                           ("a quote", b'a,b,kind\n"' + b"\n" * (100 * MIB))):
            self.save("rows.csv", data)
            with self.subTest(name):
                for verb in ("train", "check"):
                    self.refused(verb, "table.yaml", says=r"rows.csv:\d:\d+: error: (a line of more than 16 MiB|this quote)")

    def test_tensors_of_weights(self):
        huge = 2**40
        for shape, end in (([huge], 4 * huge), ([3, 16], 4 * huge), ([huge, huge], 2**63), ([2**31, 2**31], 0)):
            header = {"classify.logits.weight": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}
            text = json.dumps(header).encode()
            self.save("w.safetensors", struct.pack("<Q", len(text)) + text + b"few")
            for verb in (("train", "--out", "run"), ("eval",)):
                self.refused(verb[0], "small.yaml", *verb[1:], "--weights", "w.safetensors", says="w.safetensors")
        self.save("w.safetensors", struct.pack("<Q", 2**60) + b"{}")
        self.refused("eval", "small.yaml", "--weights", "w.safetensors", says="w.safetensors")
        # Files with holes are as large as they declare, and take no place.
        text = json.dumps({"classify.logits.weight": {"dtype": "F32", "shape": [2**26], "data_offsets": [0, 2**28]}}).encode()
        self.save("w.safetensors", struct.pack("<Q", len(text)) + text)
        with open(self.folder / "w.safetensors", "r+b") as file:
            file.truncate(8 + len(text) + 2**28)
        self.refused("eval", "small.yaml", "--weights", "w.safetensors", says="w.safetensors")

    def test_model_files(self):
        self.save("large.yaml", MODEL.encode() + b"# " + b"x" * (50 * MIB))
        self.save("deep.yaml", b"a: " + b"[" * (50 * MIB))
        for name in ("large.yaml", "deep.yaml"):
            for verb in ("check", "plan", "summary"):
                self.refused(verb, name, says="a model file has at most 4 MiB")
        for text in ("[" * 4_000_000, "a: " + "[b, {c: " * 400_000, "a: [" + "1," * 1_900_000 + "1]"):
            self.write("deep.yaml", text)
            self.refused("check", "deep.yaml", says="nested deeper than 64 levels|more than 200000 values")

    def test_programs(self):
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        head = (self.folder / "small.cgb").read_bytes()[:16]
        size = 200 * MIB
        for what, data in (("zeros", bytes(size)), ("a bomb", zeros_in_gzip(head + struct.pack("<Q", size), size)),
                           ("a large one", head + struct.pack("<Q", 2**50))):
            self.save("bad.cgb", data)
            for verb in ("disasm", "plan", "eval"):
                with self.subTest(what, verb=verb):
                    self.refused(verb, "bad.cgb", says="bad.cgb: (this is no compiled program|the file is truncated)")

    def refused_in_a_group(self, limit, *arguments, says):
        if why_not := ControlGroup.why_not("memory", limit):
            self.skipTest(why_not)
        with ControlGroup("memory", limit) as group:
            self.refused(*arguments, says=says, preexec_fn=group.join)

    def program_of(self, payload):
        head = (self.folder / "small.cgb").read_bytes()[:12]
        return head + struct.pack("<IQ", zlib.crc32(payload), len(payload)) + payload

    def test_programs_larger_than_memory(self):
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        head = (self.folder / "small.cgb").read_bytes()[:16]
        with open(self.folder / "huge.cgb", "wb") as file:
            file.write(head + struct.pack("<Q", 3 << 30))
            file.truncate(24 + (3 << 30))
        for item in (b"\x80", b"\xa0", b"\x00", b"\x60"):  # lists, maps, numbers and texts
            count = 4 * MIB
            self.save("many.cgb", self.program_of(b"\xa1\x61x\x9a" + struct.pack(">I", count) + count * item))
            self.refused_in_a_group(200 * MIB, "disasm", "many.cgb",
                                    says="^error: many.cgb: what the program holds takes [0-9]+ MiB of memory, and 1[0-9]+ MiB are")
        for verb in ("disasm", "plan"):
            self.refused_in_a_group(200 * MIB, verb, "huge.cgb",
                                    says="^error: huge.cgb: the program takes 3072 MiB of memory, and 1[0-9]+ MiB are free\nhelp: look")
        self.refused_in_a_group(200 * MIB, "eval", "huge.cgb", "--weights", self.weights(), says="^error: huge.cgb: the program takes")

    def test_headers_of_weights_larger_than_memory(self):
        for header in (b"{" + b" " * (99_000_000 - 2) + b"}", b"{" + b",".join(b'"%d":{}' % i for i in range(10**6)) + b"}"):
            self.save("w.safetensors", struct.pack("<Q", len(header)) + header)
            self.refused_in_a_group(60 * MIB, "eval", "small.yaml", "--weights", "w.safetensors",
                                    says="w.safetensors': its (header|JSON) takes [0-9]+ MiB of memory, and [0-9]+ MiB are free")

    def test_plans_larger_than_memory(self):
        for items in (125 * 10**6 * b"1,", 10**6 * b"{},"):
            self.save("p.json", b'{"arena_bytes": 1, "buffers": [' + items + b"1]}")
            self.refused_in_a_group(60 * MIB, "plan", "small.yaml", "--diff", "p.json",
                                    says="p.json': (what it holds|its JSON) takes [0-9]+ MiB of memory, and [0-9]+ MiB are free")

    def test_buffers_larger_than_memory(self):
        self.save("b.csv", b"id,lower,upper,size\n" + b"".join(
            b"b%d,%d,%d,%d\n" % (i, i * 7919 % 50_000, i * 7919 % 50_000 + i % 100 + 1, 64 * (i % 99 + 1)) for i in range(99_999)))
        self.refused_in_a_group(40 * MIB, "plan", "b.csv", says="b.csv': to pack its buffers takes [0-9]+ MiB of memory")
        with ControlGroup("memory", 96 * MIB) as group:
            self.cgrun("plan", "b.csv", preexec_fn=group.join)

    def test_data_that_are_made(self):
        self.write("many.yaml", MODEL.replace("samples: 65", "samples: 300000000"))
        done = self.watched("check", "many.yaml", "--device", "reference")
        self.assertIn("train 300,000,000", done.stdout)
        self.assertLess(done.most_anonymous, LITTLE)


if __name__ == "__main__":
    unittest.main()
