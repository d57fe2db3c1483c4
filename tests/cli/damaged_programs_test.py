#!/usr/bin/env python3
"""Compiled programs that are damaged, unsound or too large: every verb that takes one refuses it by
the name of its file."""

import copy
import itertools
import random
import struct
import unittest
import zlib

from cli_testing import SANITIZED, CliTestCase, npy

HEADER = 24  # bytes: magic, version, checksum, size
VERBS = {
    "plan": ("plan", "{}"),
    "graph": ("graph", "{}"),
    "disasm": ("disasm", "{}"),
    "summary": ("summary", "{}"),
    "bench": ("bench", "{}", "--rounds", 1, "--steps", 1, "--only", "eager"),
    "train": ("train", "{}", "--out", "trained", "--force"),
    "dry run": ("train", "{}", "--dry-run"),
    "eval": ("eval", "{}", "--weights", "run"),
    "predict": ("predict", "{}", "images.npy", "--weights", "run"),
    "check": ("check", "{}"),
}
RUN_IT = ("train", "dry run", "eval")  # the others show it, or compile its model again


def head(major, number):
    """Returns the first bytes of an item of CBOR (RFC 8949)."""
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 24:
            return bytes([major << 5 | number])
        if number < 1 << 8 * size:
            return bytes([major << 5 | info]) + number.to_bytes(size, "big")
    raise ValueError(number)


def to_cbor(item):
    if item is None or isinstance(item, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[item]
    if isinstance(item, int):
        return head(0, item) if item >= 0 else head(1, -1 - item)
    if isinstance(item, float):
        return b"\xfb" + struct.pack(">d", item)
    if isinstance(item, (bytes, str)):
        data = item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape")
        return head(2 if isinstance(item, bytes) else 3, len(data)) + data
    if isinstance(item, list):
        return head(4, len(item)) + b"".join(map(to_cbor, item))
    return head(5, len(item)) + b"".join(to_cbor(key) + to_cbor(value) for key, value in item.items())


def from_cbor(data):
    rest = iter(data)

    def take(count):
        return bytes(next(rest) for _ in range(count))

    def item():
        major, info = divmod(take(1)[0], 32)
        if major == 7:
            if info in (20, 21, 22):
                return {20: False, 21: True, 22: None}[info]
            return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], take(1 << info - 24))[0]
        number = info if info < 24 else int.from_bytes(take(1 << info - 24), "big")
        if major < 2:
            return number if major == 0 else -1 - number
        if major < 4:
            text = take(number)
            return text if major == 2 else text.decode("utf-8", "surrogateescape")
        return [item() for _ in range(number)] if major == 4 else {item(): item() for _ in range(number)}

    return item()


