// The tables of a frontier.
#include "src/report/frontier_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// "103.2 %" of the first row's.
std::string ShareOf(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::vector<std::string> ArenasOf(const auto& rows) {
  std::vector<int64_t> bytes;
  for (const auto& row : rows) bytes.push_back(row.arena_bytes);
  return FormatBytesApart(bytes);
}

std::string NoteOf(const FrontierRow& row) {
  std::string note = row.usual ? "as planned without a cap" : "";
  if (row.arena_bytes > row.lower_bound_bytes) {
    note += (note.empty() ? "" : "; ") +
            fmt::format("{} above its bound", FormatBytes(row.arena_bytes - row.lower_bound_bytes));
  }
  return note;
}

bool AnySwaps(const FrontierSubject& subject) {
  return std::ranges::any_of(subject.rows, [](const auto& row) { return row.swaps > 0; });
}

bool AnyAlone(const FrontierSubject& subject) {
  return std::ranges::any_of(subject.rows, [](const auto& row) { return row.alone > 0; });
}

std::string PlansText(const FrontierSubject& subject) {
  const bool swaps = AnySwaps(subject), any_alone = AnyAlone(subject);
  std::vector<Align> columns = {Align::kRight, Align::kRight, Align::kRight, Align::kRight};
  if (any_alone) columns.push_back(Align::kRight);
  if (swaps) columns.insert(columns.end(), {Align::kRight, Align::kRight});
  columns.push_back(Align::kLeft);
  TextTable table(columns);
  const auto add = [&](std::vector<std::string> cells, const std::string& alone,
                       const std::string& tensors, const std::string& file,
                       const std::string& note) {
    if (any_alone) cells.push_back(alone);
    if (swaps) cells.insert(cells.end(), {tensors, file});
    cells.push_back(note);
    table.Add(cells);
  };
  add({"arena", "", "a step takes", "run again"}, "on one thread", "swapped",
      subject.swaps_to_host ? "host memory" : "swap file", "");
  const std::vector<std::string> arenas = ArenasOf(subject.rows);
  for (size_t i = 0; i < subject.rows.size(); ++i) {
    const FrontierRow &row = subject.rows[i], &first = subject.rows[0];
    add({arenas[i],
         ShareOf(static_cast<double>(row.arena_bytes), static_cast<double>(first.arena_bytes)),
         ShareOf(row.seconds, first.seconds), FormatCount(row.second_runs)},
        FormatCount(row.alone), FormatCount(row.swaps),
        row.swaps > 0 ? FormatBytes(row.file_bytes) : "", NoteOf(row));
  }
  return table.ToString("  ");
}

std::string ExactText(const FrontierSubject& subject) {
  if (!subject.has_exact) {
    return "The graph is too large for a proof of what the least is in any order.\n";
  }
  std::string text =
      fmt::format("The least of '{}' over all orders and recomputations{}, proved{}:\n",
                  subject.entry, AnyAlone(subject) ? ", with workspaces as they are at first" : "",
                  subject.exact_is_complete ? "" : " as far as the search goes");
  if (subject.exact.empty()) {
    return "The graph is too large to prove what the least of '" + subject.entry +
           "' is over all orders: the search ended before that.\n";
  }
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"arena", "", "a step takes", "operators run"});
  const std::vector<std::string> arenas = ArenasOf(subject.exact);
  for (size_t i = 0; i < subject.exact.size(); ++i) {
    const ExactRow& row = subject.exact[i];
    const auto first = static_cast<double>(subject.rows[0].arena_bytes);
    table.Add({arenas[i], ShareOf(static_cast<double>(row.arena_bytes), first),
               ShareOf(row.seconds, subject.exact[0].seconds), FormatCount(row.runs)});
  }
  return text + table.ToString("  ");
}

}  // namespace

std::string FrontierText(const FrontierSubject& subject) {
  return fmt::format("{} on {}, batch {}: memory against the time of '{}', as it is estimated\n\n",
                     subject.model, subject.device, subject.batch, subject.entry) +
         PlansText(subject) + "\n" + ExactText(subject);
}

std::string FrontierJson(const FrontierSubject& subject) {
  nlohmann::ordered_json json;
  json["model"] = subject.model;
  json["device"] = subject.device;
  json["entry"] = subject.entry;
  json["batch"] = subject.batch;
  json["frontier"] = nlohmann::ordered_json::array();
  const char* const swap_key = subject.swaps_to_host ? "swap_host_bytes" : "swap_file_bytes";
  for (const FrontierRow& row : subject.rows) {
    json["frontier"].push_back({{"arena_bytes", row.arena_bytes},
                                {"lower_bound_bytes", row.lower_bound_bytes},
                                {"seconds", row.seconds},
                                {"second_runs", row.second_runs},
                                {"on_one_thread", row.alone},
                                {"swaps", row.swaps},
                                {swap_key, row.file_bytes},
                                {"usual", row.usual}});
  }
  json["exact"] = nullptr;
  if (!subject.has_exact) return JsonText(json, 2) + "\n";
  json["exact"] = {{"complete", subject.exact_is_complete},
                   {"points", nlohmann::ordered_json::array()}};
  for (const ExactRow& row : subject.exact) {
    json["exact"]["points"].push_back(
        {{"arena_bytes", row.arena_bytes}, {"seconds", row.seconds}, {"runs", row.runs}});
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
