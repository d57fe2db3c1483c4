"""PyTorch, eager or compiled by torch.compile, for round.py; and its models as ONNX."""

import pathlib

import torch
import torch._inductor.config

import data
import torch_models
from models import MODELS, OWN_WEIGHTS


def load_weights(network, folder):
    """Those that cgrun begins with: both have them in the order of the layers."""
    state = network.state_dict()
    names = [name for name in state if not name.endswith("num_batches_tracked")]
    weights = data.weights(folder)
    if len(names) != len(weights):
        raise RuntimeError(f"{len(weights)} weights of cgrun for {len(names)} of PyTorch's")
    with torch.no_grad():
        for name, (ours, values) in zip(names, weights):
            if tuple(state[name].shape) != values.shape:
                raise RuntimeError(f"{ours} {values.shape} is no {tuple(state[name].shape)}")
            state[name].copy_(torch.from_numpy(values))


def create(case):
    torch.set_num_threads(case["threads"])
    torch.manual_seed(0)
    name = case["model"]
    training = torch_models.create(name, MODELS[name])
    if name not in OWN_WEIGHTS:
        load_weights(training.network, case["folder"])
    if case["peer"] == "torch.compile":
        # As the documentation of the compiler advises for inference: weights are constants of it.
        torch._inductor.config.freezing = case["infer"]
        for network in training.networks:
            network.compile()
    return training


def batches(case):
    arrays = data.batches(case["folder"], MODELS[case["model"]].batch)
    return [(torch.from_numpy(images), torch.from_numpy(labels).long())
            for images, labels in arrays]


def prepare(case):
    training, samples = create(case), batches(case)
    if not case["infer"]:
        return lambda i: training.step(*samples[i])
    network = training.network.eval()

    def forward(i):
        with torch.no_grad():
            return network(samples[i][0])

    return forward


def first_loss(case):
    training, (images, labels) = create(case), batches(case)[0]
    if case["infer"]:
        with torch.no_grad():
            outputs = training.network.eval()(images)
            return training.loss_of(outputs, images, labels).item()
    for module in training.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return training.step(images, labels)


def tiny_network():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3), torch.nn.Flatten(),
                               torch.nn.Linear(36, 2))


def tiny(case):
    """A step of the model of in_cgrun.TINY, so that libraries and threads are there."""
    torch.set_num_threads(case["threads"])
    network, images = tiny_network(), torch.zeros(1, 1, 8, 8)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    if case["peer"] == "torch.compile":
        network.compile()
    if case["infer"]:
        with torch.no_grad():
            network.eval()(images)
        return
    torch.nn.functional.cross_entropy(network(images), torch.tensor([0])).backward()
    optimizer.step()


def export(case):
    """Writes the network of the case, and the tiny one, as ONNX files into the folder."""
    folder = pathlib.Path(case["folder"])
    images = batches(case)[0][0]
    networks = {"model": (create({**case, "peer": "pytorch"}).network, images),
                "tiny": (tiny_network(), torch.zeros(1, 1, 8, 8))}
    for name, (network, inputs) in networks.items():
        torch.onnx.export(network.eval(), (inputs,), folder / f"{name}.onnx",
                          input_names=["image"], output_names=["output"], dynamo=True,
                          verbose=False)
