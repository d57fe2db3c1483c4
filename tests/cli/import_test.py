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

    def array(self, name):
        shape, numbers = read_npy(self.folder / name)
        return tuple(shape), list(numbers)

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
        page = (ROOT / "docs/how-to/onnx-models.md").read_text().split("\n## Write an ONNX model")[0]
        (self.folder / "net.onnx").write_bytes(small())
        (self.folder / "sized.onnx").write_bytes(onnx.model(
            [onnx.node("GlobalAveragePool", ["image"], "y")], [],
            [onnx.value("image", ["n", 3, "side", "side"])], [onnx.value("y", ["n", 3, 1, 1])]))
        (self.folder / "rated.onnx").write_bytes(onnx.model(
            [onnx.node("Mul", ["x", "sr"], "y")], [],
            [onnx.value("x", ["n", 3]), onnx.value("sr", [])], [onnx.value("y", ["n", 3])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), 6 * [1]))
        (self.folder / "bin").mkdir()
        (self.folder / "bin/cgrun").symlink_to(CGRUN)
        path = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        commands = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)
        self.assertEqual(len(commands), 5)
        for command in commands:
            subprocess.run(["bash", "-ec", command], cwd=self.folder, env=path, check=True,
                           stdout=subprocess.DEVNULL)
        self.assertEqual((self.folder / "predicted/y.npy").read_bytes(),
                         (self.folder / "direct/y.npy").read_bytes())
        self.cgrun("predict", "rated.onnx", "x.npy", "sr=16000")
        for operator in re.findall(r"(?<=[ |,])[A-Z][A-Za-z]+(?=,| \||$| and| of)", "\n".join(
                line for line in page.splitlines() if line.startswith("| ") and " of ONNX" not in line)):
            self.assertNotIn("no such operator", self.cgrun_says(operator), operator)

    def cgrun_says(self, operator):
        """Returns what `import` says of a model with this operator, no attribute and one input."""
        (self.folder / "one.onnx").write_bytes(onnx.model(
            [onnx.node(operator, ["x"], "y")], [], [onnx.value("x", ["n", 3])],
            [onnx.value("y", ["n", 3])]))
        done = subprocess.run([CGRUN, "import", "one.onnx", "-o", "one.yaml", "--force"], check=False,
                              cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 2))
        return done.stderr.decode()

    def test_an_onnx_file_is_a_model(self):
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), [1, 2, 3, -1, 0, 0.5]))
        self.cgrun("import", "m.onnx", "-o", "m.yaml")
        self.cgrun("predict", "m.yaml", "x.npy", "--out", "imported")
        for mode in ("graph", "eager"):
            self.cgrun("predict", "m.onnx", "x.npy", "--out", "direct", "--mode", mode)
            self.assertEqual((self.folder / "direct/y.npy").read_bytes(),
                             (self.folder / "imported/y.npy").read_bytes())
        told = json.loads(self.cgrun("predict", "m.onnx", "x.npy", "--json").stdout)
        self.assertEqual(told["weights"], "m.onnx")
        for verb in ("plan", "summary", "graph", "check"):
            self.assertEqual(self.cgrun(verb, "m.onnx").returncode, 0)
        self.cgrun("compile", "m.onnx", "-o", "m.cgb")
        self.cgrun("predict", "m.cgb", "x.npy", "--out", "compiled")
        self.assertEqual((self.folder / "compiled/y.npy").read_bytes(),
                         (self.folder / "imported/y.npy").read_bytes())
        bench = self.cgrun("bench", "m.onnx", "--infer", "--rounds", "1", "--steps", "1", "--only", "eager")
        self.assertIn("eager", bench.stdout)
        self.assertIn("is an ONNX model, where a model file (.yaml) is wanted", self.refuses("train", "m.onnx"))
        self.assertIn("--dim is for .onnx files", self.refuses("plan", "m.yaml", "--dim", "n=2"))

    def test_an_onnx_file_is_evaluated_on_data(self):
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), [1, 2, 3, -1, 0, 0.5]))
        x = [[1, 2, 3], [-1, 0, 0.5]]
        y = [[max(0, BIAS[u] + sum(row[k] * WEIGHT[2 * k + u] for k in range(3))) for u in range(2)]
             for row in x]
        (self.folder / "wanted.npy").write_bytes(
            npy_of_floats((2, 2), [number + 0.5 for row in y for number in row]))
        self.write("data.yaml", "data: {test: {format: npy, x: x.npy, wanted: wanted.npy}}\n"
                                "inputs: {wanted: {shape: [2]}}\n"
                                "metrics: {error: {op: mean_squared_error, in: [y, wanted]}}\n")
        told = json.loads(self.cgrun("eval", "m.onnx", "--data", "data.yaml", "--json").stdout)
        self.assertEqual(told["metrics"]["error"], 0.25)
        self.assertEqual(told["weights"], "m.onnx")
        self.assertIn("cannot open", self.refuses("eval", "m.onnx", "--data", "none.yaml"))
        # Mistakes are shown where they stand.
        self.write("data.yaml", "data:\n  test: {format: npy, x: x.npy, wanted: wanted.npy}\n"
                                "inputs: {wanted: {shape: [2]}}\n"
                                "metrics:\n  error: {op: mean_squared_error, in: [y, wated]}\n")
        self.assertIn("data.yaml:5:43: error", self.refuses("eval", "m.onnx", "--data", "data.yaml"))
        self.write("data.yaml", "data:\n  test: {format: npy, x: x.npy\n")
        self.assertIn("data.yaml:2:9: this is not YAML", self.refuses("eval", "m.onnx", "--data", "data.yaml"))

    def test_inputs_without_a_batch_take_files_and_values(self):
        (self.folder / "m.onnx").write_bytes(onnx.model(
            [onnx.node("Mul", ["x", "by"], "y"), onnx.node("Add", ["by", "c"], "shared")],
            [onnx.floats("c", [2], [1, 2])],
            [onnx.value("x", ["n", 2]), onnx.value("by", [])],
            [onnx.value("y", ["n", 2]), onnx.value("shared", [2])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((3, 2), range(6)))
        (self.folder / "by.npy").write_bytes(npy_of_floats((), [0.5]))
        for mode in ("graph", "eager"):
            for by in ("0.5", "by.npy"):
                self.cgrun("predict", "m.onnx", "x.npy", f"by={by}", "--out", "o", "--mode", mode)
                self.assertEqual(self.array("o/y.npy"), ((3, 2), [0, 0.5, 1, 1.5, 2, 2.5]))
                self.assertEqual(self.array("o/shared.npy"), ((2,), [1.5, 2.5]))
        self.assertIn("nothing is given for input 'by'", self.refuses("predict", "m.onnx", "x.npy"))
        self.assertIn("neither a file nor a value", self.refuses("predict", "m.onnx", "x.npy", "by=[1, 2]"))
        self.assertIn("is given twice", self.refuses("predict", "m.onnx", "x.npy", "by=1", "by=2"))
        self.cgrun("predict", "m.onnx", "x.npy", "--const", "by=0.5", "--out", "c")
        self.assertEqual((self.folder / "c/y.npy").read_bytes(), (self.folder / "o/y.npy").read_bytes())
        for wrong in ("by", "=1", "by="):
            self.assertIn("gives no input a value", self.refuses("plan", "m.onnx", "--const", wrong))
        self.assertIn("has no input 'bye'", self.refuses("plan", "m.onnx", "--const", "bye=1"))
        self.assertIn("input 'by' is f32", self.refuses("plan", "m.onnx", "--const", "by=half"))

    def test_a_model_without_a_batch_runs_once(self):
        (self.folder / "m.onnx").write_bytes(onnx.model(
            [onnx.node("Transpose", ["x"], "y")], [], [onnx.value("x", [2, 3])], [onnx.value("y", [3, 2])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((2, 3), range(6)))
        told = self.cgrun("import", "m.onnx", "-o", "m.yaml", "--explain").stdout
        self.assertIn("bound: no input has a batch, because with one, 'm.onnx' has the output 'y'", told)
        self.cgrun("predict", "m.yaml", "x.npy", "--out", "o")
        self.assertEqual(self.array("o/y.npy"), ((3, 2), [0, 3, 1, 4, 2, 5]))
        self.cgrun("bench", "m.onnx", "--infer", "--rounds", "1", "--steps", "1", "--only", "eager")
        for verb in ("plan", "summary", "graph", "check"):
            self.cgrun(verb, "m.onnx")

    def test_what_nothing_depends_on_may_be_given(self):
        (self.folder / "m.onnx").write_bytes(onnx.model(
            [onnx.node("Relu", ["x"], "y")], [], [onnx.value("x", ["n", 2]), onnx.value("length", ["n"])],
            [onnx.value("y", ["n", 2])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((1, 2), [1, -1]))
        run = self.cgrun("predict", "m.onnx", "x=x.npy", "length=x.npy", "--out", "predicted")
        self.assertIn("nothing that is predicted depends on input 'length'", run.stderr)
        self.assertEqual(self.array("predicted/y.npy"), ((1, 2), [1, 0]))

    def test_inputs_are_called_as_in_the_file_or_as_in_the_model(self):
        (self.folder / "m.onnx").write_bytes(onnx.model(
            [onnx.node("Relu", ["in/x:0"], "y")], [], [onnx.value("in/x:0", ["n", 2])], [onnx.value("y", ["n", 2])]))
        (self.folder / "x.npy").write_bytes(npy_of_floats((1, 2), [1, -1]))
        for out, name in (("first", "in/x:0"), ("second", "in_x_0")):
            self.cgrun("predict", "m.onnx", f"{name}=x.npy", "--out", out)
            self.assertEqual(self.array(f"{out}/y.npy"), ((1, 2), [1, 0]))
        refusal = self.refuses("predict", "m.onnx", "in_y_0=x.npy")
        self.assertIn("the model has no input 'in_y_0'", refusal)
        self.assertIn("did you mean 'in_x_0'?", refusal)

    def test_the_graph_of_a_model_that_only_predicts_is_shown(self):
        self.assertIn("linear", self.cgrun("graph", "m.onnx").stdout)
        self.cgrun("graph", "m.onnx", "--svg", "m.svg")
        self.assertIn("linear", (self.folder / "m.svg").read_text())
        self.cgrun("compile", "m.onnx", "-o", "m.cgb")
        self.assertIn("linear", self.cgrun("graph", "m.cgb").stdout)

    def test_a_wrong_shape_of_an_output_is_a_warning(self):
        (self.folder / "m.onnx").write_bytes(onnx.model(
            [onnx.node("Relu", ["x"], "y")], [], [onnx.value("x", ["n", 2])], [onnx.value("y", ["n", 5])]))
        warning = "warning: 'm.onnx' says that its output 'y' is [n, 5], and it is [N, 2]\n"
        self.assertIn(warning, self.cgrun("import", "m.onnx", "-o", "m.yaml").stderr)
        self.assertIn(warning, self.cgrun("plan", "m.onnx").stderr)

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
