// The oracle is the graph before the passes in f64, run eagerly; devices run what `train` runs.
#include "src/check/model_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "src/autodiff/autodiff.h"
#include "src/base/check.h"
#include "src/base/random.h"
#include "src/check/check_numbers.h"
#include "src/check/gradient_terms.h"
#include "src/data/options.h"
#include "src/device/device.h"
#include "src/eager/peak.h"
#include "src/frontend/frontend.h"
#include "src/model/gradient_name.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

constexpr char kRandomName[] = "check";
constexpr double kEpsilonOfBF16 = 0x1p-7, kEpsilonOfTF32 = 0x1p-10;  // from 1 to the next number
constexpr double kRecurrentScale = 0.5;  // of recurrent state, away from the zeros it begins with

// Every path of a step once: what is learned from it is the same each time. Nothing is kept, as
// that may be an earlier repetition's.
ModelSpec WithoutRepetition(ModelSpec model) {
  model.keep.clear();
  if (!model.train) return model;
  std::set<std::string> seen;
  std::erase_if(model.train->sequence, [&](StepSpec& step) {
    step.count = 1;
    return !seen.insert(step.path.value).second;
  });
  return model;
}

// The model with its f32 inputs in f64.
ModelSpec Widen(ModelSpec model) {
  for (InputSpec& input : model.inputs) {
    if (IsFloat(input.type.value)) input.type.value = DType::kF64;
  }
  model.keep.clear();
  return model;
}

void FeedZeros(Engine& engine, int entry, int feed, const EnginePort& port) {
  HostTensor zeros(port.type.dtype, port.type.shape);
  if (port.name == kAccumulateFactors) zeros.Set(1, 1);
  engine.Feed(entry, feed, zeros.bytes());
}

int64_t FlopsOf(const Engine& engine, int entry) {
  int64_t flops = 0;
  for (const EngineOperator& op : engine.Operators(entry)) flops += op.flops;
  return flops;
}

// `batch` is 0 for an input without one.
HostTensor RandomInput(const DataField& field, int64_t batch, const std::vector<LabelUse>& uses) {
  std::vector<Dim> dims;
  if (batch > 0) dims.push_back(batch);
  dims.insert(dims.end(), field.shape.begin(), field.shape.end());
  HostTensor tensor(field.dtype, Shape(dims));
  int64_t classes = 0;  // those that all know who read it
  for (const LabelUse& use : uses) {
    if (use.input != field.name) continue;
    classes = classes == 0 ? use.classes : std::min(classes, use.classes);
  }
  if (classes == 0) classes = field.dtype == DType::kU8 ? 256 : 2;
  const uint64_t key = RandomKey(0, std::string(kRandomName) + field.name);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double uniform = UniformFloat(RandomBits(key, 1, static_cast<uint64_t>(i)));
    tensor.Set(i,
               IsFloat(field.dtype) ? uniform : std::floor(uniform * static_cast<double>(classes)));
  }
  return tensor;
}

// Returns whether nothing casts to a narrower type, behind which finite differences would be
// rounding.
bool IsWide(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    const DType dtype = graph.values[node.outputs[0]].type.dtype;
    return node.op != OpId::cast || !IsFloat(dtype) || dtype == DType::kF64;
  });
}

// An upper estimate of what a check takes: the oracle, a device's engine in a narrower type with an
// optimizer's state, and copies of parameters and gradients in f64.
int64_t BytesOfCheck(std::span<const EagerGraph> oracle) {
  constexpr int64_t kCopies = 6;
  std::vector<const Graph*> graphs;
  for (const EagerGraph& entry : oracle) graphs.push_back(&entry.graph);
  int64_t state_bytes = 0;
  for (const Value& value : graphs[0]->values) {
    if (IsState(value.role)) state_bytes += ByteSize(value.type);
  }
  const int64_t oracle_bytes = EagerPeakBytes(graphs);
  return oracle_bytes + oracle_bytes / 2 + kCopies * state_bytes;
}

}  // namespace

