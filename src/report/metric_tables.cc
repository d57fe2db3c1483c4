#include "src/report/metric_tables.h"

#include <fmt/format.h>

#include "src/report/epoch_lines.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kTableWidth = 100;     // characters of a line
constexpr size_t kMostElements = 1000;  // of a list
constexpr int64_t kMostColumns = 20;
constexpr size_t kMostOfName = 12;  // characters of a class's name

std::string NumberText(const NamedTable& table, size_t i) {
  if (table.counts) return FormatCount(static_cast<int64_t>(table.values[i]));
  char text[32];
  FormatMetric(table.values[i], text, sizeof(text));
  return text;
}

// The first few characters of UTF-8.
std::string Shortened(const std::string& name) {
  size_t end = 0, characters = 0;
  for (; end < name.size(); ++end) {
    if ((name[end] & 0xC0) != 0x80 && characters++ == kMostOfName) break;
  }
  return end == name.size() ? name : name.substr(0, end) + "…";
}

// Returns the name of class `i`, cut where it is long, or its number.
std::string ClassText(const std::vector<std::string>& names, size_t i) {
  return i < names.size() ? Shortened(names[i]) : std::to_string(i);
}

std::string ListText(const NamedTable& table, const std::vector<std::string>& names) {
  std::string line, text;
  for (size_t i = 0; i < table.values.size(); ++i) {
    const std::string item = fmt::format("  {:>3}: {}", ClassText(names, i), NumberText(table, i));
    if (line.size() + item.size() > kTableWidth) {
      text += line + "\n";
      line.clear();
    }
    line += item;
  }
  return text + line + "\n";
}

std::string TableText(const NamedTable& table, const std::vector<std::string>& names) {
  const auto columns = static_cast<size_t>(table.columns);
  TextTable text(std::vector<Align>(columns + 1, Align::kRight));
  std::vector<std::string> cells = {""};
  for (size_t column = 0; column < columns; ++column) cells.push_back(ClassText(names, column));
  text.Add(cells);
  text.AddRule();
  for (size_t i = 0; i < table.values.size(); i += columns) {
    cells = {ClassText(names, i / columns)};
    for (size_t column = 0; column < columns; ++column) {
      cells.push_back(NumberText(table, i + column));
    }
    text.Add(cells);
  }
  return text.ToString("  ");
}

}  // namespace

std::string MetricTables(const PassResult& pass, const ClassNames& class_names) {
  std::string text;
  if (!pass.measured()) return text;
  for (const NamedTable& table : pass.tables) {
    text += fmt::format("\n{} {}, {}\n", pass.split, table.name, table.caption);
    if (table.columns > kMostColumns || table.values.size() > kMostElements) {
      text += fmt::format("  {} numbers: `--json` has them, and summary.json of a run\n",
                          FormatCount(static_cast<int64_t>(table.values.size())));
    } else {
      const int64_t classes =
          table.columns > 0 ? table.columns : static_cast<int64_t>(table.values.size());
      const auto names = FindClassNames(class_names, "", classes);
      text += table.columns > 0 ? TableText(table, names) : ListText(table, names);
    }
  }
  return text;
}

std::vector<ConfusionMatrix> ConfusionMatrices(const EpochReport& report,
                                               const ClassNames& class_names) {
  std::vector<ConfusionMatrix> matrices;
  const auto add = [&](const PassResult& pass) {
    if (!pass.measured()) return;
    for (const NamedTable& table : pass.tables) {
      const auto classes = static_cast<size_t>(table.columns);
      if (classes == 0 || !table.counts || table.values.size() != classes * classes) continue;
      ConfusionMatrix& matrix = matrices.emplace_back();
      matrix.title = pass.split + " " + table.name;
      matrix.classes = FindClassNames(class_names, "", table.columns);
      for (size_t i = matrix.classes.size(); i < classes; ++i) {
        matrix.classes.push_back(std::to_string(i));
      }
      for (const double count : table.values) {
        matrix.counts.push_back(static_cast<int64_t>(count));
      }
    }
  };
  add(report.train);
  for (const PassResult& pass : report.evaluations) add(pass);
  return matrices;
}

}  // namespace cgrun
