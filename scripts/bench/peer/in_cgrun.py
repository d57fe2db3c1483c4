"""Runs cgrun itself for scripts/bench/peers: rounds of `cgrun bench`, and its weights of step 0."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from models import MODELS, OWN_WEIGHTS, TEXT

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Layers of a network that a path takes have the path's name in `cgrun summary`, and their weights
# the network's in a file.
NETWORKS = {"reconstruct.code.": "encoder.", "reconstruct.logits.": "decoder."}
CASES = {"eager": "eager", "graph": "graph, memory"}  # ours, as `cgrun bench` calls them

TINY = """cgrun: 1
model: tiny
data:
  train: {format: synthetic, samples: 4, classes: 2}
inputs:
  image: {type: f32, shape: [1, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: conv, in: image, filters: 1, kernel: 3}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 1, optimizer: {op: sgd, lr: 0.01, momentum: 0.9}}
"""


def run(binary, *arguments):
    """Returns what the verb leaves as JSON."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([binary, *map(str, arguments), "--quiet", "--json", file.name],
                              capture_output=True, text=True, check=False)
        text = pathlib.Path(file.name).read_text()
    if done.returncode or not text:
        sys.exit(f"error: cgrun {arguments[0]}: {done.stderr or done.stdout}")
    return json.loads(text)


def data_flags(name, folder, split="train", prefix=""):
    if name in TEXT:
        return []
    files = {"image": folder / f"{prefix}image.npy"}
    if MODELS[name].classes:
        files["label"] = folder / f"{prefix}label.npy"
    of_inputs = ", ".join(f"{key}: {path}" for key, path in files.items())
    return ["--set", "data={%s: {format: npy, %s}}" % (split, of_inputs)]


def bench(binary, model, who, case, flags):
    """The case's part of what `cgrun bench` finds out; peak_bytes is the process's."""
    infer = ["--infer"] if case["infer"] else []
    return run(binary, "bench", model, "--isolate", "--only", CASES[who], "--rounds", 1,
               "--threads", case["threads"], "--steps", case["steps"], *infer, *flags)["cases"][0]


def base(binary, who, case):
    """Bytes of a process that trains, or runs, a tiny model."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "tiny.yaml"
        model.write_text(TINY)
        return bench(binary, model, who, {**case, "steps": 1}, [])["peak_bytes"]


def measure(binary, who, case, base_bytes):
    name = case["model"]
    flags = ["--batch", MODELS[name].batch, *data_flags(name, pathlib.Path(case["folder"]))]
    found = bench(binary, ROOT / f"models/{name}.yaml", who, case, flags)
    return {"seconds": found["seconds_per_iteration"]["median"], "process": found["peak_bytes"],
            "growth": found["peak_bytes"] - base_bytes}


def begin(binary, case):
    """Leaves the weights of step 0 and the order of the layers in the case's folder. Returns the
    loss of the first step without dropout, or of inference, on the first batch."""
    name, folder = case["model"], pathlib.Path(case["folder"])
    if name in OWN_WEIGHTS:
        return None
    text = (ROOT / f"models/{name}.yaml").read_text()
    model = folder / f"{name}.yaml"
    model.write_text(re.sub(r"(op: dropout, rate: )[\d.]+", r"\g<1>0", text))
    flags = ["--batch", MODELS[name].batch, "--threads", case["threads"]]
    trained = run(binary, "train", model, "--out", folder / "run", "--set", "train.epochs=1",
                  *flags, *data_flags(name, folder, prefix="first-"))
    (folder / "run/checkpoint-0.safetensors").rename(folder / "weights.safetensors")
    shutil.rmtree(folder / "run")
    layers = [layer["name"] for layer in run(binary, "summary", model)["layers"]
              if layer["parameters"]]
    for shown, kept in NETWORKS.items():
        layers = [layer.replace(shown, kept) for layer in layers]
    (folder / "layers.json").write_text(json.dumps(layers))
    if not case["infer"]:
        return trained["train"]["loss"]
    evaluated = run(binary, "eval", model, "--weights", folder / "weights.safetensors", *flags,
                    *data_flags(name, folder, "test", "first-"))
    return evaluated["metrics"]["loss"]
