#!/usr/bin/env python3
"""Networks that ONNX Runtime has quantised predict what ONNX Runtime predicts.

The test needs numpy, onnx and onnxruntime with its quantiser, and is skipped where they are not there. `cgrun` is
src/cli/cgrun below the current folder, or $CGRUN.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import onnx
    import onnxruntime
    from onnxruntime import quantization
except ImportError as error:
    quantization = None
    print(f"skipped: {error}", file=sys.stderr)

CGRUN = pathlib.Path.cwd() / os.environ.get("CGRUN", "src/cli/cgrun")


def network():
    """Makes a network of convolutions, one of them depthwise, a sum, pools and a layer."""
    numbers = numpy.random.default_rng(0)

    def weight(name, *sizes):
        return onnx.numpy_helper.from_array(
            numbers.normal(size=sizes, scale=0.3).astype("f4"), name)

    make = onnx.helper.make_node
    nodes = [make("Conv", ["x", "a.weight", "a.bias"], ["a"], pads=[1, 1, 1, 1]),
             make("Relu", ["a"], ["b"]), make("MaxPool", ["b"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             make("Conv", ["p", "c.weight", "c.bias"], ["c"], pads=[1, 1, 1, 1]),
             make("Add", ["c", "p"], ["d"]), make("Relu", ["d"], ["e"]),
             make("Conv", ["e", "f.weight", "f.bias"], ["f"], pads=[1, 1, 1, 1], group=8),
             make("GlobalAveragePool", ["f"], ["g"]), make("Flatten", ["g"], ["h"]),
             make("Gemm", ["h", "y.weight", "y.bias"], ["y"])]
    weights = [weight("a.weight", 8, 3, 3, 3), weight("a.bias", 8), weight("c.weight", 8, 8, 3, 3),
               weight("c.bias", 8), weight("f.weight", 8, 1, 3, 3), weight("f.bias", 8),
               weight("y.weight", 8, 10), weight("y.bias", 10)]
    real = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes, "net", [onnx.helper.make_tensor_value_info("x", real, ["N", 3, 12, 12])],
        [onnx.helper.make_tensor_value_info("y", real, ["N", 10])], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                  ir_version=8)


class Samples(quantization.CalibrationDataReader if quantization else object):
    def __init__(self, x):
        self.batches = iter([{"x": x}])

    def get_next(self):
        return next(self.batches, None)


@unittest.skipIf(quantization is None, "numpy, onnx or onnxruntime is not there")
class QuantisedModelsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.net = self.folder / "net.onnx"
        onnx.save(network(), self.net)
        self.x = numpy.random.default_rng(1).normal(size=(5, 3, 12, 12)).astype("f4")

    def predicted(self, model, x, *flags):
        numpy.save(self.folder / "x.npy", x)
        result = subprocess.run([CGRUN, "predict", model, "x.npy", "--out", "out", *flags],
                                cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return numpy.load(self.folder / "out" / "y.npy")

    def wanted(self, model, x):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(model), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]

    def static(self, form, activations, weights, per_channel):
        model = self.folder / "static.onnx"
        quantization.quantize_static(
            self.net, model, Samples(self.x), quant_format=form, activation_type=activations,
            weight_type=weights, per_channel=per_channel)
        y, wanted = self.predicted(model, self.x), self.wanted(model, self.x)
        self.assertGreater(len(numpy.unique(y)), 20)
        return y, wanted

    def test_operators_of_integers_are_exact(self):
        kinds = quantization.QuantType
        for activations, weights in ((kinds.QUInt8, kinds.QInt8), (kinds.QInt8, kinds.QInt8),
                                     (kinds.QUInt8, kinds.QUInt8)):
            for per_channel in (False, True):
                with self.subTest(activations=activations, weights=weights, per_channel=per_channel):
                    y, wanted = self.static(quantization.QuantFormat.QOperator, activations, weights,
                                            per_channel)
                    numpy.testing.assert_array_equal(y, wanted)

    def test_quantised_floats(self):
        # Sums of floats differ in their last bits, so that a half may go to the other side: a step.
        y, wanted = self.static(quantization.QuantFormat.QDQ, quantization.QuantType.QInt8,
                                quantization.QuantType.QInt8, True)
        steps = numpy.diff(numpy.unique(wanted)).min()
        self.assertLessEqual(numpy.abs(y - wanted).max(), 1.5 * steps)
        self.assertLessEqual((numpy.abs(y - wanted) > 1e-4).mean(), 0.1)

    def test_dynamic_quantisation(self):
        for kind in (quantization.QuantType.QUInt8, quantization.QuantType.QInt8):
            with self.subTest(weights=kind):
                model = self.folder / "dynamic.onnx"
                convolves = kind == quantization.QuantType.QUInt8  # all that ONNX Runtime computes
                quantization.quantize_dynamic(
                    self.net, model, weight_type=kind,
                    op_types_to_quantize=["Conv", "MatMul", "Gemm"] if convolves else ["MatMul", "Gemm"])
                y = self.predicted(model, self.x[:1], "--dim", "N=1")
                numpy.testing.assert_allclose(y, self.wanted(model, self.x[:1]), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
