#!/usr/bin/env python3
"""Prints the losses of ten training steps of mlp, lenet and resnet18 of models/ in PyTorch.

The numbers stand in tests/differential/pytorch_traces_test.cc, which runs the same steps: the same
weights and images, given by the closed forms below, a constant learning rate, and for lenet the
digits of datasets/digits in the file's order. `--f64` shows how much of a trace is rounding.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
    /tmp/torch/bin/python scripts/reference/pytorch_traces.py
"""

import argparse
import gzip
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

STEPS = 10
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "datasets" / "digits"


def tensor(values):
    """f32 numbers in the type that is computed in."""
    return torch.from_numpy(values).to(torch.get_default_dtype())


def weights(index, shape, fan_in):
    """Parameter number `index` of a model: sin(0.37 i + index) / sqrt(fan_in)."""
    i = np.arange(math.prod(shape), dtype=np.float64)
    values = np.sin(0.37 * i + index) / math.sqrt(fan_in)
    return tensor(values.astype(np.float32).reshape(shape)).requires_grad_()


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
        images = tensor(pixels.astype(np.float32))
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
        yield tensor(images[part]), torch.from_numpy(labels[part])


def lenet_logits(p, images):
    x = (images / 255 - 0.3056) / 0.3760
    x = F.interpolate(x, size=(28, 28), mode="bilinear", align_corners=False)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1])), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[2], p[3])), 2)
    x = F.relu(F.linear(x.flatten(1), p[4], p[5]))
    return F.linear(x, p[6], p[7])


def mixed(i):
    """A hash of 32-bit integers (C. Wellons' lowbias32), the same in every language."""
    i = np.asarray(i).astype(np.uint32)
    i = (i ^ (i >> np.uint32(16))) * np.uint32(0x7FEB352D)
    i = (i ^ (i >> np.uint32(15))) * np.uint32(0x846CA68B)
    return i ^ (i >> np.uint32(16))


def mixed_weights(index, shape, fan_in):
    """Uniform with variance 2 / fan_in. (A matrix of sines has rank 2: too little for a deep net.)"""
    values = mixed(np.arange(math.prod(shape)) + (index << 24)) / 2.0**32 - 0.5
    values *= math.sqrt(24 / fan_in)
    return tensor(values.astype(np.float32).reshape(shape)).requires_grad_()


RESNET_STAGES = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]


def resnet18_parameters():
    """Convolutions in the order of the model file and the last layer's weight; then, for each, scale
    and shift of its norm, and the last layer's bias. The scales of the norms before an addition are
    1/4, the others 1."""
    shapes, scales, channels = [(64, 3, 7, 7)], [1], 64
    for out, stride in RESNET_STAGES:
        shapes += [(out, channels, 3, 3), (out, out, 3, 3)]
        scales += [1, 0.25]
        if stride != 1:
            shapes.append((out, channels, 1, 1))
            scales.append(1)
        channels = out
    params = [mixed_weights(i, shape, math.prod(shape[1:]))
              for i, shape in enumerate(shapes + [(1000, channels)])]
    for shape, scale in zip(shapes, scales):
        params.append(torch.full((shape[0],), float(scale), requires_grad=True))
        params.append(torch.zeros(shape[0], requires_grad=True))
    return params + [torch.zeros(1000, requires_grad=True)]


def resnet18_logits(p, images):
    convolutions = len(p) // 3
    used = iter(range(convolutions))

    def conv_norm(x, stride):
        i = next(used)
        scale, shift = p[convolutions + 1 + 2 * i:][:2]
        x = F.conv2d(x, p[i], stride=stride, padding=p[i].shape[2] // 2)
        return F.batch_norm(x, None, None, scale, shift, training=True)

    mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
    x = F.relu(conv_norm((images / 255 - mean) / deviation, 2))
    x = F.max_pool2d(x, 3, 2, 1)
    for _, stride in RESNET_STAGES:
        y = conv_norm(F.relu(conv_norm(x, stride)), 1)
        x = F.relu(y + (conv_norm(x, stride) if stride != 1 else x))
    return F.linear(x.mean((2, 3)), p[convolutions], p[-1])


def resnet18_batches(batch, size):
    """One batch in every step. Pixel j of sample s is mixed(s * pixels + j) mod 256, its label
    s mod 10."""
    pixels = 3 * size * size
    samples = np.arange(batch)
    images = mixed(samples[:, None] * pixels + np.arange(pixels)[None, :]) % 256
    images = tensor(images.reshape(batch, 3, size, size).astype(np.float32))
    for _ in range(STEPS):
        yield images, torch.from_numpy(samples % 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--f64", action="store_true", help="compute in f64")
    if parser.parse_args().f64:
        torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    print("PyTorch", torch.__version__)
    trace("mlp", parameters([(512, 784), (256, 512), (10, 256)]), {}, 0.01, mlp_logits,
          mlp_batches(64))
    trace("lenet", parameters([(20, 1, 5, 5), (50, 20, 5, 5), (500, 800), (10, 500)]), {4: 1e-4},
          0.01, lenet_logits, digits_batches(16))
    params = resnet18_parameters()
    trace("resnet18", params, dict.fromkeys(range(len(params)), 1e-4), 1e-4, resnet18_logits,
          resnet18_batches(16, 32))


if __name__ == "__main__":
    main()
