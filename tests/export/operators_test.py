#!/usr/bin/env python3
"""Every operator that can be exported gives the same numbers in ONNX Runtime, in several opsets.

The test needs numpy, onnx and onnxruntime, and is skipped where they are not there. `cgrun` is
src/cli/cgrun below the current folder, or $CGRUN.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import onnx_oracle
except ImportError as error:
    onnx_oracle = None
    print(f"skipped: {error}", file=sys.stderr)

CGRUN = pathlib.Path.cwd() / os.environ.get("CGRUN", "src/cli/cgrun")
OPSETS = (7, 11, 13, 18, 21)

IMAGE = "x: {shape: [4, 9, 7]}"
BYTES = "x: {type: uint8, shape: [3, 6, 8]}"
ROWS = "x: {shape: [3, 5]}"
ROW = "x: {shape: [6]}"
PAIR = "x: {shape: [3, 5]}, y: {shape: [3, 5]}"
BROADCAST = "x: {shape: [3, 5]}, y: {shape: [1, 5]}"

# Name → inputs, operators in YAML, ranges of inputs.
CASES = {
    # Activations
    "relu": (ROWS, "relu"), "leaky_relu": (ROWS, "{op: leaky_relu, slope: 0.2}"),
    "sigmoid": (ROWS, "sigmoid"), "tanh": (ROWS, "tanh"), "softplus": (ROWS, "softplus"),
    "gelu": (ROWS, "gelu"), "gelu by tanh": (ROWS, "{op: gelu, approximate: tanh}"),
    "silu": (ROWS, "silu"), "hard_swish": (ROWS, "hard_swish"),
    "softmax": (ROWS, "softmax"), "softmax of axis 1": (ROWS, "{op: softmax, axis: 1}"),
    "log_softmax": (ROWS, "log_softmax"),
    "exp": (ROWS, "exp"), "abs": (ROWS, "abs"), "neg": (ROWS, "neg"),
    "log": (ROWS, "log", {"x": (0.1, 3)}), "sqrt": (ROWS, "sqrt", {"x": (0, 3)}),
    **{name: (ROWS, name, {"x": (-0.9, 0.9)}) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "atanh", "erf")},
    "acosh": (ROWS, "acosh", {"x": (1.1, 3)}), "elu": (ROWS, "{op: elu, alpha: 0.7}"),
    "sign, ceil, floor and round": (ROWS, "a: {op: sign, in: x}, b: {op: ceil, in: x}, "
                                          "c: {op: floor, in: x}, d: {op: mul, in: [x, 2.5]}, "
                                          "e: {op: round, in: d}, {op: concat, in: [a, b, c, e]}"),
    # Arithmetic
    "add": (BROADCAST, "{op: add, in: [x, y]}"), "sub": (BROADCAST, "{op: sub, in: [x, y]}"),
    "mul": (BROADCAST, "{op: mul, in: [x, y]}"), "div": (BROADCAST, "{op: div, in: [x, y]}"),
    "min": (BROADCAST, "{op: min, in: [x, y]}"), "max": (BROADCAST, "{op: max, in: [x, y]}"),
    "max of a pair": (PAIR, "{op: max, in: [x, y]}"), "a number": (ROWS, "{op: sub, in: [2.5, x]}"),
    "pow": (BROADCAST, "{op: pow, in: [x, y]}", {"x": (0.1, 2)}),
    "clip": (ROWS, "{op: clip, min: -0.5, max: 0.75}"), "clip above": (ROWS, "{op: clip, max: 0}"),
    "chain": (ROWS, "{op: mul, in: [x, 3]}, {op: add, in: [x, 3]}, identity, dropout"),
    "parameter": (ROWS, "k: {op: parameter, shape: [3, 1]}, {op: mul, in: [x, k]}"),
    "an input without a batch": ("x: {shape: [3, 5]}, y: {shape: [3, 1], batch: false}",
                                 "{op: mul, in: [x, y]}"),
    # Choice
    **{f"compare {kind}": ("x: {type: int32, shape: [3, 5]}, y: {type: int32, shape: [3, 5]}",
                           f"{{op: compare, in: [x, y], is: {kind}}}, {{op: cast, to: f32}}",
                           {"x": (-2, 3), "y": (-2, 3)})
       for kind in ("less", "less_or_equal", "equal", "not_equal", "greater", "greater_or_equal")},
    "compare floats": (PAIR, "{op: compare, in: [x, y], is: less}, {op: cast, to: f32}"),
    "compare bytes": ("x: {type: uint8, shape: [9]}, y: {type: uint8, shape: [9]}",
                      "{op: compare, in: [x, y], is: equal}, {op: cast, to: f32}",
                      {"x": (0, 3), "y": (0, 3)}),
    "compare bools": (PAIR, "a: {op: compare, in: [x, 0], is: less}, "
                            "b: {op: compare, in: [y, 0], is: less}, "
                            "{op: compare, in: [a, b], is: less}, {op: cast, to: f32}"),
    "where": (PAIR, "c: {op: compare, in: [x, y], is: less}, {op: where, in: [c, x, 2]}"),
    "logical": (PAIR, "a: {op: compare, in: [x, 0], is: less}, b: {op: compare, in: [y, 0], is: "
                      "less}, c: {op: logical_and, in: [a, b]}, d: {op: logical_or, in: [a, b]}, "
                      "e: {op: logical_xor, in: [a, b]}, f: {op: logical_not, in: a}, "
                      "{op: concat, in: [c, d, e, f]}, {op: cast, to: f32}"),
    "mod": (BROADCAST, "{op: mod, in: [x, y]}", {"x": (-9, 9), "y": (1, 3)}),
    "mod that truncates": (BROADCAST, "{op: mod, in: [x, y], truncate: true}",
                           {"x": (-9, 9), "y": (1, 3)}),
    "integers": ("x: {type: int32, shape: [3, 5]}, y: {type: int32, shape: [3, 5]}",
                 "a: {op: mul, in: [x, y]}, b: {op: mod, in: [a, 7]}, {op: max, in: [b, x]}, neg, abs",
                 {"x": (-9, 9), "y": (-9, 9)}),
    # Sums
    "reduce_sum": (ROWS, "{op: reduce_sum, axes: [1]}"),
    "reduce_mean": (ROWS, "{op: reduce_mean, axes: [-1], keep_dims: true}"),
    "reduce_max": (IMAGE, "{op: reduce_max, axes: [1, 3]}"),
    "reduce_min": (IMAGE, "{op: reduce_min, axes: [1]}"),
    "reduce_prod": (ROWS, "{op: reduce_prod, axes: [2], keep_dims: true}"),
    "arg_max": (ROWS, "{op: arg_max, axis: 1}"),
    "arg_min": ("x: {type: int32, shape: [3, 5]}", "{op: arg_min, keep_dims: true, last: true}",
                {"x": (0, 3)}),
    "top_k": (ROWS, "{op: top_k, k: 3}"),
    "top_k of the least": (ROWS, "{op: top_k, k: 2, axis: 1, smallest: true}"),
    "cumsum": (ROWS, "{op: cumsum, exclusive: true, reverse: true}"),
    "trilu": (ROWS, "{op: trilu, diagonal: 1}"), "triu": (ROWS, "{op: trilu, upper: true}"),
    # Indices
    "gather": ("x: {shape: [6, 2]}, y: {type: int32, shape: [4], batch: false}",
               "{op: gather, in: [x, y], axis: 1}", {"y": (-6, 6)}),
    "gather_elements": ("x: {shape: [6]}, y: {type: uint8, shape: [4]}",
                        "{op: gather_elements, in: [x, y]}", {"y": (0, 6)}),
    "gather_nd": ("x: {shape: [6, 5]}, y: {type: int32, shape: [4, 2]}",
                  "{op: gather_nd, in: [x, y], batch_dims: 1}", {"y": (-5, 5)}),
    "scatter_elements": ("x: {shape: [6]}, y: {type: int64, shape: [4]}, z: {shape: [4]}",
                         "{op: scatter_elements, in: [x, y, z], reduction: add}", {"y": (-6, 6)}),
    "scatter_nd": ("w: {shape: [5, 3]}, x: {shape: [5, 3], batch: false}, y: {type: int64, "
                   "shape: [2, 1], batch: false}, z: {shape: [2, 3], batch: false}",
                   "a: {op: scatter_nd, in: [x, y, z]}, {op: add, in: [w, a]}", {"y": (0, 5)}),
    # Products of bytes
    "matmul_integer": ("x: {type: uint8, shape: [3, 5]}, y: {type: int8, shape: [5, 4], batch: false}, "
                       "z: {type: uint8, shape: [1], batch: false}, "
                       "w: {type: int8, shape: [4], batch: false}",
                       "{op: matmul_integer, in: [x, y, z, w]}",
                       {"x": (0, 256), "y": (-128, 128), "z": (0, 256), "w": (-128, 128)}),
    "conv_integer": ("x: {type: uint8, shape: [4, 6, 5]}, "
                     "y: {type: uint8, shape: [6, 2, 3, 2], batch: false}, "
                     "z: {type: uint8, shape: [1], batch: false}",
                     "{op: conv_integer, in: [x, y, z, z], stride: [2, 1], padding: [1, 0, 2, 1], "
                     "groups: 2}", {"x": (0, 256), "y": (0, 256), "z": (0, 256)}),
    # Shapes
    "tile": (ROWS, "{op: tile, repeats: [1, 2, 3]}"),
    "expand": ("x: {shape: [3, 1]}", "{op: expand, sizes: [0, 3, 4]}"),
    "expand to the batch": ("x: {shape: [2]}, y: {shape: [3, 2], batch: false}",
                            "a: {op: expand, in: y, sizes: [0, 3, 2]}, b: {op: reshape, in: x, "
                            "shape: [1, 2]}, {op: add, in: [a, b]}"),
    "pad by reflection": (IMAGE, "{op: pad, axes: [3], before: [2], mode: reflect}"),
    "pad by the edge": (IMAGE, "{op: pad, axes: [2], before: [1], after: [3], mode: edge}"),
    "pad by wrapping": (IMAGE, "{op: pad, axes: [2], before: [1], after: [3], mode: wrap}"),
    "reshape": (IMAGE, "{op: reshape, shape: [-1, 7]}"), "flatten": (IMAGE, "flatten"),
    "samples of rows": (ROWS, "{op: flatten, axis: 2}, tanh, {op: reshape, shape: [15]}"),
    "transpose": (ROWS, "{op: transpose, perm: [0, 2, 1]}"),
    "the batch behind": (ROWS, "{op: transpose, perm: [1, 0, 2]}, tanh, "
                               "{op: transpose, perm: [1, 2, 0]}"),
    "concat": (PAIR, "{op: concat, in: [x, y, x], axis: -1}"),
    "slice": (IMAGE, "{op: slice, axes: [2, -1], starts: [1, -3], ends: [100, -1]}"),
    "slice with steps": (IMAGE, "{op: slice, axes: [2, 3], starts: [1, 0], ends: [9, 7], "
                                "steps: [3, 2]}"),
    "slice of bytes": (BYTES, "{op: slice, axes: [1], starts: [1], ends: [3]}"),
    "crop": (IMAGE, "{op: crop, size: [4, 3], offset: [2, 1]}"),
    "crop in the middle": (IMAGE, "{op: crop, size: 4}"), "flip": (IMAGE, "{op: flip, axes: [1, -1]}"),
    "pad": (IMAGE, "{op: pad, axes: [2, 3], before: [1, 0], after: [2, 3], value: 0.5}"),
    "pad bytes": (BYTES, "{op: pad, axes: [1], before: [2], value: 7}"),
    # Numbers and ids
    "cast": (BYTES, "{op: cast, to: int32}"), "cast floats": (ROWS, "{op: cast, to: int64}"),
    "fill": (ROWS, "{op: fill, value: 1.5}"),
    "normalize": (BYTES, "{op: normalize, scale: 1/255, mean: [0.5, 0.4, 0.3], std: [0.2, 0.3, 0.4]}"),
    "normalize by one": (BYTES, "{op: normalize, mean: 128, std: 64}"),
    "one_hot": ("x: {type: int32, shape: [4]}", "{op: one_hot, classes: 5, on_value: 2, "
                                                "off_value: -1}", {"x": (-7, 8)}),
    "one_hot of bytes": ("x: {type: uint8, shape: []}", "{op: one_hot, classes: 5}", {"x": (0, 8)}),
    "embedding": ("x: {type: uint8, shape: [4]}", "{op: embedding, entries: 9, units: 3}",
                  {"x": (0, 9)}),
    "embedding of int64": ("x: {type: int64, shape: [4]}", "{op: embedding, entries: 9, units: 3}",
                           {"x": (0, 9)}),
    # Layers
    "linear": (ROW, "{op: linear, units: 4}"), "linear alone": (ROW, "{op: linear, units: 4, bias: false}"),
    "linear of rows": (ROWS, "{op: linear, units: 4}"),
    "linear of rows alone": (ROWS, "{op: linear, units: 4, bias: false}"),
    "bias": (IMAGE, "bias"), "bias of rows": (ROW, "bias"),
    "matmul": ("x: {shape: [3, 5]}, y: {shape: [5, 2]}", "{op: matmul, in: [x, y]}"),
    "matmul of transposes": ("x: {shape: [5, 3]}, y: {shape: [2, 5]}",
                             "{op: matmul, in: [x, y], transpose_a: true, transpose_b: true}"),
    "conv": (IMAGE, "{op: conv, filters: 6, kernel: 3}"),
    "conv with the same size": (IMAGE, "{op: conv, filters: 6, kernel: [2, 3], stride: 2, padding: same}"),
    "conv of groups": (IMAGE, "{op: conv, filters: 6, kernel: 3, groups: 2, dilation: [2, 1], "
                              "padding: [1, 2, 0, 1], bias: false}"),
    "conv_transpose": (IMAGE, "{op: conv_transpose, filters: 6, kernel: 3, stride: 2, "
                              "output_padding: 1, padding: [1, 0, 1, 2]}"),
    "conv_transpose of groups": (IMAGE, "{op: conv_transpose, filters: 6, kernel: 3, groups: 2, "
                                        "dilation: 2, bias: false}"),
    "max_pool": (IMAGE, "{op: max_pool, kernel: 3, stride: 2, padding: 1}"),
    "max_pool with ceil": (IMAGE, "{op: max_pool, kernel: 2, ceil_mode: true}"),
    "max_pool with dilation": (IMAGE, "{op: max_pool, kernel: 2, stride: 1, dilation: [2, 3]}"),
    "max_pool with the same size": (IMAGE, "{op: max_pool, kernel: 3, stride: 2, padding: same}"),
    "avg_pool": (IMAGE, "{op: avg_pool, kernel: 3, stride: 2, padding: 1}"),
    "avg_pool with ceil": (IMAGE, "{op: avg_pool, kernel: 4, stride: 3, padding: 1, ceil_mode: true}"),
    "avg_pool of the image": (IMAGE, "{op: avg_pool, kernel: 4, stride: 3, padding: 1, "
                                     "ceil_mode: true, count_include_pad: false}"),
    "global_avg_pool": (IMAGE, "global_avg_pool"),
    "batch_norm": (IMAGE, "{op: batch_norm, epsilon: 0.01}"), "batch_norm of rows": (ROW, "batch_norm"),
    "layer_norm": (ROWS, "layer_norm"), "layer_norm of axes": (ROWS, "{op: layer_norm, axis: 1}"),
    "layer_norm alone": (ROWS, "{op: layer_norm, affine: false, epsilon: 0.01}"),
    # Images
    "resize": (IMAGE, "{op: resize, size: [18, 7]}"),
    "resize to other sizes": (IMAGE, "{op: resize, size: [5, 11]}"),
    "resize to the nearest": (IMAGE, "{op: resize, size: [5, 11], mode: nearest}"),
    "resize by scales": (IMAGE, "{op: resize, scale: [2, 3], mode: nearest}"),
    "resize bytes": (BYTES, "{op: resize, size: [9, 5]}"),
    "resize bytes to the nearest": (BYTES, "{op: resize, scale: 2, mode: nearest}"),
    "resample": (IMAGE, "{op: resample, size: 13, mode: linear}"),
    "resample to the nearest": (IMAGE, "{op: resample, size: 5, axis: 2, mode: nearest, "
                                       "coordinates: asymmetric, rounding: floor}"),
    "resample with cubic": (IMAGE, "{op: resample, size: 11, mode: cubic, coordinates: "
                                   "align_corners}"),
    "rotate": (IMAGE, "{op: rotate, degrees: 30}"),
    "rotate with a fill": (IMAGE, "{op: rotate, degrees: -50, fill: 0.5}"),
    "rotate by a quarter": ("x: {shape: [2, 6, 6]}", "{op: rotate, degrees: 90}"),
    "rotate bytes": (BYTES, "{op: rotate, degrees: 30, fill: 9}"),
    "random_crop": (IMAGE, "{op: random_crop, size: [4, 3]}"),
    "random_resized_crop": (IMAGE, "{op: random_resized_crop, size: 5}"),
    "what is random in training": (BYTES, "random_flip, random_erasing, {op: color_jitter, "
                                          "brightness: 0.3}, {op: random_rotate, degrees: 20}, "
                                          "{op: normalize}"),
    # Boxes
    "roi_align": ("b: {shape: [5, 4]}, x: {shape: [2, 32, 32]}, y: {shape: [2, 8, 8]}",
                  "w: {op: slice, in: b, axes: [2], starts: [0], ends: [2]}, "
                  "d: {op: slice, in: b, axes: [2], starts: [2], ends: [4]}, "
                  "e: {op: add, in: [w, d]}, boxes: {op: concat, in: [w, e], axis: 2}, "
                  "{op: roi_align, in: [boxes, x, y], size: [3, 2], strides: [1, 4]}, "
                  "{op: reshape, shape: [5, 12]}", {"b": (-4, 70)}),
    "roi_align that is not aligned": (
        "b: {shape: [5, 4]}, x: {shape: [2, 32, 32]}",
        "{op: roi_align, in: [b, x], size: 2, strides: [2], aligned: false}, "
        "{op: reshape, shape: [5, 8]}", {"b": (0, 64)}),
    "region_proposals": (
        "s: {shape: [2, 4, 4]}, d: {shape: [8, 4, 4]}, t: {shape: [2, 2, 2]}, e: {shape: [8, 2, 2]}",
        "{op: region_proposals, in: [s, d, t, e], strides: [4, 8], scales: [6, 9], ratios: [0.5, 1], "
        "candidates: 30, count: 12, max_iou: 0.4}"),
    "region_proposals of few": (
        "s: {shape: [1, 2, 2]}, d: {shape: [4, 2, 2]}",
        "{op: region_proposals, in: [s, d], strides: [4], scales: [3], ratios: [1], count: 9}"),
    "detections": (
        "b: {shape: [9, 4]}, s: {shape: [9, 3]}, d: {shape: [9, 12]}, image: {shape: [1, 40, 50]}",
        "w: {op: slice, in: b, axes: [2], starts: [0], ends: [2]}, "
        "v: {op: slice, in: b, axes: [2], starts: [2], ends: [4]}, "
        "e: {op: add, in: [w, v]}, boxes: {op: concat, in: [w, e], axis: 2}, "
        "p: {op: softmax, in: s}, deltas: {op: reshape, in: d, shape: [9, 3, 4]}, "
        "{op: detections, in: [boxes, p, deltas, image], count: 6, min_score: 0.4, max_iou: 0.1}",
        {"b": (0, 25)}),
    "detections of few": (
        "b: {shape: [3, 4]}, s: {shape: [3, 3]}, d: {shape: [3, 12]}, image: {shape: [1, 40, 50]}",
        "p: {op: softmax, in: s}, deltas: {op: reshape, in: d, shape: [3, 3, 4]}, "
        "{op: detections, in: [b, p, deltas, image], count: 6, min_score: 0.2}", {"b": (0, 40)}),
}


def model_of(inputs, ops):
    first, separator, rest = ops.partition("}") if ops.startswith("{") else (ops, "", "")
    if " in:" not in first and ": {" not in first:  # the first operator reads `x`
        name = first.partition(",")[0] if not ops.startswith("{") else ""
        ops = (f"{{op: {name}, in: x}}" + ops[len(name):] if name
               else ops.replace("{", "{in: x, ", 1))
    return ("cgrun: 1\nmodel: small\ninputs: {" + inputs + "}\npaths:\n  p:\n    mode: forward\n"
            "    ops: [" + ops + "]\n")


@unittest.skipIf(onnx_oracle is None, "numpy, onnx or onnxruntime is not there")
class OperatorsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def compare(self, name, **options):
        inputs, ops, *ranges = CASES[name]
        (self.folder / "small.yaml").write_text(model_of(inputs, ops))
        return onnx_oracle.compare(CGRUN, self.folder, "small.yaml",
                                   ranges=ranges[0] if ranges else {}, **options)

    def check(self, name, tolerance=1e-5, **options):
        _, comparisons, _ = self.compare(name, **options)
        self.assertEqual(len(comparisons), 1)
        if comparisons[0].wanted.dtype.kind == "u":  # f32 may round a half to the other side
            self.assertLessEqual(comparisons[0].difference, 1)
        else:
            self.assertLessEqual(comparisons[0].part(), tolerance)
        self.assertGreater(comparisons[0].largest, 0)

    def test_the_same_numbers(self):
        for name in CASES:
            for opset in OPSETS:
                with self.subTest(operator=name, opset=opset):
                    self.check(name, export_flags=["--opset", opset])

    def test_a_fixed_batch(self):
        for name in CASES:
            with self.subTest(operator=name):
                self.check(name, export_flags=["--batch", 3])

    def test_f64(self):
        # ONNX's evaluator, which computes what ONNX Runtime has no kernels for, fails for groups of
        # ConvTranspose and for GridSample before opset 20.
        for name, (inputs, *_) in CASES.items():
            if "type:" in inputs or name == "conv_transpose of groups":
                continue
            opset = 20 if name.startswith("rotate") else 7
            with self.subTest(operator=name):
                self.check(name, 1e-5, flags=["--precision", "f64"], export_flags=["--opset", opset])

    def test_every_operator_has_a_case(self):
        text = "\n".join(ops for _, ops, *_ in CASES.values())
        listed = subprocess.run([CGRUN, "ops", "--json"], capture_output=True, text=True, check=True)
        operators = {op["name"] for op in json.loads(listed.stdout) if op["usage"] == "operator"}
        without = {name for name in operators if name not in text}
        self.assertEqual(without, {"random_mix", "random_normal", "random_uniform"})


if __name__ == "__main__":
    unittest.main()
