#!/usr/bin/env python3
"""Names from files that steer a terminal or break out of a document: each output has them clean, and is
a sound document of its kind."""

import contextlib
import csv
import html.parser
import io
import json
import os
import pty
import re
import struct
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

from cli_testing import CGRUN, MODEL, TABLE, CliTestCase, png

# These are ESC, BEL, DEL and a change of direction, which a terminal obeys.
STEERS = "\x1b[31m\x07\x7f\u202e"
# These end a tag, an attribute, a cell of a table, or a text of JSON or of Graphviz.
MARKUP = "<script>alert('1')\"&,;\\"
NAME = STEERS + MARKUP
NO_UTF_8 = NAME + "\udcff"
IMAGES = MODEL.replace("format: synthetic, samples: 65, classes: 3", "format: images, folder: pics").replace(
    "  test: {format: synthetic, samples: 40, classes: 3, seed: 9}\n", "").replace("units: 3", "units: 2")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [key for key, _ in attrs if key.startswith("on")], attrs

    def handle_data(self, data):
        self.text += data


class HostileNamesTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("table.yaml", TABLE)
        self.write_csv("rows.csv", [[NO_UTF_8, "b", "kind"]] +
                       [[i, i % 3, NAME if i % 2 else f"{NAME}2"] for i in range(16)])
        self.write("images.yaml", IMAGES)
        for name in (NO_UTF_8, "blue"):
            folder = self.folder / "pics" / name
            folder.mkdir(parents=True)
            for i in range(12):
                (folder / f"{NO_UTF_8}{i}.png").write_bytes(png(4, 4, [i * 9 % 256] * 16))
        self.image = f"pics/{NO_UTF_8}/{NO_UTF_8}1.png"
        for model in ("table", "images"):
            self.run_clean("train", f"{model}.yaml", "--out", model)
        self.program()

    def write_csv(self, name, rows):
        with open(self.folder / name, "w", encoding="utf-8", errors="surrogateescape") as file:
            csv.writer(file).writerows(rows)

    def program(self):
        """Writes names.cgb, a program whose names are like that; 8 bytes in place of `classify`."""
        self.cgrun("compile", "small.yaml", "-o", "small.cgb")
        data = (self.folder / "small.cgb").read_bytes()
        payload = data[24:]
        text = payload.index(b"cgrun: 1")  # the model file, which has to be one
        end = payload.index(b"optimizer", text)
        names = payload[:text].replace(b"classify", b"<b>\x1b\"'\\\xff") + payload[text:end] + \
            payload[end:].replace(b"classify", b"<b>\x1b\"'\\\xff")
        self.assertNotEqual(names, payload)
        (self.folder / "names.cgb").write_bytes(
            data[:12] + struct.pack("<IQ", zlib.crc32(names), len(names)) + names)

    def assert_clean(self, text, where):
        for byte in ("\x1b", "\x07", "\x7f", "\x9b", "\u202e"):
            self.assertNotIn(byte, text, where)
        text.encode("utf-8")  # it has no surrogate, which stands for a byte that is none

    def run_clean(self, *arguments, status=0):
        done = self.cgrun(*arguments, status=status, errors="surrogateescape")
        self.assert_clean(done.stdout + done.stderr, arguments)
        return done.stdout

    def read(self, name):
        text = (self.folder / name).read_bytes().decode("utf-8", "surrogateescape")
        self.assert_clean(text, name)
        return text

    def assert_shown(self, text):
        self.assertIn(MARKUP, text)

    def test_terminal(self):
        for arguments in (("check", "table.yaml"), ("eval", "table.yaml", "--split", "train", "--weights",
                                                    "table"),
                          ("check", "images.yaml"), ("plan", "images.yaml"), ("summary", "images.yaml")):
            self.run_clean(*arguments)
        self.assert_shown(self.run_clean("predict", "table.yaml", "rows.csv", "--weights", "table"))
        self.assert_shown(self.run_clean("predict", "images.yaml", self.image, "--weights", "images"))
        for verb in ("plan", "graph", "disasm", "summary"):
            shown = self.run_clean(verb, "names.cgb")
            self.assertEqual("<b>?\"'\\?" in shown, verb != "summary", shown)

    def test_html(self):
        for run in ("table", "images"):
            page = Page(self.read(f"{run}/report.html"))
            self.assertNotIn("script", page.tags)
            self.assertNotIn("b", page.tags)
        self.run_clean("plan", "names.cgb", "--html", "plan.html")
        page = Page(self.read("plan.html"))
        self.assertEqual(page.tags.count("script"), 2, "the data, and the page's own")
        self.assertNotIn("b", page.tags)
        self.assertIn("\\u003cb>", self.read("plan.html"))

    def test_a_confusion_matrix(self):
        self.write("table.yaml", TABLE.replace("    loss:", "    metrics: {confusion: {op: confusion_matrix, "
                                               "in: [logits, label]}}\n    loss:"))
        self.run_clean("train", "table.yaml", "--out", "matrix")
        page = Page(self.read("matrix/report.html"))
        self.assertNotIn("script", page.tags)
        self.assert_shown(page.text)

    def test_svg(self):
        self.run_clean("graph", "names.cgb", "--svg", "graph.svg")
        tree = xml.etree.ElementTree.fromstring(self.read("graph.svg"))
        tags = {element.tag.split("}")[-1] for element in tree.iter()}
        self.assertLessEqual(tags, {"svg", "g", "rect", "path", "text", "title", "style", "defs", "marker",
                                    "tspan", "line", "polyline", "polygon", "circle"})
        self.assertIn("<b>?\"'\\?", "".join(tree.itertext()))
        self.assertEqual(self.run_clean("graph", "names.cgb", "--svg"), self.read("graph.svg"))

    def test_dot(self):
        self.run_clean("graph", "names.cgb", "--dot", "graph.dot")
        dot = self.read("graph.dot")
        self.assertIn(r"<b>?\"'\\?", dot)
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot)
        self.assertNotIn('"', outside.replace('""', ""))
        self.assertNotRegex(outside, r"[<\\'?]")

    def test_csv(self):
        for model, given in (("table", "rows.csv"), ("images", self.image)):
            self.run_clean("predict", f"{model}.yaml", given, "--weights", model, "--csv", "predicted.csv")
            rows = list(csv.reader(io.StringIO(self.read("predicted.csv"))))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assert_shown("".join(rows[1]))
            rows = list(csv.reader(io.StringIO(self.read(f"{model}/metrics.csv"))))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.write_csv("buffers.csv", [["id", "lower", "upper", "size"], [NAME, 0, 2, 64], ["b", 1, 3, 64]])
        self.run_clean("plan", "buffers.csv", "--out", "packed.csv")
        rows = list(csv.reader(io.StringIO(self.read("packed.csv"))))
        self.assertEqual([len(row) for row in rows], [len(rows[0])] * 3)
        self.assert_shown(rows[1][0])

    def test_json(self):
        shown = 0
        for arguments in (("check", "table.yaml"), ("check", "images.yaml"), ("plan", "images.yaml"),
                          ("eval", "images.yaml", "--split", "train", "--weights", "images"),
                          ("predict", "table.yaml", "rows.csv", "--weights", "table"),
                          ("predict", "images.yaml", self.image, "--weights", "images"),
                          ("plan", "names.cgb"), ("graph", "names.cgb"), ("disasm", "names.cgb")):
            printed = self.run_clean(*arguments, "--json")
            json.loads(printed)
            self.run_clean(*arguments, "--json", "file.json")
            json.loads(self.read("file.json"))
            shown += "script" in printed or "<b>" in printed
        self.assertGreaterEqual(shown, 4)
        for name in ("summary.json", "run.json"):
            json.loads(self.read(f"images/{name}"))
        plan = json.loads(self.run_clean("plan", "small.yaml", "--json"))
        plan["buffers"].append({"name": NAME, "entry": NAME, "bytes": 7})
        plan["order"] = NAME
        self.write("before.json", json.dumps(plan))
        self.assert_shown(self.run_clean("plan", "small.yaml", "--diff", "before.json"))
        json.loads(self.run_clean("plan", "small.yaml", "--diff", "before.json", "--json"))

    def test_errors(self):
        (self.folder / self.image).write_bytes(b"no picture")
        for more in ((), ("--json",)):
            self.run_clean("check", "images.yaml", *more, status=2)
            self.run_clean("predict", "images.yaml", self.image, "--weights", "images", *more, status=2)
            self.run_clean("check", f"{NO_UTF_8}.yaml", *more, status=2)
            self.run_clean("plan", "small.yaml", "--set", f"{NO_UTF_8}=1", *more, status=2)
            self.run_clean(NO_UTF_8, *more, status=2)

    def on_a_terminal(self, *arguments, **environment):
        """Returns the bytes that a terminal gets."""
        terminal, end = pty.openpty()
        with subprocess.Popen([str(CGRUN), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=end,
                              stderr=end, env={**os.environ, "NO_COLOR": "", **environment}):
            os.close(end)
            shown = b""
            with contextlib.suppress(OSError):  # the other end is closed
                while part := os.read(terminal, 4096):
                    shown += part
        os.close(terminal)
        return shown

    def test_a_terminal_gets_no_sequences_but_our_own(self):
        (self.folder / self.image).write_bytes(b"no picture")
        commands = (("predict", "table.yaml", "rows.csv", "--weights", "table"), ("check", "images.yaml"),
                    ("train", "table.yaml", "--out", "again", "--force"), ("graph", "names.cgb"),
                    ("graph", "names.cgb", "--dot"), ("plan", "names.cgb"), ("disasm", "names.cgb", "--json"))
        for arguments in commands:
            shown = self.on_a_terminal(*arguments, TERM="xterm")
            self.assertIn(b"<", shown)
            own = re.sub(rb"\x1b\[(0|1|1;3[1-6]|3[2-6])?m|\x1b\[K", b"", shown)
            self.assert_clean(own.decode("utf-8", "surrogateescape"), arguments)

    def test_colours_are_for_terminals_that_know_them(self):
        for environment, has_colours in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False),
                                         ({"TERM": ""}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
            shown = self.on_a_terminal("check", "missing.yaml", **environment)
            self.assertIn(b"missing.yaml", shown)
            self.assertEqual(b"\x1b" in shown, has_colours, environment)


if __name__ == "__main__":
    unittest.main()
