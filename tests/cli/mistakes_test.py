#!/usr/bin/env python3
"""Mistakes that new users make: nothing of theirs is lost, and the text says what to do."""

import unittest

from cli_testing import MODEL, CliTestCase


class MistakesTest(CliTestCase):
    def test_what_is_not_carried_out_is_said_by_every_verb(self):
        self.write("auto.yaml", MODEL.replace("batch: 20", "batch: auto"))
        verbs = (["train"], ["plan"], ["graph"], ["summary"], ["compile", "-o", "m.cgb"],
                 ["eval", "--weights", "w.safetensors"])
        for verb, *flags in verbs:
            for arguments in (["auto.yaml"], ["small.yaml", "--batch", "auto"]):
                error = self.refuses(verb, *arguments, *flags)
                self.assertIn("this version does not carry out 'batch: auto' yet", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
