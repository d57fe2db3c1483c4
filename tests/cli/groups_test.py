#!/usr/bin/env python3
"""`data.group_by`: a model for each group of a table, trained, resumed, measured and asked."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
import unittest

from cli_testing import CGRUN, SANITIZED, CliTestCase, MistakesTestCase, read_npy, read_safetensors

# A model of prices for each town. What the tests compare needs all that a run has: statistics of
# its own data, random numbers, state of an optimizer, and a last batch that is smaller.
TOWNS = """cgrun: 1
model: towns
data:
  group_by: town
  train: {format: csv, file: rows.csv, label: price, missing: mean, standardize: true}
  valid: {split: 0.2}
inputs:
  features: {shape: [2]}
  label: {shape: [1]}
paths:
  fit:
    ops:
      - {op: linear, in: features, units: 4, activation: relu}
      - {op: dropout, rate: 0.2}
      - y: {op: linear, units: 1}
    loss: {op: squared_error, in: [y, label]}
train: {epochs: 3, batch: 4, optimizer: {op: adam, lr: 0.01}, seed: 5}
"""

SIZES = {"Rome": 9, "7": 14, "Ålesund": 5, "a, \"b\"": 23}


def cell(text):
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def rows_of(sizes):
    """Returns the rows of groups, with the groups mixed: (town, area, age, price) each."""
    left = {town: list(range(size)) for town, size in sizes.items()}
    rows = []
    while any(left.values()):
        for town, numbers in left.items():
            if numbers:
                i = numbers.pop()
                k = len(town) + i
                rows.append((town, str(k * 7 % 11), "" if k % 6 == 0 else str(k % 5), str(k % 13 / 4)))
    return rows


def table(rows, head="town,area,age,price"):
    return head + "\n" + "".join(",".join(map(cell, row)) + "\n" for row in rows)


class GroupsTestCase(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("towns.yaml", TOWNS)
        self.rows = rows_of(SIZES)
        self.write("rows.csv", table(self.rows))

    def bank(self, file):
        """Returns the tensors of a file of weights by name: the bytes of each group."""
        header, data = read_safetensors(self.folder / file)
        tensors = {}
        for name, spec in header.items():
            if name == "__metadata__":
                continue
            begin, end = spec["data_offsets"]
            size = (end - begin) // spec["shape"][0]
            tensors[name] = [data[i:i + size] for i in range(begin, end, size)]
        return tensors

    def weights(self, file):
        """Returns the parameters of a file of one model by name."""
        header, data = read_safetensors(self.folder / file)
        return {name: data[slice(*spec["data_offsets"])] for name, spec in header.items()
                if name != "__metadata__" and not name.startswith("cgrun:") and "shape" in spec}

    def names(self, run="runs/towns"):
        index = json.loads((self.folder / run / "groups.json").read_text())
        return [group["name"] for group in index["groups"]]

    def groups_csv(self, run="runs/towns"):
        text = (self.folder / run / "groups.csv").read_text()
        return {row["town"]: row for row in csv.DictReader(io.StringIO(text))}


class TrainTest(GroupsTestCase):
    def train_alone(self, town, model=TOWNS):
        """Trains a run of its own on the rows of a town. Returns its folder."""
        folder = f"alone{list(SIZES).index(town)}"
        self.write(f"{folder}.csv", table([row[1:] for row in self.rows if row[0] == town],
                                          "area,age,price"))
        self.write(f"{folder}.yaml", model.replace("  group_by: town\n", "")
                   .replace("rows.csv", f"{folder}.csv"))
        self.cgrun("train", f"{folder}.yaml", "--out", folder, "--quiet")
        return folder

    def assert_equals_runs_alone(self, model=TOWNS):
        self.write("towns.yaml", model)
        result = json.loads(self.cgrun("train", "towns.yaml", "--json").stdout)
        self.assertEqual(sorted(self.names()), sorted(SIZES))
        bank, best = (self.bank(f"runs/towns/{name}.safetensors")
                      for name in ("groups", "groups-best"))
        by_group = {group["group"]: group for group in result["by_group"]}
        moved = 0
        for place, town in enumerate(self.names()):
            alone = self.train_alone(town, model)
            summary = json.loads((self.folder / alone / "summary.json").read_text())
            for file, tensors in ((summary["weights"], bank), (f"{alone}/best.safetensors", best)):
                weights = self.weights(file)
                for name, groups in tensors.items():
                    self.assertEqual(groups[place], weights[name], (town, name))
                    moved += any(group != groups[0] for group in groups)
            self.assertEqual(by_group[town]["weights_hash"], summary["weights_hash"])
            for split in ("train", "valid"):
                self.assertEqual(by_group[town][split]["loss"], summary[split]["loss"])
        self.assertGreater(moved, 0, "all groups have the same weights")

    def test_each_model_is_that_of_a_run_on_its_rows_alone(self):
        self.assert_equals_runs_alone()

    def test_the_same_with_schedules_early_stop_and_accumulated_gradients(self):
        self.assert_equals_runs_alone(TOWNS.replace(
            "train: {epochs: 3, batch: 4, optimizer: {op: adam, lr: 0.01}",
            "train: {epochs: 12, batch: 4, accumulate: 2, early_stop: {metric: loss, patience: 2}, "
            "optimizer: {op: sgd, lr: 0.01, momentum: 0.9, schedule: cosine}"))

    def test_all_begin_with_the_weights_of_a_file(self):
        alone = self.train_alone("7")
        self.cgrun("train", "towns.yaml", "--weights", alone, "--out", "warm", "--quiet")
        self.cgrun("train", f"{alone}.yaml", "--weights", alone, "--out", "again", "--quiet")
        summary = json.loads((self.folder / "again/summary.json").read_text())
        bank, place = self.bank("warm/groups.safetensors"), self.names("warm").index("7")
        for name, weights in self.weights(summary["weights"]).items():
            if name in bank:
                self.assertEqual(bank[name][place], weights, name)
        self.cgrun("train", "towns.yaml", "--out", "cold", "--quiet")
        self.assertNotEqual(bank, self.bank("cold/groups.safetensors"))

    def test_the_table_has_all_groups_and_the_worst_come_first(self):
        text = self.cgrun("train", "towns.yaml").stdout
        self.assertLessEqual(text.count("\n"), 20, text)
        losses = [float(row["valid_loss"]) for row in self.groups_csv().values()]
        self.assertEqual(losses, sorted(losses, reverse=True))
        samples = [int(row["valid_samples"]) for row in self.groups_csv().values()]
        summary = json.loads((self.folder / "runs/towns/summary.json").read_text())
        mean = sum(a * b for a, b in zip(losses, samples)) / sum(samples)
        self.assertAlmostEqual(summary["valid"]["loss"], mean, 6)
        self.assertEqual({town: int(row["rows"]) for town, row in self.groups_csv().items()}, SIZES)

    def test_a_group_of_too_few_rows_has_no_model_and_says_why(self):
        self.write("rows.csv", table(self.rows + [("Oslo", "1", "2", "3")]))
        text = self.cgrun("train", "towns.yaml").stdout
        self.assertIn("1 group has no model:\n  Oslo (1 row): one sample cannot be split into "
                      "training and validation\n", text)
        self.assertEqual(self.groups_csv()["Oslo"]["reason"],
                         "one sample cannot be split into training and validation")
        self.write("oslo.csv", "town,area,age\nRome,1,2\nOslo,1,2\n")
        error = self.refuses("predict", "towns.yaml", "oslo.csv")
        self.assertIn("oslo.csv:3:1: error: 'Oslo' is no group that 'runs/towns' has a model of\n",
                      error)
        self.assertIn("help: it has no model: one sample cannot be split", error)

    def test_a_column_without_a_mean_in_a_group(self):
        rows = self.rows + [("Oslo", "1", "", str(i)) for i in range(6)]
        self.write("rows.csv", table(rows))
        self.cgrun("train", "towns.yaml", "--quiet")
        self.assertIn("has no value at all in the training samples", self.groups_csv()["Oslo"]["reason"])
        self.assertEqual(self.groups_csv()["Rome"]["reason"], "")

    def test_a_group_that_diverges_fails_alone(self):
        self.write("rows.csv", table(self.rows + [("Oslo", str(i), "1", "1e30") for i in range(6)]))
        self.cgrun("train", "towns.yaml", "--quiet")
        self.assertIn("is not finite", self.groups_csv()["Oslo"]["reason"])
        self.assertEqual({row["reason"] for town, row in self.groups_csv().items() if town != "Oslo"},
                         {""})

    def test_no_group_has_a_model(self):
        self.write("rows.csv", table([("Oslo", "1", "2", "3"), ("Rome", "1", "2", "3"),
                                      ("Bonn", "2", "2", "3")]))
        error = self.refuses("train", "towns.yaml")
        self.assertIn("towns.yaml:4:13: error: no group can be trained, of 3 groups; the first one: one "
                      "sample cannot be split into training and validation\n", error)

    def test_valid_from_a_table_of_its_own(self):
        self.write("valid.csv", table([row for row in rows_of({"Rome": 3, "7": 2, "Bonn": 2})]))
        self.write("towns.yaml", TOWNS.replace(
            "valid: {split: 0.2}", "valid: {format: csv, file: valid.csv, label: price, missing: mean}"))
        done = self.cgrun("train", "towns.yaml")
        self.assertIn("2 rows of 'valid' are of groups that the training data do not have, such as "
                      "'Bonn'", done.stderr)
        self.assertEqual(self.groups_csv()["Rome"]["valid_samples"], "3")
        self.assertEqual(self.groups_csv()["Ålesund"]["valid_samples"], "")
        self.assertEqual(self.groups_csv()["Ålesund"]["reason"], "")

    def test_the_column_is_an_input_where_an_option_lists_it(self):
        self.write("rows.csv", table([("1" if row[0] == "7" else "2", *row[1:]) for row in self.rows]))
        self.write("towns.yaml", TOWNS.replace("missing: mean", "missing: mean, columns: [town, area]"))
        self.cgrun("train", "towns.yaml", "--quiet")
        index = json.loads((self.folder / "runs/towns/groups.json").read_text())
        self.assertEqual(json.loads(index["data"]["data.names.columns"]), ["town", "area"])

    def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(self):
        sizes = {f"t{i}": 5 + i % 7 for i in range(3000)}
        self.write("rows.csv", table(rows_of(sizes)))
        self.cgrun("train", "towns.yaml", "--out", "whole", "--quiet")
        kills = 0
        command = ["train", "towns.yaml", "--out", "cut", "--quiet"]
        for _ in range(200):
            with subprocess.Popen([str(CGRUN), *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                journal = self.folder / "cut/groups.jsonl"
                before = journal.stat().st_size if journal.exists() else 0
                wanted = before + 100_000 * (1 + kills % 3)
                while process.poll() is None and not (
                        journal.exists() and journal.stat().st_size > wanted):
                    time.sleep(0.001)
                process.kill()
                error = process.stderr.read().decode()
            if process.returncode != -signal.SIGKILL:
                self.assertEqual(process.returncode, 0, error)
                break
            kills += 1
            command = ["train", "--resume", "cut", "--quiet"]
        self.assertGreater(kills, 2)
        for name in ("groups.safetensors", "groups-best.safetensors", "groups.json", "groups.csv"):
            self.assertEqual((self.folder / "whole" / name).read_bytes(),
                             (self.folder / "cut" / name).read_bytes(), name)
        self.assertFalse((self.folder / "cut/groups.jsonl").exists())
        self.assertIn("is finished", self.refuses("train", "--resume", "cut"))

    def interrupted(self):
        """Begins a run in `cut` and kills it within its groups."""
        self.write("rows.csv", table(rows_of({f"t{i}": 5 for i in range(9000)})))
        with subprocess.Popen([str(CGRUN), "train", "towns.yaml", "--out", "cut"], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            journal = self.folder / "cut/groups.jsonl"
            while process.poll() is None and not (journal.exists() and journal.stat().st_size > 3000):
                time.sleep(0.001)
            process.kill()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_what_a_resumed_run_refuses(self):
        self.interrupted()
        self.assertIn("the run in 'cut' has not ended: not all of its groups have a model",
                      self.refuses("eval", "towns.yaml", "--weights", "cut"))
        self.assertIn("was started with another 'train.epochs': 3 → 5",
                      self.refuses("train", "--resume", "cut", "--set", "train.epochs=5"))
        with open(self.folder / "rows.csv", "a", encoding="utf-8") as file:
            file.write("t1,1,2,3\n")
        self.assertIn("was begun with other rows: the table has changed since",
                      self.refuses("train", "--resume", "cut"))

    def test_a_signal_ends_a_run_that_goes_on_later(self):
        self.write("rows.csv", table(rows_of({f"t{i}": 5 for i in range(9000)})))
        with subprocess.Popen([str(CGRUN), "train", "towns.yaml"], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            journal = self.folder / "runs/towns/groups.jsonl"
            while process.poll() is None and not (journal.exists() and journal.stat().st_size > 3000):
                time.sleep(0.001)
            os.kill(process.pid, signal.SIGINT)
            _, error = process.communicate()
        self.assertEqual(process.returncode, 130, error)
        self.assertRegex(error, r"interrupted after \d+ of 9,000 groups; go on with: cgrun train "
                                r"--resume runs/towns")
        done = self.cgrun("train", "--resume", "runs/towns")
        self.assertRegex(done.stderr, r"resumed: \d+ of 9,000 groups were trained")


class AskTest(GroupsTestCase):
    def setUp(self):
        super().setUp()
        self.cgrun("train", "towns.yaml", "--quiet")

    def test_eval_measures_each_group_by_its_best_weights(self):
        trained = {town: row for town, row in self.groups_csv().items()}
        result = json.loads(self.cgrun("eval", "towns.yaml", "--split", "valid", "--json").stdout)
        measured = {group["group"]: group for group in result["by_group"]}
        self.assertEqual(set(measured), set(SIZES))
        for town, group in measured.items():
            self.assertLessEqual(group["valid"]["loss"], float(trained[town]["valid_loss"]) + 1e-6)
            self.assertEqual(group["valid"]["samples"], int(trained[town]["valid_samples"]))
        last = json.loads(self.cgrun("eval", "towns.yaml", "--split", "valid", "--json", "--weights",
                                     "runs/towns/groups.safetensors").stdout)
        for group in last["by_group"]:
            self.assertAlmostEqual(group["valid"]["loss"],
                                   float(trained[group["group"]]["valid_loss"]), 6)

    def test_rows_go_to_the_model_of_their_group_and_keep_their_order(self):
        rows = [(town, str(i % 5), str(i % 4)) for i in range(40) for town in SIZES][::-1]
        self.write("ask.csv", table(rows, "town,area,age"))
        self.cgrun("predict", "towns.yaml", "ask.csv", "--out", "all", "--csv", "all.csv")
        shape, values = read_npy(self.folder / "all/y.npy")
        self.assertEqual(shape, (len(rows), 1))
        for town in SIZES:
            of_town = [i for i, row in enumerate(rows) if row[0] == town]
            self.write("one.csv", table([rows[i] for i in of_town], "town,area,age"))
            self.cgrun("predict", "towns.yaml", "one.csv", "--out", "one")
            alone = read_npy(self.folder / "one/y.npy")[1]
            for i, value in zip(of_town, alone):
                self.assertAlmostEqual(values[i], value, 5)
        self.assertEqual(len({round(value, 3) for value in values}) > 8, True)
        with open(self.folder / "all.csv", encoding="utf-8") as file:
            numbers = [int(row["index"]) for row in csv.DictReader(file)]
        self.assertEqual(numbers, list(range(len(rows))))

    def test_the_same_as_a_run_of_the_groups_rows_alone(self):
        self.write("alone.csv", table([row[1:] for row in self.rows if row[0] == "7"], "area,age,price"))
        self.write("alone.yaml", TOWNS.replace("  group_by: town\n", "").replace("rows.csv", "alone.csv"))
        self.cgrun("train", "alone.yaml", "--out", "alone", "--quiet")
        self.write("ask.csv", "town,area,age\n7,3,1\n7,5,\n7,10,4\n")
        self.cgrun("predict", "towns.yaml", "ask.csv", "--out", "one")
        self.cgrun("predict", "alone.yaml", "ask.csv", "--weights", "alone", "--out", "two")
        self.assertEqual(read_npy(self.folder / "one/y.npy"), read_npy(self.folder / "two/y.npy"))

    def test_a_row_of_an_unknown_group_is_an_error_at_its_place(self):
        self.write("ask.csv", "town,area,age\nRome,1,2\nRoma,1,2\nX,3,4\n")
        error = self.refuses("predict", "towns.yaml", "ask.csv")
        self.assertIn("ask.csv:3:1: error: 'Roma' is no group that 'runs/towns' has a model of\n", error)
        self.assertIn("help: did you mean 'Rome'?\n", error)
        self.assertIn("ask.csv:4:1: error: 'X' is no group", error)

    def test_a_row_without_a_group_and_a_table_without_the_column(self):
        self.write("ask.csv", "town,area,age\nRome,1,2\n,1,2\n")
        self.assertIn("ask.csv:3:1: error: column 'town' has no value here",
                      self.refuses("predict", "towns.yaml", "ask.csv"))
        self.write("ask.csv", "area,age\n1,2\n")
        self.assertIn("this table has no column 'town', which names the group of each row",
                      self.refuses("predict", "towns.yaml", "ask.csv"))
        self.write("ask.csv", "town,area,age\nRome,1,2\nRome,1\n")
        self.assertIn("ask.csv:3:1: error: this line has 2 fields, but the first one has 3",
                      self.refuses("predict", "towns.yaml", "ask.csv"))

    def test_a_damaged_index_and_weights_of_another_model(self):
        self.write("wide.yaml", TOWNS.replace("units: 4", "units: 5"))
        error = self.refuses("eval", "wide.yaml", "--split", "valid", "--weights", "runs/towns")
        self.assertIn("does not fit this model", error)
        index = self.folder / "runs/towns/groups.json"
        index.write_text(index.read_text()[:50])
        self.assertIn("is damaged: it does not say which groups there are",
                      self.refuses("eval", "towns.yaml", "--split", "valid"))
        index.unlink()
        self.assertIn("holds no models of groups: it has no groups.json",
                      self.refuses("eval", "towns.yaml", "--split", "valid"))


# It tells whether a user likes what the traits say.
LIKES = """cgrun: 1
model: likes
data:
  group_by: user
  train: {format: csv, file: likes.csv, label: liked, categories: [genre]}
