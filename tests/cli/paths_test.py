#!/usr/bin/env python3
"""Paths of any bytes, files that are none, folders that cannot be read, and terminals that are dumb."""

import json
import os
import pathlib
import pty
import shutil
import socket
import subprocess
import tempfile
import unittest

from cli_testing import CGRUN, TABLE, CliTestCase

ROWS = "a,b,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n"
WATCHED = 30  # seconds, after which a program that should not wait is taken to wait


class PathsTest(CliTestCase):
    def test_words_are_taken_as_they_are(self):
        self.cgrun("train", "--set", "train.epochs=1", "small.yaml", "--out", "[r]")
        self.assertTrue((self.folder / "[r]/summary.json").exists())
        errors = self.refuses("predict", "small.yaml", "[2024]", "--weights", "[r]")
        self.assertIn("'[2024]'", errors)
        errors = self.refuses("predict", "small.yaml", "[x,y]", "--weights", "[r]")
        self.assertIn("'[x,y]'", errors)
        self.assertIn("the value of --out is empty",
                      self.refuses("train", "--out=", "small.yaml"))

    def test_commands_in_messages_can_be_typed(self):
        self.cgrun("train", "small.yaml", "--out", "my $run")
        self.assertIn("`cgrun train --resume 'my $run'` goes on with it",
                      self.refuses("train", "small.yaml", "--out", "my $run"))
        self.assertIn("`cgrun train --resume 'my $run'` goes on with the run",
                      self.refuses("train", "my $run"))
        self.assertIn("`--resume 'my $run'` goes on",
                      self.refuses("train", "--resume", "my $run/checkpoint-8.safetensors"))
        shutil.copy(self.folder / "small.yaml", self.folder / "a b.yaml")
        self.assertIn("`cgrun compile 'a b.yaml' -o 'a b.cgb'`", self.refuses("disasm", "a b.yaml"))

    def test_a_path_need_not_be_utf8(self):
        folder = os.fsencode(self.folder)
        for run in (b"r\xff", b"r\xc3\x28\x01"):
            self.cgrun("train", "small.yaml", "--out", os.fsdecode(run))
            json.loads(pathlib.Path(os.fsdecode(folder + b"/" + run + b"/summary.json"))
                       .read_text(encoding="utf-8"))
            self.cgrun("train", "--resume", os.fsdecode(run), "--set", "train.epochs=3")
            done = self.cgrun("eval", "small.yaml", "--weights", os.fsdecode(run), "--json")
            json.loads(done.stdout)
        model = os.fsdecode(b"m\xff.yaml")
        shutil.copy(self.folder / "small.yaml", self.folder / model)
        for arguments in (("train", model, "--json"), ("plan", model, "--json"),
                          ("check", model, "--json"), ("graph", model, "--json"),
                          ("bench", model, "--rounds", "1", "--json")):
            json.loads(self.cgrun(*arguments, errors="surrogateescape").stdout)

    def special_files(self):
        """A FIFO, a socket and a device: a path, and what it is called."""
        os.mkfifo(self.folder / "fifo.npy")
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(self.folder / "socket.npy"))
        return (("fifo.npy", "a FIFO (named pipe)"), ("socket.npy", "a socket"),
                ("/dev/zero", "a device"))

    def test_what_is_no_file_is_called_what_it_is(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        self.write("table.yaml", TABLE)
        for path, kind in self.special_files():
            said = f"'{path}' is {kind}, not a file"
            for arguments in (("predict", "small.yaml", path, "--weights", "run"),
                              ("predict", "small.yaml", f"image={path}", "--weights", "run"),
                              ("train", path), ("plan", path), ("check", path),
                              ("eval", "small.yaml", "--weights", path),
                              ("train", "small.yaml", "--weights", path, "--out", "other"),
                              ("train", "table.yaml", "--set", f"data.train.file={path}"),
                              ("disasm", path)):
                errors = self.refuses(*arguments, timeout=WATCHED)
                self.assertIn(said, errors, arguments)

    def test_a_model_may_come_through_a_pipe(self):
        for path in ('<(cat small.yaml)', '/dev/stdin <small.yaml', '/dev/stdin < <(cat small.yaml)'):
            done = subprocess.run(["bash", "-c", f'"$0" plan {path} --json', CGRUN],
                                  cwd=self.folder, text=True, capture_output=True, check=False,
                                  timeout=WATCHED)
            self.assertEqual(done.returncode, 0, path + done.stderr)
            self.assertEqual(json.loads(done.stdout)["model"], "small")

    def test_a_folder_that_cannot_be_read_is_called_so(self):
        self.cgrun("train", "small.yaml", "--out", "run")
        program, user = CGRUN, {}
        with tempfile.TemporaryDirectory() as folder:
            if os.geteuid() == 0:  # who may read everything
                user = {"user": 65534, "group": 65534}
                program = pathlib.Path(folder) / "cgrun"
                shutil.copy(CGRUN, program)
                for path in (pathlib.Path(folder), program, self.folder, self.folder / "run"):
                    path.chmod(0o755)
            def run(*arguments):
                return subprocess.run([program, *arguments], cwd=self.folder, text=True,
                                      capture_output=True, check=False, stdin=subprocess.DEVNULL,
                                      env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
                                      **user)
            try:
                if run("ops").returncode != 0:
                    self.skipTest("another user cannot run the program")
            except OSError as error:
                self.skipTest(f"another user cannot run the program: {error}")
            for mode in (0o000, 0o111):
                (self.folder / "run").chmod(mode)
                for arguments in (("train", "--resume", "run"),
                                  ("train", "small.yaml", "--weights", "run", "--out", "/tmp/no"),
                                  ("eval", "small.yaml", "--weights", "run")):
                    errors = run(*arguments).stderr
                    self.assertIn("Permission denied", errors, arguments)
                    self.assertNotIn("no whole checkpoint", errors)
                errors = run("train", "small.yaml", "--out", "run", "--force").stderr
                self.assertIn("Permission denied", errors)
                self.assertNotIn("no run left it", errors)
            for mode, file_mode in ((0o755, 0o000), (0o644, 0o644)):
                (self.folder / "run").chmod(0o755)
                for file in (self.folder / "run").glob("*.safetensors"):
                    file.chmod(file_mode)
                (self.folder / "run").chmod(mode)
                errors = run("eval", "small.yaml", "--weights", "run").stderr
                self.assertIn("Permission denied", errors, oct(mode))
                self.assertNotIn("damaged", errors, oct(mode))
            (self.folder / "run").chmod(0o755)

    def test_a_run_records_no_path_that_is_not_utf_8(self):
        folder = self.folder / "bad\udcff"
        folder.mkdir()
        (folder / "table.yaml").write_text(TABLE)
        (folder / "rows.csv").write_text("a,b,kind\n1,2,0\n3,4,1\n")
        error = self.refuses("train", "bad\udcff/table.yaml", "--out", "run")
        self.assertIn("bad?/rows.csv' is not UTF-8: model.yaml of the run folder", error)
        self.assertIn("help: rename the file or folder", error)
        self.assertFalse((self.folder / "run").exists())
        self.cgrun("train", "small.yaml", "--out", "bad\udcff/run")
        self.cgrun("train", "--resume", "bad\udcff/run", "--set", "train.epochs=3")

    def on_terminal(self, kind, model):
        """Returns what `cgrun train` prints on a terminal."""
        ours, theirs = pty.openpty()
        subprocess.run([CGRUN, "train", model, "--out", kind or "none"], cwd=self.folder,
                       stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, check=False,
                       env={**os.environ, "TERM": kind})
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:
            pass  # the other end is closed
        os.close(ours)
        return text

    def test_a_dumb_terminal_gets_no_control_sequences(self):
        self.assertIn(b"\x1b", self.on_terminal("xterm", "none.yaml"))
        for kind in ("dumb", ""):
            self.assertNotIn(b"\x1b", self.on_terminal(kind, "none.yaml"))
        text = self.on_terminal("dumb", "small.yaml")
        self.assertNotIn(b"\x1b", text)
        self.assertNotIn(b"\r", text.replace(b"\r\n", b"\n"))


if __name__ == "__main__":
    unittest.main()
