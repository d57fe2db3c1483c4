#include "src/report/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/diagnostics.h"
#include "src/report/epoch_lines.h"
#include "src/report/metric_tables.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// Code and libraries are mapped from files. They are neither in the fixed memory nor in the
// measured bytes.
std::string MeasuredText(const MemoryUse& memory) {
  return fmt::format("measured {} (with code and libraries {})", FormatBytes(memory.measured),
                     FormatBytes(memory.process));
}

std::string MemoryText(const MemoryUse& memory) {
  if (memory.has_plan()) return PlannedText(memory) + ", " + MeasuredText(memory);
  return fmt::format("tensors {} at their peak, {} reserved for them; the process {}",
                     FormatBytes(memory.engine.live_peak_bytes),
                     FormatBytes(memory.engine.reserved_peak_bytes), MeasuredText(memory));
}

// Returns whether the number is of the metric `name` of one path, or of the only path.
bool HasName(const NamedNumber& mean, std::string_view name) {
  return mean.name == name || mean.name.ends_with("." + std::string(name));
}

// `of`: "by the last weights"; "": nothing is said of them.
std::string MeansText(const PassResult& pass, const std::string& of = "") {
  std::string text;
  for (const NamedNumber& mean : pass.means) {
    char number[32];
    FormatMetric(mean.value, number, sizeof(number));
    text += mean.name + (mean.approximate ? " ≈" : " ") + number + "  ";
    if (std::isnan(mean.value) && HasName(mean, "auc") && pass.class_share == 1.0) {
      text += "(all labels are of one class, and it takes two)  ";
    }
    if (pass.class_share && IsAccuracy(mean)) {
      FormatMetric(*pass.class_share, number, sizeof(number));
      text += fmt::format("(the most frequent class alone: {})  ", number);
    }
  }
  return fmt::format("{}({}{})", text, FormatCount(pass.samples, "sample"),
                     of.empty() ? "" : ", " + of);
}

// Names the weights that `eval` and `predict` take, since the summary can be of others.
std::string BestText(const TrainResult& result) {
  std::string text = result.best;
  if (!result.best_place) return text;
  text += ": " + PlaceText(*result.best_place);
  if (result.best_place->step == result.steps) return text + ", the last";
  return text + "; `cgrun eval` and `predict` take it, not the last";
}

std::string AllocationsText(const TrainResult& result) {
  if (!result.heap_growth_bytes) return "none to count: no step was run";
  if (!result.allocations_after_first_step) return "unknown: a sanitizer allocates in its own way";
  const int64_t growth = std::max<int64_t>(0, *result.heap_growth_bytes);
  std::string text = FormatCount(*result.allocations_after_first_step) + " after step 1";
  if (result.memory.mode == Mode::kEager && *result.allocations_after_first_step > 0) {
    text += ", to prepare operators when they run for the first time, as those of the last batch";
  }
  text += growth == 0 ? ": the run takes no more memory the longer it is"
                      : ": the run took " + FormatBytes(growth) + " more since";
  if (*result.pool_requests > 0) {
    text += fmt::format("; libraries took memory {}, of what was set aside for them before",
                        FormatCount(*result.pool_requests, "time"));
  }
  return text;
}

// A resumed run knows the time of its last part alone.
std::string StepsText(const TrainResult& result) {
  std::string text =
      FormatCount(result.steps) + " in " +
      (result.epochs == 0 ? "a part of the first epoch" : FormatCount(result.epochs, "epoch"));
  if (result.resumed_step > 0) {
    text +=
        fmt::format("; {} of them since step {}", FormatCount(result.steps - result.resumed_step),
                    FormatCount(result.resumed_step));
  }
  text += ", " + FormatSeconds(result.seconds);
  if (result.early_stop) text += ", stopped early: " + StopText(*result.early_stop);
  if (result.interrupted) text += ", interrupted";
  return text;
}

