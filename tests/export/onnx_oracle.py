"""Exports a model with random weights, and compares what ONNX Runtime makes of it with `cgrun predict`.

If ONNX Runtime has no kernel for a type or an opset, ONNX's reference evaluator takes its place.
Importing this module fails with ImportError where numpy, onnx or onnxruntime are not there.
"""

import json
import math
import re
import struct
import subprocess

import numpy
import onnx
import onnx.reference
import onnxruntime

KINDS = {"tensor(uint8)": "u1", "tensor(int8)": "i1", "tensor(int32)": "i4", "tensor(int64)": "i8", "tensor(bool)": "?",
         "tensor(float)": "f4", "tensor(double)": "f8"}
ENDING = {"f32": "<f4", "f64": "<f8"}


class Refused(Exception):
    """`cgrun` ended with an error, whose text this has."""


def run(cgrun, folder, *arguments):
    result = subprocess.run([cgrun, *map(str, arguments)], cwd=folder, capture_output=True,
                            text=True, check=False)
    if result.returncode != 0:
        raise Refused(f"cgrun {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def random_weight(name, sizes, gain, numbers):
    """Weights that keep the size of activations, and statistics that are none of the defaults."""
    if name.endswith((".running_var", ".scale")):
        return numbers.uniform(0.5, 1.5, sizes)
    if len(sizes) < 2:
        return numbers.normal(0, 0.1, sizes)
    return numbers.normal(0, gain * math.sqrt(2 / math.prod(sizes[1:])), sizes)


def write_weights(path, values, gain=1):
    """Writes the weights among the values of `cgrun graph --json`."""
    numbers = numpy.random.default_rng(7)
    header, data = {}, b""
    for value in values:
        if value["role"] not in ("parameter", "running statistic"):
            continue
        kind, sizes = re.fullmatch(r"(\w+)\[(.*)\]", value["type"]).groups()
        sizes = [int(size) for size in sizes.split(", ")] if sizes else []
        tensor = random_weight(value["name"], sizes, gain, numbers).astype(ENDING[kind]).tobytes()
        header[value["name"]] = {"dtype": kind.upper(), "shape": sizes,
                                 "data_offsets": [len(data), len(data) + len(tensor)]}
        data += tensor
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Session:
    """Runs an exported model."""

    def __init__(self, path):
        onnx.checker.check_model(str(path), full_check=True)
        self.model = onnx.load(path)
        self.by_reference = False
        try:
            self.session = onnxruntime.InferenceSession(str(path),
                                                        providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            self.by_reference = True
            self.session = onnx.reference.ReferenceEvaluator(self.model)
        weights = {tensor.name for tensor in self.model.graph.initializer}
        read = {name for node in self.model.graph.node for name in node.input}
        assert weights <= read, f"no node reads {weights - read}"
        self.inputs = [port for port in self.model.graph.input if port.name not in weights]
        self.outputs = [port.name for port in self.model.graph.output]

    def run(self, feeds):
        return dict(zip(self.outputs, self.session.run(None, feeds)))


def kind_of(port):
    return onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)


def random_inputs(session, batch, ranges, states):
    """Inputs by name: of a range where `ranges` has one. A state is 0."""
    numbers = numpy.random.default_rng(8)
    feeds = {}
    for port in session.inputs:
        sizes = [dim.dim_value or batch for dim in port.type.tensor_type.shape.dim]
        kind = kind_of(port)
        low, high = ranges.get(port.name, (0, 256))
        if port.name in states:
            feeds[port.name] = numpy.zeros(sizes, kind)
        elif kind.kind == "f" and port.name not in ranges:
            feeds[port.name] = numbers.normal(0, 1, sizes).astype(kind)
        elif kind.kind == "f":
            feeds[port.name] = numbers.uniform(low, high, sizes).astype(kind)
        else:
            feeds[port.name] = numbers.integers(low, high, sizes).astype(kind)
    return feeds


class Comparison:
    """Compares one output of both programs."""

    def __init__(self, output, wanted, found):
        self.output, self.wanted, self.found = output, wanted, found
        assert wanted.shape == found.shape, (output, wanted.shape, found.shape)
        self.largest = float(numpy.abs(wanted.astype("f8")).max())
        self.difference = float(numpy.abs(wanted.astype("f8") - found.astype("f8")).max())

    def part(self):
        """Returns the largest difference as a part of the largest number."""
        return self.difference / (self.largest or 1)


def compare(cgrun, folder, model, *, flags=(), export_flags=(), exported=None, batch=3, ranges=None,
            states=(), gain=1, device="auto"):
    """Returns the session, the comparisons of all outputs and the text of `export`.

    `exported` is the model file that is exported, where `model` is one that predicts the same.
    """
    values = json.loads(run(cgrun, folder, "graph", model, "--entry", "predict", "--json",
                            "--stop-after-pass", "dead_code", *flags))["values"]
    write_weights(folder / "w.safetensors", values, gain)
    weights = ["--weights", "w.safetensors"]
    text = run(cgrun, folder, "export", exported or model, "-o", "m.onnx", "--force", *weights,
               *flags, *export_flags)
    session = Session(folder / "m.onnx")
    feeds = random_inputs(session, batch, ranges or {}, states)
    files = []
    for key in feeds:
        if key in states:
            continue
        numpy.save(folder / f"{key}.npy", feeds[key])
        files.append(f"{key}={key}.npy" if len(feeds) - len(states) > 1 else f"{key}.npy")
    run(cgrun, folder, "predict", model, *files, *weights, *flags, "--out", "predicted", "--device",
        device, "--batch", batch)
    results = session.run(feeds)
    comparisons = [Comparison(name, numpy.load(folder / f"predicted/{name}.npy"), result)
                   for name, result in results.items()
                   if (folder / f"predicted/{name}.npy").exists()]
    return session, comparisons, text


def compare_again(cgrun, folder, session, batch=3):
    """Imports the model that compare() exported, exports that, and compares both in ONNX Runtime."""
    run(cgrun, folder, "import", "m.onnx", "-o", "again.yaml", "--force")
    run(cgrun, folder, "export", "again.yaml", "-o", "again.onnx", "--force")
    again = Session(folder / "again.onnx")
    feeds = random_inputs(session, batch, {}, ())
    wanted, found = session.run(feeds), again.run(feeds)
    return [Comparison(f"{name} again", wanted[name], found[name]) for name in wanted]
