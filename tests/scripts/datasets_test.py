#!/usr/bin/env python3
"""The fetch scripts take what has the right checksum and nothing else; the shipped data is whole."""

import collections
import gzip
import hashlib
import importlib.machinery
import importlib.util
import io
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib

SCRIPTS = pathlib.Path("scripts/datasets")
DIGITS = pathlib.Path("datasets/digits")
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True

import fetching  # pylint: disable=wrong-import-position


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(script, *options):
    """Runs a script; returns its status and its output."""
    done = subprocess.run([SCRIPTS / script, *options], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class TemporaryFolders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name, "source")
        self.target = pathlib.Path(folder.name, "target")
        self.source.mkdir()

    def names(self):
        return sorted(path.name for path in self.target.glob("*"))


class FetchFilesTest(TemporaryFolders):
    def fetch(self, checksum, source=None, urls=()):
        fetching.fetch_files(self.target, {"a.gz": checksum}, source, urls)

    def test_takes_a_copy_however_it_is_packed(self):
        for level in (1, 9):
            (self.source / "a.gz").write_bytes(gzip.compress(b"0123456789" * 100, level))
            (self.target / "a.gz").unlink(missing_ok=True)
            self.fetch(sha256(b"0123456789" * 100), self.source)
            self.assertEqual(self.names(), ["a.gz"])

    def test_downloads(self):
        (self.source / "a.gz").write_bytes(gzip.compress(b"data"))
        self.fetch(sha256(b"data"), None, ["file:///nowhere", self.source.as_uri()])
        self.assertEqual(gzip.decompress((self.target / "a.gz").read_bytes()), b"data")

    def test_refuses_a_wrong_checksum_from_either_side(self):
        (self.source / "a.gz").write_bytes(gzip.compress(b"other"))
        for source, urls in ((self.source, ()), (None, [self.source.as_uri()])):
            with self.assertRaisesRegex(fetching.FetchError, "but it should be"):
                self.fetch(sha256(b"data"), source, urls)
            self.assertEqual(self.names(), [])

    def test_refuses_a_damaged_file(self):
        (self.source / "a.gz").write_bytes(gzip.compress(b"data" * 1000)[:-9])
        with self.assertRaisesRegex(fetching.FetchError, "damaged"):
            self.fetch(sha256(b"data" * 1000), self.source)

    def test_keeps_what_is_there_and_replaces_what_is_damaged(self):
        self.target.mkdir()
        (self.target / "a.gz").write_bytes(gzip.compress(b"data"))
        self.fetch(sha256(b"data"), pathlib.Path("/nowhere"))
        (self.target / "a.gz").write_bytes(b"damaged")
        (self.source / "a.gz").write_bytes(gzip.compress(b"data"))
        self.fetch(sha256(b"data"), self.source)
        self.assertEqual(gzip.decompress((self.target / "a.gz").read_bytes()), b"data")


