#!/usr/bin/python3
"""No symbol that belongs to an unnamed namespace may be visible outside its file.

g++ 12 makes an instance of a template weak even if its argument is a template of an unnamed
namespace; the linker then takes one file's kernel for another's (see kernels/reference/number.h).
"""
import pathlib
import re
import subprocess
import sys
import unittest

LIBRARIES = [pathlib.Path(argument) for argument in sys.argv[1:]]
VISIBLE = re.compile(r" [A-TV-Zuvw] .*\(anonymous namespace\)")


def visible_symbols(library):
    command = ["nm", "-DC", library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in listing.stdout.splitlines() if VISIBLE.search(line)]


class LinkageTest(unittest.TestCase):
    def test_the_pattern_finds_weak_symbols_alone(self):
        self.assertTrue(VISIBLE.search("0000000000000000 W Pick<(anonymous namespace)::Grad>(int)"))
        self.assertFalse(VISIBLE.search("0000000000000000 t (anonymous namespace)::Grad::Run()"))
        self.assertFalse(VISIBLE.search("0000000000000000 W std::vector<int>::size()"))

    def test_unnamed_namespaces_stay_in_their_files(self):
        shared = [library for library in LIBRARIES if library.suffix == ".so"]
        self.assertTrue(shared, LIBRARIES)
        for library in shared:
            self.assertEqual(visible_symbols(library), [], library)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
