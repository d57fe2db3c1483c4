#!/usr/bin/env python3
"""Prints what optimizers and settings of training do in PyTorch, in f64.

The lines stand in tests/differential/pytorch_optimizers.inc and pytorch_settings.inc, which the
tests beside them include: ten steps of each optimizer on given gradients, and ten steps of a small
network with clipping, accumulation, regularisation, rates per parameter and frozen parameters.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
    /tmp/torch/bin/python scripts/reference/pytorch_training.py optimizers
    /tmp/torch/bin/python scripts/reference/pytorch_training.py settings
"""

import argparse
import math

import torch

STEPS = 10
ELEMENTS = 4

OPTIMIZERS = [
    ("sgd", "Sgd()", torch.optim.SGD, {}),
    ("sgd with weight decay", "Sgd(0, false, 0.1)", torch.optim.SGD, {"weight_decay": 0.1}),
    ("sgd with momentum", "Sgd(0.9)", torch.optim.SGD, {"momentum": 0.9}),
    ("sgd with momentum and weight decay", "Sgd(0.9, false, 0.1)", torch.optim.SGD,
     {"momentum": 0.9, "weight_decay": 0.1}),
    ("nesterov", "Sgd(0.9, true)", torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    ("nesterov with weight decay", "Sgd(0.8, true, 0.1)", torch.optim.SGD,
     {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1}),
    ("rmsprop", "Rmsprop()", torch.optim.RMSprop, {}),
    ("rmsprop, all", "Rmsprop(0.9, 1e-4, 0.8, true, 0.1)", torch.optim.RMSprop,
     {"alpha": 0.9, "eps": 1e-4, "momentum": 0.8, "centered": True, "weight_decay": 0.1}),
    ("rmsprop with momentum", "Rmsprop(0.95, 1e-8, 0.5)", torch.optim.RMSprop,
     {"alpha": 0.95, "momentum": 0.5}),
    ("rmsprop, centred", "Rmsprop(0.95, 1e-8, 0, true)", torch.optim.RMSprop,
     {"alpha": 0.95, "centered": True}),
    ("adagrad", "Adagrad()", torch.optim.Adagrad, {}),
    ("adagrad, all", "Adagrad(0.1, 0.5, 1e-3, 0.1)", torch.optim.Adagrad,
     {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3, "weight_decay": 0.1}),
    ("adam", "Adam()", torch.optim.Adam, {}),
    ("adam with weight decay", "Adam(0.8, 0.99, 1e-6, 0.1)", torch.optim.Adam,
     {"betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.1}),
    ("adamw", "Adamw()", torch.optim.AdamW, {}),
    ("adamw, other settings", "Adamw(0.8, 0.99, 1e-6, 0.3)", torch.optim.AdamW,
     {"betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.3}),
]


def numbers(values):
    return ", ".join(f"{float(value):.15g}" for value in values)


def optimizers():
    """A parameter that starts at cos(i) and has the gradient sin(12.9898 (5 t + i)) · (t + 1) / 4 in
    step t, at a rate of 0.1 / (1 + t)."""
    for name, attributes, kind, arguments in OPTIMIZERS:
        w = torch.tensor([math.cos(i) for i in range(ELEMENTS)], requires_grad=True)
        optimizer = kind([w], lr=0.1, **arguments)
        for t in range(STEPS):
            optimizer.param_groups[0]["lr"] = 0.1 / (1 + t)
            w.grad = torch.tensor(
                [math.sin(12.9898 * (5 * t + i)) * (t + 1) / 4 for i in range(ELEMENTS)])
            optimizer.step()
        print(f'{{"{name}", {attributes}, {{{numbers(w.detach())}}}}},')


def network():
    """6 → 8 → 2, tanh between: element i of parameter p is sin(0.37 i + p) / 2."""
    def parameter(p, *shape):
        i = torch.arange(math.prod(shape))
        return (torch.sin(0.37 * i + p) / 2).reshape(shape).requires_grad_()
    return [parameter(0, 8, 6), parameter(1, 8), parameter(2, 2, 8), parameter(3, 2)]


def samples(step, count):
    """Sample s has x_j = cos(s + 2 j), y_j = sin(3 s + j)."""
    s = torch.arange(step * count, (step + 1) * count, dtype=torch.get_default_dtype())[:, None]
    return torch.cos(s + 2 * torch.arange(6)), torch.sin(3 * s + torch.arange(2))


def momentum(parameters, **arguments):
    return torch.optim.SGD(parameters, lr=0.2, momentum=0.9, **arguments)


def l1_of(amount, w):
    return amount * w.abs().sum()


def l2_of(amount, w):
    return amount / 2 * (w * w).sum()


SETTINGS = [
    ("plain", momentum, {}),
    ("clip by norm", momentum, {"norm": 0.3}),
    ("clip by norm that is never reached", momentum, {"norm": 100}),
    ("clip by value", momentum, {"value": 0.05}),
    ("adam, clip by norm", lambda p: torch.optim.Adam(p, lr=0.02), {"norm": 0.1}),
    ("adamw", lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.5), {}),
    ("l1", momentum, {"loss": lambda p: l1_of(0.02, p[0])}),
    ("l2", momentum, {"loss": lambda p: l2_of(0.05, p[0])}),
    ("elastic", momentum, {"loss": lambda p: l1_of(0.02, p[0]) + l2_of(0.05, p[0])}),
    ("lr", lambda p: momentum([{"params": p[:2]}, {"params": p[2:], "lr": 0.02}]), {}),
    ("frozen", lambda p: momentum(p[2:]), {}),
]


def settings():
    """Trains on ten samples in each of ten steps, and prints the losses without regularisation."""
    for name, optimizer_of, options in SETTINGS:
        parameters = network()
        optimizer = optimizer_of(parameters)
        losses = []
        for step in range(STEPS):
            x, y = samples(step, 10)
            w1, b1, w2, b2 = parameters
            loss = torch.nn.functional.mse_loss(torch.tanh(x @ w1.T + b1) @ w2.T + b2, y)
            losses.append(loss.item())
            optimizer.zero_grad()
            (loss + options["loss"](parameters) if "loss" in options else loss).backward()
            if "norm" in options:
                torch.nn.utils.clip_grad_norm_(parameters, options["norm"])
            if "value" in options:
                torch.nn.utils.clip_grad_value_(parameters, options["value"])
            optimizer.step()
        print(f'{{"{name}", {{{numbers(losses)}}}}},')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", choices=["optimizers", "settings"])
    torch.set_default_dtype(torch.float64)
    {"optimizers": optimizers, "settings": settings}[parser.parse_args().table]()


if __name__ == "__main__":
    main()
