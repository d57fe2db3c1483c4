// Compiling the tiny models, and running images by values.
#include "tests/program/tiny_models.h"

#include <algorithm>
#include <map>

#include "src/base/check.h"
#include "src/base/random.h"
#include "src/compile/compile.h"
#include "src/device/cpu.h"
#include "src/kernels/reference/library.h"
#include "src/model/model_file.h"
#include "src/ops/concat.h"
#include "src/ops/initializers.h"
#include "src/ops/slice.h"
#include "src/passes/decisions.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

#if defined(__SANITIZE_THREAD__)
// The thread sanitizer does not see that libgomp starts a team after its caller has written what
// the team reads first.
extern "C" const char* __tsan_default_suppressions() { return "race_top:*_omp_fn*\n"; }
#endif

namespace cgrun {
namespace {

using ByteList = std::vector<std::byte>;

ByteList BytesOf(const HostTensor& tensor) {
  return {tensor.bytes().begin(), tensor.bytes().end()};
}

HostTensor TensorOf(const TensorType& type, const ByteList& bytes) {
  HostTensor tensor(type.dtype, type.shape);
  CGRUN_CHECK(tensor.bytes().size() == bytes.size());
  std::copy(bytes.begin(), bytes.end(), tensor.bytes().begin());
  return tensor;
}

HostTensor InitialState(const ProgramImage& image, const ImageState& state) {
  return InitialValue(state.name, state.type, state.info, image.seed);
}

// Returns the values of states and constants, by their places.
std::map<int64_t, ByteList> PersistentBytes(const ProgramImage& image) {
  std::map<int64_t, ByteList> bytes;
  for (const ImageState& state : image.states) {
    bytes[state.offset] = BytesOf(InitialState(image, state));
  }
  for (const ImageConstant& constant : image.constants) {
    bytes[constant.offset] = BytesOf(constant.tensor);
  }
  return bytes;
}

}  // namespace

const std::vector<std::string>& TinyModels() {
  static const std::vector<std::string> models = {"tiny_mlp", "tiny_conv", "tiny_paths"};
  return models;
}

ProgramImage TinyImage(const std::string& model, bool passes) {
  Diagnostics diagnostics;
  const auto spec = LoadModelFile("tests/golden/" + model + ".yaml", {}, diagnostics);
  CGRUN_CHECK(spec.has_value()) << diagnostics.ToString();
  const int64_t batch = spec->train->batch.value.size;
  CompileOptions options;
  if (!passes) options.passes.disabled = PassAndDecisionNames();
  const auto compiled = Compile(*spec,
                                {{"train", EntryKind::kTrain, batch},
                                 {"train.tail", EntryKind::kTrain, batch - 1},
                                 {"eval", EntryKind::kEval, batch}},
                                reference::Library(), options, diagnostics);
  CGRUN_CHECK(compiled.has_value()) << diagnostics.ToString();
  return compiled->image;
}

ProgramImage FusedImage() {
  GraphMaker maker;
  const ValueId x = maker.Feed("x", {3, 4});
  const ValueId w = maker.State("w", {3, 4});
  const ValueId half = maker.Constant("half", {3, 4}, std::vector<float>(12, 0.5f));
  const ValueId fused = maker.Fused("fused", {x, w, half},
                                    {{OpId::mul, Attributes(), {0, 1}},
                                     {OpId::tanh, Attributes(), {-1}},
                                     {OpId::sub, Attributes(), {-2, 2}}});
  maker.phase = Phase::kUpdate;
  const ValueId next = maker.Op(OpId::add, "next", {w, fused}, {}, Zone::kOptimizer);
  maker.Update(w, next);
  maker.Out(fused, "y");
  const Graph prepared = PrepareGraph(maker.graph(), 1, reference::Library());
  return EncodeGraph(prepared, "serial", {}, reference::Library()).image;
}

ProgramImage PartsImage() {
  GraphMaker maker;
  const ValueId x = maker.Feed("x", {32});
  const ValueId a = maker.Op(OpId::tanh, "a", {x}), b = maker.Op(OpId::neg, "b", {x});
  maker.Out(x, "x");
  const ValueId y = maker.Op(OpId::concat, "y", {a, b}, Attributes::Of(ConcatAttributes{0}));
  const ValueId z = maker.Op(OpId::tanh, "z", {y});
  const auto cut = [](int64_t begin, int64_t end) {
    return Attributes::Of(SliceAttributes{{0}, {begin}, {end}, {}});
  };
  const ValueId first = maker.Op(OpId::slice, "first", {z}, cut(0, 16));
  const ValueId changed = maker.Op(OpId::neg, "changed", {first});
  const ValueId middle = maker.Op(OpId::concat_grad, "middle", {z},
                                  Attributes::Of(ConcatGradAttributes{0, {16}, {32}}));
  const ValueId last = maker.Op(OpId::slice, "last", {z}, cut(48, 64));
  maker.Out(maker.Op(OpId::add, "sum", {changed, last}), "sum");
  maker.Out(maker.Op(OpId::neg, "back", {middle}), "back");
  const Graph prepared = PrepareGraph(maker.graph(), 1, reference::Library());
  return EncodeGraph(prepared, "serial", {}, reference::Library()).image;
}

ProgramImage SwapImage(bool reuse) {
  GraphMaker maker;
  const ValueId x = maker.Feed("x", {3, 4});
  const ValueId w = maker.State("w", {3, 4});
  const ValueId a = maker.Op(OpId::mul, "a", {x, w});
  const ValueId b = maker.Op(OpId::tanh, "b", {a});
  const ValueId c = maker.Op(OpId::neg, "c", {b});
  maker.phase = Phase::kBackward;
  const ValueId d = maker.Op(OpId::mul, "d", {c, b});
  const ValueId e = maker.Op(OpId::add, "e", {d, a});
  maker.phase = Phase::kUpdate;
  maker.Update(w, maker.Op(OpId::add, "next", {w, e}, {}, Zone::kOptimizer));
  maker.Out(e, "y");
  Graph prepared = PrepareGraph(maker.graph(), 1, reference::Library());
  RematPlan plan;
  plan.swap.push_back({prepared.FindValue("b"), {FindNode(prepared, "d")}});
  plan.swap.push_back({prepared.FindValue("a"), {FindNode(prepared, "e")}});
  passes::SwapToFile(prepared, {reference::Library(), false, &plan});
  LayoutOptions options;
  options.in_place = reuse;
  if (!reuse) options.planner = "naive";
  return EncodeGraph(prepared, "serial", options, reference::Library()).image;
}

ProgramImage IncrementalImage() {
  GraphMaker maker;
  const ValueId a = maker.Feed("a", {3, 4}), b = maker.Feed("b", {3, 4});
  const ValueId w = maker.State("w", {3, 4});
  const ValueId half = maker.Constant("half", {3, 4}, std::vector<float>(12, 0.5f));
  const ValueId scaled = maker.Op(OpId::mul, "scaled", {w, half});
  const ValueId left = maker.Op(OpId::add, "left", {maker.Op(OpId::tanh, "hidden", {a}), scaled});
  const ValueId right = maker.Op(OpId::relu, "right", {maker.Op(OpId::sub, "moved", {b, w})});
  const ValueId joined = maker.Op(OpId::mul, "joined", {left, right});
  maker.Out(maker.Op(OpId::neg, "last", {joined}), "y");
  maker.Out(right, "right");
  const Graph prepared = PrepareGraph(maker.graph(), 1, reference::Library());
  LayoutOptions options;
  options.incremental = true;
  ProgramImage image = EncodeGraph(prepared, "serial", options, reference::Library()).image;
  image.entries[0].kind = EntryKind::kPredict;
  return image;
}

HostTensor FeedFor(const ImagePort& port, int64_t step) {
  HostTensor tensor(port.type.dtype, port.type.shape);
  const uint64_t key = RandomKey(1, port.name);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const uint32_t bits = RandomBits(key, static_cast<uint64_t>(step), static_cast<uint64_t>(i));
    tensor.Set(i, IsFloat(tensor.dtype()) ? static_cast<double>(UniformFloat(bits)) : bits % 2);
  }
  if (port.name == kStepCounter) tensor.Set(0, static_cast<double>(step));
  return tensor;
}

