// docs/reference/commands.md: its verbs and flags are those of the program. Set CGRUN_UPDATE_GOLDEN
// to the root of the project to write them anew.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "src/cli/argument_values.h"
#include "src/cli/command_line.h"

namespace cgrun {
namespace {

constexpr char kDoc[] = "docs/reference/commands.md";
constexpr char kBegin[] = "<!-- verbs: begin -->\n";
constexpr char kEnd[] = "<!-- verbs: end -->\n";

std::string ReadDoc() {
  std::ifstream file(kDoc, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Escapes what would end a cell of a table.
std::string Cell(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

// "`-o`, `--output FILE.cgb`"
std::string Names(const Flag& flag) {
  if (flag.is_argument()) return "`" + flag.name() + "`";
  std::string out;
  for (const std::string& name : flag.short_names()) out += "`-" + name + "`, ";
  for (const std::string& name : flag.long_names()) out += "`--" + name + "`, ";
  out.resize(out.size() - 3);
  return out + (flag.takes_value() ? " " + flag.value_name() : "") + "`";
}

std::string Row(const Flag& flag) {
  std::string others;
  for (const Flag& other : flag.not_with()) {
    others += (others.empty() ? "; not with `" : ", `") + other.name() + "`";
  }
  const bool repeats = flag.is_repeated() && !flag.is_argument();
  return "| " + Cell(Names(flag)) + " | " + Cell(flag.description()) + others +
         (flag.is_required() ? "; required" : "") + (repeats ? "; may be repeated" : "") + " |\n";
}

constexpr char kHead[] = "| | |\n| --- | --- |\n";
constexpr int kShared = 4;  // verbs that have a flag, from which on it is described once for all

// Counts the verbs that have this very row.
using RowCounts = std::map<std::string, int>;

RowCounts CountRows(const CommandLine& line) {
  RowCounts counts;
  for (const CommandEntry& entry : Commands()) {
    for (const Flag& flag : line.verb(entry.name).flags()) {
      ++counts[Row(flag)];
    }
  }
  return counts;
}

bool IsShared(const Flag& flag, const RowCounts& counts) {
  return !flag.is_argument() && counts.at(Row(flag)) >= kShared;
}

// The flags that are described once, in the order of the verbs that have them first.
std::string SharedRows(const CommandLine& line, const RowCounts& counts) {
  std::string out = kHead;
  for (const CommandEntry& entry : Commands()) {
    for (const Flag& flag : line.verb(entry.name).flags()) {
      const std::string row = Row(flag);
      if (IsShared(flag, counts) && out.find(row) == std::string::npos) out += row;
    }
  }
  return out;
}

std::string VerbText(const Verb& verb, const CommandEntry& entry, const RowCounts& counts) {
  std::string arguments, rows, shared;
  for (const Flag& flag : verb.flags()) {
    if (IsShared(flag, counts)) {
      if (counts.at(Row(flag)) == static_cast<int>(Commands().size())) continue;  // everywhere
      const std::string name = "`--" + flag.long_names()[0] + "`";
      shared += (shared.empty() ? "Takes also " : ", ") + name;
      continue;
    }
    rows += Row(flag);
    if (!flag.is_argument()) continue;
    const std::string name = flag.name() + (flag.takes_many() ? "..." : "");
    arguments += flag.is_required() ? " " + name : " [" + name + "]";
  }
  const std::string summary = entry.summary;
  return "## cgrun " + std::string(entry.name) + arguments + "\n\n" +
         static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0]))) +
         summary.substr(1) + ".\n\n" + (rows.empty() ? "" : kHead + rows + "\n") +
         (shared.empty() ? "" : shared + ".\n\n") + "```sh\n" + entry.examples + "```\n\n";
}

// Explains the names of values that are lists.
std::string ListsText(const CommandLine& line) {
  std::map<std::string, std::string> lists;
  for (const CommandEntry& entry : Commands()) {
    for (const Flag& flag : line.verb(entry.name).flags()) {
      const ArgumentValues values = ValuesOf(flag);
      if (values.name.find('|') != std::string::npos || flag.is_argument()) continue;
      std::string& text = lists[values.name];
      if (!text.empty()) continue;
      for (const std::string& word : values.words)
        text += (text.empty() ? "`" : ", `") + word + "`";
    }
  }
  std::string out = kHead;
  for (const auto& [name, words] : lists) {
    if (!words.empty()) out += "| `" + name + "` | " + words + " |\n";
  }
  return out;
}

std::string Reference() {
  const CommandLine line;
  const RowCounts counts = CountRows(line);
  std::string out = "\n## Flags of several verbs\n\n" + SharedRows(line, counts) + "\n" +
                    "What the names above stand for:\n\n" + ListsText(line) + "\n";
  for (const CommandEntry& entry : Commands()) {
    out += VerbText(line.verb(entry.name), entry, counts);
  }
  return out;
}

TEST(CommandsDoc, IsTheProgramsOwn) {
  std::string doc = ReadDoc();
  const size_t begin = doc.find(kBegin) + sizeof kBegin - 1;
  const size_t end = doc.find(kEnd);
  ASSERT_LT(begin, doc.size());
  ASSERT_LT(end, doc.size());
  const char* root = std::getenv("CGRUN_UPDATE_GOLDEN");
  if (root == nullptr) {
    EXPECT_EQ(doc.substr(begin, end - begin), Reference());
    return;
  }
  doc.replace(begin, end - begin, Reference());
  std::ofstream(std::filesystem::path(root) / kDoc, std::ios::binary) << doc;
}

TEST(CommandsDoc, HasEveryVerb) {
  for (const CommandEntry& entry : Commands()) {
    EXPECT_NE(ReadDoc().find("\n## cgrun " + std::string(entry.name)), std::string::npos);
  }
}

}  // namespace
}  // namespace cgrun
