#!/usr/bin/env python3
"""scripts/sum-tests counts cases, failures outside of cases, and targets that do not build."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = "scripts/sum-tests"
CASES = """<testsuites><testsuite name="A">
<testcase name="Good" status="run" result="completed"/>
<testcase name="Bad" status="run" result="completed"><failure message="1 is not 2"/></testcase>
<testcase name="Skip" status="run" result="skipped"><skipped message=""/></testcase>
<testcase name="DISABLED_X" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""
GOOD = '<testsuites><testsuite name="A"><testcase name="Good" status="run"/></testsuite></testsuites>'


def test_result(label, status, xml):
    outputs = [{"name": "test.xml", "uri": xml.as_uri()}] if xml else []
    return {"id": {"testResult": {"label": label}},
            "testResult": {"status": status, "testActionOutput": outputs}}


class SumTestsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def sum(self, events, status, *options):
        self.write("run.json", "\n".join(json.dumps(event) for event in events))
        self.write("run.status", str(status))
        done = subprocess.run([sys.executable, SCRIPT, *options, str(self.folder)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_counts_cases(self):
        event = test_result("//a:a_test", "FAILED", self.write("a.xml", CASES))
        status, lines = self.sum([event], 3)
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["FAILED //a:a_test, run", "1 passed, 1 failed, 1 skipped"])

    def test_adds_what_was_counted_elsewhere(self):
        event = test_result("//a:a_test", "PASSED", self.write("a.xml", GOOD))
        self.assertEqual(self.sum([event], 0, "--passed", "2"), (0, ["3 passed, 0 failed"]))
        self.assertEqual(self.sum([event], 0, "--failed", "1"), (1, ["1 passed, 1 failed"]))

    def test_a_crash_is_a_failure(self):
        for xml in (None, self.write("a.xml", GOOD), self.write("b.xml", "<testsui")):
            status, lines = self.sum([test_result("//a:a_test", "FAILED", xml)], 3)
            self.assertEqual(status, 1)
            self.assertIn("1 failed", lines[-1])

    def test_a_target_that_does_not_build_is_a_failure(self):
        event = {"id": {"targetCompleted": {"label": "//a:a"}}, "completed": {}}
        status, lines = self.sum([event], 1)
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["FAILED //a:a (does not build), run", "0 passed, 1 failed"])

    def test_a_target_that_this_build_leaves_out_is_none(self):
        good = test_result("//a:a_test", "PASSED", self.write("a.xml", GOOD))
        target = {"targetCompleted": {"label": "//a:cuda"}}
        for aborted in ({}, {"reason": "SKIPPED"}):
            event = {"id": target, "aborted": aborted}
            self.assertEqual(self.sum([good, event], 0), (0, ["1 passed, 0 failed"]))
        event = {"id": target, "aborted": {"reason": "ANALYSIS_FAILURE"}}
        self.assertEqual(self.sum([good, event], 1)[1][-1], "1 passed, 1 failed")

    def test_what_an_interrupted_run_did_not_come_to_is_no_failure(self):
        good = test_result("//a:a_test", "PASSED", self.write("a.xml", GOOD))
        running = test_result("//a:b_test", "INCOMPLETE", None)
        late = [{"id": {kind: {"label": "//a:c_test"}}, "aborted": {"reason": "USER_INTERRUPTED"}}
                for kind in ("targetCompleted", "testSummary")]
        events = [good, running, *late]
        self.assertEqual(self.sum(events, 8), (0, ["1 passed, 0 failed, 2 not reached"]))
        self.assertEqual(self.sum(events, 1)[0], 1, "but Bazel was not interrupted")
        bad = test_result("//a:d_test", "FAILED", None)
        self.assertEqual(self.sum([*events, bad], 8)[1][-1], "1 passed, 1 failed, 2 not reached")

    def test_bazel_that_does_not_start_is_a_failure(self):
        status, lines = self.sum([], 1)
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "0 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