ModelCheck::~ModelCheck() = default;

std::string ModelCheck::Learned::key() const { return KeyOf(gradient, path); }

ModelCheck::ModelCheck(const ModelSpec& model, const ModelData& data, const CompileOptions& options,
                       Diagnostics& diagnostics, const KernelLibrary* oracle)
    : model_(WithoutRepetition(model)), options_(options) {
  if (!model_.train) {
    skipped_ = "the file does not say how to train";
    return;
  }
  if (data.train) batch_ = std::min(batch_, data.train->size());
  const int errors = diagnostics.error_count();
  const auto forward = BuildForward(model_, {EntryKind::kTrain, options.precision}, diagnostics);
  Graph gradients, loss;
  Diagnostics wide_errors;
  if (!forward || diagnostics.error_count() > errors) return;
  if (!BuildGraphs(Widen(model_), &gradients, &loss, wide_errors)) {
    skipped_ = "the file fixes number types, so that it cannot be computed in f64";
    return;
  }
  if (learned_.empty()) {
    skipped_ = "no parameter has a gradient";
    return;
  }
  ReadBatch(data, FindLabelUses(*forward));
  const auto make = [&](const char* name) {
    const KernelLibrary* library = oracle != nullptr ? oracle : FindKernelLibrary(name);
    device_ = OpenDevice(name);
    const SelectOptions select{on_reference_ ? 1 : options.threads};
    std::vector<EagerGraph> graphs;
    for (const Graph* graph : {&gradients, &loss}) {
      graphs.push_back(
          {{graph == &loss ? "loss" : "gradients", EntryKind::kTrain, batch_},
           SelectPlainKernels(BindBatch(*graph, batch_), *library, select, diagnostics)});
    }
    if (diagnostics.error_count() > errors) return;
    const int64_t bytes = BytesOfCheck(graphs), free = FreeHostMemory();
    if (bytes > free) {
      skipped_ = "that takes about " + MemoryText(bytes) + " in f64, and " + MemoryText(free) +
                 " are free";
      return;
    }
    engine_ = MakeEagerEngine(std::move(graphs), *device_, *library, communicator_);
  };
  make("reference");
  if (!engine_) return;
  loss_flops_ = FlopsOf(*engine_, kLoss);
  if (oracle == nullptr &&
      loss_flops_ * 2 * static_cast<int64_t>(learned_.size()) > kReferenceFlops &&
      FindKernelLibrary("blas") != nullptr) {
    on_reference_ = false;
    engine_.reset();
    if (loss_flops_ > kMostFlops) batch_ = std::min<int64_t>(batch_, 2);
    ReadBatch(data, FindLabelUses(*forward));
    make("blas");
    if (!engine_) return;
    loss_flops_ = FlopsOf(*engine_, kLoss);
  }
  for (Learned& learned : learned_) learned.state = engine_->model().FindState(learned.name);
  GoTo(0);
}

// The graph of gradients, whose outputs they are, and that of the losses alone.
bool ModelCheck::BuildGraphs(const ModelSpec& wide, Graph* gradients, Graph* loss,
                             Diagnostics& diagnostics) {
  auto forward = BuildForward(wide, {EntryKind::kTrain, DType::kF64}, diagnostics);
  if (!forward || !IsWide(*forward)) return false;
  // Recurrent state stays where it is from run to run.
  std::erase_if(forward->updates, [&](const UpdateEdge& edge) {
    return forward->values[edge.state].role == Role::kRecurrentState;
  });
  AutodiffOptions autodiff;
  autodiff.updates = false;
  std::map<ValueId, int> paths;  // that train a parameter
  for (const Path& path : forward->paths) {
    for (ValueId parameter : path.trains) ++paths[parameter];
  }
  for (const Path& path : forward->paths) {
    for (ValueId parameter : path.trains) {
      const bool several = paths[parameter] > 1;
      const std::string name = "grad(" + forward->values[parameter].name + ")";
      autodiff.keep.push_back({parameter, several ? path.name + "." + name : name, {}, path.name});
    }
  }
  *loss = *forward;
  *gradients = Differentiate(*forward, autodiff);
  // With rates of 0 a step changes nothing, but for this.
  for (PathSpec& path : model_.paths) path.clip_weights.reset();
  for (size_t i = 0; i < gradients->outputs.size(); ++i) {
    const Output& output = gradients->outputs[i];
    if (output.kind != OutputKind::kKept) continue;
    Learned learned;
    learned.name = ParseGradientName(output.name)->value;
    learned.gradient = output.name;
    learned.path = static_cast<int>(output.path.index);
    learned.result = static_cast<int>(i);
    learned_.push_back(learned);
    model_.keep.push_back({output.name, {}});
  }
  KeepTermSizes(*gradients);
  return true;
}

