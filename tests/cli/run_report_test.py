#!/usr/bin/env python3
"""Tests the report of a run: its summary on the terminal, and the tables of its page."""

import json
import re
import unittest

from cli_testing import MODEL, CliTestCase

TABLES = MODEL.replace("metrics: {accuracy: {in: [logits, label]}}", """metrics:
      accuracy: {in: [logits, label]}
      confusion: {op: confusion_matrix, in: [logits, label]}
      recalls: {op: recall, in: [logits, label], average: none}""")


def rows_of_page(page, title):
    """The numbers of a table of report.html, row by row; what is not there is 0."""
    table = page.split(f'<figcaption class="title">{title}: ')[1].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(\d*)</td>", row) for row in table.split("<tr>")[2:]]
    return [[int(cell or 0) for cell in row] for row in rows]


class ConfusionTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", TABLES)

    def test_the_page_of_a_run_has_the_confusion_of_its_classes(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        page = (self.folder / "run/report.html").read_text()
        summary = json.loads((self.folder / "run/summary.json").read_text())
        for split, samples in (("train", 65), ("test", 40)):
            self.assertEqual(rows_of_page(page, f"{split} confusion"), summary[split]["confusion"])
            self.assertIn(f" of {samples} right</figcaption>", page)
        self.assertNotIn("http", page)
        self.write("small.yaml", MODEL)
        self.cgrun("train", "small.yaml", "--out", "plain", "--quiet")
        self.assertNotIn("<figure>", (self.folder / "plain/report.html").read_text())

    def test_the_summary_is_what_one_sees_last(self):
        shown = self.cgrun("train", "small.yaml", "--out", "run").stdout
        self.assertRegex(shown, r"samples/s\n\ntrain confusion, a row a label, .*\n(.+\n)+\ntrain recalls, ")
        summary = shown[shown.index("\n\ntrain  ") + 2:]
        self.assertTrue(summary.rstrip().splitlines()[-1].startswith("run folder "), shown)
        self.assertNotIn("\n\n", summary)
        quiet = self.cgrun("train", "small.yaml", "--out", "run", "--force", "--quiet").stdout
        self.assertEqual(len(quiet.splitlines()), len(summary.splitlines()), quiet)
        self.assertNotIn("confusion", quiet)
        shown = self.cgrun("eval", "small.yaml", "--weights", "run").stdout
        self.assertTrue(shown.startswith("test confusion, a row a label, "), shown)
        self.assertRegex(shown, r"\n\ntest  +loss .*\nweights .*\nthroughput .*\nmode .*\nmemory .*\n$")


class WordingTest(CliTestCase):
    def test_wordings_of_a_run(self):
        """Guards against counts and percentages that do not say what they count."""
        self.write("uneven.yaml", MODEL.replace("samples: 65", "samples: 67"))
        plan = self.cgrun("plan", "uneven.yaml").stdout
        self.assertIn("  train.7: for the last batch of a pass over the data, with as many samples.\n", plan)
        self.assertIn("(train.7: for the last batch",
                      self.cgrun("train", "uneven.yaml", "--dry-run").stdout)
        done = self.cgrun("train", "uneven.yaml", "--memory", "1GiB")
        self.assertRegex(done.stderr, r"cap: the run takes [\d.]+ MiB of the 1 GiB that it may, [\d.]+ "
                                      r"MiB to spare: the cap costs nothing\n")
        self.assertRegex(done.stdout, r"0 after step 1: the run takes no more memory the longer it is|"
                                      r"unknown: a sanitizer")
        # Nobody allocates, and libraries do not either: they take what was set aside.
        self.assertNotRegex(done.stdout, r"allocations? of libraries")
        done = self.cgrun("train", "uneven.yaml", "--mode", "eager", "--force")
        self.assertRegex(done.stdout, r"allocations +(\d+ after step 1, to prepare operators when they run for "
                                      r"the first time, as those of the last batch: the run takes no more|"
                                      r"unknown: a sanitizer)")


if __name__ == "__main__":
    unittest.main()
