#!/usr/bin/env python3
"""--swap: a cap that computing again alone does not reach, to the same bits, with a file on a disk."""

import json
import re
import resource
import unittest

from cli_testing import SANITIZED, CliTestCase, devices

# The values of the middle can be recomputed. The images come from outside and cannot. The gradient
# of the first convolution reads them at the end.
MODEL = """cgrun: 1
model: deep
data:
  train: {format: synthetic, samples: 96, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 128, 128]}
  label: {type: int32, shape: []}
blocks:
  layer:
    in: x
    ops:
      - {op: conv, in: x, filters: 48, kernel: 1, bias: false}
      - {op: batch_norm, activation: relu}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 16, kernel: 4, stride: 4, bias: false}
      - {block: layer, repeat: 3}
      - global_avg_pool
      - flatten
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train:
  steps: 3
  batch: 32
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
"""
ENOUGH = re.compile(r"(?:help: | {6})`--memory ([\d.]+)MiB` is enough, for steps")


@unittest.skipIf(SANITIZED, "under a sanitizer most of the process's memory is the sanitizer's")
class SwapTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("deep.yaml", MODEL)
        (self.folder / "disk").mkdir()

    def train(self, name, *flags):
        done = self.cgrun("train", "deep.yaml", "--out", name, "--threads", "1", *flags)
        summary = json.loads((self.folder / name / "summary.json").read_text())
        weights = (self.folder / name / "checkpoint-3.safetensors").read_bytes()
        return done, summary, weights

    def least(self, *flags):
        """The least cap, in MiB, that is said to be enough."""
        refusal = self.refuses("plan", "deep.yaml", "--threads", "1", "--memory", "1MiB", *flags)
        return float(ENOUGH.search(refusal)[1]), refusal

    def test_reaches_caps_that_computing_again_does_not(self):
        for device in devices("reference", "cpu"):
            with self.subTest(device):
                flags = ("--device", device)
                again, refusal = self.least(*flags)
                self.assertNotIn("swapped", refusal)
                swapped, refusal = self.least(*flags, "--swap", "disk")
                self.assertIn("recomputes or swaps", refusal)
                self.assertLess(swapped, again - 0.7, "MiB, of the 1.5 that the images take")
                cap = f"{(swapped + again) / 2:.1f}MiB"
                refusal = self.refuses("train", "deep.yaml", "--threads", "1", *flags, "--memory",
                                       cap, "--out", "refused")
                self.assertIn("more than the cap", refusal)
                free, _, weights = self.train(f"free-{device}", *flags)
                self.assertNotIn("swap", free.stderr)
                done, summary, same = self.train(f"capped-{device}", *flags, "--memory", cap,
                                                 "--swap", "disk")
                self.assertEqual(same, weights)
                self.assertRegex(done.stderr, r"tensors? (is|are) swapped to a file of [\d.]+ MiB")
                self.assertRegex(done.stderr, r"swap file [\d.]+ MiB")
                self.assertRegex(done.stdout, r"swap file [\d.]+ MiB")
                self.assertLessEqual(summary["measured_peak_bytes"],
                                     float(cap.removesuffix("MiB")) * 2**20)
                self.assertIn("expected_slowdown", summary)
                self.assertIn("slowdown", summary)
                self.assertGreater(summary["swap_file_bytes"], 0)
                self.assertEqual(summary["allocations_after_first_step"], 0)
                self.assertEqual(list((self.folder / "disk").iterdir()), [], "it has no name")

    def test_is_shown_by_plans(self):
        cap = f"{self.least('--swap', 'disk')[0]:.1f}MiB"
        flags = ("plan", "deep.yaml", "--threads", "1", "--memory", cap, "--swap", "disk")
        text = self.cgrun(*flags, "--full").stdout
        self.assertRegex(text, r"\n +swap file +[\d.]+ MiB +on a disk")
        self.assertRegex(text, r"Saved of the arena: .*tensors? swapped to a file\.")
        self.assertRegex(text, r"swap file +\[\d+, \d+\).*\.swap_out\n")
        self.assertRegex(text, r"\.swap_in = .*\.swap_in\.wait\n")
        plan = json.loads(self.cgrun(*flags, "--json").stdout)
        in_file = [buffer for buffer in plan["buffers"] if buffer["arena"] == "file"]
        self.assertGreater(len(in_file), 0)
        self.assertEqual(plan["swap_file_bytes"],
                         max(buffer["offset"] + buffer["bytes"] for buffer in in_file))
        self.cgrun("plan", "deep.yaml", "--threads", "1", "--html", "plan.html", "--memory", cap,
                   "--swap", "disk")
        page = (self.folder / "plan.html").read_text()
        self.assertIn("swap_in", page)
        self.assertRegex(page, r"<tr><th>swap file</th><td>[\d.]+ MiB, on a disk</td></tr>")
        for verb in ("compile", "disasm"):
            model = {"compile": ("deep.yaml", "-o", "deep.cgb", "--threads", "1", "--memory", cap,
                                 "--swap", "disk"),
                     "disasm": ("deep.cgb",)}[verb]
            code = self.cgrun(verb, *model).stdout
        self.assertIn("swap_out", code)

    def test_a_program_takes_the_folder_of_who_runs_it(self):
        """Guards against a program that keeps the swap folder of the machine that compiled it."""
        cap = f"{self.least('--swap', 'disk')[0] + 0.5:.1f}MiB"
        self.cgrun("compile", "deep.yaml", "-o", "deep.cgb", "--threads", "1", "--memory", cap, "--swap", "disk")
        self.assertIn("swap_out", self.cgrun("disasm", "deep.cgb").stdout)
        program = (self.folder / "deep.cgb").read_bytes()
        self.assertIn(b"deep.yaml", program)
        self.assertNotIn(str(self.folder).encode(), program)
        refusal = self.refuses("train", "deep.cgb", "--threads", "1", "--out", "refused")
        self.assertIn("`--swap DIR` lets tensors wait in a file", refusal)
        (self.folder / "disk").rmdir()
        (self.folder / "other").mkdir()
        done = self.cgrun("train", "deep.cgb", "--threads", "1", "--swap", "other", "--out", "run")
        self.assertNotIn("compiled again", done.stderr)
        self.assertRegex(done.stdout, r"swap file [\d.]+ MiB")
        _, _, weights = self.train("free")
        self.assertEqual((self.folder / "run/checkpoint-3.safetensors").read_bytes(), weights)

    def test_frontiers_go_further_with_it(self):
        def frontier(*flags):
            text = self.cgrun("plan", "deep.yaml", "--threads", "1", "--frontier", "--json",
                              *flags).stdout
            return json.loads(text)["frontier"]
        without, with_it = frontier(), frontier("--swap", "disk")
        self.assertTrue(all(point["swaps"] == 0 for point in without))
        self.assertTrue(any(point["swaps"] > 0 for point in with_it))
        self.assertLess(min(point["arena_bytes"] for point in with_it),
                        min(point["arena_bytes"] for point in without))

    def test_is_warned_of_where_nothing_is_swapped(self):
        for flags, help_text in (((), "`--memory SIZE` caps"),
                                 (("--memory", "60MiB", "--batch", "auto"), "`--batch NUMBER`")):
            told = self.cgrun("plan", "deep.yaml", "--swap", "disk", *flags).stderr
            self.assertIn("warning: nothing is swapped", told)
            self.assertIn(help_text, told)
            self.assertNotIn("are written at", told)

    def test_says_what_is_wrong_with_a_folder(self):
        refusal = self.refuses("train", "deep.yaml", "--memory", "1MiB", "--swap", "nowhere")
        self.assertIn("cannot make a swap file in ", refusal)
        self.assertIn("nowhere", refusal)
        self.assertFalse((self.folder / "runs").exists())

    def test_the_hosts_memory_is_for_devices_with_their_own(self):
        told = ("device 'reference' cannot swap to the host's memory: its tensors are there already\n",
                "help: give a folder, `--swap DIR`\n")
        for flags in (("--swap", "host"), ("--set", "train.swap=host")):
            for cap in ((), ("--memory", "60MiB")):
                for verb in (("plan",), ("plan", "--frontier"), ("train", "--out", "run")):
                    refusal = self.refuses(*verb, "deep.yaml", "--device", "reference", *cap, *flags)
                    for text in told:
                        self.assertIn(text, refusal)
                    self.assertEqual(refusal.count("error: "), 1, refusal)
        self.write("host.yaml", MODEL + "  swap: host\n")
        line = 1 + (MODEL + "  swap: host").split("\n").index("  swap: host")
        self.assertIn(f"host.yaml:{line}:9: error: {told[0]}",
                      self.refuses("plan", "host.yaml", "--device", "reference"))
        self.assertFalse((self.folder / "run").exists())
        (self.folder / "host").mkdir()  # which is a folder as others are, by another name
        _, refusal = self.least("--swap", "./host")
        self.assertIn("recomputes or swaps", refusal)

    def test_a_full_disk_is_an_error_before_the_first_step(self):
        cap = f"{self.least('--swap', 'disk')[0]:.1f}MiB"

        def limit():  # room enough to measure the disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (5 * 2**20, 5 * 2**20))
        refusal = self.refuses("train", "deep.yaml", "--threads", "1", "--memory", cap, "--swap", "disk",
                               "--out", "run", status=1, preexec_fn=limit)
        self.assertIn("are written at", refusal)
        self.assertRegex(refusal, r"cannot take \d+ MiB for the swap file in .*disk: ")
        self.assertIn("help: ", refusal)
        self.assertFalse((self.folder / "run").exists())

    def test_goes_on_with_another_disk(self):
        cap = f"{self.least('--swap', 'disk')[0] + 0.5:.1f}MiB"
        flags = ("--memory", cap, "--swap", "disk")
        _, _, weights = self.train("whole", *flags)
        self.cgrun("train", "deep.yaml", "--out", "part", "--threads", "1", *flags, "--set", "train.steps=2")
        (self.folder / "disk").rmdir()
        self.assertIn("cannot make a swap file in", self.refuses("train", "--resume", "part", "--set",
                                                                 "train.steps=3"))
        (self.folder / "other").mkdir()
        self.cgrun("train", "--resume", "part", "--swap", "other", "--set", "train.steps=3")
        self.assertEqual((self.folder / "part/checkpoint-3.safetensors").read_bytes(), weights)

    def test_the_model_file_can_name_the_folder(self):
        self.write("deep.yaml", MODEL + "  swap: disk\n")
        _, refusal = self.least()
        self.assertIn("recomputes or swaps", refusal)


if __name__ == "__main__":
    unittest.main()