TinyProgram::TinyProgram(ProgramImage image)
    : TinyProgram(std::move(image), std::make_unique<CpuDevice>("reference")) {}

TinyProgram::TinyProgram(ProgramImage image, std::unique_ptr<Device> device)
    : device_(std::move(device)),
      program_(std::move(image), *device_, reference::Library(), communicator_, FolderForTests()) {}

RunResult TinyProgram::Run(int entry, int64_t step) {
  const ImageEntry& image = program_.image().entries[static_cast<size_t>(entry)];
  for (size_t i = 0; i < image.feeds.size(); ++i) {
    program_.Feed(entry, i, FeedFor(image.feeds[i], step).bytes());
  }
  program_.Run(entry);
  return ResultOf(entry);
}

RunResult TinyProgram::RunInPart(int entry, int64_t step) {
  const ImageEntry& image = program_.image().entries[static_cast<size_t>(entry)];
  Run(entry, step + 1);
  for (const ImagePort& feed : image.feeds) {
    if (!program_.CanRunChanged(entry)) return Run(entry, step);
    for (size_t i = 0; i < image.feeds.size(); ++i) {
      const ImagePort& other = image.feeds[i];
      const bool changes = &other <= &feed;
      if ((other.reach & feed.reach) == 0) continue;
      program_.Feed(entry, i, FeedFor(other, changes ? step : step + 1).bytes());
    }
    program_.RunChanged(entry, feed.reach);
  }
  return ResultOf(entry);
}

