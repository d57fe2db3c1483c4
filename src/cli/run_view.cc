// Progress, epoch lines and summaries.
#include "src/cli/run_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/cli/console.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// "loss 0.1234  accuracy 0.9810" into a buffer.
void FormatMeans(const std::vector<NamedNumber>& means, const char* prefix, char* text,
                 size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (const NamedNumber& mean : means) {
    const int written = std::snprintf(text + used, size - used, "%s%s%s %.4f", used > 0 ? "  " : "",
                                      prefix, mean.name.c_str(), mean.value);
    if (written < 0 || static_cast<size_t>(written) >= size - used) return;
    used += static_cast<size_t>(written);
  }
}

double Rate(int64_t samples, double seconds) {
  return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
}

// Time until the last step, evaluations left out.
double Eta(const StepReport& report) {
  if (report.batch == 0 || report.total_steps == 0) return -1;
  const double per_step = report.seconds / static_cast<double>(report.batch);
  return per_step * static_cast<double>(report.total_steps - report.step);
}

std::string PlannedText(const MemoryUse& memory) {
  return fmt::format("planned {} (arena {}, data {}, base {})", FormatBytes(memory.planned()),
                     FormatBytes(memory.arena), FormatBytes(memory.data), FormatBytes(memory.base));
}

std::string MemoryText(const MemoryUse& memory) {
  return PlannedText(memory) + ", measured " + FormatBytes(memory.measured);
}

std::string MeansText(const PassResult& pass) {
  char text[512];
  FormatMeans(pass.means, "", text, sizeof(text));
  return fmt::format("{}  ({} samples)", text, FormatCount(pass.samples));
}

std::string AllocationsText(const TrainResult& result) {
  if (!result.heap_growth_bytes) return "not counted: there was no step";
  if (!result.allocations_after_first_step) return "not counted under a sanitizer";
  return fmt::format("{} after step 1, heap growth {}", *result.allocations_after_first_step,
                     FormatBytes(std::max<int64_t>(0, *result.heap_growth_bytes)));
}

}  // namespace

RunView::RunView(int64_t epochs)
    : progress_(stderr, isatty(STDERR_FILENO) != 0, ColorOnStderr()),
      quiet_(Quiet()),
      epochs_(epochs) {}

void RunView::OnStep(const StepReport& report) {
  if (quiet_) return;
  char label[64], numbers[256];
  if (epochs_ > 0) {
    std::snprintf(label, sizeof(label), "epoch %lld/%lld", static_cast<long long>(report.epoch + 1),
                  static_cast<long long>(epochs_));
  } else {
    std::snprintf(label, sizeof(label), "epoch %lld", static_cast<long long>(report.epoch + 1));
  }
  FormatMeans(*report.means, "", numbers, sizeof(numbers));
  progress_.Show({label, report.batch, report.batches, Rate(report.samples, report.seconds),
                  Eta(report), numbers});
}

void RunView::OnEvaluationStep(const StepReport& report) {
  if (quiet_) return;
  char numbers[256];
  FormatMeans(*report.means, "", numbers, sizeof(numbers));
  const double rate = Rate(report.samples, report.seconds);
  const double eta = report.seconds / static_cast<double>(std::max<int64_t>(1, report.batch)) *
                     static_cast<double>(report.batches - report.batch);
  progress_.Show({"evaluation", report.batch, report.batches, rate, eta, numbers});
}

void RunView::OnEpoch(const EpochReport& report) {
  if (quiet_ || WantsJson()) return;
  progress_.Clear();
  char numbers[256];
  if (!report.train.measured()) return;  // time was up before its first step
  FormatMeans(report.train.means, "", numbers, sizeof(numbers));
  std::printf("epoch %3lld  %s", static_cast<long long>(report.epoch + 1), numbers);
  for (const PassResult& pass : report.evaluations) {
    if (!pass.measured()) continue;
    FormatMeans(pass.means, "", numbers, sizeof(numbers));
    std::printf("  | %s %s", pass.split.c_str(), numbers);
  }
  std::printf("  | %.0f samples/s\n", Rate(report.train.samples, report.train.seconds));
  std::fflush(stdout);
}

std::string TrainSummary(const TrainResult& result, const std::string& folder) {
  TextTable table({Align::kLeft, Align::kLeft});
  if (result.last.train.measured()) table.Add({"train", MeansText(result.last.train)});
  for (const PassResult& pass : result.last.evaluations) {
    if (pass.measured()) table.Add({pass.split, MeansText(pass)});
  }
  table.Add({"steps", fmt::format("{} in {} epoch{}, {}", FormatCount(result.steps), result.epochs,
                                  result.epochs == 1 ? "" : "s", FormatSeconds(result.seconds))});
  table.Add({"throughput",
             fmt::format("{} samples/s, loader waited for {}", FormatSi(result.samples_per_second),
                         FormatSeconds(result.last.train.stall_seconds))});
  table.Add({"memory", MemoryText(result.memory)});
  table.Add({"allocations", AllocationsText(result)});
  table.Add({"weights", fmt::format("{}  (hash {:016x})", result.checkpoint, result.weights_hash)});
  table.Add({"run folder", folder});
  return "\n" + table.ToString();
}

void PrintDryRun(const std::string& model, const Session& session) {
  const ProgramImage& image = session.program().image();
  std::string entries;
  for (const ImageEntry& entry : image.entries)
    entries += (entries.empty() ? "" : ", ") + entry.name;
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"model", fmt::format("{} on {}, batch {}", model, image.device, session.batch())});
  table.Add({"entry points", entries});
  table.Add({"memory", PlannedText(session.memory())});
  nlohmann::ordered_json json = {{"model", model},
                                 {"device", image.device},
                                 {"dry_run", true},
                                 {"batch", session.batch()},
                                 {"planned_peak_bytes", session.memory().planned()}};
  if (session.total_steps() > 0) {
    table.Add({"steps", FormatCount(session.total_steps())});
    json["steps"] = session.total_steps();
  }
  PrintResult(table.ToString() + "Everything is ready; nothing was run (--dry-run).\n",
              json.dump(2) + "\n");
}

std::string EvaluationSummary(const PassResult& result, const MemoryUse& memory) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({result.split, MeansText(result)});
  table.Add({"throughput", FormatSi(Rate(result.samples, result.seconds)) + " samples/s"});
  table.Add({"memory", MemoryText(memory)});
  return table.ToString();
}

}  // namespace cgrun
