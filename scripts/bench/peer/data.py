"""Random samples as files that cgrun and all peers read, and the weights that cgrun begins with."""

import array
import json
import pathlib
import random
import struct

BATCHES = 4  # which the steps go through again and again, as those of `cgrun bench` do


def write_array(path, dtype, shape, data):
    """A file of NumPy's: this much without NumPy, which only the peers need."""
    head = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def write_samples(folder, model):
    """image.npy and label.npy of BATCHES batches; first-*.npy are the first batch by itself."""
    dice = random.Random(0)
    count, size = BATCHES * model.batch, 1
    for extent in model.shape:
        size *= extent
    pixels = dice.randbytes(count * size)
    labels = array.array("i", [dice.randrange(model.classes or 2) for _ in range(count)])
    for prefix, samples in (("", count), ("first-", model.batch)):
        write_array(folder / f"{prefix}image.npy", "|u1", (samples, *model.shape),
                    pixels[:samples * size])
        write_array(folder / f"{prefix}label.npy", "<i4", (samples,), labels[:samples].tobytes())


def batches(folder, batch):
    """[(images, labels)], in uint8 and int32."""
    import numpy
    images, labels = (numpy.load(pathlib.Path(folder) / f"{name}.npy")
                      for name in ("image", "label"))
    return [(images[i * batch:(i + 1) * batch], labels[i * batch:(i + 1) * batch])
            for i in range(BATCHES)]


def weights(folder):
    """[(name, array)] of the parameters and running statistics, layer by layer as in the model
    file; of a layer in the order in which PyTorch has them."""
    import numpy
    folder = pathlib.Path(folder)
    with open(folder / "weights.safetensors", "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        entries = json.loads(file.read(size))
        data = numpy.fromfile(file, dtype=numpy.uint8)
    result = []
    for layer in json.loads((folder / "layers.json").read_text()):
        for kind in ("weight", "scale", "bias", "shift", "running_mean", "running_var"):
            entry = entries.get(f"{layer}.{kind}")
            if entry:
                values = data[slice(*entry["data_offsets"])].view(numpy.float32)
                result.append((f"{layer}.{kind}", values.reshape(entry["shape"])))
    return result
