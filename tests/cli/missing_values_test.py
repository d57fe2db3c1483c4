#!/usr/bin/env python3
"""Gaps of tables: notes say what became of them, in training, evaluation and prediction."""

import json
import unittest

from cli_testing import TABLE, CliTestCase

# The rows are of two classes.
ROWS = "a,b,kind\n" + "".join(f"{i % 5},{i}.5,{'xy'[i % 2]}\n" for i in range(16))


class MissingValuesTest(CliTestCase):
    def test_what_became_of_gaps_is_noted(self):
        self.write("rows.csv", "a,b,kind\n1,,x\n3,4,y\n5,6,\n7,8,y\n")
        self.write("gaps.yaml", TABLE.replace("kind}", "kind, missing: mean, missing_label: drop}"))
        notes = ["'rows.csv': 1 of its 4 rows is left out, with no label: line 4",
                 "'rows.csv': 1 gap is filled with the mean of its column"]
        for verb in (("check",), ("train", "--dry-run")):
            error = self.cgrun(verb[0], "gaps.yaml", *verb[1:]).stderr
            for note in notes:
                self.assertEqual(error.count(f"note: {note}\n"), 1, error)
            self.assertNotIn("note:", self.cgrun(verb[0], "gaps.yaml", *verb[1:], "--quiet").stderr)
        result = json.loads(self.cgrun("check", "gaps.yaml", "--json").stdout)
        self.assertEqual(result["notes"], notes)

    def test_predictions_tell_of_gaps_that_are_filled(self):
        self.write("rows.csv", ROWS)
        self.write("test.csv", ROWS.replace("0,0.5,x", ",0.5,x"))
        self.write("new.csv", "a,b\n1,\n,2\n3,4\n")
        self.write("table.yaml", TABLE.replace("label: kind}", "label: kind, missing: mean}, test: "
                                               "{format: csv, file: test.csv, label: kind, "
                                               "missing: mean}"))
        self.cgrun("train", "table.yaml", "--quiet")
        note = "'new.csv': 2 gaps are filled with the means of their columns"
        done = self.cgrun("predict", "table.yaml", "new.csv")
        self.assertEqual(done.stderr.count(f"note: {note}\n"), 1, done.stderr)
        self.assertEqual(self.cgrun("predict", "table.yaml", "new.csv", "--quiet").stderr, "")
        result = json.loads(self.cgrun("predict", "table.yaml", "new.csv", "--json").stdout)
        self.assertEqual(result["notes"], [note])
        self.write("whole.csv", "a,b\n1,2\n")
        done = self.cgrun("predict", "table.yaml", "whole.csv", "--json")
        self.assertNotIn("notes", json.loads(done.stdout))
        self.assertNotIn("note: ", done.stderr)

        note = "note: 'test.csv': 1 gap is filled with the mean of its column\n"
        self.assertEqual(self.cgrun("eval", "table.yaml").stderr.count(note), 1)
        done = self.cgrun("eval", "table.yaml", "--split", "train")
        self.assertNotIn("note: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
