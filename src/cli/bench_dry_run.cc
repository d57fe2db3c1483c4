// A row a case: its batch, what it is planned to take, how long it took to build.
#include "src/cli/bench_dry_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/report/table.h"

namespace cgrun {

std::string BenchDryRunText(const BenchResult& result, const std::vector<BenchCase>& cases) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"case", "batch", "planned", "build"});
  table.AddRule();
  for (size_t i = 0; i < cases.size(); ++i) {
    const CaseResult& one = result.cases[i];
    const bool is_planned = cases[i].mode == Mode::kGraph;
    table.Add({one.name, FormatCount(one.batch), is_planned ? FormatBytes(one.peak_bytes) : "–",
               FormatSeconds(one.build_seconds)});
  }
  return fmt::format("{} of '{}' on device {} with {}\n\n{}\n",
                     result.infer ? "inference" : "training", result.model, result.device,
                     CountText(result.threads, "thread"), table.ToString()) +
         "Eager mode plans nothing. Everything is ready; nothing was run (--dry-run).\n";
}

std::string BenchDryRunJson(const BenchResult& result, const std::vector<BenchCase>& cases) {
  nlohmann::ordered_json json = {{"model", result.model},
                                 {"device", result.device},
                                 {"mode", result.infer ? "infer" : "train"},
                                 {"threads", result.threads},
                                 {"dry_run", true},
                                 {"cases", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < cases.size(); ++i) {
    const CaseResult& one = result.cases[i];
    nlohmann::ordered_json& added =
        json["cases"].emplace_back(nlohmann::ordered_json{{"name", one.name},
                                                          {"batch", one.batch},
                                                          {"planned_bytes", nullptr},
                                                          {"build_seconds", one.build_seconds}});
    if (cases[i].mode == Mode::kGraph) added["planned_bytes"] = one.peak_bytes;
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
