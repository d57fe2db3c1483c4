// One look after the other; errors of an earlier one do not hide those of the graph.
#include "src/train/lint.h"

#include <algorithm>
#include <set>

#include "src/device/device.h"
#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "src/train/checkpoint.h"
#include "src/train/label_check.h"
#include "src/train/rate_schedule.h"
#include "src/train/run_shape.h"

namespace cgrun {
namespace {

constexpr int64_t kMostSamplesRead = 256;  // of a set

// Names of values that some node or output of these graphs reads.
std::set<std::string> NamesRead(const std::vector<const Graph*>& graphs) {
  std::set<std::string> names;
  for (const Graph* graph : graphs) {
    for (const Node& node : graph->nodes) {
      for (ValueId input : node.inputs) names.insert(graph->values[input].name);
    }
    for (const Output& output : graph->outputs) names.insert(graph->values[output.value].name);
    for (const UpdateEdge& edge : graph->updates) names.insert(graph->values[edge.next].name);
  }
  return names;
}

void WarnOfUnread(const ModelSpec& model, const Graph& forward, const std::set<std::string>& read,
                  Diagnostics& diagnostics) {
  for (const InputSpec& input : model.inputs) {
    if (read.contains(input.name.value)) continue;
    diagnostics.Warning(input.mark, "nothing reads input '" + input.name.value + "'",
                        "take it out, or name it in the `in:` of an operator");
  }
  for (const Node& node : forward.nodes) {
    const bool used = std::ranges::any_of(
        node.outputs, [&](ValueId output) { return read.contains(forward.values[output].name); });
    if (used || !node.mark.file) continue;
    diagnostics.Warning(node.mark, "nothing reads what " + node.name + " computes",
                        "a loss, a metric, `out:` or `keep:` may name it; else it can go");
  }
}

// Reads samples all over a set: some formats find out only then what is wrong with one.
int64_t ReadSome(const ModelSpec& model, const std::string& name, const Dataset& dataset,
                 const std::vector<LabelUse>& uses, Diagnostics& diagnostics) {
  const SourceMark mark = model.data ? model.data->mark : SourceMark();
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, dataset, {}, reported);
  std::vector<std::vector<std::byte>> fields;
  std::vector<std::span<std::byte>> spans;
  Batch batch;
  for (const DataField& field : dataset.fields()) {
    fields.emplace_back(static_cast<size_t>(field.bytes()));
  }
  for (std::vector<std::byte>& field : fields) spans.emplace_back(field);
  batch.fields.assign(spans.begin(), spans.end());
  batch.count = 1;
  const int64_t count = std::min(dataset.size(), kMostSamplesRead);
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> sample = {i * dataset.size() / count};
    batch.samples = sample;
    try {
      dataset.Read(sample[0], spans);
    } catch (const UserError& error) {
      diagnostics.Error(mark,
                        "sample " + std::to_string(sample[0]) + " of '" + name +
                            "' cannot be read: " + error.what(),
                        error.help());
      return i;
    }
    const std::string label =
        name == "train" ? DescribeBadLabel(batch, dataset, inputs, uses) : std::string();
    if (label.empty()) continue;
    diagnostics.Error(mark, label);
    return i;
  }
  return count;
}

// The graphs of all kinds, and the data with them.
void LintGraphs(const ModelSpec& model, const CompileOptions& options, LintReport& report,
                Diagnostics& diagnostics) {
  const ModelData& data = report.data;
  Kept kept;
  const EntryKind kind = model.train ? EntryKind::kTrain : EntryKind::kEval;
  const auto forward = BuildForward(model, {kind, options.precision}, diagnostics, &kept);
  if (!forward) return;
  Diagnostics reported;  // of the same operators
  const auto predict = BuildForward(model, {EntryKind::kPredict, options.precision}, reported);
  std::vector<const Graph*> graphs = {&*forward};
  if (predict) graphs.push_back(&*predict);
  std::set<std::string> read = NamesRead(graphs);
  for (const Kept::Item& item : kept.gradients) read.insert(forward->values[item.value].name);
  WarnOfUnread(model, *forward, read, diagnostics);
  const std::vector<LabelUse> uses = FindLabelUses(*forward);
  for (const auto& set : {data.train, data.valid, data.test}) {
    if (set == nullptr) continue;
    CheckLabels(*set, MatchInputs(model, *set, {}, diagnostics), uses, diagnostics);
  }
  if (diagnostics.has_errors()) return;
  const auto sets = {std::pair{"train", data.train}, {"valid", data.valid}, {"test", data.test}};
  for (const auto& [name, set] : sets) {
    if (set) report.samples_read += ReadSome(model, name, *set, uses, diagnostics);
  }
}

void LintData(const ModelSpec& model, LintReport& report, Diagnostics& diagnostics) {
  report.data = OpenModelData(model, diagnostics);
  const ModelData& data = report.data;
  const SourceMark mark = model.data ? model.data->mark : SourceMark();
  if (diagnostics.has_errors()) return;
  if (data.train != nullptr) WarnOfLargeBatch(model, *data.train, diagnostics);
  if (data.train == nullptr) {
    diagnostics.Warning(mark, "there is no training data in " + model.file_name,
                        "`cgrun train` needs `data: {train: …}`");
  } else if (data.test == nullptr) {
    diagnostics.Warning(mark, "there is no test data in " + model.file_name,
                        "`cgrun eval` needs `data: {test: …}`");
  }
}

// Compiles as `train` would.
void LintMemory(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
                LintReport& report, Diagnostics& diagnostics) {
  const int64_t batch = model.train ? model.train->batch.value.size : 1;
  const ModelData& data = report.data;
  std::vector<int64_t> train_sizes, evaluation_sizes;
  if (model.train) train_sizes.push_back(data.train ? data.train->size() : batch);
  for (const auto& set : {data.valid, data.test}) {
    if (set) evaluation_sizes.push_back(set->size());
  }
  if (!model.train && evaluation_sizes.empty()) evaluation_sizes.push_back(batch);
  const int64_t accumulate = model.train ? model.train->accumulate.value : 1;
  const auto compiled =
      Compile(model, TrainingEntries(batch, train_sizes, evaluation_sizes, accumulate), library,
              options, diagnostics);
  if (!compiled) return;
  const bool on_host = KindOfDevice(library.name()).on_host;
  int64_t bytes = on_host ? compiled->layout.arena_bytes : 0;
  for (const ImageState& state : compiled->image.states) bytes += ByteSize(state.type);
  for (const auto& set : {data.train, data.valid, data.test}) {
    if (set) bytes += DataSource::HostBytes(*set, batch);
  }
  report.needed_bytes = bytes;
}

}  // namespace

LintReport Lint(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
                Diagnostics& diagnostics) {
  LintReport report;
  LintData(model, report, diagnostics);
  report.free_bytes = FreeHostMemory();
  if (model.train) ReadRateSchedules(model, diagnostics);
  LintGraphs(model, options, report, diagnostics);
  if (!diagnostics.has_errors()) LintMemory(model, library, options, report, diagnostics);
  return report;
}

void LintPartial(const ModelSpec& partial, Diagnostics& diagnostics) {
  if (!partial.tree.IsMap()) return;
  if (!partial.incomplete) CheckModelData(partial, diagnostics);
  const bool trains = partial.train.has_value();
  if (trains) ReadRateSchedules(partial, diagnostics);
  const bool f64 = trains && partial.train->precision.value == "f64";
  BuildForward(partial,
               {trains ? EntryKind::kTrain : EntryKind::kEval, f64 ? DType::kF64 : DType::kF32},
               diagnostics);
}

}  // namespace cgrun
