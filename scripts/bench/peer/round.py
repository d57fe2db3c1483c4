#!/usr/bin/env python3
"""One round of one peer in a process of its own, for scripts/bench/peers.

    python scripts/bench/peer/round.py '{"peer": "jax", "model": "mlp", "folder": …}'

Prints what it found as JSON. The keys: `peer`; `model`, of models.py; `folder`, with the samples
and weights of data.py; `threads`; `steps`; `infer`, the forward path alone; `check`, the loss of a
first step without dropout instead of the time and the memory. For the peer `versions`
it prints {package: version}. For `export` it prints nothing and leaves the model as ONNX.
"""

import importlib
import importlib.metadata
import json
import sys
import time

from data import BATCHES
from models import PACKAGES

WARM_UP = 6  # steps before those that are measured, as `cgrun bench` has them
MODULES = {"pytorch": "in_pytorch", "torch.compile": "in_pytorch", "onnxruntime": "in_onnxruntime",
           "jax": "in_jax"}


def versions():
    found = {}
    for name in sorted({name for names in PACKAGES.values() for name in names}):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def resident(key):
    """Returns VmRSS or VmHWM (the most so far) of this process, in bytes."""
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key} in /proc/self/status")


def forget_most():
    """From here on VmHWM is the most since here."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def measure(case):
    """A peer's module has `tiny`, which trains or runs a tiny model once, and `prepare`, which
    gives a step: it takes the number of a batch, and returns a loss or outputs when it is done."""
    peer = importlib.import_module(MODULES[case["peer"]])
    peer.tiny(case)
    base = resident("VmRSS")
    step = peer.prepare(case)
    for i in range(WARM_UP):
        step(i % BATCHES)
    process = resident("VmHWM")
    forget_most()  # what compiling took is no part of a step
    begin = time.perf_counter()
    for i in range(case["steps"]):
        step(i % BATCHES)
    seconds = (time.perf_counter() - begin) / case["steps"]
    most = resident("VmHWM")
    return {"seconds": seconds, "process": max(process, most), "growth": most - base}


def main():
    case = json.loads(sys.argv[1])
    if case["peer"] == "versions":
        found = versions()
    elif case["peer"] == "export":
        found = importlib.import_module("in_pytorch").export(case)
    elif case["check"]:
        found = {"loss": importlib.import_module(MODULES[case["peer"]]).first_loss(case)}
    else:
        found = measure(case)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
