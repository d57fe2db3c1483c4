#!/usr/bin/env python3
"""Prints the losses of ten training steps of models of models/ in PyTorch.

The numbers stand in tests/differential/pytorch_traces_test.cc, which runs the same steps: the same
weights and images, given by the closed forms below, a constant learning rate, and for lenet the
digits of datasets/digits in the file's order. `--f64` shows how much of a trace is rounding.
There is no dropout, which no two programs draw alike. `--save DIR` leaves what cnn-cifar,
mobilenet-v2, inception-v3 and autoencoder begin with, to run them by hand: NAME-image.npy,
NAME-label.npy and NAME-weights.npz, the weights in the model file's order.

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
    """Returns parameter number `index` of a model: sin(0.37 i + index) / sqrt(fan_in)."""
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


def train(name, optimizer, loss_of, batches, clip=math.inf):
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = loss_of(images, labels)
        loss.backward()
        if clip != math.inf:
            params = [p for group in optimizer.param_groups for p in group["params"]]
            torch.nn.utils.clip_grad_norm_(params, clip)
        optimizer.step()
        losses.append(loss.item())
    print(name, ", ".join(f"{loss:.7g}" for loss in losses), flush=True)


def trace(name, params, decay, learning_rate, logits_of, batches):
    """`decay` maps a parameter's index to its l2."""
    groups = [{"params": [p], "weight_decay": decay.get(i, 0.0)} for i, p in enumerate(params)]
    optimizer = torch.optim.SGD(groups, lr=learning_rate, momentum=0.9)

    def loss_of(images, labels):
        return F.cross_entropy(logits_of(params, images), labels)

    train(name, optimizer, loss_of, batches)


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
    """Returns a hash of 32-bit integers (C. Wellons' lowbias32), the same in every language."""
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


def mixed_batches(batch, size, channels=3):
    """One batch in every step. Pixel j of sample s is mixed(s * pixels + j) mod 256, its label
    s mod 10."""
    pixels = channels * size * size
    samples = np.arange(batch)
    images = mixed(samples[:, None] * pixels + np.arange(pixels)[None, :]) % 256
    images = tensor(images.reshape(batch, channels, size, size).astype(np.float32))
    for _ in range(STEPS):
        yield images, torch.from_numpy(samples % 10)


class Layers:
    """Layers whose parameters are made when they are first used, in the order of the model file:
    mixed weights, and biases of 0. `begin` comes before every use of the model.

    The norms before a relu begin with a shift above a deviation, those before a relu6 with its middle.
    So few values are near a corner, where rounding moves some to the other side. The norms of deep
    nets over few elements amplify that: with shifts of 0, f32 and f64 part by 1 % and more."""

    def __init__(self):
        self.weights, self.others, self.used = [], [], 0

    def begin(self):
        self.used = 0

    def parameters(self):
        return self.weights + [p for layer in self.others for p in layer]

    def layer(self, shape, others):
        """Returns the next weight, and a vector for each of `others`, filled with it."""
        if self.used == len(self.weights):
            self.weights.append(mixed_weights(self.used, shape, math.prod(shape[1:])))
            self.others.append([torch.full((shape[0],), float(value), requires_grad=True)
                                for value in others])
        self.used += 1
        return self.weights[self.used - 1], *self.others[self.used - 1]

    def linear(self, x, units):
        return F.linear(x, *self.layer((units, x.shape[1]), [0]))

    def conv(self, x, out, kernel, padding):
        weight, bias = self.layer((out, x.shape[1], kernel, kernel), [0])
        return F.conv2d(x, weight, bias, padding=padding)

    def conv_norm(self, x, out, kernel=1, stride=1, padding=0, groups=1, norm=(1, 0), epsilon=1e-5):
        """`norm`: scale and shift to begin with."""
        kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        weight, scale, shift = self.layer((out, x.shape[1] // groups, *kernel), norm)
        x = F.conv2d(x, weight, stride=stride, padding=padding, groups=groups)
        return F.batch_norm(x, None, None, scale, shift, training=True, eps=epsilon)


def normalized(images, mean, deviation):
    mean, deviation = (torch.tensor(v).view(1, -1, 1, 1) for v in (mean, deviation))
    return (images / 255 - mean) / deviation


def cnn_cifar(layers, images):
    x = normalized(images, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616])
    x = F.relu(F.max_pool2d(layers.conv(x, 32, 5, 2), 3, 2, ceil_mode=True))
    x = F.avg_pool2d(F.relu(layers.conv(x, 32, 5, 2)), 3, 2, ceil_mode=True)
    x = F.avg_pool2d(F.relu(layers.conv(x, 64, 5, 2)), 3, 2, ceil_mode=True)
    return layers.linear(layers.linear(x.flatten(1), 64), 10)


MOBILENET_STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                    (6, 160, 3, 2), (6, 320, 1, 1)]  # expansion, channels, repetitions, stride


