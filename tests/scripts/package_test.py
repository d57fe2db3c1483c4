#!/usr/bin/env python3
"""scripts/package: the tar trains in a root folder that holds the C and C++ libraries alone."""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

CGRUN = pathlib.Path(os.environ.get("CGRUN", "src/cli/cgrun")).resolve()
BASE = re.compile(r"/(ld-linux[^/]*|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s))\.so[.\d]*$")
NO_SETTINGS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)


def libraries(binary):
    """The paths of what the loader loads for `binary`: what it is linked with, and OpenBLAS, which it
    loads itself from the folders that it was linked with."""
    trace = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": "libopenblas.so.0"}
    out = run(binary, env={**NO_SETTINGS, **trace}).stdout
    return re.findall(r"(/\S+) \(0x", out)


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if re.search(r"/lib[at]san\.so", run("ldd", CGRUN).stdout):
            raise unittest.SkipTest("a binary with sanitizers is not packaged")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.work = pathlib.Path(cls.temporary.name)
        cls.tar = cls.work / "cgrun.tar.gz"
        done = run("scripts/package", CGRUN, cls.tar)
        assert done.returncode == 0, done.stdout + done.stderr
        with tarfile.open(cls.tar) as tar:
            tar.extractall(cls.work)
        cls.package = next(cls.work.glob("cgrun-*-*/"))

    def test_holds_what_its_readme_speaks_of(self):
        for path in ("bin/cgrun", "README.md", "LICENSE", "THIRD-PARTY.md", "docs/guide.md",
                     "models/lenet.yaml", "datasets/digits/train-images-idx3-ubyte.gz",
                     "datasets/austen/northanger-abbey.txt.gz", "datasets/friedman/train.csv",
                     "scripts/datasets/digits-as-images",
                     "share/bash-completion/completions/cgrun"):
            self.assertTrue((self.package / path).is_file(), path)
        self.assertEqual(list(self.package.rglob("BUILD")), [])

    def test_every_library_comes_with_its_licence(self):
        table = (self.package / "THIRD-PARTY.md").read_text()
        held = {path.name for path in (self.package / "licences").iterdir() if path.is_file()}
        self.assertGreater(len(held), 5)
        for package in held:
            self.assertIn(f"`{package}`", table)
        self.assertIn("libopenblas0-openmp", held)

    def test_the_same_files_give_the_same_bytes(self):
        again = self.work / "again.tar.gz"
        self.assertEqual(run("scripts/package", CGRUN, again).returncode, 0)
        self.assertEqual(again.read_bytes(), self.tar.read_bytes())

    def test_finds_its_libraries_beside_it(self):
        loaded = libraries(self.package / "bin/cgrun")
        own = [path for path in loaded if not BASE.search(path)]
        self.assertGreater(len(own), 4)
        for path in own:
            self.assertTrue(os.path.realpath(path).startswith(str(self.package)), path)

    def root_with_the_base_alone(self):
        """A folder that holds the package and the libraries of a bare Debian 12, and nothing else."""
        root = self.work / "root"
        shutil.copytree(self.package, root / "opt/cgrun")
        for path in libraries(self.package / "bin/cgrun"):
            if BASE.search(path):
                target = root / path[1:]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        (root / "tmp").mkdir()
        return root

    def in_root(self, root, *command):
        """Runs a command with `root` as the root folder, with /proc, which the loader looks at."""
        (root / "proc").mkdir(parents=True, exist_ok=True)
        script = 'mount --rbind /proc "$1/proc" && exec chroot "$@"'
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        return run("unshare", "--mount", *user, "sh", "-c", script, "sh", root, *command,
                   env=NO_SETTINGS)

    def test_trains_where_nothing_is_installed(self):
        root = self.root_with_the_base_alone()
        cgrun = "/opt/cgrun/bin/cgrun"
        probe = self.in_root(root, cgrun, "--version")
        if "unshare:" in probe.stderr or "mount:" in probe.stderr or "chroot:" in probe.stderr:
            self.skipTest(f"the root folder cannot be changed here: {probe.stderr.strip()}")
        done = self.in_root(root, cgrun, "train", "/opt/cgrun/models/lenet.yaml",
                            "--limit-batches", "3", "--out", "/tmp/run")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((root / "tmp/run/summary.json").is_file())
        # Without this library the plan fails: so the test shows that the package brings it.
        (root / "opt/cgrun/lib/libopenblas.so.0").unlink()
        plan = self.in_root(root, cgrun, "plan", "/opt/cgrun/models/lenet.yaml")
        self.assertEqual(plan.returncode, 1)
        self.assertIn("error: cannot load OpenBLAS: libopenblas.so.0", plan.stderr)
        self.assertEqual(self.in_root(root, cgrun, "--version").returncode, 0)

    def test_refuses_what_is_no_program(self):
        done = run("scripts/package", self.work / "nothing", self.work / "out.tar.gz")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a program", done.stderr)
        self.assertFalse((self.work / "out.tar.gz").exists())


if __name__ == "__main__":
    unittest.main()
