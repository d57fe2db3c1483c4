#!/usr/bin/env python3
"""docs/reference/operators: a page for each operator of a model file, and an index. The program writes
them. Set CGRUN_UPDATE_GOLDEN to the root of the project to write them anew."""

import json
import os
import pathlib
import re
import subprocess
import textwrap
import unittest

ROOT = pathlib.Path.cwd()
CGRUN = (ROOT / os.environ.get("CGRUN", "src/cli/cgrun")).resolve()
PAGES = pathlib.Path("docs/reference/operators")
MODELS = sorted((ROOT / "models").glob("*.yaml"))
HEADINGS = {"operator": "Operators", "loss": "Losses", "metric": "Metrics", "optimizer": "Optimizers"}
BEGIN = "<!-- The program writes this page: see tests/docs/operators_test.py. -->\n<!-- page: begin -->"
END = "<!-- page: end -->"
COMMON = ("All operators take the keys of [networks.md](../networks.md#keys-that-operators-have-in-common), too, such as "
          "`activation`.")
INDEX = """# Operators

This index lists every operator, loss, metric and optimizer of a model file. `cgrun ops NAME` prints the same text.
[networks.md](../networks.md) explains how to use them, and [kernels.md](../../kernels.md) how they are computed.

"""


def cell(text):
    return text.replace("|", "\\|")


def table(head, rows):
    lines = [head, [":---" if text else "---" for text in head], *rows]
    return "".join("| " + " | ".join(map(cell, line)).replace(":---", "---") + " |\n" for line in lines)


def operands(definition):
    rows = []
    for kind in ("inputs", "outputs"):
        for operand in definition.get(kind, []):
            more = " (optional)" if operand["optional"] else " (one or more)" if operand["several"] else ""
            rows.append([kind[:-1], f"`{operand['name']}`", operand["doc"] + more])
    return table(["", "name", "meaning"], rows)


def attributes(definition):
    rows = []
    for attribute in definition.get("attributes", []):
        if attribute["internal"]:
            continue
        kind = ", ".join(f"`{word}`" for word in attribute["choices"]) or attribute["type"]
        default = "required" if attribute["required"] else f"`{attribute['default']}`"
        rows.append([f"`{attribute['name']}`", kind, default, attribute["doc"]])
    return "## Keys\n\n" + table(["key", "type", "default", "meaning"], rows) + "\n" if rows else ""


def uses(name):
    found = [f"[{path.stem}](../../../models/{path.name})" for path in MODELS
             if re.search(rf"\b(op: {name}\b|activation: {name}\b|- (\w+: )?{name}$)", path.read_text(), re.M)]
    return f"Models that use it: {', '.join(found)}.\n" if found else ""


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def page(definition):
    notes = [COMMON] if definition["usage"] == "operator" else []
    if definition["activation"]:
        notes.append("It can be the `activation` of another operator.")
    if definition["usage"] == "operator" and not definition["differentiable"]:
        notes.append("No gradient flows through it.")
    text = f"# {definition['name']}\n\n{BEGIN}\n{definition['summary']}\n\n{wrapped(definition['details'])}\n\n"
    text += operands(definition) + "\n" + attributes(definition)
    text += wrapped(" ".join(notes)) + "\n\n" if notes else ""
    return (text + wrapped(uses(definition["name"]))).rstrip() + f"\n{END}\n"


def index(definitions):
    text = INDEX
    for usage, heading in HEADINGS.items():
        rows = [[f"[{each['name']}]({each['name']}.md)", each["summary"]]
                for each in definitions if each["usage"] == usage]
        text += f"## {heading}\n\n" + table(["", ""], rows) + "\n"
    return text.rstrip() + "\n"


class OperatorsTest(unittest.TestCase):
    def test_the_pages_are_the_programs_own(self):
        printed = subprocess.run([CGRUN, "ops", "--json"], check=True, stdout=subprocess.PIPE).stdout
        definitions = [each for each in json.loads(printed) if each["usage"] in HEADINGS]
        self.assertGreater(len(definitions), 80)
        pages = {"README.md": index(definitions)} | {f"{each['name']}.md": page(each) for each in definitions}
        root = os.environ.get("CGRUN_UPDATE_GOLDEN")
        if root:
            folder = pathlib.Path(root) / PAGES
            folder.mkdir(exist_ok=True)
            for path in folder.glob("*.md"):
                path.unlink()
            for name, text in pages.items():
                (folder / name).write_text(text)
            return
        self.assertEqual(sorted(path.name for path in PAGES.glob("*.md")), sorted(pages))
        for name, text in pages.items():
            self.assertEqual((PAGES / name).read_text(), text, name)


if __name__ == "__main__":
    unittest.main()
