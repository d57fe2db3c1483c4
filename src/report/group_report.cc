// A column for each mean of each split.
#include "src/report/group_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/base/printable.h"
#include "src/io/checksum.h"
#include "src/report/epoch_lines.h"
#include "src/report/table.h"
#include "src/results/metrics_json.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostGroups = 12, kMostWithout = 3;  // that the terminal shows
constexpr size_t kMostColumns = 6;                    // of means
constexpr size_t kMostCharacters = 24;                // of a name
constexpr size_t kMostOfReason = 100;

// A mean of a split, which is a column.
struct MeanColumn {
  std::string split;
  std::string name;
};

// The columns that some group has, by split.
std::vector<MeanColumn> ColumnsOf(const GroupsResult& result) {
  std::vector<MeanColumn> columns;
  for (const PassResult& pass : MeansOfGroups(result)) {
    for (const NamedNumber& mean : pass.means) columns.push_back({pass.split, mean.name});
  }
  return columns;
}

const NamedNumber* FindMean(const PassResult* pass, const std::string& name) {
  if (pass == nullptr) return nullptr;
  const auto mean = std::ranges::find(pass->means, name, &NamedNumber::name);
  return mean == pass->means.end() ? nullptr : &*mean;
}

// Cut between two characters, where it is long.
std::string ShortText(const std::string& text, size_t most) {
  std::string shown = PrintableText(text);
  size_t end = 0, characters = 0;
  while (end < shown.size() && characters < most) {
    end += std::max<size_t>(1, Utf8Bytes(std::string_view(shown).substr(end)));
    ++characters;
  }
  return end < shown.size() ? shown.substr(0, end) + "…" : shown;
}

std::string NumberText(const NamedNumber* mean) {
  if (mean == nullptr) return "";
  char text[32];
  FormatMetric(mean->value, text, sizeof(text));
  return (mean->approximate ? "≈" : "") + std::string(text);
}

// A cell as RFC 4180 has it.
std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

// The columns that the terminal has room for: those of the ranking's split first.
std::vector<MeanColumn> ShownColumns(const GroupsResult& result) {
  std::vector<MeanColumn> columns = ColumnsOf(result);
  if (columns.size() <= kMostColumns) return columns;
  std::ranges::stable_partition(
      columns, [&](const MeanColumn& column) { return column.split == result.split; });
  columns.resize(kMostColumns);
  return columns;
}

std::string RankedTable(const GroupsResult& result, const std::vector<MeanColumn>& columns) {
  std::vector<Align> aligns(columns.size() + 2, Align::kRight);
  aligns[0] = Align::kLeft;
  TextTable table(aligns);
  std::vector<std::string> head = {ShortText(result.column, kMostCharacters), "rows"};
  for (const MeanColumn& column : columns) head.push_back(column.split + " " + column.name);
  table.Add(std::move(head));
  table.AddRule();
  size_t shown = 0;
  int64_t rows = 0;
  for (const GroupResult& group : result.groups) {
    rows += group.reason.empty() ? group.rows : 0;
    if (!group.reason.empty() || shown++ >= kMostGroups) continue;
    std::vector<std::string> cells = {ShortText(group.name, kMostCharacters),
                                      FormatCount(group.rows)};
    for (const MeanColumn& column : columns) {
      cells.push_back(NumberText(FindMean(group.Find(column.split), column.name)));
    }
    table.Add(std::move(cells));
  }
  table.AddRule();
  const std::vector<PassResult> means = MeansOfGroups(result);
  std::vector<std::string> cells = {"mean", FormatCount(rows)};
  for (const MeanColumn& column : columns) {
    const auto pass = std::ranges::find(means, column.split, &PassResult::split);
    cells.push_back(NumberText(FindMean(&*pass, column.name)));
  }
  table.Add(std::move(cells));
  return table.ToString();
}

// Lists groups without a model or a measurement, the first few with the reason.
std::string WithoutText(const GroupsResult& result) {
  const int64_t count = result.CountWithout();
  if (count == 0) return "";
  std::string text = result.weights.empty()
                         ? CountText(count, "group has no model", "groups have no model")
                         : CountText(count, "group is not measured", "groups are not measured");
  text += ":\n";
  size_t shown = 0;
  for (const GroupResult& group : result.groups) {
    if (group.reason.empty() || shown++ >= kMostWithout) continue;
    text += "  " + ShortText(group.name, kMostCharacters) + " (" + FormatCount(group.rows, "row") +
            "): " + ShortText(group.reason, kMostOfReason) + "\n";
  }
  if (shown > kMostWithout) text += fmt::format("  and {} more\n", shown - kMostWithout);
  return text;
}