def fields(item):
    """Yields the holder and the key of each number and each text in the document."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, (dict, list)):
            yield from fields(value)
        else:
            yield item, key


class DamagedProgramsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        (self.folder / "images.npy").write_bytes(npy((2, 1, 4, 4), bytes(range(32))))
        self.turns = itertools.cycle(VERBS)
        self.whole = (self.folder / "small.cgb").read_bytes()
        self.program = from_cbor(self.whole[HEADER:])

    def file_of(self, payload):
        """A program's file with a header that is right for this payload."""
        return self.whole[:12] + struct.pack("<IQ", zlib.crc32(payload), len(payload)) + payload

    def run_verb(self, verb, name, status):
        arguments = [str(word).format(name) for word in VERBS[verb]]
        return self.cgrun(*arguments, status=status, errors="surrogateescape")

    def changed(self, change):
        program = copy.deepcopy(self.program)
        change(program)
        return self.file_of(to_cbor(program))

    def test_whole_ones_are_taken(self):
        (self.folder / "again.cgb").write_bytes(self.changed(lambda program: None))
        for verb in VERBS:
            self.run_verb(verb, "small.cgb", 0)
            self.run_verb(verb, "again.cgb", 0)

    def test_damaged_files_are_refused_by_name(self):
        payload = self.whole[HEADER:]
        damaged = {
            "empty": b"",
            "short": self.whole[:HEADER - 1],
            "other": b"none" * 20,
            "version": self.whole[:8] + b"\x63" + self.whole[9:],
            "checksum": self.whole[:12] + b"\0\0\0\0" + self.whole[16:],
            "size": self.whole[:16] + b"\xff" * 8 + self.whole[HEADER:],
            "longer": self.whole + b"\0",
            "cut": self.file_of(payload[:len(payload) // 2]),
            "nested": self.file_of(b"\x81" * 100_000),
            "declared": self.file_of(b"\x9b" + b"\xff" * 8),
            "number": self.file_of(to_cbor(7)),
            "list": self.file_of(to_cbor([])),
            "map": self.file_of(to_cbor({})),
        }
        for key in self.program:
            damaged[f"no-{key}"] = self.changed(lambda program, key=key: program.pop(key))
            damaged[f"odd-{key}"] = self.changed(lambda program, key=key: program.update({key: 1.5}))
        for what, content in damaged.items():
            self.assert_refused(what, content)

    def test_unsound_programs_are_refused_by_name(self):
        def operand(program):
            return program["entries"][0]["instructions"][0]["operands"][0]

        def state(program, i=0):
            return program["states"][i]

        unsound = {
            "beyond": lambda p: operand(p).update(offset=1 << 40),
            "overflow": lambda p: operand(p).update(offset=(1 << 63) - 64),
            "before": lambda p: operand(p).update(offset=-64),
            "bytes": lambda p: operand(p).update(bytes=operand(p)["bytes"] + 64),
            "value": lambda p: operand(p).update(value=77),
            "arena": lambda p: p["arena_bytes"].__setitem__(0, 1 << 50),
            "largest": lambda p: p["arena_bytes"].__setitem__(0, (1 << 63) - 1),
            "small": lambda p: p["arena_bytes"].__setitem__(0, 64),
            "negative": lambda p: p["arena_bytes"].__setitem__(0, -1),
            "pinned": lambda p: p["arena_bytes"].__setitem__(1, 1 << 50),
            "swap": lambda p: p["arena_bytes"].__setitem__(2, 1 << 50),
            "states": lambda p: state(p).update(offset=state(p, 1)["offset"]),
            "shape": lambda p: state(p)["type"].update(shape=[1 << 24, 1 << 24]),
            "threads": lambda p: p["entries"][0]["instructions"][0].update(threads=1 << 30),
        }
        for what, change in unsound.items():
            self.assert_refused(what, self.changed(change))
        kernels = {
            "kernel": lambda p: p["entries"][0]["instructions"][0].update(kernel="cpu.none"),
            "initialiser": lambda p: state(p).update(init="none"),
        }
        for what, change in kernels.items():
            self.assert_refused(what, self.changed(change), RUN_IT)

    def test_an_arena_larger_than_memory_is_refused_by_name_before_it_is_taken(self):
        by = 1 << 50

        def shift(item):
            for value in item.values() if isinstance(item, dict) else item:
                if isinstance(value, (dict, list)):
                    shift(value)
            if isinstance(item, dict) and "offset" in item and item.get("arena", 0) == 0:
                item["offset"] += by

        def change(program):
            shift(program)
            program["arena_bytes"][0] += by

        (self.folder / "huge.cgb").write_bytes(self.changed(change))
        for verb in ("train", "dry run"):  # whose plan fits
            self.assertIn("huge.cgb is compiled again, for less memory", self.run_verb(verb, "huge.cgb", 0).stderr)
        error = self.run_verb("eval", "huge.cgb", 2).stderr
        self.assertIn("error: huge.cgb: the run takes 1024 TiB, more than the free memory of", error)
        self.assertNotIn("--batch N", error, "a program has its batch")
        for verb in VERBS:
            if verb not in RUN_IT:
                self.run_verb(verb, "huge.cgb", 0)

    def test_no_changed_field_is_an_internal_error(self):
        """A refusal names the program; a program that is not refused may run."""
        chance = random.Random(38)
        values = (-1, 0, 1, 255, 1 << 32, (1 << 63) - 1, -(1 << 63), 1e300, "", "add", "\udcff\x1b[31m",
                  None, True, [], {})
        refused = 0
        for i in range(12 if SANITIZED else 30):
            program = copy.deepcopy(self.program)
            holder, key = chance.choice(list(fields(program)))
            holder[key] = chance.choice(values)
            name = f"changed{i}.cgb"
            (self.folder / name).write_bytes(self.file_of(to_cbor(program)))
            for verb in chance.sample(list(VERBS), 4):
                done = self.run_verb(verb, name, status=None)
                self.assertIn(done.returncode, (0, 1, 2), f"{verb} {key}: {done.stderr}")
                self.assertNotIn("internal error", done.stderr, f"{verb} {key}")
                refused += done.returncode == 2
                if done.returncode == 2:
                    self.assertIn(name, done.stderr, f"{verb} {key} {holder[key]}")
        self.assertGreater(refused, 20)

    def assert_refused(self, what, content, verbs=()):
        """Each of `verbs` refuses it; of none, those do whose turn it is, and `eval`."""
        verbs = verbs or [next(self.turns), next(self.turns), next(self.turns), "eval"]
        name = f"{what}.cgb"
        (self.folder / name).write_bytes(content)
        for verb in verbs:
            done = self.run_verb(verb, name, 2)
            self.assertRegex(done.stderr, rf"^error: {name}: ", f"{verb}: {done.stderr}")
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
