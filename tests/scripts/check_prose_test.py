#!/usr/bin/env python3
"""scripts/check-prose names prose that is hard to read, and keeps its counts from growing."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = "scripts/check-prose"
BASELINE = "scripts/prose-baseline.txt"
LONG = "It is " + "a " * 40 + "b."  # 43 words


def run(files, *flags, after=None):
    """Runs the script on a tree of `files` (path → text); returns its status and its output.

    It calls `after` with the tree before the tree goes.
    """
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"README.md": "", **files}.items():
            target = pathlib.Path(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, "--root", root, *flags],
            capture_output=True,
            text=True,
            check=False,
        )
        if after:
            after(pathlib.Path(root))
        return done.returncode, done.stdout + done.stderr


class FindingsTest(unittest.TestCase):
    def assert_finds(self, kind, text, path="src/base/a.h", line=1):
        status, output = run({path: text}, "--list")
        self.assertEqual(status, 1, output)
        self.assertIn(f"{path}:{line}: {kind}: ", output)

    def assert_clean(self, text, path="src/base/a.h"):
        status, output = run({path: text}, "--list")
        self.assertEqual(status, 0, output)

    def test_counts_the_words_of_a_sentence(self):
        self.assert_finds("long-sentence", f"// It is short.\n// {LONG}\n", line=2)
        self.assert_finds("long-sentence", f"It is short. {LONG}\n", "docs/a.md")
        self.assert_finds("long-sentence", f"| it is | {LONG} |\n", "docs/a.md")
        self.assert_finds("long-sentence", f'def f():\n    """{LONG}"""\n', "scripts/a.py", 2)
        self.assert_finds("long-sentence", f"#!/usr/bin/env bash\n\n# {LONG}\n", "scripts/a", 3)
        self.assert_finds("long-sentence", f"# {LONG}\n", "tests/base/BUILD")

    def test_ends_a_sentence_where_it_ends(self):
        self.assert_clean("// This is one.\n" * 20)
        self.assert_clean("// It holds `" + "a b\n// " * 50 + "`.\n")
        self.assert_clean(f"// It is so.\n//\n//   {LONG}\n")  # a picture or code
        self.assert_clean(f'const char* text = "// {LONG}";\n')
        self.assert_clean(f'const char* text = R"(\n// {LONG}\n)";\n')
        self.assert_clean(f"```\n{LONG}\n```\n", "docs/a.md")
        self.assert_clean(f"<!-- a: begin -->\n{LONG}\n<!-- a: end -->\n", "docs/a.md")
        self.assert_finds("long-sentence", "// It is, e.g. here, " + "a " * 38 + "b.\n")

    def test_measures_lines(self):
        line = "It is " + "long " * 24
        self.assert_finds("long-line", f"{line}\n", "README.md")
        self.assert_clean(f"| {line} |\n", "README.md")
        self.assert_clean(f"```\n{line}\n```\n", "README.md")
        self.assert_clean(f"It is at https://example.org/{'a' * 120}\n", "README.md")
        self.assert_clean(f"int a = {'1 + ' * 40}1;\n")

    def test_finds_comments_without_a_verb(self):
        self.assert_finds("no-verb", "// The counts as texts.\nint a;\n")
        self.assert_finds("no-verb", "// The values of the graph,\n// by their names.\nint a;\n")
        function = 'def f():\n    """The sizes of all files."""\n'
        self.assert_finds("no-verb", function, "scripts/a.py", 2)

    def test_knows_verbs(self):
        for text in (
            "Returns the counts.",
            "Names the culprits.",
            "Null where there is none.",
            "The buffers that others read.",
            "A node that runs, and its name.",
            "Nodes lie in lanes.",
            "The images that the data feed.",
            "Trains, and moves the data.",
            "Keep this in step with the table.",
        ):
            self.assert_clean(f"// {text}\nint a;\n")

    def test_exempts_what_needs_no_verb(self):
        self.assert_clean("int a = 0;  // bytes of the whole buffer of a node\n")
        self.assert_clean("// Data edges\nint a;\n")
        self.assert_clean("// [N, channels, height, width].\nint a;\n")
        self.assert_clean("}  // namespace cgrun\n// NOLINTNEXTLINE(some-check)\nint a;\n")
        self.assert_clean("// Copyright of the authors of all of this.\nint a;\n")

    def test_finds_openings(self):
        self.assert_finds("opens-with-of", "// Of the buffers it takes the first.\n")
        self.assert_finds("headless-what", "// What a call of the library says, as an error.\n")
        self.assert_finds("headless-what", "// What to write instead of `name`.\n")
        self.assert_clean("// What is not held is gone in that time.\n")
        self.assert_clean("// What they are is known after the first line.\n")
        self.assert_clean("// What it lacks is a proof.\n")

    def test_prints_the_mean_and_the_longest_sentence(self):
        _, output = run({"src/base/a.h": "// It is so.\n// This is the longest one.\n"})
        self.assertIn("2 sentences, 4.0 words on average; src/base/a.h:2 has 5", output)

    def test_lists_under_a_path_alone(self):
        files = {"src/base/a.h": f"// {LONG}\n", "src/plan/b.h": f"// {LONG}\n"}
        _, output = run(files, "--list", "src/plan")
        self.assertIn("src/plan/b.h:1", output)
        self.assertNotIn("src/base", output)


class BaselineTest(unittest.TestCase):
    def test_fails_where_a_count_has_grown(self):
        two = {"src/base/a.h": f"// {LONG}\n\n// {LONG}\n"}
        status, output = run({**two, BASELINE: "src/base long-sentence 2\n"})
        self.assertEqual(status, 0, output)
        status, output = run({**two, BASELINE: "src/base long-sentence 1\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.h:3: long-sentence", output)
        self.assertIn("src/base: long-sentence: 2 findings, where the baseline has 1", output)

    def test_counts_each_folder_by_itself(self):
        files = {"src/plan/orders/a.h": f"// {LONG}\n"}
        self.assertEqual(run({**files, BASELINE: "src/plan long-sentence 1\n"})[0], 0)
        self.assertEqual(run({**files, BASELINE: "src/base long-sentence 1\n"})[0], 1)

    def test_update_lowers_counts(self):
        def expect(text):
            return lambda root: self.assertIn(text, (root / BASELINE).read_text())

        one = {"src/base/a.h": f"// {LONG}\n", "scripts/a": ""}
        new, lower = "src/base long-sentence 1\n", {BASELINE: "src/base long-sentence 3\n"}
        self.assertEqual(run(one, "--update", after=expect(new))[0], 0)
        self.assertEqual(run({**one, **lower}, "--update", after=expect(new))[0], 0)

    def test_update_refuses_to_raise_a_count(self):
        before = "src/base long-line 1\n"
        files = {"src/base/a.h": f"// {LONG}\n", BASELINE: before}

        def unchanged(root):
            self.assertEqual((root / BASELINE).read_text(), before)

        status, output = run(files, "--update", after=unchanged)
        self.assertEqual(status, 1, output)


if __name__ == "__main__":
    unittest.main()
