#!/usr/bin/env python3
"""docs/guide.md: its model files are good, and its commands run, in its order."""

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


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def commands():
    """The lines of all `sh` blocks. Quickstart is left out, and benches are short."""
    for line in "".join(blocks("sh")).splitlines():
        if not line.startswith(("scripts/quickstart", "export ")):
            yield line + (" --rounds 1 --steps 1" if line.startswith("cgrun bench") else "")


class GuideTest(unittest.TestCase):
    def test_the_commands_run_in_order(self):
        if b"__asan_init" in CGRUN.read_bytes():
            self.skipTest("takes minutes under a sanitizer; the verbs have tests of their own")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for part in ("models", "datasets/digits", "datasets/friedman", "scripts/datasets"):
                shutil.copytree(ROOT / part, root / part)
            for text in blocks("yaml"):
                path = root / re.match(r"# (\S+)\n", text).group(1)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            count = 0
            environment = {**os.environ, "PATH": f"{CGRUN.parent}:{os.environ['PATH']}"}
            for command in commands():
                done = subprocess.run(["bash", "-c", command], cwd=root, env=environment, text=True,
                                      capture_output=True, check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
                count += command.startswith("cgrun")
            self.assertGreater(count, 10)

    def test_speaks_of_flags_that_there_are(self):
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))
        self.assertIn("--resume", flags)
        reference = (ROOT / "docs/commands.md").read_text()
        for flag in flags - {"--help"}:
            self.assertIn(f"`{flag}", reference)


if __name__ == "__main__":
    unittest.main()