Json MeansJson(const PassResult& pass) {
  Json json = ParseOrderedJson(MetricsJson(pass));
  json["samples"] = pass.samples;
  return json;
}

Json GroupJson(const GroupsResult& result, const GroupResult& group) {
  Json json = {{"group", group.name}, {"rows", group.rows}};
  if (!group.reason.empty()) json["reason"] = group.reason;
  if (result.weights.empty()) {
    json["epochs"] = group.epochs;
    json["steps"] = group.steps;
    if (group.reason.empty()) json["weights_hash"] = HashText(group.weights_hash);
  }
  for (const PassResult& pass : group.passes) json[pass.split] = MeansJson(pass);
  return json;
}

}  // namespace

std::string GroupsText(const GroupsResult& result, const std::string& file) {
  const int64_t without = result.CountWithout();
  const int64_t with = std::ssize(result.groups) - without;
  std::string text;
  if (with > 0) text += RankedTable(result, ShownColumns(result));
  const int64_t more = with - static_cast<int64_t>(kMostGroups);
  if (more > 0) {
    text += fmt::format("and {} more{}\n", FormatCount(more, "group"),
                        file.empty() ? "" : ", in " + file);
  }
  if (with > 1) {
    text += fmt::format("The worst by {} of '{}' come first; means are weighted by samples.\n",
                        result.metric, result.split);
  }
  return text + WithoutText(result);
}

std::string GroupsCsv(const GroupsResult& result) {
  const std::vector<MeanColumn> columns = ColumnsOf(result);
  const std::vector<PassResult> splits = MeansOfGroups(result);
  std::string text = CsvText(result.column) + ",rows,epochs,steps";
  for (const PassResult& split : splits) text += "," + split.split + "_samples";
  for (const MeanColumn& column : columns) text += "," + CsvText(column.split + "_" + column.name);
  text += ",weights,reason\n";
  for (const GroupResult& group : result.groups) {
    text += fmt::format("{},{},{},{}", CsvText(group.name), group.rows, group.epochs, group.steps);
    for (const PassResult& split : splits) {
      const PassResult* const pass = group.Find(split.split);
      text += "," + (pass == nullptr ? "" : std::to_string(pass->samples));
    }
    for (const MeanColumn& column : columns) {
      const NamedNumber* const mean = FindMean(group.Find(column.split), column.name);
      text += mean == nullptr ? "," : fmt::format(",{:.9g}", mean->value);
    }
    const bool has_hash = group.reason.empty() && result.weights.empty();
    text +=
        "," + (has_hash ? HashText(group.weights_hash) : "") + "," + CsvText(group.reason) + "\n";
  }
  return text;
}

std::string GroupsJson(const GroupsResult& result) {
  Json json = {{"model", result.model},
               {"device", result.device},
               {"batch", result.batch},
               {"group_by", result.column},
               {"groups", std::ssize(result.groups)},
               {"groups_without", result.CountWithout()},
               {"run_folder", result.folder},
               {"weights", result.weights},
               {"weights_bytes", result.weights_bytes},
               {"graph_analyses", result.graph_analyses},
               {"ranked_by", {{"split", result.split}, {"metric", result.metric}}},
               {"seconds", result.seconds},
               {"interrupted", result.interrupted}};
  for (const PassResult& pass : MeansOfGroups(result)) json[pass.split] = MeansJson(pass);
  json.update(ParseOrderedJson(MemoryJson(result.memory)));
  // A line for each group: thousands of them are never a tree at once.
  std::string text = JsonText(json, 2);
  text.resize(text.size() - std::string_view("\n}").size());
  text += ",\n  \"by_group\": [";
  for (const GroupResult& group : result.groups) {
    text += (&group == &result.groups.front() ? "\n    " : ",\n    ") +
            JsonText(GroupJson(result, group));
  }
  return text + "\n  ]\n}\n";
}

std::string GroupsMemoryText(int64_t groups, int64_t weights_bytes) {
  return fmt::format("{}, {} of weights", FormatCount(groups, "group"), FormatBytes(weights_bytes));
}

}  // namespace cgrun
