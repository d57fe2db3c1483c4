// docs/commands.md: its verbs and flags are those of the program. Set CGRUN_UPDATE_GOLDEN to the
// root of the project to write them anew.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "src/cli/command_line.h"

namespace cgrun {
namespace {

constexpr char kDoc[] = "docs/commands.md";
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
std::string Names(const CLI::Option& option) {
  const ArgumentValues values = ValuesOf(option);
  if (option.get_positional()) return "`" + option.get_name() + "`";
  std::string out;
  for (const std::string& name : option.get_snames()) out += "`-" + name + "`, ";
  for (const std::string& name : option.get_lnames()) out += "`--" + name + "`, ";
  out.resize(out.size() - 3);
  return out + (values.name.empty() ? "" : " " + values.name) + "`";
}

std::string Row(const CLI::Option& option) {
  std::string others;
  for (const CLI::Option* other : option.get_excludes()) {
    others += (others.empty() ? "; not with `" : ", `") + other->get_name() + "`";
  }
  const bool repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll &&
                       !option.get_positional();
  return "| " + Cell(Names(option)) + " | " + Cell(option.get_description()) + others +
         (option.get_required() ? "; required" : "") + (repeats ? "; may be repeated" : "") +
         " |\n";
}

constexpr char kHead[] = "| | |\n| --- | --- |\n";
constexpr int kShared = 4;  // verbs that have a flag, from which on it is described once for all

// How many verbs have this very row.
using RowCounts = std::map<std::string, int>;

RowCounts CountRows(const CLI::App& app) {
  RowCounts counts;
  for (const CommandEntry& entry : Commands()) {
    for (const CLI::Option* option : app.get_subcommand(entry.name)->get_options()) {
      ++counts[Row(*option)];
    }
  }
  return counts;
}

bool IsShared(const CLI::Option& option, const RowCounts& counts) {
  return !option.get_positional() && counts.at(Row(option)) >= kShared;
}

// The flags that are described once, in the order of the verbs that have them first.
std::string SharedRows(const CLI::App& app, const RowCounts& counts) {
  std::string out = kHead;
  for (const CommandEntry& entry : Commands()) {
    for (const CLI::Option* option : app.get_subcommand(entry.name)->get_options()) {
      const std::string row = Row(*option);
      if (IsShared(*option, counts) && out.find(row) == std::string::npos) out += row;
    }
  }
  return out;
}

std::string VerbText(const CLI::App& verb, const CommandEntry& entry, const RowCounts& counts) {
  std::string arguments, rows, shared;
  for (const CLI::Option* option : verb.get_options()) {
    if (IsShared(*option, counts)) {
      if (counts.at(Row(*option)) == static_cast<int>(Commands().size())) continue;  // everywhere
      const std::string name = "`--" + option->get_lnames()[0] + "`";
      shared += (shared.empty() ? "Takes also " : ", ") + name;
      continue;
    }
    rows += Row(*option);
    if (!option->get_positional()) continue;
    const std::string name = option->get_name() + (option->get_expected_max() > 1 ? "..." : "");
    arguments += option->get_required() ? " " + name : " [" + name + "]";
  }
  const std::string summary = entry.summary;
  return "## cgrun " + std::string(entry.name) + arguments + "\n\n" +
         static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0]))) +
         summary.substr(1) + ".\n\n" + (rows.empty() ? "" : kHead + rows + "\n") +
         (shared.empty() ? "" : shared + ".\n\n") + "```sh\n" + entry.examples + "```\n\n";
}

// What the names of values that are lists stand for.
std::string ListsText(const CLI::App& app) {
  std::map<std::string, std::string> lists;
  for (const CommandEntry& entry : Commands()) {
    for (const CLI::Option* option : app.get_subcommand(entry.name)->get_options()) {
      const ArgumentValues values = ValuesOf(*option);
      if (values.name.find('|') != std::string::npos || option->get_positional()) continue;
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
  Command unused;
  const auto app = MakeCommandLine(&unused);
  const RowCounts counts = CountRows(*app);
  std::string out = "\n## Flags of several verbs\n\n" + SharedRows(*app, counts) + "\n" +
                    "What the names above stand for:\n\n" + ListsText(*app) + "\n";
  for (const CommandEntry& entry : Commands()) {
    out += VerbText(*app->get_subcommand(entry.name), entry, counts);
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
