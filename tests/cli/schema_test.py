#!/usr/bin/env python3
"""The JSON Schema of model files against the parser: what one takes the other takes, and the
mistakes that a schema can know of both refuse."""

import concurrent.futures
import copy
import functools
import itertools
import json
import operator
import os
import re
import subprocess
import unittest

import jsonschema
import yaml

import schema_cases
from cli_testing import CGRUN, ROOT, SANITIZED, CliTestCase

COPY = ROOT / "docs" / "model.schema.json"
MODELS = sorted((ROOT / "models").glob("*.yaml"))
BROKEN = sorted((ROOT / "tests" / "model" / "golden").glob("*.yaml"))
# Together they have all sections: data of several formats, blocks, networks, an unrolled one, a gan.
CHANGED = ("autoencoder", "char-rnn", "dcgan", "lenet", "regression", "resnet18-cifar")
# Every so many changes of a model are tried; CGRUN_ALL_CHANGES=1 tries all, in some minutes.
STRIDE = 1 if "CGRUN_ALL_CHANGES" in os.environ else 97 if SANITIZED else 17

# The parser says these of a value by itself. A schema must refuse the same values.
KNOWABLE = re.compile(
    r"unknown (key|option|data format)|has no (key|argument|option)|needs? (the option )?'"
    r"|must be (a|an|true or|integers?|numbers?|at least|more than|above|below|less than)\b"
    r"|must be (?:[\w:]+, )*[\w:]+ or [\w:]+, not|exclude each other|is no name$|cannot be|no 'in'"
    r"|there is no (operator|loss|metric|optimizer|initialiser|schedule|activation)\b"
    r"|has no 'op', 'block' or 'network'|belongs to|has no value|means nothing here"
    r"|takes an? (map|integer)")
# The same words of what the rest of the file tells: shapes, the names of inputs (which are options
# of tables and arrays) and of parameters.
ELSEWHERE = re.compile(
    r"^[\w.\[\]]+: |unknown option .* of format '(csv|npy)'|no initialiser 'a'|has no output"
    r"|the path|cannot be (a parameter|split off)|option '\w+' or '\w+'$")


class Loader(yaml.SafeLoader):
    """YAML 1.2, as the program and editors read it: `on` is a text, 1e-3 a number, a key a text."""
    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        return {str(key): value for key, value in super().construct_mapping(node, deep).items()}


for tag, pattern, first in (("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
                            ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
                            ("int", r"[-+]?[0-9]+", list("-+0123456789")),
                            ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
                             list("-+0123456789."))):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), first)


def load(path):
    return yaml.load(path.read_text(), Loader)


def at(node, path):
    return functools.reduce(operator.getitem, path, node)


def places(node, path=()):
    """Yields the path of every value below `node`."""
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield (*path, key)
            yield from places(node[key], (*path, key))


def other_values(value):
    """Returns values of another kind, or perhaps out of its range."""
    if isinstance(value, bool):
        return ("many", 7, None)
    if isinstance(value, (int, float)):
        return ("many", -1, 0, 1.5, [value], {"a": value}, True, None)
    if isinstance(value, str):
        return ("sqare!", 3, [value], {"a": value}, None)
    if isinstance(value, list):
        return ({}, "many", [*value, "x y"], None)
    return ("many", [], {}, None)


def changes_at(model, path):
    """(what is done, what does it to the map or list that holds the value)"""
    *_, key = path
    value = at(model, path)
    yield "is taken out", lambda parent: parent.pop(key)
    if isinstance(key, str):
        yield "is renamed", lambda parent: parent.update({key + "q": parent.pop(key)})
    if isinstance(value, dict):
        yield "has a surplus key", lambda parent: parent[key].update(surplus=1)
    if path[0] == "data" and len(path) > 2 and key not in ("format", "split"):
        return  # where the data are not there, the parser does not look at the values of options
    for other in other_values(value):
        yield f"is {other}", lambda parent, other=other: operator.setitem(parent, key, other)


def changed_models(model):
    """(what was done, the model with it)"""
    for path in places(model):
        for what, change in changes_at(model, path):
            changed = copy.deepcopy(model)
            change(at(changed, path[:-1]))
            yield f"{'.'.join(map(str, path))} {what}", changed