class CifarTest(TemporaryFolders):
    def setUp(self):
        super().setUp()
        self.cifar = load_script("fetch-cifar10")

    def write_archive(self, names):
        archive = self.source / self.cifar.ARCHIVE
        with tarfile.open(archive, "w:gz") as tar:
            for name in names:
                member = tarfile.TarInfo("cifar-10-batches-bin/" + name)
                member.size = len(name)
                tar.addfile(member, io.BytesIO(name.encode()))
        return "md5:" + hashlib.md5(archive.read_bytes()).hexdigest()

    def work(self, checksum):
        self.cifar.work(self.target, self.source, (), checksum)

    def test_unpacks_and_mends(self):
        checksum = self.write_archive(self.cifar.FILES)
        self.work(checksum)
        self.assertEqual(self.names(), sorted(self.cifar.FILES + [self.cifar.SUMS]))
        self.assertTrue(self.cifar.is_complete(self.target))
        (self.target / "test_batch.bin").write_bytes(b"damaged")
        self.assertFalse(self.cifar.is_complete(self.target))
        self.work(checksum)
        self.assertEqual((self.target / "test_batch.bin").read_bytes(), b"test_batch.bin")

    def test_refuses_another_archive(self):
        self.write_archive(self.cifar.FILES)
        with self.assertRaisesRegex(fetching.FetchError, "c32a1d4ab5d03f1284b67883e8d87530"):
            self.work(self.cifar.CHECKSUM)
        self.assertEqual(self.names(), [])

    def test_refuses_an_archive_without_a_batch(self):
        with self.assertRaisesRegex(fetching.FetchError, "has no data_batch_1.bin"):
            self.work(self.write_archive(self.cifar.FILES[1:]))

    def test_takes_the_archive_by_its_own_name(self):
        checksum = self.write_archive(self.cifar.FILES)
        archive = self.source / "mine.tar.gz"
        (self.source / self.cifar.ARCHIVE).rename(archive)
        self.cifar.work(self.target, archive, (), checksum)
        self.assertTrue(self.cifar.is_complete(self.target))

    def write_batches(self, folder, **records):
        folder.mkdir(exist_ok=True)
        for name, count in records.items():
            (folder / f"{name}.bin").write_bytes(bytes(self.cifar.RECORD) * count)

    def test_takes_unpacked_files_and_says_that_they_are_a_sample(self):
        for folder in (self.source, self.source / self.cifar.UNPACKED):
            self.write_batches(folder, data_batch_1=3, data_batch_2=2, test_batch=1)
            target = self.target / folder.name
            status, output = run("fetch-cifar10", "--from", self.source, "--to", target)
            self.assertEqual(status, 0, output)
            self.assertIn("warning: this is a sample of CIFAR-10: 5 of 50,000 training images and 1 "
                          "of 10,000 test images", output)
            self.assertEqual(sorted(path.name for path in target.iterdir()),
                             [self.cifar.SUMS, "data_batch_1.bin", "data_batch_2.bin",
                              "test_batch.bin"])
            self.assertFalse(self.cifar.is_complete(target), "the whole may come later")
            for path in self.source.glob("*.bin"):
                path.unlink()

    def test_refuses_unpacked_files_that_are_not_those_of_cifar(self):
        def error():
            status, output = run("fetch-cifar10", "--from", self.source, "--to", self.target)
            self.assertEqual(status, 1, output)
            return output

        (self.source / "cifar-10-batches-py").mkdir()
        self.assertIn("has the Python version of CIFAR-10", error())
        self.write_batches(self.source, data_batch_1=1)
        self.assertIn("has no test_batch.bin", error())
        self.write_batches(self.source, test_batch=1)
        (self.source / "data_batch_1.bin").write_bytes(b"cut")
        self.assertIn("has 3 bytes, but CIFAR-10's records are of 3073", error())
        (self.source / "data_batch_1.bin").write_bytes(b"\x0a" * self.cifar.RECORD)
        self.assertIn("has labels above 9", error())
        self.write_batches(self.source, data_batch_1=1)
        self.write_batches(self.target, data_batch_3=1)
        self.assertIn("data_batch_3.bin is there, but", error())
        self.assertEqual(self.names(), ["data_batch_3.bin"])


class CommandLineTest(TemporaryFolders):
    def test_errors_are_one_line_and_a_status(self):
        for script in ("fetch-mnist", "fetch-fashion-mnist", "fetch-cifar10"):
            status, output = run(script, "--from", self.source, "--to", self.target)
            self.assertEqual(status, 1)
            self.assertIn(f"{script}: error: ", output)
            self.assertNotIn("Traceback", output)

    def test_a_wrong_file_is_refused(self):
        name = "train-images-idx3-ubyte.gz"
        (self.source / name).write_bytes(gzip.compress(b"not MNIST"))
        status, output = run("fetch-mnist", "--url", self.source.as_uri(), "--to", self.target)
        self.assertEqual(status, 1)
        self.assertIn("but it should be", output)
        self.assertEqual(self.names(), [])


