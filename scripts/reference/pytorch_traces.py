#!/usr/bin/env python3
"""Prints the losses of the first ten training steps of models/mlp.yaml and models/lenet.yaml in PyTorch.

The numbers stand in tests/differential/pytorch_traces_test.cc, which runs the same steps: the same
weights and images, given by the closed forms below, a constant learning rate, and the digits of
datasets/digits in the file's order.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
    /tmp/torch/bin/python scripts/reference/pytorch_traces.py
"""

import gzip
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

STEPS = 10
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "datasets" / "digits"


def weights(index, shape, fan_in):
    """Parameter number `index` of a model: sin(0.37 i + index) / sqrt(fan_in)."""
    i = np.arange(math.prod(shape), dtype=np.float64)
    values = np.sin(0.37 * i + index) / math.sqrt(fan_in)
    return torch.from_numpy(values.astype(np.float32).reshape(shape)).requires_grad_()


def parameters(shapes):
    """Weight and bias of each layer; biases are 0."""
    result = []
    for index, shape in enumerate(shapes):
        result.append(weights(index, shape, math.prod(shape[1:])))
        result.append(torch.zeros(shape[0], requires_grad=True))
    return result


def trace(name, params, decay, learning_rate, logits_of, batches):
    """`decay` maps a parameter's index to its l2."""
    groups = [{"params": [p], "weight_decay": decay.get(i, 0.0)} for i, p in enumerate(params)]
    optimizer = torch.optim.SGD(groups, lr=learning_rate, momentum=0.9)
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(logits_of(params, images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(name, ", ".join(f"{loss:.7g}" for loss in losses))


def mlp_batches(batch):
    """Pixel j of sample s is (7 j + 13 s) mod 256, its label s mod 10."""
    for step in range(STEPS):
        samples = np.arange(step * batch, (step + 1) * batch)
        pixels = (7 * np.arange(784)[None, :] + 13 * samples[:, None]) % 256
        images = torch.from_numpy(pixels.astype(np.float32))
        yield images, torch.from_numpy(samples % 10)


def mlp_logits(p, images):
    x = (images / 255 - 0.1307) / 0.3081
    x = F.relu(F.linear(x, p[0], p[1]))
    x = F.relu(F.linear(x, p[2], p[3]))
    return F.linear(x, p[4], p[5])


def digits_batches(batch):
    def read(name, header, shape):
        with gzip.open(DIGITS / name) as file:
            return np.frombuffer(file.read()[header:], dtype=np.uint8).reshape(shape)

    images = read("train-images-idx3-ubyte.gz", 16, (-1, 1, 8, 8)).astype(np.float32)
    labels = read("train-labels-idx1-ubyte.gz", 8, (-1,)).astype(np.int64)
    for step in range(STEPS):
        part = slice(step * batch, (step + 1) * batch)
        yield torch.from_numpy(images[part]), torch.from_numpy(labels[part])


def lenet_logits(p, images):
    x = (images / 255 - 0.3056) / 0.3760
    x = F.interpolate(x, size=(28, 28), mode="bilinear", align_corners=False)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1])), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[2], p[3])), 2)
    x = F.relu(F.linear(x.flatten(1), p[4], p[5]))
    return F.linear(x, p[6], p[7])


def main():
    torch.set_num_threads(1)
    print("PyTorch", torch.__version__)
    trace("mlp", parameters([(512, 784), (256, 512), (10, 256)]), {}, 0.01, mlp_logits,
          mlp_batches(64))
    trace("lenet", parameters([(20, 1, 5, 5), (50, 20, 5, 5), (500, 800), (10, 500)]), {4: 1e-4},
          0.01, lenet_logits, digits_batches(16))


if __name__ == "__main__":
    main()