RunResult TinyProgram::ResultOf(int entry) {
  RunResult result;
  const std::vector<ImagePort>& ports =
      program_.image().entries[static_cast<size_t>(entry)].results;
  for (size_t i = 0; i < ports.size(); ++i) {
    result.results.emplace_back(static_cast<size_t>(ports[i].bytes.bytes));
    program_.Fetch(entry, i, result.results.back());
  }
  for (size_t i = 0; i < program_.image().states.size(); ++i) {
    result.states.push_back(BytesOf(program_.ReadState(i)));
  }
  return result;
}

std::string Refusal(const ProgramImage& image) {
  try {
    TinyProgram program(image);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

RunResult RunByValues(const ProgramImage& image, int entry, int64_t step) {
  const ImageEntry& code = image.entries[static_cast<size_t>(entry)];
  std::map<int64_t, ByteList> persistent = PersistentBytes(image);
  std::map<int32_t, ByteList> values;
  for (const ImageOperand& resident : code.resident) {
    values[resident.value] = persistent.at(resident.operand.offset);
  }
  for (const ImagePort& feed : code.feeds) {
    values[feed.bytes.value] = BytesOf(FeedFor(feed, step));
  }
  for (const ImageInstruction& instruction : code.instructions) {
    const NodeSignature& node = instruction.node;
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(TensorOf(node.inputs[i], values.at(instruction.operands[i].value)));
    }
    const auto outputs = reference::Library().Evaluate(node, inputs);
    CGRUN_CHECK(outputs.has_value()) << instruction.name;
    for (size_t o = 0; o < outputs->size(); ++o) {
      const ImageOperand& operand = instruction.operands[inputs.size() + o];
      values[operand.value] = BytesOf((*outputs)[o]);
      if (operand.operand.arena != ArenaKind::kDevice) continue;
      const auto state = persistent.find(operand.operand.offset);
      if (state != persistent.end()) state->second = values[operand.value];
    }
  }
  RunResult result;
  for (const ImagePort& port : code.results) {
    result.results.push_back(values.at(port.bytes.value));
  }
  for (const ImageState& state : image.states) {
    result.states.push_back(persistent.at(state.offset));
  }
  return result;
}

}  // namespace cgrun
