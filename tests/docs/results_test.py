#!/usr/bin/env python3
"""The results that README.md shows are those of docs/benchmarks."""

import pathlib
import re
import unittest

ROOT = pathlib.Path.cwd()


def page(name):
    return (ROOT / f"docs/benchmarks/{name}.md").read_text()


def rows(text, heading):
    """The rows of the first table below the line that begins so: model and batch → other cells."""
    table = re.search(re.escape(heading) + r".*\n\| ---.*\n((?:\|.*\n)+)", text)
    cells = ([cell.strip() for cell in line.strip("|").split("|")]
             for line in table[1].splitlines())
    return {(model, batch): rest for model, batch, *rest in cells}


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.readme = (ROOT / "README.md").read_text()

    def test_graph_mode_against_eager_mode(self):
        measured = rows(page("graph-and-eager"), "| training | batch | eager MiB |")
        shown = rows(self.readme, "| | batch | eager MiB |")
        self.assertGreaterEqual(len(shown), 6)
        for model, (eager, graph, change, speedup) in shown.items():
            of = measured[model]
            self.assertAlmostEqual(float(eager), float(of[0]), delta=0.051, msg=model)
            self.assertAlmostEqual(float(graph), float(of[1]), delta=0.051, msg=model)
            self.assertEqual((change, speedup), (of[2], of[5] + " ×"), model)

    def test_against_pytorch(self):
        measured = rows(page("peers"), "| training | batch | PyTorch ms |")
        shown = rows(self.readme, "| | batch | PyTorch |")
        self.assertGreaterEqual(len(shown), 3)
        for model, (pytorch, ours, speedup) in shown.items():
            of = measured[model]
            time = [cell.split(" ")[0] for cell in (of[0], of[5])]
            self.assertEqual(pytorch, f"{time[0]} ms, {of[1]} MiB", model)
            self.assertEqual(ours, f"{time[1]} ms, {of[7]} MiB", model)
            self.assertEqual(speedup, of[6], model)


if __name__ == "__main__":
    unittest.main()