// However many steps a run has, its graph is analysed before the first one alone.
std::string AnalysesText(const TrainResult& result) {
  const bool is_planned = result.memory.has_plan();
  if (result.graph_analyses == 0) return "none of the graph: the program was compiled before";
  std::string text =
      "the graph was " + std::string(is_planned ? "compiled and planned" : "prepared");
  text += result.graph_analyses == 1 ? " once" : fmt::format(" {} times", result.graph_analyses);
  const int64_t steps = result.steps - result.resumed_step;
  return text + fmt::format(" for {}", FormatCount(steps, "step"));
}

std::string ModeText(const MemoryUse& memory) {
  std::string text(Name(memory.mode));
  if (memory.mode == Mode::kEager) {
    text += fmt::format(": {} for memory, {} of them of the system",
                        FormatCount(memory.engine.requests, "request"),
                        FormatCount(memory.engine.system_requests));
  }
  return text;
}

std::string CapText(const TrainResult& result) {
  std::string text = fmt::format("keeping it made steps {}", LongerText(*result.slowdown));
  if (!result.expected_slowdown) return text;
  text += fmt::format("; {} was expected", LongerText(*result.expected_slowdown));
  const double error = 100 * (*result.expected_slowdown - *result.slowdown);
  if (std::abs(error) < 0.05) return text;
  return text +
         fmt::format(", {:.1f} points too {}", std::abs(error), error < 0 ? "little" : "much");
}

// "4 samples of the training data, 3 of 'valid': …"
std::string LeftOutText(const LeftOut& left_out) {
  std::string text;
  for (const auto& [set, samples] : left_out) {
    const std::string of = set == "train" ? "the training data" : "'" + set + "'";
    text +=
        (text.empty() ? CountText(samples, "sample") : ", " + FormatCount(samples)) + " of " + of;
  }
  return text +
         ": rows of a batch go on where those of the batch before ended, and there are whole "
         "batches alone";
}

// Notes that checkpoints took a good part of the run; else returns "".
std::string CheckpointsText(const TrainResult& result) {
  constexpr double kLeastShare = 0.2, kLeastSeconds = 0.5;
  const double seconds = result.checkpoint_seconds;
  if (seconds < kLeastSeconds || seconds < kLeastShare * result.seconds) return "";
  return fmt::format("{} in {} of {}; `--set train.checkpoint_every=N` writes one every N steps",
                     FormatCount(result.checkpoints), FormatSeconds(seconds),
                     FormatSeconds(result.seconds));
}

}  // namespace

double SamplesPerSecond(int64_t samples, double seconds) {
  return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
}

bool IsAccuracy(const NamedNumber& mean) { return HasName(mean, "accuracy"); }

std::string PlannedText(const MemoryUse& memory) {
  if (!memory.has_plan()) {
    return "not planned: eager mode takes it as it goes (--mode graph knows it before)";
  }
  const std::string parts = fmt::format("(arena {}, data {}, base {})", FormatBytes(memory.arena),
                                        FormatBytes(memory.data), FormatBytes(memory.base));
  const std::string text =
      memory.start > memory.in_steps()
          ? fmt::format("planned {}, the larger of {} for reading and compiling and {} in steps {}",
                        FormatBytes(memory.planned()), FormatBytes(memory.start),
                        FormatBytes(memory.in_steps()), parts)
          : fmt::format("planned {} {}", FormatBytes(memory.planned()), parts);
  if (memory.swap_space == 0) return text;
  return text +
         (memory.swaps_to_host ? ", pinned host memory for swapped tensors " : ", swap file ") +
         FormatBytes(memory.swap_space);
}

std::string PlaceText(const WeightsPlace& place) {
  const std::string step = "step " + FormatCount(place.step);
  return place.epoch > 0 ? step + " of epoch " + FormatCount(place.epoch) : step;
}

std::string StopText(const EarlyStop& stop) {
  const std::string metric = "'" + stop.metric + "' of `valid` was ";
  const std::string evaluations = CountText(stop.evaluations, "evaluation");
  if (std::isnan(stop.value)) return metric + "never a number, in " + evaluations;
  char number[32];
  FormatMetric(stop.value, number, sizeof(number));
  return metric + fmt::format("best after {}, {}{}, and no better in {} since",
                              PlaceText(stop.best), stop.approximate ? "≈" : "", number,
                              evaluations);
}