def mobilenet_v2(layers, images):
    def conv_relu6(x, *arguments, **options):
        return F.relu6(layers.conv_norm(x, *arguments, norm=(1.5, 3), **options))

    x = normalized(images, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    x = conv_relu6(x, 32, 3, 2, 1)
    for expand, out, repeat, first_stride in MOBILENET_STAGES:
        for i in range(repeat):
            mid, stride = expand * x.shape[1], first_stride if i == 0 else 1
            y = conv_relu6(x, mid) if expand != 1 else x
            y = conv_relu6(y, mid, 3, stride, 1, groups=mid)
            y = layers.conv_norm(y, out, norm=(0.25, 0))
            x = x + y if x.shape == y.shape else y
    return layers.linear(conv_relu6(x, 1280).mean((2, 3)), 1000)


def inception_v3(layers, images):
    def conv(x, out, kernel=1, stride=1, padding=0):
        return F.relu(layers.conv_norm(x, out, kernel, stride, padding, norm=(0.75, 1),
                                       epsilon=1e-3))

    def wide(x, out, n=7):
        return conv(x, out, (1, n), 1, (0, n // 2))

    def high(x, out, n=7):
        return conv(x, out, (n, 1), 1, (n // 2, 0))

    def pool(x):
        return F.avg_pool2d(x, 3, 1, 1)

    def inception_a(x, pooled):
        return torch.cat([conv(x, 64), conv(conv(x, 48), 64, 5, 1, 2),
                          conv(conv(conv(x, 64), 96, 3, 1, 1), 96, 3, 1, 1),
                          conv(pool(x), pooled)], 1)

    def reduction_b(x):
        return torch.cat([conv(x, 384, 3, 2), conv(conv(conv(x, 64), 96, 3, 1, 1), 96, 3, 2),
                          F.max_pool2d(x, 3, 2)], 1)

    def inception_c(x, mid):
        return torch.cat([conv(x, 192), high(wide(conv(x, mid), mid), 192),
                          wide(high(wide(high(conv(x, mid), mid), mid), mid), 192),
                          conv(pool(x), 192)], 1)

    def reduction_d(x):
        return torch.cat([conv(conv(x, 192), 320, 3, 2),
                          conv(high(wide(conv(x, 192), 192), 192), 192, 3, 2),
                          F.max_pool2d(x, 3, 2)], 1)

    def inception_e(x):
        a, b = conv(x, 320), conv(x, 384)
        b = [wide(b, 384, 3), high(b, 384, 3)]
        c = conv(conv(x, 448), 384, 3, 1, 1)
        return torch.cat([a, *b, wide(c, 384, 3), high(c, 384, 3), conv(pool(x), 192)], 1)

    x = normalized(images, [0.5], [0.5])
    x = conv(conv(conv(x, 32, 3, 2), 32, 3), 64, 3, 1, 1)
    x = conv(conv(F.max_pool2d(x, 3, 2), 80), 192, 3)
    x = F.max_pool2d(x, 3, 2)
    for pooled in (32, 64, 64):
        x = inception_a(x, pooled)
    x = reduction_b(x)
    for mid in (128, 160, 160, 192):
        x = inception_c(x, mid)
    x = inception_e(inception_e(reduction_d(x)))
    return layers.linear(x.mean((2, 3)), 1000)


def autoencoder(layers, images):
    x = images.flatten(1) / 255
    for units in (1000, 500, 250):
        x = F.relu(layers.linear(x, units))
    x = layers.linear(x, 30)
    for units in (250, 500, 1000):
        x = F.relu(layers.linear(x, units))
    return layers.linear(x, 784)


def trace_layers(name, logits_of, loss_of, optimizer_of, batches, clip=math.inf, save=None):
    layers, batches = Layers(), list(batches)
    with torch.no_grad():
        logits_of(layers, batches[0][0])
    if save:
        np.save(save / f"{name}-image.npy", batches[0][0].numpy().astype(np.uint8))
        np.save(save / f"{name}-label.npy", batches[0][1].numpy().astype(np.int32))
        np.savez(save / f"{name}-weights.npz", *[w.detach().numpy() for w in layers.weights])

    def loss(images, labels):
        layers.begin()
        return loss_of(logits_of(layers, images), images, labels)

    train(name, optimizer_of(layers.parameters()), loss, batches, clip)


def class_loss(logits, _, labels):
    return F.cross_entropy(logits, labels)


def smooth_class_loss(logits, _, labels):
    return F.cross_entropy(logits, labels, label_smoothing=0.1)


def pixel_loss(logits, images, _):
    return F.binary_cross_entropy_with_logits(logits, images.flatten(1) / 255)


def sgd(rate, decay):
    return lambda params: torch.optim.SGD(params, lr=rate, momentum=0.9, weight_decay=decay)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--f64", action="store_true", help="compute in f64")
    parser.add_argument("--save", metavar="DIR", type=pathlib.Path, help="leave weights and images")
    arguments = parser.parse_args()
    if arguments.f64:
        torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    print("PyTorch", torch.__version__)
    trace("mlp", parameters([(512, 784), (256, 512), (10, 256)]), {}, 0.01, mlp_logits,
          mlp_batches(64))
    trace("lenet", parameters([(20, 1, 5, 5), (50, 20, 5, 5), (500, 800), (10, 500)]), {4: 1e-4},
          0.01, lenet_logits, digits_batches(16))
    params = resnet18_parameters()
    trace("resnet18", params, dict.fromkeys(range(len(params)), 1e-4), 1e-4, resnet18_logits,
          mixed_batches(16, 32))
    save = arguments.save
    trace_layers("cnn-cifar", cnn_cifar, class_loss, sgd(1e-3, 4e-3), mixed_batches(16, 32),
                 save=save)
    trace_layers("mobilenet-v2", mobilenet_v2, class_loss, sgd(1e-4, 4e-5), mixed_batches(8, 64),
                 save=save)
    trace_layers("inception-v3", inception_v3, smooth_class_loss,
                 lambda params: torch.optim.RMSprop(params, lr=1e-3, alpha=0.9, eps=1.0),
                 mixed_batches(8, 75), clip=2.0, save=save)
    trace_layers("autoencoder", autoencoder, pixel_loss,
                 lambda params: torch.optim.Adam(params, lr=1e-4), mixed_batches(16, 28, 1),
                 save=save)


if __name__ == "__main__":
    main()
