// Tests how names from files look on a terminal, on a page and in a picture.
#include "src/report/terminal.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "src/report/markup.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

std::string Printed(std::string_view text) {
  std::FILE* file = std::tmpfile();
  PrintText(file, text);
  std::string printed(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(printed.data(), 1, printed.size(), file), printed.size());
  std::fclose(file);
  return printed;
}

TEST(PrintText, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(Printed("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(Printed("\x1B[31mred\x07 caf\xE9\r\n"), "?[31mred? caf??\n");
  EXPECT_EQ(Printed("\xC2\x9B\x32J größe \x7F"), "??2J größe ?");
  EXPECT_EQ(Printed(""), "");
}

TEST(EscapeMarkup, GivesWhatADocumentMayHold) {
  EXPECT_EQ(EscapeMarkup("<a\x1B & \"\xFF\"\n"), "&lt;a? &amp; &quot;?&quot;\n");
}

TEST(TextTable, ALineEndInACellBreaksNoRow) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"a\nerror: b", "c"});
  EXPECT_EQ(table.ToString(), "a?error: b  c\n");
}

}  // namespace
}  // namespace cgrun
