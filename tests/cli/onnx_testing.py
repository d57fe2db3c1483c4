"""Writes small ONNX models, without the library."""

import math
import struct

FLOAT, INT64 = 1, 7


def varint(number):
    """A number of protobuf; negative ones have 64 bits."""
    number &= (1 << 64) - 1
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def field(number, value):
    """Returns a field: an integer, a text, or the bytes of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def floats(name, dims, numbers):
    """An initialiser."""
    assert len(numbers) == math.prod(dims)
    return (b"".join(field(1, dim) for dim in dims) + field(2, FLOAT) + field(8, name) +
            field(9, struct.pack(f"<{len(numbers)}f", *numbers)))


def node(op_type, inputs, output, **attributes):
    """A node whose attributes are integers, or lists of them."""
    data = b"".join(field(1, name) for name in inputs) + field(2, output)
    data += field(3, op_type + "_" + output) + field(4, op_type)
    for name, value in attributes.items():
        if isinstance(value, int):
            described = field(3, value) + field(20, 2)
        else:
            described = b"".join(field(8, item) for item in value) + field(20, 7)
        data += field(5, field(1, name) + described)
    return data


def value(name, dims):
    """An input or output: its sizes are numbers or names."""
    shape = b"".join(field(1, field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def model(nodes, initializers, inputs, outputs, opset=17):
    """The bytes of an .onnx file."""
    graph = b"".join(field(1, n) for n in nodes) + field(2, "small")
    graph += b"".join(field(5, tensor) for tensor in initializers)
    graph += b"".join(field(11, v) for v in inputs) + b"".join(field(12, v) for v in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))
