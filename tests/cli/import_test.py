#!/usr/bin/env python3
"""`cgrun import`: an ONNX model becomes a model file that the other verbs read."""

import json
import os
import re
import subprocess
import unittest

import onnx_testing as onnx
from cli_testing import CGRUN, ROOT, CliTestCase, npy_of_floats, read_npy

WEIGHT = [0.5, -1, 2, 0.25, 1, -0.5]  # [features 3, units 2]
BIAS = [0.125, -0.25]


def small(dim=3, op_type="Relu"):
    """y = relu(x · WEIGHT + BIAS)."""
    return onnx.model(
        [onnx.node("MatMul", ["x", "fc.weight"], "m"), onnx.node("Add", ["m", "fc.bias"], "a"),
         onnx.node(op_type, ["a"], "y")],
        [onnx.floats("fc.weight", [3, 2], WEIGHT), onnx.floats("fc.bias", [2], BIAS)],
        [onnx.value("x", ["n", dim])], [onnx.value("y", ["n", 2])])


class ImportTest(CliTestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "m.onnx").write_bytes(small())

    def test_an_imported_model_predicts(self):
        out = self.cgrun("import", "m.onnx", "-o", "m.yaml").stdout
        self.assertEqual(out, "m.yaml: 2 operators, 8 weights in m.safetensors\n")
        x = [1, 2, 3, -1, 0, 0.5]
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), x))
        self.cgrun("predict", "m.yaml", "x.npy", "--out", "predicted")
        shape, numbers = read_npy(self.folder / "predicted/y.npy")
        self.assertEqual(tuple(shape), (2, 2))
        wanted = [max(0, BIAS[u] + sum(x[3 * n + k] * WEIGHT[2 * k + u] for k in range(3)))
                  for n in range(2) for u in range(2)]
        self.assertEqual(list(numbers), wanted)
        for verb in ("plan", "summary", "graph", "check"):
            self.cgrun(verb, "m.yaml")

    def test_files_that_exist_stay(self):
        self.write("m.safetensors", "mine")
        self.assertIn("'m.safetensors' exists", self.refuses("import", "m.onnx", "-o", "m.yaml"))
        self.assertFalse((self.folder / "m.yaml").exists())
        self.assertEqual((self.folder / "m.safetensors").read_text(), "mine")
        self.cgrun("import", "m.onnx", "-o", "m.yaml", "--force")
        self.assertIn("'m.yaml' exists", self.refuses("import", "m.onnx", "-o", "m.yaml"))
        self.write("notes.txt", "mine\n")
        self.assertIn("give another file",
                      self.refuses("import", "m.onnx", "-o", "notes.txt", "--force"))
        self.assertIn("what is read", self.refuses("import", "m.onnx", "-o", "m.onnx", "--force"))
        self.assertIn("is the name of a file of weights",
                      self.refuses("import", "m.onnx", "-o", "n.safetensors"))

    def test_dimensions_get_their_sizes(self):
        (self.folder / "m.onnx").write_bytes(small(dim="width"))
        error = self.refuses("import", "m.onnx", "-o", "m.yaml")
        self.assertIn("dimensions without a size: 'width'", error)
        self.assertIn("`--dim width=N`", error)
        for wrong in ("width", "=3", "width=", "width=0", "width=-3", "width=3.5", "width=3x",
                      "width=99999999999999999999"):
            self.assertIn("gives no dimension a size",
                          self.refuses("import", "m.onnx", "-o", "m.yaml", "--dim", wrong))
        self.assertIn("two sizes", self.refuses("import", "m.onnx", "-o", "m.yaml", "--dim",
                                                "width=3", "--dim", "width=3"))
        self.assertIn("Mul_m' (MatMul)",
                      self.refuses("import", "m.onnx", "-o", "m.yaml", "--dim", "width=4"))
        out = self.cgrun("import", "m.onnx", "-o", "m.yaml", "--dim", "width=3", "--explain").stdout
        self.assertIn("bound: the batch is 'n' of 'x'\nbound: 'width' is 3\n", out)
        self.assertIn("left: 3 nodes became 2 operators\n", out)

    def test_the_commands_of_the_page_run(self):
        page = (ROOT / "docs/how-to/onnx-models.md").read_text()
        (self.folder / "net.onnx").write_bytes(small())
        (self.folder / "sized.onnx").write_bytes(onnx.model(
            [onnx.node("GlobalAveragePool", ["image"], "y")], [],
            [onnx.value("image", ["n", 3, "side", "side"])], [onnx.value("y", ["n", 3, 1, 1])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), 6 * [1]))
        (self.folder / "bin").mkdir()
        (self.folder / "bin/cgrun").symlink_to(CGRUN)
        path = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        commands = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)
        self.assertEqual(len(commands), 5)
        for command in commands:
            subprocess.run(["bash", "-ec", command], cwd=self.folder, env=path, check=True,
                           stdout=subprocess.DEVNULL)
        self.assertTrue((self.folder / "predicted/y.npy").exists())
        for operator in re.findall(r"(?<=[ |,])[A-Z][A-Za-z]+(?=,| \||$| and| of)", "\n".join(
                line for line in page.splitlines() if line.startswith("| ") and " of ONNX" not in line)):
            self.assertNotIn("no such operator", self.cgrun_says(operator), operator)

    def cgrun_says(self, operator):
        """What `import` says of a model that has this operator with no attribute and one input."""
        (self.folder / "one.onnx").write_bytes(onnx.model(
            [onnx.node(operator, ["x"], "y")], [], [onnx.value("x", ["n", 3])],
            [onnx.value("y", ["n", 3])]))
        done = subprocess.run([CGRUN, "import", "one.onnx", "-o", "one.yaml", "--force"], check=False,
                              cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 2))
        return done.stderr.decode()

    def test_json_says_what_was_written(self):
        result = json.loads(self.cgrun("import", "m.onnx", "-o", "m.yaml", "--json").stdout)
        self.assertEqual(result["operators"], 2)
        self.assertEqual(result["weights"], {"file": "m.safetensors", "elements": 8})

    def test_what_cannot_be_imported_leaves_no_file(self):
        (self.folder / "odd.onnx").write_bytes(small(op_type="Odd"))
        self.assertIn("'odd.onnx': node 'Odd_y' (Odd): cannot be imported",
                      self.refuses("import", "odd.onnx", "-o", "odd.yaml"))
        for name in ("small.yaml", "nowhere.onnx", "."):
            self.refuses("import", name, "-o", "odd.yaml")
        self.assertEqual(list(self.folder.glob("odd.*")), [self.folder / "odd.onnx"])


if __name__ == "__main__":
    unittest.main()
