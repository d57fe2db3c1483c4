#!/usr/bin/env python3
"""scripts/check-docs accepts documentation that agrees with the tree and names what does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = "scripts/check-docs"
PAGE = "# Page\n## 1. The file: `src/a.cc`\n```cpp\nint a;\nint b;\n```\n"


def check(files):
    """Runs the script on a tree of `files` (path → text); returns its status and its output."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"README.md": "", **files}.items():
            target = pathlib.Path(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


class CheckDocsTest(unittest.TestCase):
    def test_accepts_a_block_that_stands_in_its_file(self):
        status, output = check({"docs/page.md": PAGE, "src/a.cc": "// A.\nint a;\nint b;\n"})
        self.assertEqual(status, 0, output)

    def test_names_a_block_that_differs(self):
        status, output = check({"docs/page.md": PAGE, "src/a.cc": "int a;\n\nint b;\n"})
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md:4: this block does not stand in src/a.cc", output)

    def test_names_a_file_that_is_not_there(self):
        status, output = check({"docs/page.md": PAGE})
        self.assertEqual(status, 1)
        self.assertIn("there is no file src/a.cc", output)

    def test_leaves_blocks_under_other_headings_alone(self):
        status, output = check({"docs/page.md": "## Try it\n```sh\nls\n```\n"})
        self.assertEqual(status, 0, output)

    def test_follows_links(self):
        status, output = check({"README.md": "[a](docs/a.md) [b](docs/b.md#there) [c](https://c)",
                                "docs/a.md": ""})
        self.assertEqual(status, 1)
        self.assertIn("README.md:1: the link to docs/b.md leads nowhere", output)
        self.assertNotIn("docs/a.md leads", output)


if __name__ == "__main__":
    unittest.main()
