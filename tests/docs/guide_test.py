#!/usr/bin/env python3
"""docs/guide.md and the how-to pages: their model files are good, and their commands run, in their order.
Those of the guide print what it shows."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path.cwd()
CGRUN = (ROOT / os.environ.get("CGRUN", "src/cli/cgrun")).resolve()
GUIDE = (ROOT / "docs/guide.md").read_text()
HOW_TO = ("groups", "own-images", "own-tables", "own-texts", "predictions", "speed", "stop-and-resume")

# The guide tells of these without a command: the mistakes of its third part, a line of the table of its seventh part,
# and the effects of Ctrl-C and of a busy machine.
MISTAKES = (("int32, shape: []", "int32"), ("op: normalize", "op: normalise"),
            ("[logits, label]}\n    metrics", "[logits, labels]}\n    metrics"),
            ("epochs:", "epoch:"))
WITHOUT_COMMAND = ("interrupted in epoch", "note: rounds of", "x1,x2,", "0.3383,")


def blocks(kind, page=GUIDE):
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands():
    """The lines of all `sh` blocks. Quickstart is left out, and benches are short."""
    for line in "".join(blocks("sh")).splitlines():
        if not line.startswith(("scripts/quickstart", "export ")):
            yield line + (" --rounds 6 --steps 1" if line.startswith("cgrun bench") else "")


def form(line):
    """A line without what differs between machines: its numbers with their units, and its width."""
    line = re.sub(r"\b[0-9a-f]{16}\b", "#", line)
    line = re.sub(r"-?\d[\d.,]*( ?([KMG]iB|B|[kMG])\b)?|\b(never|in noise)$", "#", line)  # breaks even
    return re.sub(r"-{3,}", "---", " ".join(line.split()))


class GuideTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def output(self, command, status=0):
        environment = {**os.environ, "PATH": f"{CGRUN.parent}:{os.environ['PATH']}", "HOME": str(self.root)}
        done = subprocess.run(["bash", "-c", command], cwd=self.root, env=environment, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def mistaken(self):
        text = (self.root / "my/photos.yaml").read_text()
        for right, wrong in MISTAKES:
            self.assertIn(right, text)
            text = text.replace(right, wrong, 1)
        (self.root / "mistaken").mkdir()
        (self.root / "mistaken/photos.yaml").write_text(text)
        return self.output("cd mistaken && cgrun check photos.yaml",
                           status=2).replace("photos.yaml:", "my/photos.yaml:")

    def prepare(self, page):
        """Copies the data, and writes the model files of a page that name themselves."""
        if b"__asan_init" in CGRUN.read_bytes():
            self.skipTest("takes minutes under a sanitizer; the verbs have tests of their own")
        for part in ("models", "datasets/digits", "datasets/friedman", "datasets/ratings", "datasets/austen",
                     "scripts/datasets"):
            shutil.copytree(ROOT / part, self.root / part, dirs_exist_ok=True)
        for text in blocks("yaml", page):
            if name := re.match(r"# (\S+)\n", text):
                path = self.root / name.group(1)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)

    def test_the_commands_of_the_how_to_pages_run(self):
        for name in HOW_TO:
            page = (ROOT / f"docs/how-to/{name}.md").read_text()
            self.prepare(page)
            for block in blocks("sh", page):
                with self.subTest(name, block=block):
                    self.output(f"set -e\n{block}")
            shutil.rmtree(self.root / "runs", ignore_errors=True)

    def test_the_commands_run_in_order_and_print_what_is_shown(self):
        self.prepare(GUIDE)
        (self.root / "my/flats.csv").write_text(blocks("csv")[0])
        count = 0
        printed = self.mistaken()
        for command in commands():
            printed += self.output(command)
            count += command.startswith("cgrun")
        self.assertGreater(count, 10)

        known = {form(line) for line in printed.splitlines()}
        shown = [line for block in blocks("text") for line in block.splitlines()
                 if line != "…" and not line.startswith(WITHOUT_COMMAND)]
        self.assertGreater(len(shown), 50)
        for line in shown:
            self.assertIn(form(line), known, f"cgrun prints no such line any more: {line}")

    def test_speaks_of_flags_that_there_are(self):
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))
        self.assertIn("--resume", flags)
        reference = (ROOT / "docs/reference/commands.md").read_text()
        for flag in flags - {"--help"}:
            self.assertRegex(reference, rf"`{flag}[ `]")


if __name__ == "__main__":
    unittest.main()
