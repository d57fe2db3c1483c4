#!/usr/bin/env python3
"""A thousand groups in a table of 100,000 rows: how long they take, and in how much memory."""

import json
import time
import unittest

from cli_testing import SANITIZED, CliTestCase

MODEL = """cgrun: 1
model: many
data: {group_by: user, train: {format: csv, file: rows.csv, label: y}}
inputs: {features: {shape: [4]}, label: {shape: [1]}}
paths:
  fit:
    ops:
      - {op: linear, in: features, units: 8, activation: relu}
      - y: {op: linear, units: 1}
    loss: {op: squared_error, in: [y, label]}
train: {epochs: 3, batch: 32, optimizer: {op: adam, lr: 0.01}}
"""
PARAMETERS = 4 * 8 + 8 + 8 + 1  # of f32


def numbers(user, row):
    return [(user * 31 + row * k * 7) % 101 / 101 for k in (1, 2, 3, 5, 8)]


class ManyGroupsTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("many.yaml", MODEL)

    def write_rows(self, users, rows_of):
        lines = ["user,a,b,c,d,y"]
        for row in range(max(map(rows_of, range(users)))):
            lines += [f"u{user}," + ",".join(f"{x:.3f}" for x in numbers(user, row))
                      for user in range(users) if row < rows_of(user)]
        self.write("rows.csv", "\n".join(lines) + "\n")
        return len(lines) - 1

    def train(self, model="many.yaml", out="runs/many"):
        return json.loads(self.cgrun("train", model, "--out", out, "--json", "--quiet").stdout)

    def train_alone(self, rows, user=0):
        """Trains one model on so many rows of a user."""
        name = f"alone{rows}"
        lines = ["a,b,c,d,y"] + [",".join(f"{x:.3f}" for x in numbers(user, row)) for row in range(rows)]
        self.write(f"{name}.csv", "\n".join(lines) + "\n")
        self.write(f"{name}.yaml",
                   MODEL.replace("group_by: user, ", "").replace("rows.csv", f"{name}.csv"))
        return self.train(f"{name}.yaml", name)

    def test_a_thousand_models_in_the_heap_of_one(self):
        self.assertEqual(self.write_rows(1000, lambda user: 100), 100_000)
        begin = time.monotonic()
        result = self.train()
        seconds = time.monotonic() - begin
        print(f"1,000 groups of 100 rows: {seconds:.1f} s, of which {result['seconds']:.1f} s train")
        self.assertEqual(len(result["by_group"]), 1000)
        self.assertEqual(result["groups_without"], 0)
        self.assertEqual(result["graph_analyses"], 1)
        self.assertLess(seconds, 600 if SANITIZED else 120, "minutes where there are to be seconds")
        alone = self.train_alone(100)
        parameters = 1000 * PARAMETERS * 4
        self.assertLessEqual(result["reserved_peak_bytes"], alone["reserved_peak_bytes"])
        self.assertLess(result["weights_bytes"], parameters + 5000)  # and a copy of the beginning
        print(f"arena {result['reserved_peak_bytes']} bytes, of one model alone "
              f"{alone['reserved_peak_bytes']}; weights {result['weights_bytes']} bytes")
        if SANITIZED:
            return
        self.assertLessEqual(result["measured_peak_bytes"], result["planned_peak_bytes"])

    def test_groups_of_all_sizes(self):
        self.write_rows(200, lambda user: 1 + user)
        result = self.train()
        self.assertEqual(result["groups_without"], 0)
        alone = self.train_alone(200, user=199)
        largest = self.train_alone(32 + 31)
        most = max(alone["reserved_peak_bytes"], largest["reserved_peak_bytes"])
        self.assertLessEqual(result["reserved_peak_bytes"], most * 1.02)
        by_group = {group["group"]: group for group in result["by_group"]}
        self.assertEqual(by_group["u199"]["weights_hash"], alone["weights_hash"])

    def test_many_groups_of_one_row(self):
        users = 2000 if SANITIZED else 20_000
        self.write_rows(users, lambda user: 1)
        begin = time.monotonic()
        result = self.train()
        print(f"{users} groups of one row: {time.monotonic() - begin:.1f} s")
        self.assertEqual(result["groups_without"], 0)
        self.assertEqual(len(result["by_group"]), users)
        if not SANITIZED:
            self.assertLessEqual(result["measured_peak_bytes"], result["planned_peak_bytes"])


if __name__ == "__main__":
    unittest.main()