class DigitsTest(unittest.TestCase):
    def read(self, name, shape):
        data = gzip.decompress((DIGITS / name).read_bytes())
        header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
        self.assertEqual(data[: len(header)], header)
        return data[len(header):]

    def test_files_are_whole(self):
        values = {(v * 255 + 8) // 16 for v in range(17)}
        for part, count in (("train", 1497), ("test", 300)):
            images = self.read(f"{part}-images-idx3-ubyte.gz", (count, 8, 8))
            labels = self.read(f"{part}-labels-idx1-ubyte.gz", (count,))
            self.assertEqual(len(images), count * 64)
            self.assertEqual(set(images), values)
            self.assertEqual(len(labels), count)
            classes = collections.Counter(labels)
            self.assertEqual(set(classes), set(range(10)))
            self.assertLessEqual(max(classes.values()) - min(classes.values()), count // 100)

    def test_no_image_is_in_both_parts(self):
        train = self.read("train-images-idx3-ubyte.gz", (1497, 8, 8))
        test = self.read("test-images-idx3-ubyte.gz", (300, 8, 8))
        seen = {train[i: i + 64] for i in range(0, len(train), 64)}
        self.assertFalse(seen & {test[i: i + 64] for i in range(0, len(test), 64)})

    def test_the_script_makes_these_files(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run("make-digits", "--to", folder)
            if "scikit-learn is missing" in output:
                self.skipTest(output)
            self.assertEqual(status, 0, output)
            for path in DIGITS.glob("*.gz"):
                made = pathlib.Path(folder, path.name).read_bytes()
                self.assertEqual(gzip.decompress(made), gzip.decompress(path.read_bytes()))

    def test_the_tables_are_what_their_scripts_make(self):
        for table in ["friedman", "ratings"]:
            with tempfile.TemporaryDirectory() as folder:
                status, output = run(f"make-{table}", "--to", folder)
                self.assertEqual(status, 0, output)
                for name in ["train.csv", "test.csv"]:
                    made = pathlib.Path(folder, name).read_bytes()
                    self.assertEqual(made, (DIGITS.parent / table / name).read_bytes(), table)


class AustenTest(unittest.TestCase):
    def setUp(self):
        self.austen = load_script("make-austen")
        packed = DIGITS.parent / "austen" / "northanger-abbey.txt.gz"
        self.text = gzip.decompress(packed.read_bytes())

    def test_the_text_is_whole(self):
        self.assertEqual(hashlib.sha256(self.text).hexdigest(), self.austen.SHA256)
        self.assertTrue(self.text.startswith(b"NORTHANGER ABBEY\n"))
        self.assertTrue(self.text.isascii())

    def test_reads_the_strings_of_an_r_package(self):
        def string(text):
            return struct.pack(">2i", 0x40009, len(text)) + text
        novel = [b"NORTHANGER ABBEY", b"by \xc3\xa9", b"A NOTE ON THE TEXT", b"more"]
        vector = b"".join([struct.pack(">2i", 16, len(novel)), *map(string, novel)])
        serialized = b"X\n" + struct.pack(">4i", 3, 0, 0, 5) + b"UTF-8" + vector
        with tempfile.TemporaryDirectory() as folder:
            database = b""
            for record in (b"X\n" + struct.pack(">5i", 2, 0, 0, 13, 0), serialized):
                packed = zlib.compress(record)
                database += struct.pack(">I", len(record)) + packed
            pathlib.Path(folder, "Rdata.rdb").write_bytes(database)
            lines = self.austen.novel(pathlib.Path(folder))
        self.assertEqual(lines, ["NORTHANGER ABBEY", "by \xe9"])

    def test_the_script_makes_this_file(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run("make-austen", "--to", folder)
            if "apt-get install" in output:
                self.skipTest(output)
            self.assertEqual(status, 0, output)
            made = pathlib.Path(folder, "northanger-abbey.txt.gz").read_bytes()
            self.assertEqual(gzip.decompress(made), self.text)

    def test_errors_are_one_line_and_a_status(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run("make-austen", "--from", folder, "--to", folder)
        self.assertEqual(status, 1)
        self.assertIn("make-austen: error: there is no", output)
        self.assertNotIn("Traceback", output)


if __name__ == "__main__":
    unittest.main()
