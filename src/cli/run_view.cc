// Progress, epoch lines and summaries.
#include "src/cli/run_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/console.h"
#include "src/report/epoch_lines.h"
#include "src/report/line.h"
#include "src/report/plan_report.h"
#include "src/report/run_summary.h"
#include "src/report/table.h"
#include "src/report/terminal.h"

namespace cgrun {
namespace {

constexpr size_t kColumnsSize = 1024;
constexpr size_t kMostRows = 4;

// "loss 0.1234\taccuracy 0.9810" into a buffer.
void FormatMeans(const std::vector<NamedNumber>& means, char* text, size_t size) {
  Line line(text, size);
  for (size_t i = 0; i < means.size(); ++i) {
    char number[32];
    FormatMetric(means[i].value, number, sizeof(number));
    if (i > 0) line.Add('\t');
    line.Add(means[i].name);
    line.Add(means[i].approximate ? " ≈" : " ");
    line.Add(number);
  }
}

// " 1.2 k samples/s"; where it is not that of the whole pass, what it is of.
void FormatRate(const PassResult& pass, char* text, size_t size) {
  char number[16];
  FormatSi(SamplesPerSecond(pass.timed_samples, pass.seconds), number, sizeof(number));
  if (pass.timed_samples == pass.samples) {
    std::snprintf(text, size, "%6s samples/s", number);
  } else {
    std::snprintf(text, size, "%6s samples/s since it was resumed (%lld samples)", number,
                  static_cast<long long>(pass.timed_samples));
  }
}

// Time until the last step, evaluations left out.
double Eta(const StepReport& report) {
  if (report.timed_steps == 0 || report.total_steps == 0) return -1;
  const double per_step = report.seconds / static_cast<double>(report.timed_steps);
  return per_step * static_cast<double>(report.total_steps - report.step);
}

// Returns a round number n: if one line of n is shown, at most kMostLines are.
int64_t LinesOfOne(int64_t lines) {
  constexpr int64_t kMostLines = 40;
  for (int64_t power = 1;; power *= 10) {
    for (const int64_t every : {power, 2 * power, 5 * power}) {
      if (lines / every <= kMostLines) return every;
    }
  }
}

}  // namespace

RunView::RunView(int64_t epochs)
    : progress_(stderr, IsTerminal(STDERR_FILENO), ColorOnStderr()),
      quiet_(Quiet()),
      epochs_(epochs) {}

// "epoch  3/12": as long in every epoch.
void RunView::FormatLabel(int64_t epoch, char* text, size_t size) const {
  const auto number = static_cast<long long>(epoch + 1), total = static_cast<long long>(epochs_);
  if (epochs_ > 0) {
    const int digits = std::snprintf(nullptr, 0, "%lld", total);
    std::snprintf(text, size, "epoch %*lld/%lld", digits, number, total);
  } else {
    std::snprintf(text, size, "epoch %3lld", number);
  }
}

void RunView::OnStep(const StepReport& report) {
  if (quiet_) return;
  char label[64], columns[kColumnsSize];
  FormatLabel(report.epoch, label, sizeof(label));
  FormatMeans(*report.means, columns, sizeof(columns));
  progress_.Show({label, report.batch, report.batches,
                  SamplesPerSecond(report.timed_samples, report.seconds), Eta(report), columns});
}

void RunView::OnEvaluationStep(const StepReport& report) {
  if (quiet_) return;
  char columns[kColumnsSize];
  FormatMeans(*report.means, columns, sizeof(columns));
  const double rate = SamplesPerSecond(report.samples, report.seconds);
  const double eta = report.seconds / static_cast<double>(std::max<int64_t>(1, report.batch)) *
                     static_cast<double>(report.batches - report.batch);
  progress_.Show({"evaluation", report.batch, report.batches, rate, eta, columns});
}

void RunView::Fold(int64_t lines, const std::string& file) {
  if (!IsTerminal(STDOUT_FILENO)) return;
  every_ = LinesOfOne(lines);
  if (every_ == 1 || quiet_ || WantsJson()) return;
  Tell(fmt::format("of {} lines of epochs, the first and every {}th are shown; {} has all", lines,
                   every_, file));
}

void RunView::OnEpoch(const EpochReport& report) {
  if (quiet_ || WantsJson()) return;
  progress_.Clear();
  if (!report.train.measured()) return;  // time was up before its first step
  if (++lines_ > 1 && lines_ % every_ != 0) return;
  char label[64], rate[96], columns[kMostRows][kColumnsSize];
  char text[kMostRows * kColumnsSize];
  std::array<EpochRow, kMostRows> rows;
  size_t count = 0;
  const auto add = [&](const PassResult& pass) {
    if (!pass.measured() || count == kMostRows) return;
    FormatMeans(pass.means, columns[count], kColumnsSize);
    rows[count] = {pass.split.c_str(), columns[count]};
    ++count;
  };
  add(report.train);
  for (const PassResult& pass : report.evaluations) add(pass);
  FormatLabel(report.epoch, label, sizeof(label));
  FormatRate(report.train, rate, sizeof(rate));
  FormatEpoch(label, {rows.data(), count}, rate, LineWidth(stdout, 100), text, sizeof(text));
  PrintText(stdout, text);
  std::fflush(stdout);
}

void PrintMemory(const Session& session) { Tell("memory: " + PlannedText(session.memory())); }

void PrintInterrupted(const TrainResult& result, const std::string& folder) {
  const bool at_end = result.epochs > result.last.epoch;
  Tell(
      fmt::format("interrupted {} epoch {}, after step {}; checkpoint written to {}; "
                  "go on with: cgrun train --resume {}",
                  at_end ? "at the end of" : "in", result.last.epoch + 1, result.steps,
                  result.checkpoint, ShellWord(folder)));
}

void WarnOfLosses(const PassResult& evaluation, bool has_bad_weights) {
  for (const NamedNumber& mean : evaluation.means) {
    const bool is_loss = mean.name == "loss" || mean.name.ends_with(".loss");
    if (!is_loss || std::isfinite(mean.value)) continue;
    PrintWarning("the " + mean.name + " of '" + evaluation.split + "' is not finite" +
                 (has_bad_weights
                      ? ", as the weights are not"
                      : ": `cgrun check` reads its data, and names a sample that is not"));
  }
}

namespace {

bool IsSynthetic(const std::optional<DataSpec>& spec) {
  return spec && spec->format && spec->format->value == "synthetic";
}

// Returns whether the labels that a model learned, or that it is judged by, are random.
bool HasRandomLabels(const DataSection& data, const std::string& split) {
  return IsSynthetic(data.train) || IsSynthetic(split == "valid" ? data.valid : data.test);
}

}  // namespace

void WarnOfChance(const ModelSpec& model, const PassResult& evaluation) {
  const bool is_random = model.data && HasRandomLabels(*model.data, evaluation.split);
  for (const NamedNumber& mean : evaluation.means) {
    const auto share = evaluation.class_share;
    if (!IsAccuracy(mean) || !share || *share == 1 || mean.value > *share) continue;
    const std::string text = "the " + mean.name + " of '" + evaluation.split +
                             "' is no better than to name the most frequent class each time";
    if (is_random) {
      Tell("note: " + text + ", as the labels of synthetic data are random: nothing predicts them");
    } else {
      PrintWarning(text + ": a smaller learning rate or longer training may help");
    }
  }
}

void PrintDryRun(const std::string& model, const Session& session) {
  const EngineModel& engine = session.engine().model();
  std::vector<std::string> names;
  for (const EngineEntry& entry : engine.entries) names.push_back(entry.name);
  std::string entries = fmt::format("{}", fmt::join(names, ", "));
  if (const std::string note = LastBatchNote(names); !note.empty()) entries += "  (" + note + ")";
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"model", fmt::format("{} on {}, batch {}", model, engine.device, session.batch())});
  table.Add({"entry points", entries});
  table.Add({"mode", std::string(Name(session.engine().mode()))});
  table.Add({"memory", PlannedText(session.memory())});
  nlohmann::ordered_json json = {
      {"model", model},  {"device", engine.device},  {"mode", Name(session.engine().mode())},
      {"dry_run", true}, {"batch", session.batch()}, {"planned_peak_bytes", nullptr}};
  if (session.memory().has_plan()) json["planned_peak_bytes"] = session.memory().planned();
  if (session.total_steps() > 0) {
    table.Add({"steps", FormatCount(session.total_steps())});
    json["steps"] = session.total_steps();
  }
  PrintResult(table.ToString() + "Everything is ready; nothing was run (--dry-run).\n",
              JsonText(json, 2) + "\n");
}

}  // namespace cgrun