inputs:
  features: {shape: [1]}
  genre: {type: int32, shape: []}
  liked: {type: int32, shape: []}
paths:
  judge:
    ops:
      - kind: {op: embedding, in: genre, entries: 5, units: 3}
      - {op: concat, in: [features, kind]}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, liked]}
    metrics: {accuracy: {in: [logits, liked]}}
train: {epochs: 60, batch: 4, optimizer: {op: sgd, lr: 0.5}}
"""


class TextsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("likes.yaml", LIKES)
        self.write("likes.csv", "user,length,genre,liked\n" + "".join(
            f"ann,{i % 2},jazz,{'yes' if i % 2 else 'so'}\n" f"bob,{i % 2},{'folk' if i % 2 else 'rock'},"
            f"{'no' if i % 2 else 'yes'}\n" for i in range(12)))

    def test_classes_are_those_of_the_table_and_categories_those_of_the_group(self):
        self.cgrun("train", "likes.yaml", "--quiet")
        index = json.loads((self.folder / "runs/likes/groups.json").read_text())
        self.assertEqual(json.loads(index["data"]["classes.liked"]), ["no", "so", "yes"])
        self.assertEqual([json.loads({**index["data"], **group.get("data", {})}["data.names.categories.genre"])
                          for group in index["groups"]], [["jazz"], ["folk", "rock"]])
        self.write("ask.csv", "user,length,genre\nbob,1,folk\nann,1,jazz\nbob,0,rock\nann,0,jazz\n")
        done = json.loads(self.cgrun("predict", "likes.yaml", "ask.csv", "--json").stdout)
        self.assertEqual([item["outputs"]["logits"]["classes"][0]["name"] for item in done["predictions"]],
                         ["no", "yes", "yes", "so"])

    def test_a_table_without_a_header(self):
        rows = (self.folder / "likes.csv").read_text().split("\n", 1)[1].replace("so", "no")
        self.write("likes.csv", rows)
        self.write("likes.yaml", LIKES.replace("group_by: user", "group_by: 1")
                   .replace("label: liked, categories: [genre]", "label: -1, header: false, categories: [3]")
                   .replace("genre", "column3"))
        self.cgrun("train", "likes.yaml", "--quiet")
        for label in ("", ",yes"):
            self.write("ask.csv", "".join(f"{row}{label}\n" for row in ("bob,1,folk", "ann,1,jazz", "bob,0,rock")))
            done = json.loads(self.cgrun("predict", "likes.yaml", "ask.csv", "--json").stdout)
            self.assertEqual([item["outputs"]["logits"]["classes"][0]["name"]
                              for item in done["predictions"]], ["no", "yes", "yes"])


class MistakesTest(MistakesTestCase):
    def setUp(self):
        super().setUp()
        self.write("towns.yaml", TOWNS)
        self.write("rows.csv", table(rows_of(SIZES)))

    def test_a_column_that_is_not_there(self):
        error = self.only(TOWNS, ("group_by: town", "group_by: twon"))
        self.assertIn("wrong.yaml:4:13: error: 'rows.csv' has no column 'twon'\n", error)
        self.assertIn("                ^~~~\n", error)
        self.assertIn("help: did you mean 'town'?\n", error)

    def test_data_of_another_format(self):
        error = self.only(TOWNS, ("format: csv, file: rows.csv, label: price, missing: mean, "
                                  "standardize: true", "format: synthetic, samples: 9"),
                          ("  valid: {split: 0.2}\n", ""))
        self.assertIn("'group_by' needs data of format 'csv', and these are 'synthetic'\n", error)
        self.assertIn("help: a column of a table names the group of each row: `format: csv`\n", error)

    def test_the_label_is_no_group(self):
        error = self.only(TOWNS, ("group_by: town", "group_by: price"))
        self.assertIn("column 'price' is the label too", error)

    def test_a_row_without_a_group(self):
        self.write("rows.csv", table(rows_of(SIZES)) + ",1,2,3\n")
        error = self.only(TOWNS, ("seed: 5", "seed: 6"))
        self.assertIn("rows.csv:53:1: error: column 'town' has no value here\n", error)
        self.assertIn("`missing: drop` leaves such lines out", error)

    def test_missing_drop_leaves_it_out(self):
        self.write("rows.csv", table(rows_of(SIZES)) + ",1,2,3\n")
        self.write("towns.yaml", TOWNS.replace("missing: mean", "missing: drop"))
        self.cgrun("train", "towns.yaml", "--quiet")

    def test_what_takes_no_groups_says_so(self):
        for verb, *arguments in (["compile", "-o", "x.cgb"], ["bench"], ["export"], ["generate"]):
            error = self.refuses(verb, "towns.yaml", *arguments)
            self.assertIn(f"`cgrun {verb}` takes no model whose data have `group_by`", error)
        self.write("search.yaml", "cgrun: 1\nmodel: towns.yaml\nmetric: {name: loss}\n"
                                  "parameters: {train.batch: [2, 4]}\nbudget: {trials: 2}\n")
        self.assertIn("a search tries no model with 'group_by'", self.refuses("search", "search.yaml"))
        for flags in (["--mode", "eager"], ["--profile"], ["--keep", "y"], ["--set", "train.time=2s"]):
            error = self.refuses("train", "towns.yaml", *flags)
            self.assertIn("is not for a model whose data have `group_by`", error)

    def test_without_the_key_there_is_one_model(self):
        self.write("towns.yaml", TOWNS.replace("missing: mean", "missing: mean, columns: [area, age]"))
        done = self.cgrun("train", "towns.yaml", "--set", "data.group_by=null", "--json")
        self.assertNotIn("by_group", json.loads(done.stdout))

    def test_plan_and_check_tell_of_the_groups(self):
        count = "column 'town' names 4 groups, of 5 to 23 rows each: each has a model of its own\n"
        plan = self.cgrun("plan", "towns.yaml").stderr
        self.assertIn(count, plan)
        self.assertRegex(plan, r"groups: 4 groups, [\d.]+ (KiB|B) of weights, in one arena of 1.50 KiB")
        self.assertIn(count, self.cgrun("check", "towns.yaml").stderr)
        self.write("rows.csv", table(rows_of(SIZES) + [("Oslo", "1", "2", "3")]))
        self.assertIn("1 group has no model, such as 'Oslo': one sample cannot be split",
                      self.cgrun("check", "towns.yaml").stderr)

    def test_keys_without_effect_are_told(self):
        done = self.cgrun("train", "towns.yaml", "--set", "train.keep_last=2")
        self.assertIn("note: `keep_last` has no effect: a run by groups keeps each group", done.stderr)

    @unittest.skipIf(SANITIZED, "the memory of a sanitizer is in no plan")
    def test_a_cap_counts_the_weights_of_all_groups(self):
        self.write("rows.csv", table(rows_of({f"t{i}": 5 for i in range(9000)})))
        error = self.refuses("train", "towns.yaml", "--memory", "4MiB")
        enough = re.search(r"help: `--memory ([\d.]+MiB)` is enough", error).group(1)
        self.assertGreater(float(enough.removesuffix("MiB")), 9000 * 1.5 / 1024, "its results alone")
        summary = json.loads(self.cgrun("train", "towns.yaml", "--memory", enough, "--json").stdout)
        self.assertLessEqual(summary["measured_peak_bytes"], float(enough.removesuffix("MiB")) * 2**20)

    def test_a_dry_run(self):
        text = self.cgrun("train", "towns.yaml", "--dry-run").stdout
        self.assertIn("4 groups", text)
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
