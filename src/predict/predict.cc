// The meaning of an output follows from the loss that reads it, or from the operator that makes it.
#include "src/predict/predict.h"

#include <algorithm>
#include <cstring>

#include "src/base/check.h"
#include "src/device/cpu.h"
#include "src/fit/predict_memory.h"
#include "src/frontend/frontend.h"
#include "src/io/safetensors.h"
#include "src/ir/op_def.h"
#include "src/lint/batch_lint.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/token_names.h"
#include "src/ops/softmax.h"
#include "src/run/measured_memory.h"
#include "src/torch/weights_file.h"

namespace cgrun {
namespace {

// The loss in an evaluation graph that reads the value of this name first; null where none does.
const Node* LossOf(const Graph& evaluation, const std::string& value) {
  for (const Node& node : evaluation.nodes) {
    if (GetOpDef(node.op).usage != Usage::kLoss) continue;
    if (evaluation.values[node.inputs[0]].name == value) return &node;
  }
  return nullptr;
}

Scores ScoresOfLoss(const Node& loss) {
  const OpDef& def = GetOpDef(loss.op);
  if (def.labels == Labels::kClasses) return Scores::kLogits;
  if (def.labels != Labels::kBinary) return Scores::kNone;
  const bool of_logits = def.applies != nullptr && def.applies(loss.attributes).has_value();
  return of_logits ? Scores::kYesNoLogits : Scores::kYesNo;
}

Scores ScoresOfProducer(const Graph& graph, const Value& value) {
  if (!value.producer.valid()) return Scores::kNone;
  switch (graph.nodes[value.producer].op) {
    case OpId::softmax:
      return Scores::kProbabilities;
    case OpId::log_softmax:
      return Scores::kLogProbabilities;
    case OpId::sigmoid:
      return Scores::kYesNo;
    default:
      return Scores::kNone;
  }
}

// "logits" of "classify.logits".
std::string ShortName(const Graph& graph, const Output& output) {
  if (output.kind == OutputKind::kKept) return output.name;
  const std::string prefix = output.path.valid() ? graph.paths[output.path].name + "." : "";
  return output.name.starts_with(prefix) ? output.name.substr(prefix.size()) : output.name;
}

PredictedOutput DescribeOutput(const Graph& graph, const Output& output, const Graph& evaluation) {
  const Value& value = graph.values[output.value];
  PredictedOutput result;
  result.name = ShortName(graph, output);
  result.dtype = value.type.dtype;
  result.whole = !HasRows(graph, output);
  result.shape = result.whole ? value.type.shape : SampleShape(value.type.shape);
  result.kept = output.kind == OutputKind::kKept;
  if (result.kept || result.whole) return result;
  const Node* loss = LossOf(evaluation, value.name);
  if (loss != nullptr) {
    result.scores = ScoresOfLoss(*loss);
    if (loss->inputs.size() > 1) result.label_input = evaluation.values[loss->inputs[1]].name;
  } else {
    result.scores = ScoresOfProducer(graph, value);
  }
  const bool of_places = result.scores == Scores::kLogits && loss != nullptr;
  if (of_places && result.shape.rank() == 2) result.places = result.shape[1].size;
  const bool one = result.shape.Elements() == 1 && IsYesNo(result.scores);
  if (result.shape.rank() != 1 && !one) result.scores = Scores::kNone;  // of every pixel, say
  return result;
}

bool CheckOutput(const Graph& graph, const Output& output, Diagnostics& diagnostics) {
  if (HasRows(graph, output) || IsWhole(graph, output)) return true;
  diagnostics.Error(graph.values[output.value].mark, MissingRowsText(graph, output),
                    "`out: NAME` of a path says what it predicts");
  return false;
}

// Names the classes of places: tokens of a text, or labels of a sequence.
void NamePlaces(const ModelSpec& model, const SafetensorsMetadata& kept, const ClassNames& names,
                PredictedOutput& output) {
  const std::optional<TokenKind> kind = TokensOf(model);
  output.of_bytes = kind == TokenKind::kBytes;
  if (kind == TokenKind::kWords && !kept.empty()) output.classes = TokenNames(ReadFindings(kept));
  if (!kind) output.classes = FindClassNames(names, output.label_input, output.shape[0].size);
}

// Marks the values that the outputs and the states of the next step are computed from. A value that
// only a loss reads is not among them, such as a mask that is flipped for it.
IdVector<ValueId, bool> NeededValues(const Graph& graph) {
  IdVector<ValueId, bool> needed(graph.values.size(), false);
  for (const Output& output : graph.outputs) needed[output.value] = true;
  for (const UpdateEdge& edge : graph.updates) needed[edge.next] = true;
  const std::vector<NodeId> order = TopologicalOrder(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (std::ranges::none_of(node.outputs, [&](ValueId value) { return needed[value]; })) continue;
    for (ValueId input : node.inputs) needed[input] = true;
  }
  return needed;
}

}  // namespace

Shape SampleShape(const Shape& batch) {
  return Shape(std::vector<Dim>(batch.begin() + 1, batch.end()));
}

std::optional<PredictSignature> DescribePredictions(const ModelSpec& model, DType precision,
                                                    bool keeps, Diagnostics& diagnostics) {
  Kept kept;
  const auto graph =
      BuildForward(model, {EntryKind::kPredict, precision}, diagnostics, keeps ? &kept : nullptr);
  const auto evaluation = BuildForward(model, {EntryKind::kEval, precision}, diagnostics);
  if (!graph || !evaluation) return std::nullopt;
  PredictSignature signature;
  const IdVector<ValueId, bool> needed = NeededValues(*graph);
  for (ValueId id : graph->values.ids()) {
    const Value& value = graph->values[id];
    if (value.role != Role::kPlaceholder || !needed[id] || value.name == kStepCounter) continue;
    const Shape& shape = value.type.shape;
    if (shape.IsBound()) {
      signature.whole.push_back({value.name, value.type.dtype, shape});
    } else {
      signature.inputs.push_back({value.name, value.type.dtype, SampleShape(shape)});
    }
  }
  for (const Kept::Item& item : kept.states) {
    diagnostics.Warning(item.mark, item.name + " is not kept: it stands in the weights");
  }
  for (const Output& output : graph->outputs) {
    if (!CheckOutput(*graph, output, diagnostics)) return std::nullopt;
    signature.outputs.push_back(DescribeOutput(*graph, output, *evaluation));
  }
  const bool reads_nothing = signature.inputs.empty() && signature.whole.empty();
  if (reads_nothing || signature.outputs.empty()) {
    diagnostics.Error({}, model.file_name + " predicts nothing from its inputs",
                      model.gan ? "`cgrun generate` draws what the generator of a `gan` makes"
                                : "the last path's last output is what a model predicts; `out: "
                                  "NAME` of a path names another");
    return std::nullopt;
  }
  return signature;
}

ImageFit ImageFitOf(const ModelSpec& model) {
  if (!model.data) return ImageFit::kCover;
  for (const auto* spec : {&model.data->train, &model.data->test, &model.data->valid}) {
    if (!*spec) continue;
    for (const Attribute& option : (*spec)->options) {
      if (option.key != "resize") continue;
      if (option.value.scalar == "contain") return ImageFit::kContain;
      if (option.value.scalar == "stretch") return ImageFit::kStretch;
    }
  }
  return ImageFit::kCover;
}

Predictor::Predictor(const ModelSpec& model, PredictSignature signature,
                     const PredictOptions& options, Diagnostics& diagnostics)
    : signature_(std::move(signature)), batch_(options.batch) {
  device_ = OpenDevice(options.device);
  if (options.dry_run) LeaveUntouched(*device_);
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  CompileOptions compile = options.compile;
  compile.layout.incremental = signature_.inputs.size() > 1;
  PredictEngine built = BuildPredictEngine(
      model, batch_, options.mode, compile, {*library, *device_, communicator_, options.debug},
      {options.host_bytes,
       {"a smaller batch needs less (`--batch N`)", "fewer files or samples at a time need less"}},
      diagnostics);
  if (!built.engine) return;
  engine_ = std::move(built.engine);
  memory_ = built.memory;
  if (!options.weights.empty())
    weights_ = LoadWeights(*engine_, options.weights, WeightsScope::kModel, model.rename);
  NameClasses(model, options, diagnostics);
  const EngineEntry& entry = engine_->model().entries[0];
  for (const EnginePort& feed : entry.feeds) feeds_.emplace_back(feed.type.dtype, feed.type.shape);
  changed_.resize(feeds_.size(), true);
  if (compile.layout.incremental && options.mode == Mode::kGraph) last_ = feeds_;
  for (const HostTensor& feed : last_) memory_.data += std::ssize(feed.bytes());
  operators_ = static_cast<int64_t>(engine_->Operators(0).size());
  for (const DataField& input : signature_.inputs) inputs_.push_back(FeedOf(input.name));
  for (const DataField& input : signature_.whole) whole_.push_back(FeedOf(input.name));
  for (const EnginePort& result : entry.results) {
    results_.emplace_back(result.type.dtype, result.type.shape);
  }
  CGRUN_CHECK(results_.size() == signature_.outputs.size()) << "outputs went missing";
}

size_t Predictor::FeedOf(const std::string& input) const {
  const std::vector<EnginePort>& feeds = engine_->model().entries[0].feeds;
  const auto feed = std::ranges::find(feeds, input, &EnginePort::name);
  CGRUN_CHECK(feed != feeds.end()) << "no feed " << input;
  return static_cast<size_t>(feed - feeds.begin());
}

void Predictor::NameClasses(const ModelSpec& model, const PredictOptions& options,
                            Diagnostics& diagnostics) {
  SafetensorsMetadata kept = options.kept;  // with the weights
  if (!options.weights.empty()) kept = ReadWeightsMetadata(options.weights);
  ClassNames names = ReadClassMetadata(kept);
  if (names.empty()) names = ClassNamesInFile(model);
  for (PredictedOutput& output : signature_.outputs) {
    if (output.places > 0) NamePlaces(model, kept, names, output);
    if (output.scores == Scores::kNone) continue;
    output.classes = FindClassNames(names, output.label_input, output.class_count());
    const auto named = static_cast<int64_t>(output.classes.size()), all = output.class_count();
    if (named == 0 || named == all) continue;
    output.classes.resize(static_cast<size_t>(std::min(named, all)));
    diagnostics.Warning({}, "'" + output.name + "' has " + CountText(all, "class", "classes") +
                                ", but there are names of " + std::to_string(named) +
                                (named < all ? ": the others are shown by their numbers"
                                             : ": those beyond its own are not used"));
  }
}

const MemoryUse& Predictor::MeasureMemory() {
  NoteMeasured(*engine_, *device_, memory_);
  return memory_;
}

int64_t Predictor::Run(PredictSource& source, int64_t limit_batches, const Sink& sink) {
  for (size_t i = 0; i < whole_.size(); ++i) {
    std::ranges::copy(source.whole()[i].tensor.bytes(), feeds_[whole_[i]].bytes().begin());
  }
  const auto next = [&](std::span<const std::span<std::byte>> inputs, SampleOrigin* origin) {
    return source.Next(inputs, origin);
  };
  return Run(next, limit_batches, sink);
}

int64_t Predictor::Run(const NextSample& next, int64_t limit_batches, const Sink& sink) {
  int64_t samples = 0;
  for (int64_t done = 0; limit_batches == 0 || done < limit_batches; ++done) {
    std::vector<SampleOrigin> origins;
    const int64_t count = Fill(next, origins);
    if (count == 0) break;
    RunBatch();
    Show(origins, sink);
    samples += count;
    if (count < batch_) break;
  }
  return samples;
}

void Predictor::RunBatch() {
  for (size_t i = 0; i < last_.size(); ++i) {
    changed_[i] = !std::ranges::equal(feeds_[i].bytes(), last_[i].bytes());
    if (changed_[i]) std::ranges::copy(feeds_[i].bytes(), last_[i].bytes().begin());
  }
  operators_run_ += engine_->RunChanged(0, feeds_, changed_);
  ++runs_;
}

int64_t Predictor::Fill(const NextSample& next, std::vector<SampleOrigin>& origins) {
  const auto row = [&](size_t input, int64_t sample) {
    const auto bytes = static_cast<size_t>(signature_.inputs[input].bytes());
    return feeds_[inputs_[input]].bytes().subspan(static_cast<size_t>(sample) * bytes, bytes);
  };
  std::vector<std::span<std::byte>> rows(inputs_.size());
  int64_t count = 0;
  for (; count < batch_; ++count) {
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = row(i, count);
    SampleOrigin origin;
    if (!next(rows, &origin)) break;
    origins.push_back(std::move(origin));
  }
  for (int64_t rest = count; count > 0 && rest < batch_; ++rest) {
    for (size_t i = 0; i < rows.size(); ++i) std::ranges::copy(row(i, 0), row(i, rest).begin());
  }
  return count;
}

void Predictor::Show(const std::vector<SampleOrigin>& origins, const Sink& sink) {
  const std::vector<EnginePort>& ports = engine_->model().entries[0].results;
  for (size_t i = 0; i < ports.size(); ++i) {
    engine_->Fetch(0, static_cast<int>(i), results_[i].bytes());
  }
  std::vector<std::span<const std::byte>> rows(results_.size());
  for (size_t s = 0; s < origins.size(); ++s) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::span<const std::byte> all = results_[i].bytes();
      rows[i] = all;
      if (signature_.outputs[i].whole) continue;
      const size_t bytes = all.size() / static_cast<size_t>(batch_);
      rows[i] = all.subspan(s * bytes, bytes);
    }
    sink(origins[s], rows);
  }
}

}  // namespace cgrun
