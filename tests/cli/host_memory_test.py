#!/usr/bin/env python3
"""`--host-memory`: on a device of the host it is the same cap as `--memory`."""

import json
import unittest

from cli_testing import CliTestCase


class HostMemoryTest(CliTestCase):
    def cap(self, *flags, verb="plan", model="small.yaml"):
        done = self.cgrun(verb, model, "--threads", 1, "--json", *flags)
        return json.loads(done.stdout)["memory_cap_bytes"], done.stderr

    def test_it_is_the_cap_of_the_host(self):
        self.assertEqual(self.cap("--host-memory", "900MiB")[0], 900 << 20)
        error = self.refuses("train", "small.yaml", "--host-memory", "1MiB")
        self.assertIn("more than the cap of 1 MiB", error)

    def test_refusals_name_the_flag_that_was_given(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        for verb, flags in (("train", ()), ("train", ("--batch", "auto")), ("plan", ()), ("check", ()),
                            ("bench", ()), ("eval", ("--weights", "run"))):
            for flag, other in (("--host-memory", "--memory"), ("--memory", "--host-memory")):
                with self.subTest(verb, flags=flags, flag=flag):
                    error = self.refuses(verb, "small.yaml", *flags, flag, "1MiB")
                    self.assertRegex(error, f"help: .*`{flag} [0-9.]+MiB` is enough")
                    self.assertNotIn(other + " ", error)
        error = self.refuses("train", "small.yaml", "--memory", "2MiB", "--host-memory", "1MiB")
        self.assertIn("`--host-memory", error)

    def test_eager_mode_refuses_it_by_its_name(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        error = self.refuses("eval", "small.yaml", "--weights", "run", "--mode", "eager", "--host-memory", "900MiB")
        self.assertIn("--host-memory needs graph mode", error)

    def test_the_smaller_of_two_counts_and_is_told_once(self):
        for memory, host in (("800MiB", "900MiB"), ("900MiB", "800MiB")):
            cap, told = self.cap("--memory", memory, "--host-memory", host)
            self.assertEqual(cap, 800 << 20)
            note = f"note: --memory {memory} and --host-memory {host} are of the same memory"
            self.assertEqual(told.count(note), 1, told)
            self.assertIn("the smaller one counts: 800MiB", told)

    def test_a_run_keeps_it(self):
        self.cgrun("train", "small.yaml", "--host-memory", "900MiB", "--out", "run")
        self.assertIn("memory: ", (self.folder / "run/model.yaml").read_text())
        self.cgrun("train", "--resume", "run", "--set", "train.epochs=3", "--host-memory", "950MiB")
        self.refuses("train", "--resume", "run", "--set", "train.epochs=4", "--host-memory", "1MiB")

    def test_it_has_to_be_a_size(self):
        error = self.refuses("plan", "small.yaml", "--host-memory", "much")
        self.assertIn("--host-memory much is no size of memory", error)
        self.assertIn("512MiB", error)


if __name__ == "__main__":
    unittest.main()
