"""JAX, for round.py: models in plain jax.numpy and jax.lax, compiled as a whole step whose state is
donated. Images and activations are in the layout that XLA's convolutions take on a CPU."""

import os
import pathlib

import jax
import jax.numpy as jnp
from jax import lax

import data
from models import MODELS

RATE, MOMENTUM = 0.01, 0.9
LAYOUTS = ("NHWC", "HWIO", "NHWC")  # of images, of filters, of results


class Network:
    """Layers that take their weights in the order of the model file. `statistics` of norms are used
    where it does not train, and renewed where it does; without a `key` there is no dropout."""

    def __init__(self, parameters, statistics, training, key=None):
        self.parameters, self.statistics = iter(parameters), iter(statistics)
        self.training, self.key, self.renewed = training, key, []

    def conv(self, x, stride=1, padding=0, bias=True):
        filters = next(self.parameters)
        x = lax.conv_general_dilated(x, filters, (stride, stride), [(padding, padding)] * 2,
                                     dimension_numbers=LAYOUTS)
        return x + next(self.parameters) if bias else x

    def norm(self, x):
        scale, shift = next(self.parameters), next(self.parameters)
        mean, variance = next(self.statistics), next(self.statistics)
        if self.training:
            elements = x.size // x.shape[-1]
            old = mean, variance
            mean = x.mean((0, 1, 2))
            variance = jnp.square(x - mean).mean((0, 1, 2))
            unbiased = variance * (elements / (elements - 1))
            self.renewed += [0.9 * old[0] + 0.1 * mean, 0.9 * old[1] + 0.1 * unbiased]
        return (x - mean) * (scale * lax.rsqrt(variance + 1e-5)) + shift

    def linear(self, x):
        weight, bias = next(self.parameters), next(self.parameters)
        return x @ weight.T + bias

    def dropout(self, x, rate=0.5):
        if not self.training or self.key is None:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


relu = jax.nn.relu


def max_pool(x, kernel, stride, padding=0):
    around = ((0, 0), (padding, padding), (padding, padding), (0, 0))
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, kernel, kernel, 1), (1, stride, stride, 1),
                             around)


def flatten(x):
    """Flattens in the order of the weights of the next layer: channels first."""
    return x.transpose(0, 3, 1, 2).reshape(len(x), -1)


def mlp(net, x):
    return net.linear(relu(net.linear(relu(net.linear(flatten(x))))))


def lenet(net, x):
    for _ in range(2):
        x = max_pool(relu(net.conv(x)), 2, 2)
    return net.linear(relu(net.linear(flatten(x))))


def alexnet(net, x):
    x = max_pool(relu(net.conv(x, 4, 2)), 3, 2)
    x = max_pool(relu(net.conv(x, 1, 2)), 3, 2)
    for _ in range(3):
        x = relu(net.conv(x, 1, 1))
    x = flatten(max_pool(x, 3, 2))
    for _ in range(2):
        x = relu(net.linear(net.dropout(x)))
    return net.linear(x)


def vgg16(net, x):
    for depth in (2, 2, 3, 3, 3):
        for _ in range(depth):
            x = relu(net.conv(x, 1, 1))
        x = max_pool(x, 2, 2)
    x = flatten(x)
    for _ in range(2):
        x = net.dropout(relu(net.linear(x)))
    return net.linear(x)


def resnet(depths, bottleneck):
    def norm_conv(net, x, stride=1, padding=0):
        return net.norm(net.conv(x, stride, padding, bias=False))

    def block(net, x, stride, project):
        if bottleneck:
            y = relu(norm_conv(net, x))
            y = norm_conv(net, relu(norm_conv(net, y, stride, 1)))
        else:
            y = norm_conv(net, relu(norm_conv(net, x, stride, 1)), 1, 1)
        return relu(y + (norm_conv(net, x, stride) if project else x))

    def forward(net, x):
        x = max_pool(relu(norm_conv(net, x, 2, 3)), 3, 2, 1)
        for stage, depth in enumerate(depths):
            for i in range(depth):
                stride = 2 if stage > 0 and i == 0 else 1
                x = block(net, x, stride, i == 0 and (stage > 0 or bottleneck))
        return net.linear(x.mean((1, 2)))

    return forward


FORWARD = {"mlp": mlp, "lenet-mnist": lenet, "alexnet": alexnet, "vgg16": vgg16,
           "resnet18": resnet((2, 2, 2, 2), False), "resnet50": resnet((3, 4, 6, 3), True)}


def logits_of(name, net, images):
    model = MODELS[name]
    mean, deviation = jnp.array(model.mean), jnp.array(model.deviation)
    return FORWARD[name](net, (images.astype(jnp.float32) / 255 - mean) / deviation)


def loss_of(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def compile_step(name, dropout):
    """step(state, images, labels) gives a new state and the loss."""
    def loss(parameters, statistics, images, labels, key):
        net = Network(parameters, statistics, True, key if dropout else None)
        return loss_of(logits_of(name, net, images), labels), net.renewed

    def step(state, images, labels):
        parameters, momentum, statistics, key = state
        key, own = jax.random.split(key)
        (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(
            parameters, statistics, images, labels, own)
        decay = MODELS[name].decay
        momentum = [MOMENTUM * m + g + decay * p
                    for m, g, p in zip(momentum, gradients, parameters)]
        parameters = [p - RATE * m for p, m in zip(parameters, momentum)]
        return (parameters, momentum, statistics, key), value

    return jax.jit(step, donate_argnums=0)


def load_weights(folder):
    """Returns parameters and statistics, with filters in JAX's order of axes."""
    parameters, statistics = [], []
    for name, values in data.weights(folder):
        if values.ndim == 4:
            values = values.transpose(2, 3, 1, 0)
        (statistics if ".running_" in name else parameters).append(jnp.array(values))
    return parameters, statistics


def batches(case):
    model = MODELS[case["model"]]
    return [(jnp.array(images.transpose(0, 2, 3, 1)), jnp.array(labels))
            for images, labels in data.batches(case["folder"], model.batch)]


def set_up(case):
    """XLA has as many threads as there are processors for this process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:case["threads"]])
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_compilation_cache_dir", str(pathlib.Path(case["folder"]) / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)


def tiny(case):
    """As in_cgrun.TINY."""
    set_up(case)
    parameters = [jnp.ones((3, 3, 1, 1)), jnp.zeros(1), jnp.ones((2, 36)), jnp.zeros(2)]

    def loss(parameters):
        net = Network(parameters, [], True)
        return loss_of(net.linear(flatten(net.conv(jnp.zeros((1, 8, 8, 1))))), jnp.array([0]))

    jax.block_until_ready(jax.jit(jax.grad(loss))(parameters))


def prepare(case):
    set_up(case)
    name, samples = case["model"], batches(case)
    parameters, statistics = load_weights(case["folder"])
    if case["infer"]:
        forward = jax.jit(lambda parameters, statistics, images: logits_of(
            name, Network(parameters, statistics, False), images))
        return lambda i: forward(parameters, statistics, samples[i][0]).block_until_ready()
    state = (parameters, [jnp.zeros_like(p) for p in parameters], statistics, jax.random.key(0))
    step = compile_step(name, dropout=not case["check"])

    def train(i):
        nonlocal state
        state, value = step(state, *samples[i])
        return float(value)

    return train


def first_loss(case):
    result = prepare(case)(0)
    return float(loss_of(result, batches(case)[0][1])) if case["infer"] else result
