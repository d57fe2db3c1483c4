// Makes the tables of a frontier.
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
  if (!row.without.empty()) {
    note = fmt::format("without the pass{} {}", row.without.size() > 1 ? "es" : "",
                       fmt::join(row.without, " and "));
  }
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
  return std::ranges::any_of(subject.rows, [](const auto& row) { return row.single_threaded > 0; });
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
  add({"arena", "", "a step takes", "recomputed"}, "on one thread", "swapped",
      subject.swaps_to_host ? "host memory" : "swap file", "");
  const std::vector<std::string> arenas = ArenasOf(subject.rows);
  for (size_t i = 0; i < subject.rows.size(); ++i) {
    const FrontierRow &row = subject.rows[i], &first = subject.rows[0];
    add({arenas[i],
         ShareOf(static_cast<double>(row.arena_bytes), static_cast<double>(first.arena_bytes)),
         ShareOf(row.seconds, first.seconds), FormatCount(row.recomputations)},
        FormatCount(row.single_threaded), FormatCount(row.swaps),
        row.swaps > 0 ? FormatBytes(row.file_bytes) : "", NoteOf(row));
  }
  return table.ToString("  ");
}

std::string RowsText(const std::vector<ExactRow>& rows, double first_arena) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"arena", "", "a step takes", "operators run"});
  const std::vector<std::string> arenas = ArenasOf(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    table.Add({arenas[i], ShareOf(static_cast<double>(rows[i].arena_bytes), first_arena),
               ShareOf(rows[i].seconds, rows[0].seconds), FormatCount(rows[i].runs)});
  }
  return table.ToString("  ");
}

// Returns whether a plan takes less than what is proved.
bool IsBeaten(const FrontierSubject& subject, const ExactProof& proof) {
  const auto by_arena = [](const auto& a, const auto& b) { return a.arena_bytes < b.arena_bytes; };
  const auto plan = std::ranges::min_element(subject.rows, by_arena);
  const auto proved = std::ranges::min_element(proof.rows, by_arena);
  return plan->arena_bytes < proved->arena_bytes;
}

// `operators`: "operators one by one".
std::string ProofText(const FrontierSubject& subject, const ExactProof& proof,
                      const std::string& operators) {
  if (!proof.is_there) return "";
  if (proof.rows.empty()) {
    return fmt::format(
        "The search ended before it had proved what the least of '{}' with its {} is.\n",
        subject.entry, operators);
  }
  const std::string workspaces = AnyAlone(subject) ? ", with workspaces as they are at first" : "";
  std::string text = fmt::format(
      "The least of '{}' over all orders and recomputations of its {}, in place where their "
      "kernels can{}, proved{}:\n",
      subject.entry, operators, workspaces, proof.is_complete ? "" : " as far as the search goes");
  text += RowsText(proof.rows, static_cast<double>(subject.rows[0].arena_bytes));
  if (IsBeaten(subject, proof)) {
    text +=
        "A plan above takes less: this proof does not cover tensors that are joined or cut in "
        "place, other fusions, nor smaller workspaces.\n";
  }
  return text;
}

bool Differs(const ExactProof& a, const ExactProof& b) {
  return !std::ranges::equal(a.rows, b.rows, [](const ExactRow& x, const ExactRow& y) {
    return x.arena_bytes == y.arena_bytes && x.runs == y.runs;
  });
}

std::string ExactText(const FrontierSubject& subject) {
  if (!subject.one_by_one.is_there && !subject.fused.is_there) {
    return "The graph is too large for a proof of what the least is in any order.\n";
  }
  std::string text = ProofText(subject, subject.one_by_one, "operators one by one");
  if (Differs(subject.one_by_one, subject.fused)) {
    if (!text.empty()) text += "\n";
    text += ProofText(subject, subject.fused, "operators as the plans above fuse them");
  }
  return text;
}

nlohmann::ordered_json ProofJson(const ExactProof& proof) {
  if (!proof.is_there) return nullptr;
  nlohmann::ordered_json json = {{"complete", proof.is_complete},
                                 {"points", nlohmann::ordered_json::array()}};
  for (const ExactRow& row : proof.rows) {
    json["points"].push_back(
        {{"arena_bytes", row.arena_bytes}, {"seconds", row.seconds}, {"runs", row.runs}});
  }
  return json;
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
                                {"second_runs", row.recomputations},
                                {"on_one_thread", row.single_threaded},
                                {"swaps", row.swaps},
                                {swap_key, row.file_bytes},
                                {"usual", row.usual},
                                {"without", row.without}});
  }
  json["exact"] = ProofJson(subject.one_by_one);
  json["exact_fused"] = ProofJson(subject.fused);
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
