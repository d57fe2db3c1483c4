// Words of commands, as a shell takes them.
#include "src/base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace cgrun {
namespace {

// Returns the text that a shell makes of a word.
std::string FromShell(const std::string& word) {
  FILE* const pipe = popen(("printf %s " + word).c_str(), "r");
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
  for (const std::string text : {"a b", "$HOME", "it's", "`id`", "a;b", "*", "~", "a\\b", "\"q\"",
                                 "a\nb", "[x]", "{a,b}", "!x", "#x", "naïve", "\xff"}) {
    EXPECT_EQ(FromShell(ShellWord(text)), text) << text;
  }
}

}  // namespace
}  // namespace cgrun
