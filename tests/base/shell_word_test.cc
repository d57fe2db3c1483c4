// Words of commands, as a shell takes them.
#include "src/base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "src/base/printable.h"

namespace cgrun {
namespace {

// Returns the text that a shell makes of a word. (Debian's `sh` is older than $'…' in POSIX.)
std::string FromShell(const std::string& word) {
  setenv("WORD_TEST", ("printf %s " + word).c_str(), 1);
  FILE* const pipe = popen("bash -c \"$WORD_TEST\"", "r");
  std::array<char, 256> text = {};
  const size_t size = fread(text.data(), 1, text.size(), pipe);
  pclose(pipe);
  return {text.data(), size};
}

TEST(ShellWord, APlainPathStaysAsItIs) {
  EXPECT_EQ(ShellWord("runs/lenet-2_b.yaml"), "runs/lenet-2_b.yaml");
  EXPECT_EQ(ShellWord("my run"), "'my run'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(ShellWord, AShellReadsOneWord) {
  for (const std::string text : {"a b",
                                 "$HOME",
                                 "it's",
                                 "`id`",
                                 "a;b",
                                 "*",
                                 "~",
                                 "a\\b",
                                 "\"q\"",
                                 "a\nb",
                                 "[x]",
                                 "{a,b}",
                                 "!x",
                                 "#x",
                                 "naïve",
                                 "\xff",
                                 "o\xffut",
                                 "a\xff"
                                 "7",
                                 "it's\x1b[31m \\n",
                                 "\xE2\x80\xAEx"}) {
    EXPECT_EQ(FromShell(ShellWord(text)), text) << text;
  }
}

TEST(ShellWord, AMessageShowsEachByte) {
  EXPECT_EQ(ShellWord("o\xffut"), "$'o\\377ut'");
  for (const std::string text : {"\xff", "a\nb", "\x1b[31m", "\xE2\x80\xAEx", "\xC3"}) {
    EXPECT_EQ(PrintableText(ShellWord(text)), ShellWord(text)) << text;
  }
}

}  // namespace
}  // namespace cgrun