class SchemaTest(CliTestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = subprocess.run([str(CGRUN), "ops", "--schema"], text=True, check=True,
                                  stdout=subprocess.PIPE).stdout
        cls.schema = json.loads(cls.text)
        cls.validator = jsonschema.Draft7Validator(cls.schema)

    def faults(self, model):
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                for error in self.validator.iter_errors(model)]

    def errors(self, number, model):
        """Returns what the parser says of a model, or of a text."""
        text = model if isinstance(model, str) else yaml.safe_dump(model, sort_keys=False)
        name = self.write(f"{number}.yaml", text)
        done = subprocess.run([str(CGRUN), "plan", name], cwd=self.folder, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        errors = re.findall(r"error: (.*)", done.stderr)
        self.assertEqual(bool(errors), done.returncode == 2, done.stderr)
        return errors

    def compare(self, what, errors, model):
        """Checks that both take a model or both refuse it; 'missed' if only the parser refuses it."""
        faults = self.faults(model)
        if not errors:
            self.assertEqual(faults, [], f"the parser takes {what}")
            return "taken"
        inside_block = ".with." in what or ".params." in what  # what it is used for tells
        if not inside_block and any(KNOWABLE.search(error) and not ELSEWHERE.search(error)
                                    for error in errors):
            self.assertNotEqual(faults, [], f"the schema takes {what}, the parser says {errors}")
        return "refused" if faults else "missed"

    def test_it_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(self.schema)
        references = set(re.findall(r'"#/definitions/([^"]*)"', self.text))
        self.assertEqual(references, set(self.schema["definitions"]))

    def test_the_copy_is_what_the_program_prints(self):
        same = COPY.read_text() == self.text
        self.assertTrue(same, "write it anew: cgrun ops --schema > docs/model.schema.json")

    def test_the_models_that_ship_fit(self):
        self.assertTrue(MODELS)
        for path in MODELS:
            self.assertEqual(self.faults(load(path)), [], path)
            self.assertIn(f"$schema=../docs/{COPY.name}\n", path.read_text(), path)

    def test_models_as_resolved_fit(self):
        for name in ("char-rnn", "lenet", "lsgan", "regression", "resnet18-cifar"):
            self.cgrun("train", ROOT / "models" / f"{name}.yaml", "--limit-batches", 1,
                       "--batch", 2, "--set", "train.epochs=1", "--out", name, "--set",
                       "data={train: {format: synthetic, samples: 8, classes: 2}}")
            self.assertEqual(self.faults(load(self.folder / name / "model.yaml")), [], name)

    def test_changed_models_are_taken_and_refused_by_both(self):
        counts = {"taken": 0, "refused": 0, "missed": 0}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for first, name in enumerate(CHANGED):
                changed = [*changed_models(load(ROOT / "models" / f"{name}.yaml"))][first::STRIDE]
                errors = pool.map(self.errors, itertools.count(), (model for _, model in changed))
                for (what, model), said in zip(changed, errors):
                    with self.subTest(f"{name}: {what}"):
                        counts[self.compare(f"{name}, {what}", said, model)] += 1
        self.assertGreater(min(counts.values()), 1, counts)
        self.assertGreater(counts["refused"], 2 * counts["missed"], counts)

    def test_every_form_is_taken_and_refused_by_both(self):
        texts = list(schema_cases.texts())
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for text, errors in zip(texts, pool.map(self.errors, itertools.count(), texts)):
                with self.subTest(text):
                    faults = self.faults(yaml.load(text, Loader))
                    self.assertEqual(bool(errors), bool(faults), (errors, faults))

    def test_options_of_data_are_taken_and_refused_by_both(self):
        model = load(self.folder / "small.yaml")
        del model["data"]["test"]
        self.compare_options(model, {"format": "synthetic", "samples": 65}, {
            "samples": (8, "8", 1.5, "many", [8]), "classes": (3, "many"), "seed": (1, None, True)})
        self.write("table.csv", "a,b\n1,2\n3,4\n")
        model["inputs"] = {"x": {"shape": [1]}, "label": {"type": "int32", "shape": []}}
        model["paths"]["classify"]["ops"] = [{"logits": {"op": "linear", "in": "x", "units": 5}}]
        self.compare_options(model, {"format": "csv", "file": "table.csv", "label": "b"}, {
            "header": (True, "true", "yes", 1), "label": ("b", -1, ["b"], {"b": 1}),
            "standardize": ("no", True), "missing": ("mean", 0, ["mean"]),
            "file": (None, ["a", "b"])})

    def compare_options(self, model, options, values):
        for number, key in enumerate(values):
            for value in values[key]:
                model["data"]["train"] = {**options, key: value}
                with self.subTest(model["data"]["train"]):
                    errors = self.errors(number, model)
                    self.assertEqual(bool(errors), bool(self.faults(model)), errors)

    def test_broken_models_are_refused_by_both(self):
        compared = 0
        for path in BROKEN:
            try:
                model = load(path)
            except yaml.YAMLError:
                continue
            errors = re.findall(r"error: (.*)", path.with_suffix(".errors").read_text())
            self.compare(path.name, errors, model)
            compared += 1
        self.assertGreater(compared, 5)


if __name__ == "__main__":
    unittest.main()