void ModelCheck::ReadBatch(const ModelData& data, const std::vector<LabelUse>& uses) {
  for (const InputSpec& input : model_.inputs) {
    const DataField field{input.name.value, input.type.value, input.shape.value};
    inputs_[field.name] = RandomInput(field, input.batch.value ? batch_ : 0, uses);
  }
  if (data.train == nullptr) return;
  Diagnostics reported;
  const std::vector<std::string> names = MatchInputs(model_, *data.train, {}, reported);
  for (int64_t i = 0; i < batch_; ++i) {
    std::vector<std::span<std::byte>> fields;
    for (const std::string& name : names) {
      HostTensor& tensor = inputs_.at(name);
      const size_t bytes = tensor.bytes().size() / static_cast<size_t>(batch_);
      fields.push_back(tensor.bytes().subspan(static_cast<size_t>(i) * bytes, bytes));
    }
    data.train->Read(i * data.train->size() / batch_, fields);
  }
}

void ModelCheck::FeedBatch(Engine& engine, int entry) const {
  const auto& feeds = engine.model().entries[static_cast<size_t>(entry)].feeds;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const auto input = inputs_.find(feeds[i].name);
    const int feed = static_cast<int>(i);
    if (input == inputs_.end()) {
      FeedZeros(engine, entry, feed, feeds[i]);
      continue;
    }
    HostTensor tensor(feeds[i].type.dtype, feeds[i].type.shape);
    for (int64_t e = 0; e < tensor.elements(); ++e) tensor.Set(e, input->second.At(e));
    engine.Feed(entry, feed, tensor.bytes());
  }
}

// Parameters away from where initial values are special, such as a bias of 0 in front of a relu;
// rounded to f32, so that devices begin with the same numbers. Then the gradients there.
void ModelCheck::GoTo(int point) {
  if (point == point_) return;
  point_ = point;
  states_.clear();
  engine_->InitializeStates();
  for (size_t i = 0; i < engine_->model().states.size(); ++i) {
    const EngineState& state = engine_->model().states[i];
    HostTensor tensor(state.type.dtype, state.type.shape);
    engine_->ReadState(i, tensor);
    const uint64_t key = RandomKey(static_cast<uint64_t>(point), kRandomName + state.name);
    const double scale = state.role == Role::kParameter        ? 0.1 * ScaleOf(tensor)
                         : state.role == Role::kRecurrentState ? kRecurrentScale
                                                               : 0;
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      const double noise = scale * RandomNormal(key, 2, static_cast<uint64_t>(e));
      tensor.Set(e, static_cast<float>(tensor.At(e) + noise));
    }
    engine_->WriteState(i, tensor);
    states_.push_back(std::move(tensor));
  }
  Gradients gradients = RunGradients();
  expected_ = std::move(gradients.numbers);
  term_sizes_ = std::move(gradients.term_sizes);
  // With an infinite floor nothing would differ.
  std::erase_if(term_sizes_, [](const auto& term) { return !std::isfinite(term.second); });
  NoteScales();
}

