#!/usr/bin/env python3
"""`cgrun completion`: what the shells offer at the cursor. A shell that is not installed is skipped."""

import json
import os
import pty
import shutil
import subprocess
import unittest

from cli_testing import CliTestCase

# Calls the function as bash does at a press of TAB; the words are split as readline splits them.
BASH = """
set -u
source cgrun.bash
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_cgrun cgrun "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

# For an interactive zsh: types a line, presses TAB behind it, and leaves what is offered in the file
# `offers` and what the line has become in `line`.
ZSHRC = """
autoload -U compinit; compinit -D -u
source ./cgrun.zsh
compadd() {
  local -a found
  if [[ ${@[1,(i)--]} != *-[OAD]' '* ]]; then
    builtin compadd -O found "$@"
    print -rl -- $found >>offers
  fi
  builtin compadd "$@"
}
zle -C offer complete-word _main_complete
type-line() { BUFFER=$TYPED; CURSOR=$#BUFFER; zle offer; print -r -- "$BUFFER" >line; exit }
zle -N zle-line-init type-line
"""


class CompletionTest(CliTestCase):
    def script(self, shell):
        text = self.cgrun("completion", shell).stdout
        self.write(f"cgrun.{shell}", text)
        return text

    def shell(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def bash(self, *words):
        """Returns what bash offers for the last of `words`."""
        self.script("bash")
        return self.shell("bash", "-c", BASH, "bash", "cgrun", *words).split()

    def fish(self, line):
        self.script("fish")
        out = self.shell("fish", "--no-config", "-c", f"source cgrun.fish; complete -C '{line}'")
        return [offer.split("\t")[0] for offer in out.splitlines()]

    def zsh(self, line):
        """Returns what zsh offers at the end of a line, and the line that it makes of it."""
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        self.script("zsh")
        self.write(".zshrc", ZSHRC)
        self.write("offers", "")
        terminal, end = pty.openpty()
        with subprocess.Popen(["zsh", "-d", "-i"], cwd=self.folder, stdin=end, stdout=end, stderr=end,
                              start_new_session=True, env={**os.environ, "TERM": "dumb", "TYPED": line,
                                                           "ZDOTDIR": str(self.folder)}):
            os.close(end)
            shown = b""
            while part := self.read(terminal):
                shown += part
        os.close(terminal)
        self.assertTrue((self.folder / "line").exists(), shown)
        return ((self.folder / "offers").read_text().split(),
                (self.folder / "line").read_text().removesuffix("\n"))

    @staticmethod
    def read(terminal):
        try:
            return os.read(terminal, 4096)
        except OSError:  # nobody is at its other end any more
            return b""

    def test_bash_offers_verbs(self):
        offers = self.bash("")
        self.assertIn("train", offers)
        self.assertIn("completion", offers)
        self.assertIn("--help", offers)
        self.assertEqual(self.bash("pl"), ["plan"])
        self.assertEqual(self.bash("help", "pl"), ["plan"])
        self.assertEqual(self.bash("--v"), ["--version"])

    def test_bash_offers_the_flags_of_the_verb(self):
        self.assertEqual(self.bash("train", "--res"), ["--resume"])
        self.assertEqual(self.bash("plan", "--res"), [])
        self.assertEqual(self.bash("plan", "small.yaml", "--fu"), ["--full"])
        self.assertEqual(self.bash("compile", "-o"), ["-o"])

    def test_bash_offers_the_values_of_a_flag(self):
        self.assertEqual(self.bash("train", "--mode", ""), ["graph", "eager"])
        self.assertEqual(self.bash("train", "--mode", "=", "e"), ["eager"])
        self.assertEqual(self.bash("train", "--mode", "="), ["graph", "eager"])
        self.assertIn("reference", self.bash("plan", "--device", ""))
        self.assertEqual(self.bash("graph", "--stop-after-pass", "dead"), ["dead_code"])
        self.assertEqual(self.bash("completion", "f"), ["fish"])

    def test_bash_offers_operators(self):
        self.assertEqual(self.bash("ops", "softmax_"), ["softmax_cross_entropy"])
        self.assertNotIn("conv_input_grad", self.bash("ops", "conv"))

    def test_bash_offers_files_and_folders(self):
        self.write("some folder/photo.png", "")
        self.write("small.png", "")
        self.assertEqual(self.bash("train", "sma"), ["small.yaml"])  # no picture is a model
        self.write("small.cgb", "")
        self.write("small models/a.yaml", "")
        self.assertEqual(" ".join(sorted(self.bash("train", "sma"))), "models small small.cgb small.yaml")
        self.assertEqual(self.bash("disasm", "small."), ["small.cgb"])
        self.assertEqual(sorted(self.bash("predict", "small.yaml", "small.")),
                         ["small.cgb", "small.png", "small.yaml"])
        self.assertEqual(self.bash("train", "--out", "small."), [])
        self.assertEqual(" ".join(self.bash("train", "--out", "so")), "some folder")
        self.assertEqual(sorted(self.bash("eval", "small.yaml", "--json", "small.p")), ["small.png"])
        self.assertEqual(self.bash("eval", "small.yaml", "--json", "--wei"), ["--weights"])

    def test_bash_offers_keys_of_the_model_file(self):
        self.assertEqual(self.bash("train", "--set", "train.ep"), ["train.epochs="])
        self.assertEqual(self.bash("plan", "small.yaml", "--set", "=", "train.clip."),
                         ["train.clip.norm=", "train.clip.value="])
        keys = self.bash("train", "--set", "")
        for key in ("device=", "inputs.", "paths.", "train.optimizer.lr=", "train.optimizer.schedule=",
                    "train.early_stop.patience=", "data.test.format=", "data.train.file=", "gan.steps.generator="):
            self.assertIn(key, keys)
        self.assertEqual(len(keys), len(set(keys)))
        for key in ("train.clip=", "train.optimizer.l1=", "data.train.split=", "plugins=", "paths.*."):
            self.assertNotIn(key, keys)
        # The completion offers only keys that the format knows: with a wrong value they are no
        # unknown key.
        tried = [key for key in keys if key.startswith("train.") and not key.startswith("train.optimizer")]
        self.assertGreaterEqual(len(tried), 20)
        for key in tried:
            done = self.cgrun("plan", "small.yaml", "--set", key + "[[]]", status=2)
            self.assertNotIn("unknown key", done.stderr, key)

    def test_bash_offers_values_of_keys(self):
        self.assertEqual(self.bash("train", "small.yaml", "--set", "train.order", "=", "b"), ["bfs"])
        self.assertIn("memory", self.bash("train", "--set", "train.order", "="))
        self.assertIn("reference", self.bash("train", "--set", "=", "device", "=", "ref"))
        self.assertEqual(self.bash("train", "--set", "train.optimizer.op", "=", "adamw"), ["adamw"])
        self.assertEqual(self.bash("train", "--set", "train.optimizer.nesterov", "="), ["true", "false"])
        self.assertEqual(self.bash("train", "--set", "train.epochs", "="), [])
        self.assertEqual(self.bash("train", "--set", "data.train.file", "=", "sma"), ["small.yaml"])

    def test_bash_offers_run_folders(self):
        self.assertEqual(self.bash("train", "--resume", "oth"), [])
        for folder in ("runs/one", "runs/two"):
            self.write(f"{folder}/model.yaml", "")
        self.write("runs/none/notes.txt", "")
        self.write("other/model.yaml", "")
        self.assertEqual(self.bash("train", "--resume", ""), ["runs/one", "runs/two"])
        self.assertEqual(self.bash("train", "--resume", "=", "runs/t"), ["runs/two"])
        self.assertEqual(self.bash("train", "--resume", "oth"), ["other"])

    def test_bash_offers_nothing_where_anything_may_stand(self):
        self.assertEqual(self.bash("train", "--seed", ""), [])
        self.assertEqual(self.bash("train", "--batch", ""), ["auto"])
        self.assertEqual(self.bash("devices", ""), [])

    def test_every_script_has_every_flag_of_help(self):
        verbs = [line.split()[0] for line in
                 self.cgrun("--help").stdout.split("Verbs:\n")[1].split("\n\n")[0].splitlines()]
        self.assertIn("train", verbs)
        scripts = {shell: self.script(shell) for shell in ("bash", "zsh", "fish")}
        for verb in verbs:
            text = self.cgrun(verb, "--help").stdout.split("Options:")[1].split("Examples:")[0]
            flags = {word.strip(",") for line in text.splitlines() if line.startswith("  -")
                     for word in line.split()[0].split(",") if word.startswith("--")}
            self.assertIn("--json", flags)
            for flag in flags:
                self.assertIn(flag, scripts["bash"])
                self.assertIn(flag, scripts["zsh"])
                self.assertIn(f"-l {flag[2:]}", scripts["fish"])

    def test_scripts_are_accepted_by_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                self.script(shell)
                self.shell(shell, "-n", f"cgrun.{shell}")

    def test_zsh_loads_the_script(self):
        self.script("zsh")
        out = self.shell("zsh", "-f", "-c", "autoload -U compinit; compinit -D -u; "
                         "source ./cgrun.zsh; print $_comps[cgrun]")
        self.assertEqual(out.strip(), "_cgrun")

    def test_fish_offers_verbs_flags_and_values(self):
        self.assertIn("train", self.fish("cgrun tr"))
        self.assertEqual(self.fish("cgrun train --res"), ["--resume"])
        self.assertEqual(self.fish("cgrun plan --res"), [])
        self.assertEqual(sorted(self.fish("cgrun train --mode ")), ["eager", "graph"])
        self.assertEqual(self.fish("cgrun ops softmax_"), ["softmax_cross_entropy"])

        self.write("small.png", "")
        self.assertEqual(self.fish("cgrun train sma"), ["small.yaml"])
        self.write("smallest/a.yaml", "")
        self.assertEqual(sorted(self.fish("cgrun train sma")), ["small.yaml", "smallest/"])
        self.assertEqual(self.fish("cgrun train --set train.ep"), ["train.epochs="])
        self.assertEqual(self.fish("cgrun plan --set=train.ep"), ["--set=train.epochs="])
        self.assertEqual(self.fish("cgrun train --set train.order=b"), ["train.order=bfs"])
        self.assertEqual(self.fish("cgrun train --set train.epochs="), [])
        self.write("runs/one/model.yaml", "")
        self.assertEqual(self.fish("cgrun train --resume "), ["runs/one"])

    def test_zsh_offers_verbs_flags_and_values(self):
        self.write("runs/one/model.yaml", "")
        self.write("small.png", "")
        for line, offers, becomes in (
                ("cgrun tr", ["train"], "cgrun train "),
                ("cgrun train --for", ["--force"], "cgrun train --force "),
                ("cgrun train --mode e", ["eager"], "cgrun train --mode eager "),
                ("cgrun train sma", ["small.yaml"], "cgrun train small.yaml "),
                ("cgrun plan small.yaml --res", [], "cgrun plan small.yaml --res"),
                ("cgrun ops softmax_", ["softmax_cross_entropy"], "cgrun ops softmax_cross_entropy "),
                ("cgrun train --set train.ep", ["train.epochs="], "cgrun train --set train.epochs="),
                ("cgrun plan --set=inp", ["inputs."], "cgrun plan --set=inputs."),
                ("cgrun train --set train.order=b", ["bfs"], "cgrun train --set train.order=bfs "),
                ("cgrun train --set=train.order=b", ["bfs"], "cgrun train --set=train.order=bfs "),
                ("cgrun train --set train.epochs=sm", [], "cgrun train --set train.epochs=sm"),
                ("cgrun train --resume ru", ["runs/one"], "cgrun train --resume runs/one "),
                ("cgrun train --set data.train.file=small.y", ["small.yaml"],
                 "cgrun train --set data.train.file=small.yaml ")):
            with self.subTest(line):
                self.assertEqual(self.zsh(line), (offers, becomes))

    def test_json_and_unknown_shells(self):
        result = json.loads(self.cgrun("completion", "bash", "--json").stdout)
        self.assertEqual(result["script"], self.script("bash"))
        for shell in ("ksh", "tcsh", "nonsense"):
            self.assertEqual(self.refuses("completion", shell),
                             f"error: there is no completion for the shell '{shell}'\n"
                             "help: there is one for bash, zsh and fish\n")
        self.assertIn("did you mean `cgrun completion bash`?", self.refuses("completion", "bsh"))
        self.assertIn("SHELL", self.refuses("completion"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
