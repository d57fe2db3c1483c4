#!/usr/bin/env python3
"""Files that verbs write: they replace neither what is read nor files of another kind, and say what
cannot be written."""

import unittest

from cli_testing import MODEL, CliTestCase


class OutputFilesTest(CliTestCase):
    def test_outputs_replace_neither_inputs_nor_files_of_another_kind(self):
        self.write("notes.txt", "mine\n")
        self.write("buffers.csv", "id,lower,upper,size\na,0,2,64\n")
        for arguments in (["compile", "small.yaml", "-o", "small.yaml"],
                          ["compile", "small.yaml", "-o", "./notes.txt"],
                          ["plan", "small.yaml", "--json", "small.yaml"],
                          ["plan", "small.yaml", "--csv", "notes.txt"],
                          ["plan", "buffers.csv", "--json", "buffers.csv"],
                          ["ops", "conv", "--json", "notes.txt"]):
            self.assertIn("give another file", self.refuses(*arguments))
        self.write("model.json", '{"cgrun": 1}')
        self.assertIn("what is read", self.refuses("plan", "model.json", "--json", "model.json"))
        self.assertEqual((self.folder / "small.yaml").read_text(), MODEL)
        self.assertEqual((self.folder / "notes.txt").read_text(), "mine\n")

    def test_outputs_replace_their_own_kind(self):
        for _ in range(2):
            self.cgrun("compile", "small.yaml", "-o", "small.cgb", "--json", "small.json")
            self.cgrun("plan", "small.yaml", "--csv", "small.csv")

    def test_a_picture_is_not_called_as_another_kind_is(self):
        self.write("small.yaml", MODEL)
        for name in ("x.png", "x.JPG", "x.pdf"):
            error = self.refuses("graph", "small.yaml", "--svg", name)
            self.assertIn(f"'{name}' is a name of another kind of file: --svg writes an SVG picture",
                          error)
            self.assertIn("`--svg graph.svg`", error)
            self.assertFalse((self.folder / name).exists())
        self.cgrun("graph", "small.yaml", "--svg", "x.svg")

    def test_output_that_cannot_be_written_is_a_failure(self):
        for arguments in (["plan", "small.yaml"], ["summary", "small.yaml", "--json"], ["ops"],
                          ["graph", "small.yaml"], ["devices"], ["--help"], ["plan", "--help"],
                          ["train", "small.yaml", "--out", "run"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                error = self.cgrun(*arguments, status=1, stdout=full).stderr
            self.assertIn("not all of the output could be written", error)


if __name__ == "__main__":
    unittest.main()
