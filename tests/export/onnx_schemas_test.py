#!/usr/bin/env python3
"""The table of operators, types and opsets in src/export/opsets.cc is that of ONNX's schemas.

The test needs onnx, and is skipped where that is not there.
"""

import pathlib
import re
import unittest

try:
    import onnx
    import onnx.defs
    import onnx.helper
except ImportError:
    onnx = None

EXPORT = pathlib.Path("src/export")
TYPES = {"floats": ("float", "double", "float16"), "bf16": ("bfloat16",),
         "integers": ("int32", "int64"), "bytes": ("uint8",), "bools": ("bool",)}
DEFAULTS = (7, 13, 7, 7, 7)


def first_opset(operator, dtype):
    """The first opset from 7 on in which an operator takes a type; 0 where none does."""
    for opset in range(7, 28):
        try:
            schema = onnx.defs.get_schema(operator, opset)
        except onnx.defs.SchemaError:
            continue
        port = schema.inputs[1] if operator == "Where" else schema.inputs[0]
        if operator == "ConstantOfShape":
            port = schema.outputs[0]
        if f"tensor({dtype})" in port.types:
            return opset
    return 0


@unittest.skipIf(onnx is None, "onnx is not there")
class OnnxSchemasTest(unittest.TestCase):
    def setUp(self):
        self.text = (EXPORT / "opsets.cc").read_text().replace("kNever", "0")
        rows = re.findall(r'\{"(\w+)", (\d+), (\d+), (\d+), (\d+), (\d+)\}', self.text)
        self.table = {name: tuple(map(int, opsets)) for name, *opsets in rows}

    def check(self, operator, row):
        for (kind, dtypes), opset in zip(TYPES.items(), row):
            for dtype in dtypes:
                if operator == "NonMaxSuppression" and dtype in ("double", "float16"):
                    continue  # it knows f32 alone, which is what it gets
                if operator == "CumSum" and dtype == "float16":
                    continue  # nothing is computed in f16
                self.assertEqual(opset, first_opset(operator, dtype), (operator, kind, dtype))

    def test_the_rows_are_those_of_the_schemas(self):
        self.assertGreater(len(self.table), 50)
        for operator, row in self.table.items():
            self.check(operator, row)

    def test_other_operators_have_the_default(self):
        text = "".join(path.read_text() for path in EXPORT.glob("*.cc"))
        emitted = set(re.findall(r'Emit(?:All)?\(\s*"(\w+)"', text))
        emitted |= set(re.findall(r'\{OpId::\w+, \w+, "(\w+)"', text))
        self.assertGreater(len(emitted), 40)
        for operator in emitted - set(self.table):
            self.check(operator, DEFAULTS)

    def test_ir_versions(self):
        rows = [(int(opset), int(ir)) for opset, ir in re.findall(r"\{(\d+), (\d+)\}", self.text)]
        lowest = {}
        for _, ir, opset, *_ in onnx.helper.VERSION_TABLE:
            lowest[opset] = min(ir, lowest.get(opset, ir))
        for opset in range(7, 28):
            found = next((ir for last, ir in rows if opset <= last), 13)
            self.assertEqual(found, lowest[opset], opset)


if __name__ == "__main__":
    unittest.main()
