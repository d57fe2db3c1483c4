#!/usr/bin/env python3
"""What a newcomer met who had trained a few networks of their own: pages and summaries of classifiers,
names that are nearly those of something, and flags that were given twice."""

import json
import re
import unittest

from cli_testing import MODEL, CliTestCase

TABLES = MODEL.replace("metrics: {accuracy: {in: [logits, label]}}", """metrics:
      accuracy: {in: [logits, label]}
      confusion: {op: confusion_matrix, in: [logits, label]}
      recalls: {op: recall, in: [logits, label], average: none}""")


def rows_of_page(page, title):
    """The numbers of a table of report.html, row by row; what is not there is 0."""
    table = page.split(f'<figcaption class="title">{title}: ')[1].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(\d*)</td>", row) for row in table.split("<tr>")[2:]]
    return [[int(cell or 0) for cell in row] for row in rows]


class ClassifiersTest(CliTestCase):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", TABLES)

    def test_the_page_of_a_run_has_the_confusion_of_its_classes(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")
        page = (self.folder / "run/report.html").read_text()
        summary = json.loads((self.folder / "run/summary.json").read_text())
        for split, samples in (("train", 65), ("test", 40)):
            self.assertEqual(rows_of_page(page, f"{split} confusion"), summary[split]["confusion"])
            self.assertIn(f" of {samples} right</figcaption>", page)
        self.assertNotIn("http", page)
        self.write("small.yaml", MODEL)
        self.cgrun("train", "small.yaml", "--out", "plain", "--quiet")
        self.assertNotIn("<figure>", (self.folder / "plain/report.html").read_text())

    def test_the_summary_is_what_one_sees_last(self):
        shown = self.cgrun("train", "small.yaml", "--out", "run").stdout
        self.assertRegex(shown, r"samples/s\n\ntrain confusion, a row a label, .*\n(.+\n)+\ntrain recalls, ")
        summary = shown[shown.index("\n\ntrain  ") + 2:]
        self.assertTrue(summary.rstrip().splitlines()[-1].startswith("run folder "), shown)
        self.assertNotIn("\n\n", summary)
        quiet = self.cgrun("train", "small.yaml", "--out", "run", "--force", "--quiet").stdout
        self.assertEqual(len(quiet.splitlines()), len(summary.splitlines()), quiet)
        self.assertNotIn("confusion", quiet)
        shown = self.cgrun("eval", "small.yaml", "--weights", "run").stdout
        self.assertTrue(shown.startswith("test confusion, a row a label, "), shown)
        self.assertRegex(shown, r"\n\ntest  +loss .*\nweights .*\nthroughput .*\nmode .*\nmemory .*\n$")


class NamesTest(CliTestCase):
    def test_a_folder_in_place_of_the_model_in_it(self):
        self.cgrun("train", "small.yaml", "--out", "runs/hands", "--quiet")
        error = self.refuses("plan", "runs/hands")
        self.assertIn("'runs/hands' is a run folder, where a model file (.yaml) is wanted\n"
                      "help: its model file is 'runs/hands/model.yaml'; ", error)
        self.cgrun("plan", "runs/hands/model.yaml")
        self.write("models/one.yaml", MODEL)
        self.assertIn("help: did you mean 'models/one.yaml'?\n", self.refuses("plan", "models"))
        self.write("models/two.yaml", MODEL)
        self.assertIn("help: name a file in it, such as 'models/one.yaml'\n", self.refuses("plan", "models"))

    def test_a_value_of_several_that_match(self):
        layers = "".join(f"      - conv{i}: {{op: linear, units: 4}}\n" for i in range(12))
        self.write("small.yaml", MODEL.replace("      - logits:", f"{layers}      - logits:"))
        error = self.refuses("plan", "small.yaml", "--why", "conv")
        self.assertIn("error: no value is called 'conv' once the graph is optimised\n"
                      "help: names with a part that begins so: 'classify.conv0.weight', ", error)
        self.assertRegex(error, r"help: (names .*: )('classify\.conv\S+', ){8}… and \d+ more; `cgrun graph MODEL` "
                                r"and `cgrun plan MODEL --full` list them\n")
        error = self.refuses("plan", "small.yaml", "--why", "bias")
        self.assertIn("error: 'bias' is the end of 13 names of values\n"
                      "help: they are 'classify.conv0.bias', 'classify.conv1.bias', ", error)
        self.assertIn("'classify.conv7.bias', … and 5 more; ", error)
        error = self.refuses("plan", "small.yaml", "--why", "conv3.")
        self.assertIn("'classify.conv3.weight'", error)
        self.assertNotIn("conv4", error)


class ResumedRunsTest(CliTestCase):
    def test_settings_that_differ_have_both_values(self):
        self.cgrun("train", "small.yaml", "--out", "run", "--quiet")

        def refused(*settings):
            return self.refuses("train", "--resume", "run", *(f"--set={setting}" for setting in settings))
        for setting, change in (
                ("train.batch=32", "'train.batch': 20 → 32"),
                ("train.clip.norm=1", "'train.clip': none → {norm: 1}"),
                ("paths.classify.ops[0].pixels.scale=1/99", "'paths.classify.ops.pixels.scale': 1/255 → 1/99"),
                ("paths.classify.ops.logits.units=4", "'paths.classify.ops.logits.units': 3 → 4")):
            self.assertIn(f"error: the run in 'run' was started with another {change}\n", refused(setting))
        self.assertIn("started with other settings, then → now:\n      train.batch: 20 → 32\n"
                      "      train.optimizer.lr: 0.05 → 0.5\n", refused("train.batch=32", "train.optimizer.lr=0.5"))
        whole = ", ".join(["{op: flatten}"] + 4 * ["{op: linear, units: 16}"] + ["{logits: {op: linear, units: 3}}"])
        error = refused(f"paths.classify.ops=[{{pixels: {{op: normalize, in: image, scale: 1/255}}}}, {whole}]")
        self.assertIn("another 'paths.classify.ops': 3 items → 7 items\n", error)


class HelpTest(CliTestCase):
    def help(self, *arguments):
        return json.loads(self.cgrun(*arguments).stdout)

    def test_help_for_programs(self):
        whole = self.help("help", "--json")
        self.assertEqual(whole, self.help("--help", "--json"))
        self.assertEqual(whole, self.help("--json", "--help"))
        verbs = {verb["name"]: verb for verb in whole["verbs"]}
        listed = self.cgrun("--help").stdout.split("Verbs:\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(list(verbs), [line.split()[0] for line in listed])
        self.assertEqual([flag["names"][-1] for flag in whole["flags"]], ["--help", "--version"])
        train = verbs["train"]
        for line in (("help", "train", "--json"), ("train", "--help", "--json"), ("help", "--json", "train"),
                     ("train", "small.yaml", "--json", "-", "--help")):
            self.assertEqual(self.help(*line), train, line)
        self.assertEqual([argument["name"] for argument in train["arguments"]], ["MODEL"])
        flags = {flag["names"][-1]: flag for flag in train["flags"]}
        self.assertEqual(flags["--mode"]["words"], ["graph", "eager"])
        self.assertEqual(flags["--json"]["value_is_optional"], True)
        self.assertNotIn("value", flags["--force"])
        self.assertIn("cgrun train models/lenet.yaml", train["examples"])
        text = self.cgrun("train", "--help").stdout
        for name in flags:
            self.assertIn(name, text)

    def test_a_file_for_json_gets_no_help(self):
        shown = self.cgrun("train", "small.yaml", "--json", "small.yaml", "--help").stdout
        self.assertEqual(shown, self.cgrun("help", "train").stdout)
        self.assertEqual((self.folder / "small.yaml").read_text(), MODEL)

    def test_versions_for_programs(self):
        versions = self.help("--version", "--json")
        self.assertIn(f"cgrun {versions['version']}\n", self.cgrun("--version").stdout)
        self.assertIn("zlib", versions["libraries"])
        self.assertIn("errors", json.loads(self.cgrun("help", "trian", "--json", status=2).stdout))


if __name__ == "__main__":
    unittest.main()