std::vector<double> ModelCheck::ResultOf(Engine& engine, int entry, int result) const {
  const EnginePort& port =
      engine.model().entries[static_cast<size_t>(entry)].results[static_cast<size_t>(result)];
  HostTensor tensor(port.type.dtype, port.type.shape);
  engine.Fetch(entry, result, tensor.bytes());
  return NumbersOf(tensor);
}

// Losses and gradients with the parameters that the oracle has, and what these are summed from.
ModelCheck::Gradients ModelCheck::RunGradients() {
  FeedBatch(*engine_, kGradients);
  engine_->Run(kGradients);
  Gradients gradients;
  const auto& results = engine_->model().entries[kGradients].results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind == OutputKind::kMetric) continue;  // of a few samples, they jump
    std::vector<double> result = ResultOf(*engine_, kGradients, static_cast<int>(i));
    if (const std::string gradient = GradientOfTerms(results[i].name); !gradient.empty()) {
      gradients.term_sizes[KeyOf(gradient, results[i].path)] += RootMeanSquare(result);
    } else {
      gradients.numbers[KeyOf(results[i].name, results[i].path)] = std::move(result);
    }
  }
  return gradients;
}

// An operator's rounding does to a loss what a change of its operands by as much would do, so that
// a loss is known to ε(|loss| + |gradient · parameters|) for each operator on the way to it.
void ModelCheck::NoteScales() {
  gradient_scale_ = 0;
  sensitivity_.reset();
  std::map<int, double> squares;  // of gradients by how far their parameters move, by path
  for (const Learned& learned : learned_) {
    const std::vector<double>& gradient = expected_.at(learned.key());
    gradient_scale_ = std::max(gradient_scale_, RootMeanSquare(gradient));
    const double size = RootMeanSquare(gradient) * ScaleOf(states_[learned.state]);
    squares[learned.path] += size * size * static_cast<double>(gradient.size());
  }
  const auto operators = static_cast<double>(engine_->Operators(kLoss).size());
  for (const EnginePort& result : engine_->model().entries[kGradients].results) {
    if (result.kind != OutputKind::kLoss) continue;
    const double loss = std::abs(expected_.at(KeyOf(result.name, result.path))[0]);
    rounding_[result.path] = std::numeric_limits<double>::epsilon() * operators *
                             (loss + std::sqrt(squares[result.path]));
  }
}

double ModelCheck::LastPlace() const {
  if (options_.bf16_activations) return kEpsilonOfBF16;
  return options_.tf32 ? kEpsilonOfTF32 : std::numeric_limits<float>::epsilon();
}

// Returns how much a change of every parameter by one unit in the last place of f32, TF32 or bf16
// changes the gradient that it changes most. The network may magnify rounding so, kinks included.
double ModelCheck::Sensitivity() {
  if (sensitivity_) return *sensitivity_;
  for (const Learned& learned : learned_) {
    HostTensor moved = states_[learned.state];
    const uint64_t key = RandomKey(0, learned.name);
    for (int64_t e = 0; e < moved.elements(); ++e) {
      const double unit = LastPlace() * Sign(key, e);
      moved.Set(e, moved.At(e) * (1 + unit));
    }
    engine_->WriteState(learned.state, moved);
  }
  std::map<std::string, std::vector<double>> moved = RunGradients().numbers;
  double largest = 0;
  for (const Learned& learned : learned_) {
    engine_->WriteState(learned.state, states_[learned.state]);
    const std::vector<double>& expected = expected_.at(learned.key());
    const double error =
        ErrorOf(std::move(moved.at(learned.key())), expected, GradientFloor(learned.key()));
    if (std::isfinite(error)) largest = std::max(largest, error);
  }
  sensitivity_ = largest;
  return largest;
}

int64_t ModelCheck::parameters() const {
  std::set<std::string> names;
  for (const Learned& learned : learned_) names.insert(learned.name);
  return std::ssize(names);
}

}  // namespace cgrun
