"""ONNX Runtime on what in_pytorch.export leaves, for round.py: inference alone."""

import pathlib

import numpy
import onnxruntime

import data
from models import MODELS


onnxruntime.disable_telemetry_events()


def open_session(case, name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case["threads"]
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(pathlib.Path(case["folder"]) / f"{name}.onnx"), options,
                                        providers=["CPUExecutionProvider"])


def tiny(case):
    open_session(case, "tiny").run(None, {"image": numpy.zeros((1, 1, 8, 8), numpy.float32)})


def prepare(case):
    session = open_session(case, "model")
    samples = data.batches(case["folder"], MODELS[case["model"]].batch)
    return lambda i: session.run(None, {"image": samples[i][0]})[0]


def first_loss(case):
    """Computes them by PyTorch from the outputs of ONNX Runtime."""
    import torch
    import torch_models
    outputs = torch.from_numpy(prepare(case)(0))
    images, labels = (torch.from_numpy(part) for part in
                      data.batches(case["folder"], MODELS[case["model"]].batch)[0])
    return torch_models.loss_of_model(case["model"])(outputs, images, labels.long()).item()
