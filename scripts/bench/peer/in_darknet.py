"""darknet, for scripts/bench/peers: its program on model files of its own kind, which are written
here, as those it comes with are of other sizes. Weights are its own, and it has one thread unless
it was built with OpenMP.

Inference is `darknet speed`, one image after another: a step is as many as a batch has; memory is
not told. Training is `darknet classifier train` on images in files; the time is that of the step
alone, which darknet prints, and the memory the most that was resident, over that of a tiny model.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from models import MODELS

TRAINING_STEPS = 2  # the first warms up; one takes minutes for the large models


def section(name, **options):
    return f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options.items())


def conv(filters, size, stride=1, padding=0, activation="relu", norm=0):
    return section("convolutional", batch_normalize=norm, filters=filters, size=size, stride=stride,
                   padding=padding, activation=activation)


def max_pool(size, stride, padding=0):
    """`padding` counts both sides together."""
    return section("maxpool", size=size, stride=stride, padding=padding)


def connected(output, activation="relu"):
    return section("connected", output=output, activation=activation)


DROPOUT = section("dropout", probability=0.5)


def mlp():
    return [connected(512), connected(256), connected(10, "linear")]


def lenet():
    return [conv(20, 5), max_pool(2, 2), conv(50, 5), max_pool(2, 2), connected(500),
            connected(10, "linear")]


def alexnet():
    return [conv(64, 11, 4, 2), max_pool(3, 2), conv(192, 5, 1, 2), max_pool(3, 2),
            conv(384, 3, 1, 1), conv(256, 3, 1, 1), conv(256, 3, 1, 1), max_pool(3, 2),
            DROPOUT, connected(4096), DROPOUT, connected(4096), connected(1000, "linear")]


def vgg16():
    layers = []
    for filters, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        layers += [conv(filters, 3, 1, 1)] * depth + [max_pool(2, 2)]
    return layers + [connected(4096), DROPOUT, connected(4096), DROPOUT, connected(1000, "linear")]


def block(middle, outputs, stride, bottleneck, project):
    """Layers of a file are counted from the one that names them: from -1, the one before."""
    if bottleneck:
        body = [conv(middle, 1, norm=1), conv(middle, 3, stride, 1, norm=1),
                conv(outputs, 1, activation="linear", norm=1)]
    else:
        body = [conv(middle, 3, stride, 1, norm=1),
                conv(outputs, 3, 1, 1, activation="linear", norm=1)]
    before = -len(body) - 1
    if not project:
        return [*body, section("shortcut", **{"from": before}, activation="relu")]
    return [*body, section("route", layers=before),
            conv(outputs, 1, stride, activation="linear", norm=1),
            section("shortcut", **{"from": -3}, activation="relu")]


def resnet(depths, bottleneck):
    layers = [conv(64, 7, 2, 3, norm=1), max_pool(3, 2, 2)]
    for stage, depth in enumerate(depths):
        middle = 64 << stage
        for i in range(depth):
            layers += block(middle, middle * (4 if bottleneck else 1),
                            2 if stage > 0 and i == 0 else 1, bottleneck,
                            i == 0 and (stage > 0 or bottleneck))
    return [*layers, section("avgpool"), connected(1000, "linear")]


LAYERS = {"mlp": mlp, "lenet-mnist": lenet, "alexnet": alexnet, "vgg16": vgg16,
          "resnet18": lambda: resnet((2, 2, 2, 2), False),
          "resnet50": lambda: resnet((3, 4, 6, 3), True)}


def model_file(layers, shape, batch, decay=0.0):
    channels, height, width = shape
    head = section("net", batch=batch, subdivisions=1, channels=channels, height=height,
                   width=width, min_crop=width, max_crop=width, learning_rate=0.01, momentum=0.9,
                   decay=decay, policy="constant", max_batches=TRAINING_STEPS)
    return "\n".join([head, *layers, section("softmax", groups=1)])


def run(arguments, folder):
    """Returns what it prints, and the most that was resident of it, in bytes."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(arguments, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        sys.exit(f"error: {' '.join(map(str, arguments))}: {text[-1000:]}")
    return text, usage.ru_maxrss * 1024


def write_images(folder, shape, classes, count):
    """Random images, whose names have their classes, and the lists that darknet reads."""
    dice = random.Random(0)
    _, height, width = shape
    paths = []
    for i in range(count):
        path = folder / f"{i}-class{dice.randrange(classes):04}.ppm"
        path.write_bytes(b"P6 %d %d 255\n" % (width, height) + dice.randbytes(3 * height * width))
        paths.append(path)
    (folder / "images").write_text("".join(f"{path}\n" for path in paths))
    (folder / "labels").write_text("".join(f"class{i:04}\n" for i in range(classes)))
    (folder / "data").write_text(f"classes={classes}\ntrain={folder}/images\n"
                                 f"labels={folder}/labels\nbackup={folder}\n")


def train(binary, layers, shape, classes, batch, decay=0.0):
    """Returns the seconds of the last step, and the bytes of the process."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder, shape, classes, batch)
        (folder / "model.cfg").write_text(model_file(layers, shape, batch, decay))
        text, most = run([binary, "classifier", "train", "data", "model.cfg"], folder)
    return float(re.findall(r"rate, ([\d.]+) seconds", text)[-1]), most


def measure(binary, case):
    name = case["model"]
    model, layers = MODELS[name], LAYERS[name]()
    if not case["infer"]:
        _, base = train(binary, [conv(1, 3), connected(2, "linear")], (3, 8, 8), 2, 1)
        seconds, most = train(binary, layers, model.shape, model.classes, model.batch, model.decay)
        return {"seconds": seconds, "process": most, "growth": most - base}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.cfg"
        path.write_text(model_file(layers, model.shape, 1))
        images = model.batch * max(1, case["steps"] // 4)  # no kernels to warm up
        text, _ = run([binary, "speed", path, str(images)], folder)
    return {"seconds": float(re.search(r"Speed: ([\d.]+) sec", text)[1]) * model.batch}
