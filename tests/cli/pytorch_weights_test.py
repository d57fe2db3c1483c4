#!/usr/bin/env python3
"""--weights with files as `torch.save` writes them, and the table `rename`. PyTorch itself is not needed."""

import collections
import io
import pickle
import struct
import sys
import types
import unittest
import zipfile

from cli_testing import MODEL, CliTestCase

WEIGHT = [0.125 * i for i in range(48)]
BIAS = [1.0, 2.0, 3.0]


def named(module, name):
    """A function or class that pickles as module.name."""
    part = sys.modules.setdefault(module, types.ModuleType(module))
    value = type(name, (), {"__module__": module})
    setattr(part, name, value)
    return value


FloatStorage = named("torch", "FloatStorage")
Rebuild = named("torch._utils", "_rebuild_tensor_v2")


class Tensor:
    def __init__(self, key, sizes, count):
        self.storage = ("storage", FloatStorage, key, "cpu", count)
        self.sizes = sizes

    def __reduce__(self):
        strides = tuple(self.sizes[1:]) + (1,)
        return Rebuild, (Storage(self.storage), 0, self.sizes, strides, False, collections.OrderedDict())


class Storage:
    def __init__(self, place):
        self.place = place


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        return value.place if isinstance(value, Storage) else None


def pth(tensors):
    """Returns the bytes of a .pth file of {name: (sizes, numbers)}."""
    state = collections.OrderedDict((name, Tensor(str(i), sizes, len(numbers)))
                                    for i, (name, (sizes, numbers)) in enumerate(tensors.items()))
    pickled, archive = io.BytesIO(), io.BytesIO()
    Pickler(pickled, protocol=2).dump(state)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("m/data.pkl", pickled.getvalue())
        for i, (_, numbers) in enumerate(tensors.values()):
            file.writestr(f"m/data/{i}", struct.pack(f"<{len(numbers)}f", *numbers))
    return archive.getvalue()


class PytorchWeightsTest(CliTestCase):
    def write_pth(self, name="w.pth", weight="fc.weight", bias="fc.bias"):
        (self.folder / name).write_bytes(pth({weight: ((3, 16), WEIGHT), bias: ((3,), BIAS)}))

    def write_model(self, rename):
        self.write("m.yaml", MODEL + "rename:\n" + rename)

    def test_tensors_get_the_models_names(self):
        self.write_pth()
        self.write_model("  fc.*: classify.logits.*\n")
        result = self.cgrun("train", "m.yaml", "--weights", "w.pth", "--set", "train.epochs=1", "--out", "run")
        self.assertIn("weights: 2 tensors loaded from w.pth\n  loaded              classify.logits (weight, bias)",
                      result.stderr)
        self.cgrun("eval", "m.yaml", "--weights", "w.pth")

    def test_a_file_that_fits_nothing_shows_its_names(self):
        self.write_pth()
        self.write("m.yaml", MODEL)
        table = ("nothing in w.pth fits this model:\n"
                 "      in the file  in the model\n"
                 "      fc.weight    classify.logits.weight\n"
                 "      fc.bias      classify.logits.bias\n")
        for verb in ("train", "eval"):
            error = self.refuses(verb, "m.yaml", "--weights", "w.pth")
            self.assertIn(table, error)
            self.assertIn("the key `rename` gives them its names", error)

    def test_a_front_of_all_names_is_taken_off(self):
        for front in ("module.", "state_dict._orig_mod."):
            self.write_pth(weight=front + "fc.weight", bias=front + "fc.bias")
            self.write_model("  fc.*: classify.logits.*\n")
            result = self.cgrun("train", "m.yaml", "--weights", "w.pth", "--set", "train.epochs=1", "--out", "run",
                                "--force")
            self.assertIn("  all without         " + front, result.stderr)
            self.assertIn("loaded              classify.logits (weight, bias)", result.stderr)

    def test_tensors_can_be_left_out(self):
        self.write_pth()
        self.write_model("  fc.bias: ~\n  fc.*: classify.logits.*\n")
        result = self.cgrun("train", "m.yaml", "--weights", "w.pth", "--set", "train.epochs=1", "--out", "run")
        self.assertIn("left out by rename  fc (bias)", result.stderr)
        self.assertIn("initial, not in it  classify.logits (bias)", result.stderr)

    def test_two_tensors_of_one_name_are_refused(self):
        self.write_pth()
        self.write_model("  fc.*: classify.logits.bias\n")
        error = self.refuses("train", "m.yaml", "--weights", "w.pth", "--set", "train.epochs=1")
        self.assertIn("has the tensors 'fc.weight' and 'fc.bias', which both become 'classify.logits.bias'",
                      error)

    def test_the_models_own_names_stay(self):
        self.write_pth(weight="classify.logits.weight", bias="classify.logits.bias")
        self.write_model("  \"*\": other.*\n")
        result = self.cgrun("train", "m.yaml", "--weights", "w.pth", "--set", "train.epochs=1", "--out", "run")
        self.assertIn("weights: 2 tensors loaded", result.stderr)

    def test_a_star_too_many_is_marked(self):
        self.write_model("  fc.*: classify.*.*\n")
        error = self.refuses("check", "m.yaml")
        self.assertIn("'classify.*.*' has more `*` than 'fc.*'", error)

    def test_a_pickle_that_runs_code_is_refused(self):
        class Evil:
            def __reduce__(self):
                return print, ("run",)

        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("m/data.pkl", pickle.dumps(Evil(), protocol=2))
        (self.folder / "evil.pth").write_bytes(archive.getvalue())
        self.write("m.yaml", MODEL)
        error = self.refuses("train", "m.yaml", "--weights", "evil.pth")
        self.assertIn("'__builtin__.print' is asked for, and only tensors are read", error)


if __name__ == "__main__":
    unittest.main()
