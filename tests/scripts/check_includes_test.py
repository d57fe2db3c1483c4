#!/usr/bin/env python3
"""scripts/check-includes accepts what the table allows and names what it does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = "scripts/check-includes"


def check(files):
    """Runs the script on a tree of `files` (path → text); returns its status and its output."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            target = pathlib.Path(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def include(path):
    return f'#include "{path}"\n'


class CheckIncludesTest(unittest.TestCase):
    def assert_accepts(self, files):
        status, output = check(files)
        self.assertEqual(status, 0, output)

    def assert_refuses(self, files, *texts):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        for text in texts:
            self.assertIn(text, output)

    def test_follows_the_table_through_several_folders(self):
        self.assert_accepts(
            {"src/plan/liveness.cc": include("src/base/a.h") + include("src/ir/b.h"),
             "src/base/a.h": "", "src/ir/b.h": include("src/base/a.h")})

    def test_names_file_line_and_what_is_allowed(self):
        self.assert_refuses(
            {"src/ops/relu.cc": "// Relu.\n" + include("src/plan/a.h"), "src/plan/a.h": ""},
            "src/ops/relu.cc:2: error: src/ops may not use src/plan",
            "it may use: src/base, src/io, src/ir")

    def test_refuses_the_way_back(self):
        self.assert_refuses({"src/base/a.cc": include("src/ir/b.h"), "src/ir/b.h": ""},
                            "it may use: nothing but itself")

    def test_plan_never_sees_a_kernel(self):
        self.assert_refuses({"src/plan/a.cc": include("src/kernels/kernel.h"),
                             "src/kernels/kernel.h": ""}, "src/plan may not use src/kernels")

    def test_vm_never_sees_a_pass(self):
        self.assert_refuses({"src/program/vm.cc": include("src/passes/a.h"), "src/passes/a.h": ""},
                            "src/program may not use src/passes")

    def test_nothing_includes_cli(self):
        self.assert_refuses({"src/session/a.cc": include("src/cli/a.h"), "src/cli/a.h": ""},
                            "src/session may not use src/cli")

    def test_kernels_see_operators_but_not_the_graph(self):
        tree = {"src/ops/relu.h": "", "src/ir/graph.h": "", "src/ir/type.h": ""}
        self.assert_accepts({"src/kernels/cpu/relu.cc": include("src/ops/relu.h"), **tree})
        self.assert_accepts({"src/kernels/cpu/relu.cc": include("src/ir/type.h"), **tree})
        self.assert_refuses({"src/kernels/cpu/relu.cc": include("src/ir/graph.h"), **tree},
                            'src/kernels never includes "src/ir/graph.h"')

    def test_devices_are_listed_in_one_folder_and_do_not_see_each_other(self):
        tree = {"src/kernels/cpu/table.h": ""}
        self.assert_accepts(
            {"src/kernels/libraries/table.cc": include("src/kernels/cpu/table.h"), **tree})
        self.assert_refuses({"src/kernels/a.cc": include("src/kernels/cpu/table.h"), **tree},
                            "src/kernels may not use src/kernels/cpu")
        self.assert_refuses(
            {"src/kernels/cuda/table.cc": include("src/kernels/cpu/table.h"), **tree},
            "src/kernels/cuda may not use src/kernels/cpu")

    def test_packing_uses_base_alone(self):
        tree = {"src/packing/memory_problem.h": "", "src/plan/liveness.h": "", "src/ops/a.h": ""}
        best_fit = "src/packing/planners/best_fit.cc"
        self.assert_accepts({best_fit: include("src/packing/memory_problem.h"), **tree})
        self.assert_refuses({best_fit: include("src/plan/liveness.h"), **tree}, best_fit + ":1")
        self.assert_refuses({best_fit: include("src/ops/a.h"), **tree}, "may not use src/ops")

    def test_paths_start_at_the_root_and_exist(self):
        self.assert_refuses({"src/base/a.cc": include("b.h"), "src/base/b.h": ""},
                            "not a path from the root")
        self.assert_refuses({"src/base/a.cc": include("src/base/c.h")}, "does not exist")

    def test_new_folders_need_a_row(self):
        self.assert_refuses({"src/extra/a.cc": include("src/base/b.h"), "src/base/b.h": ""},
                            "in no folder of the table")

    def test_src_never_includes_tests(self):
        self.assert_refuses({"src/base/a.cc": include("tests/a.h"), "tests/a.h": ""},
                            "src never includes tests")

    def test_external_headers_have_their_folders(self):
        self.assert_accepts({"src/model/a.cc": "#include <yaml-cpp/yaml.h>\n"})
        self.assert_refuses({"src/session/a.cc": "#include <yaml-cpp/yaml.h>\n"},
                            "only src/model may include <yaml-cpp/yaml.h>")
        self.assert_refuses({"src/model/a.h": "#include <yaml-cpp/yaml.h>\n"}, "in a .cc file")

    def test_no_device_macros_in_shared_code(self):
        self.assert_refuses({"src/vm/a.cc": "#ifdef USE_CUDA\n"}, "src/vm/a.cc:1")
        self.assert_accepts({"src/kernels/cuda/a.cu": "#ifdef __CUDA_ARCH__\n"})

    def test_text_is_printed_where_it_is_cleaned(self):
        for line in ('std::fputs(name.c_str(), stdout);', 'printf("%s", name);', "std::cerr << name;",
                     'std::fprintf(stderr, "x");', "fwrite(a, 1, n, stdout);", "write(2, a, n);",
                     "write(STDOUT_FILENO, a, n);", "std::puts(name);"):
            self.assert_refuses({"src/session/a.cc": f"  {line}\n"}, "src/session/a.cc:1", "PrintText()")
        for line in ("std::snprintf(text, size, format);", "// std::cout is not used", "write(fd_, a, n);"):
            self.assert_accepts({"src/session/a.cc": f"  {line}\n"})
        self.assert_accepts({"src/cli/console.cc": "std::fputs(a, stdout);\n"})

    def test_tests_include_what_they_like(self):
        self.assert_accepts({"tests/cli/a.cc": include("src/cli/a.h"), "src/cli/a.h": ""})


if __name__ == "__main__":
    unittest.main()
