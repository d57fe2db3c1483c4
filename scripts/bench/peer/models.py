"""The models of models/ that scripts/bench/peers compares, and which peer has which of them."""

import collections

# Shape of an input, classes, batch, steps in a round; mean and deviation that the file's
# `preprocess` takes pixels in [0, 1] by, and its weight decay.
Model = collections.namedtuple("Model", "shape classes batch steps mean deviation decay",
                               defaults=([0.5], [0.5], 0.0))

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
MODELS = {
    "mlp": Model((1, 28, 28), 10, 64, 400, [0.1307], [0.3081]),
    "lenet": Model((1, 8, 8), 10, 16, 800, [0.3056], [0.3760]),
    "lenet-mnist": Model((1, 28, 28), 10, 64, 200, [0.1307], [0.3081]),
    "char-rnn": Model((32,), 256, 32, 100),
    "lsgan": Model((1, 8, 8), None, 32, 800),
    "dcgan": Model((1, 28, 28), None, 64, 20),
    "autoencoder": Model((1, 28, 28), None, 100, 50, [0.0], [1.0]),
    "cnn-cifar": Model((3, 32, 32), 10, 100, 50, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616],
                       4e-3),
    "alexnet": Model((3, 224, 224), 1000, 16, 4, *IMAGENET, 1e-4),
    "vgg16": Model((3, 224, 224), 1000, 8, 1, *IMAGENET, 5e-4),
    "resnet18": Model((3, 224, 224), 1000, 16, 3, *IMAGENET, 1e-4),
    "resnet50": Model((3, 224, 224), 1000, 16, 2, *IMAGENET, 1e-4),
    "mobilenet-v2": Model((3, 224, 224), 1000, 16, 3, *IMAGENET, 4e-5),
    "inception-v3": Model((3, 299, 299), 1000, 8, 2),
}
DEFAULT = ["mlp", "lenet-mnist", "resnet18", "resnet50"]
TEXT = ["char-rnn"]  # trained on the text that ships, by cgrun; on random characters by the peers

# Begun with weights of their own: a recurrent unit that is not quite the same, and those whose
# losses depend on noise.
OWN_WEIGHTS = ["char-rnn", "lsgan", "dcgan"]

PEERS = ["pytorch", "torch.compile", "onnxruntime", "jax", "darknet"]
PACKAGES = {"pytorch": ["torch"], "torch.compile": ["torch"],
            "onnxruntime": ["onnxruntime", "torch", "onnxscript"], "jax": ["jax"]}
ONLY = {"jax": ["mlp", "lenet-mnist", "alexnet", "vgg16", "resnet18", "resnet50"],
        "darknet": ["mlp", "lenet-mnist", "alexnet", "vgg16", "resnet18", "resnet50"]}


def missing(peer, name, infer):
    """Returns why the peer has no such case; None where it has."""
    if name in OWN_WEIGHTS and infer:
        return "inference is compared of models that begin with the same weights"
    if peer == "onnxruntime" and not infer:
        return "it does not train"
    if name not in ONLY.get(peer, MODELS):
        return "the model is not written for it"
    if peer == "darknet" and not infer and MODELS[name].shape[0] == 1:
        return "it trains on images of three colours alone"
    return None