std::vector<std::pair<std::string, std::string>> TrainFacts(const TrainResult& result,
                                                            const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string name, std::string text) {
    facts.emplace_back(std::move(name), std::move(text));
  };
  if (result.last.train.measured()) {
    add("train", MeansText(result.last.train, "while it learned"));
  }
  const std::string last = "by the weights of step " + FormatCount(result.steps) + ", the last";
  for (const PassResult& pass : result.last.evaluations) {
    if (pass.measured()) add(pass.split, MeansText(pass, last));
  }
  add("steps", StepsText(result));
  add("throughput",
      fmt::format("{} samples/s; {} of {} were spent waiting for the loader",
                  FormatSi(result.samples_per_second), FormatSeconds(result.stall_seconds),
                  FormatSeconds(result.train_seconds)));
  if (const std::string text = CheckpointsText(result); !text.empty()) add("checkpoints", text);
  if (!result.left_out.empty()) add("left out", LeftOutText(result.left_out));
  add("mode", ModeText(result.memory));
  add("analyses", AnalysesText(result));
  add("memory", MemoryText(result.memory));
  if (result.slowdown) add("cap", CapText(result));
  add("allocations", AllocationsText(result));
  if (!result.best.empty()) add("best model", BestText(result));
  add("weights", fmt::format("{}  (hash {:016x})", result.checkpoint, result.weights_hash));
  add("run folder", folder);
  return facts;
}

std::string TrainSummary(const TrainResult& result, const std::string& folder,
                         const ClassNames& class_names, bool quiet) {
  TextTable table({Align::kLeft, Align::kLeft});
  for (const auto& [name, text] : TrainFacts(result, folder)) table.Add({name, text});
  if (quiet) return table.ToString();
  // Below the lines of the epochs; what was looked for first is what is seen last.
  std::string text = MetricTables(result.last.train, class_names);
  for (const PassResult& pass : result.last.evaluations) text += MetricTables(pass, class_names);
  return text + "\n" + table.ToString();
}

std::string BusyNote(double slowdown, double share, int threads) {
  std::string text;
  if (slowdown > 0) {
    text = fmt::format("steps took {:.1f} times as long as the quickest of them", slowdown);
  }
  if (share > 0) {
    text += fmt::format("{}other programs took {:.0f} % of the processors' time",
                        text.empty() ? "" : ", and ", 100 * share);
  }
  if (text.empty()) return "";
  text = "note: " + text;
  if (share == 0) text += ", as on a busy machine";
  return text + (threads > 1 ? ": `--threads 1` may be faster\n"
                             : ": on a quiet machine the run is faster\n");
}

std::string CapNote(const MemoryUse& memory, int64_t cap) {
  constexpr int64_t kLeast = 1 << 20;  // the memory of a process varies by less
  const int64_t over = memory.measured - cap;
  if (cap <= 0 || over <= std::max(kLeast, cap / 100)) return "";
  const std::vector<std::string> texts = FormatBytesUnder(cap, {memory.measured});
  return fmt::format(
      "note: the run was measured to take {}, more than its cap of {}: {} were planned, and the "
      "rest is what libraries and the system took beside\n",
      texts[1], texts[0], FormatBytes(memory.planned()));
}

std::string EvaluationSummary(const PassResult& result, const std::string& weights,
                              const MemoryUse& memory, const ClassNames& class_names,
                              int64_t left_out) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({result.split, MeansText(result)});
  if (left_out > 0) table.Add({"left out", LeftOutText({{result.split, left_out}})});
  table.Add({"weights", weights});
  table.Add(
      {"throughput", FormatSi(SamplesPerSecond(result.samples, result.seconds)) + " samples/s"});
  table.Add({"mode", ModeText(memory)});
  table.Add({"memory", MemoryText(memory)});
  const std::string tables = MetricTables(result, class_names);
  return tables.empty() ? table.ToString() : tables.substr(1) + "\n" + table.ToString();
}

}  // namespace cgrun
