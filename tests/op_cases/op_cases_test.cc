// Runs every case of every operator: inference, forward in each number type against f64 and against
// known results, in place, and the gradient against finite differences in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/autodiff/autodiff.h"
#include "src/base/allocation_counter.h"
#include "src/base/random.h"
#include "src/device/cuda.h"
#include "src/ir/op_def.h"
#include "src/kernels/kernel.h"
#include "tests/op_cases/case_graph.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_on_device.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

TEST(CaseLists, EveryOperatorHasACaseThatRuns) {
  std::set<OpId> run = {OpId::fused};  // a case has no body: random graphs try it
  for (const NamedCase& c : AllCases()) {
    if (c.op_case.error.empty()) run.insert(c.op);
  }
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    EXPECT_TRUE(run.contains(OpId(i))) << NameOf(OpId(i)) << " has none";
  }
}

// The inputs whose gradient a case checks.
std::vector<int> GradientInputs(const OpCase& op_case) {
  if (!op_case.gradient_inputs.empty()) return op_case.gradient_inputs;
  std::vector<int> inputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const CaseInput& input = op_case.inputs[i];
    if (input.dtype == DType::kF64 && !input.fixed_dtype) inputs.push_back(static_cast<int>(i));
  }
  return inputs;
}

bool ChecksGradient(const NamedCase& c) {
  return GetOpDef(c.op).gradient != nullptr && c.op_case.error.empty() &&
         c.op_case.check_gradient && !GradientInputs(c.op_case).empty();
}

TEST(CaseLists, EveryGradientIsCheckedByACase) {
  std::set<OpId> checked;
  for (const NamedCase& c : AllCases()) {
    if (ChecksGradient(c)) checked.insert(c.op);
  }
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const bool has_gradient = GetOpDef(OpId(i)).gradient != nullptr;
    EXPECT_TRUE(!has_gradient || checked.contains(OpId(i)))
        << NameOf(OpId(i)) << " has a gradient, and no case checks it";
  }
  EXPECT_GT(checked.size(), 40u);
}

const Target& Reference() { return *FindKernelLibrary("reference"); }

class OpCases : public testing::TestWithParam<NamedCase> {
 protected:
  const OpCase& op_case() const { return GetParam().op_case; }

  // The forward outputs in one floating-point type, or nothing if the kernel has not that type.
  std::optional<std::vector<HostTensor>> Forward(DType float_type) {
    CaseGraph c = MakeGraph(GetParam(), float_type);
    const Node& node = c.graph.nodes[NodeId(0)];
    std::vector<HostTensor> inputs;
    for (ValueId id : c.inputs) inputs.push_back(c.sources.at(id));
    return Reference().Evaluate(SignatureOf(c.graph, node), inputs);
  }
};

TEST_P(OpCases, RefusesWrongInputs) {
  if (op_case().error.empty()) return;
  std::vector<TensorType> types;
  for (const CaseInput& input : op_case().inputs) types.push_back({input.dtype, input.shape});
  InferContext context(op_case().attributes, types);
  InferTypes(GetParam().op, context);
  ASSERT_TRUE(context.failed()) << "accepted";
  EXPECT_NE(context.message().find(op_case().error), std::string::npos) << context.message();
}

TEST_P(OpCases, ForwardGivesKnownResults) {
  if (op_case().expected.empty()) return;
  const auto outputs = Forward(DType::kF64);
  ASSERT_TRUE(outputs.has_value());
  ASSERT_LE(op_case().expected.size(), outputs->size());
  for (size_t i = 0; i < op_case().expected.size(); ++i) {
    const std::vector<double>& values = op_case().expected[i];
    if (values.empty()) continue;
    ASSERT_EQ(static_cast<int64_t>(values.size()), (*outputs)[i].elements());
    ExpectClose((*outputs)[i], HostTensor::Of<double>((*outputs)[i].shape(), values), 1e-6,
                "output " + std::to_string(i));
  }
}

TEST_P(OpCases, NumberTypesAgree) {
  if (!op_case().error.empty()) return;
  const auto exact = Forward(DType::kF64);
  ASSERT_TRUE(exact.has_value()) << "no f64 kernel";
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const auto outputs = Forward(dtype);
    ASSERT_TRUE(outputs.has_value() || dtype == DType::kBF16) << "no f32 kernel";
    if (!outputs) continue;
    // An index may differ where values tie, which no two of a case do in f32 and not in f64.
    const auto* same = dtype == DType::kF32 ? &*exact : nullptr;
    ExpectAgreement(*outputs, *exact, same, dtype, std::string(Name(dtype)));
  }
}

// The layouts in which inputs of four axes may come: plain ones, and what convolutions make.
std::vector<RunSetting> SettingsOf(const NodeSignature& node) {
  std::vector<RunSetting> settings;
  for (const char* text : {"plain", "aBcd8b", "aBcd16b", "acdb"}) {
    Layout layout;
    if (!Layout::Parse(text, &layout)) ADD_FAILURE() << text;
    RunSetting setting;
    for (const TensorType& input : node.inputs) {
      setting.layouts.push_back(input.shape.rank() == 4 ? layout : Layout());
    }
    if (settings.empty() || setting.layouts != settings[0].layouts) settings.push_back(setting);
  }
  for (size_t i = settings.size(); i-- > 0;) {
    settings.push_back(settings[i]);
    settings.back().threads = 2;
  }
  return settings;
}

// "cpu: onednn.conv(aBcd16b, Abcd16a) 2 threads, f32".
std::string Describe(const std::string& device, const KernelOption& option, int threads,
                     DType dtype) {
  std::string layouts;
  for (const Layout& layout : option.input_layouts) {
    layouts += (layouts.empty() ? "" : ", ") + layout.ToString();
  }
  return device + ": " + option.kernel + "(" + layouts + ") " + std::to_string(threads) +
         " threads, " + std::string(Name(dtype));
}

// Every kernel of every device of the host gives, in every layout and with one thread and two, what
// `reference` gives in f64; its integers are those of `reference` in the same number type, ties
// included.
TEST_P(OpCases, DevicesAgreeWithReference) {
  if (!op_case().error.empty()) return;
  const auto exact = Forward(DType::kF64);
  ASSERT_TRUE(exact.has_value());
  for (const std::string& device : DeviceNames()) {
    const KernelLibrary* library = FindKernelLibrary(device);
    if (library == nullptr || library == &Reference() || device == "cuda") continue;
    for (DType dtype : {DType::kF64, DType::kF32, DType::kBF16}) {
      CaseGraph c = MakeGraph(GetParam(), dtype);
      const NodeSignature node = SignatureOf(c.graph, c.graph.nodes[NodeId(0)]);
      const std::vector<HostTensor> inputs = MakeInputs(GetParam(), dtype);
      const auto same = Forward(dtype);
      std::set<std::string> seen;
      for (const RunSetting& setting : SettingsOf(node)) {
        for (const KernelOption& option : library->Options(node, setting)) {
          const std::string what = Describe(device, option, setting.threads, dtype);
          if (!seen.insert(what).second) continue;
          const OptionRun run = RunOption(*library, node, option, inputs, setting.threads);
          EXPECT_EQ(run.fault, "") << what;
          ExpectAgreement(run.outputs, *exact, same ? &*same : nullptr, dtype, what);
        }
      }
    }
  }
}

std::vector<std::byte> BytesOf(const HostTensor& tensor) {
  return {tensor.bytes().begin(), tensor.bytes().end()};
}

// Returns whether a pair of an operator is one of this node.
bool CanShare(const NodeSignature& node, const InPlacePair& pair) {
  const auto input = static_cast<size_t>(pair.input), output = static_cast<size_t>(pair.output);
  return input < node.inputs.size() && output < node.outputs.size() &&
         ByteSize(node.inputs[input]) == ByteSize(node.outputs[output]);
}

std::vector<std::vector<std::byte>> BytesOf(const std::vector<HostTensor>& tensors) {
  std::vector<std::vector<std::byte>> bytes;
  for (const HostTensor& tensor : tensors) bytes.push_back(BytesOf(tensor));
  return bytes;
}

// A GPU gives it too, where there is one: apart and in place the same bits, in memory of NaN as in
// that of zeros in which constants are folded.
TEST_P(OpCases, GpuAgreesWithReference) {
  const KernelLibrary* library = FindKernelLibrary("cuda");
  if (!op_case().error.empty() || library == nullptr) return;
  if (!HasCudaDevice()) GTEST_SKIP() << "there is no GPU in this machine";
  const std::unique_ptr<Device> device = OpenCudaDevice("cuda");
  const auto exact = Forward(DType::kF64);
  for (DType dtype : {DType::kF64, DType::kF32, DType::kBF16}) {
    CaseGraph c = MakeGraph(GetParam(), dtype);
    const NodeSignature node = SignatureOf(c.graph, c.graph.nodes[NodeId(0)]);
    const std::vector<KernelOption> options = library->Options(node, {});
    if (options.empty()) continue;
    const std::string what = "cuda " + std::string(Name(dtype));
    const std::vector<HostTensor> inputs = MakeInputs(GetParam(), dtype);
    const DeviceRun apart = RunOnDevice(*library, *device, node, options[0], inputs);
    EXPECT_EQ(apart.fault, "") << what;
    const auto same = Forward(dtype);
    ExpectAgreement(apart.outputs, *exact, same ? &*same : nullptr, dtype, what);
    const auto folded = library->Evaluate(node, inputs);
    ASSERT_TRUE(folded.has_value()) << what;
    EXPECT_EQ(BytesOf(*folded), BytesOf(apart.outputs)) << what;
    for (const InPlacePair& pair : options[0].in_place) {
      if (!CanShare(node, pair)) continue;
      const DeviceRun shared = RunOnDevice(*library, *device, node, options[0], inputs, pair);
      const std::string where = what + ", output " + std::to_string(pair.output) + " over input " +
                                std::to_string(pair.input);
      EXPECT_EQ(shared.fault, "") << where;
      EXPECT_EQ(BytesOf(shared.outputs), BytesOf(apart.outputs)) << where;
    }
  }
}

// Runs a case's kernel on memory of its own. Its outputs and workspace hold garbage first.
class CaseRun {
 public:
  // `shared`: the output of the pair lies over its input.
  CaseRun(const NamedCase& c, DType float_type, const InPlacePair* shared = nullptr)
      : node_(SignatureOf(c, float_type)) {
    const KernelLibrary& library = *FindKernelLibrary("reference");
    const std::vector<KernelOption> options = library.Options(node_, {});
    if (options.empty()) return;
    option_ = options[0];
    for (const HostTensor& input : MakeInputs(c, float_type)) {
      memory_.emplace_back(input.bytes().begin(), input.bytes().end());
    }
    for (const TensorType& type : node_.outputs) AddGarbage(ByteSize(type));
    AddGarbage(option_.workspace_bytes);
    const size_t inputs = node_.inputs.size();
    for (size_t i = 0; i < memory_.size(); ++i) {
      const bool over = shared != nullptr && i == inputs + static_cast<size_t>(shared->output);
      std::byte* bytes = memory_[over ? static_cast<size_t>(shared->input) : i].data();
      operands_.push_back({reinterpret_cast<int64_t>(bytes), ArenaKind::kDevice, Access::kRead});
    }
    KernelRequest request{node_, {}, 1};
    request.operands.resize(inputs + node_.outputs.size());
    kernel_ = library.Prepare(option_.kernel, request);
  }

  // Returns whether the library has a kernel for the number type.
  bool ready() const { return kernel_.run != nullptr; }
  const NodeSignature& node() const { return node_; }
  const KernelOption& option() const { return option_; }

  void Run() {
    SingleProcess communicator;
    RunContext context;
    context.communicator = &communicator;
    kernel_.run(context, {kernel_.run, operands_.data(), kernel_.parameters.get(),
                          static_cast<int32_t>(operands_.size()), 0});
  }

  // The bytes of output `i`, wherever they lie.
  std::vector<std::byte> OutputBytes(size_t i) const {
    const auto* from =
        reinterpret_cast<const std::byte*>(operands_[node_.inputs.size() + i].offset);
    return {from, from + ByteSize(node_.outputs[i])};
  }

 private:
  static NodeSignature SignatureOf(const NamedCase& c, DType float_type) {
    const CaseGraph graph = MakeGraph(c, float_type);
    return cgrun::SignatureOf(graph.graph, graph.graph.nodes[NodeId(0)]);
  }

  void AddGarbage(int64_t bytes) {
    memory_.emplace_back(static_cast<size_t>(bytes), std::byte{0xA5});
  }

  NodeSignature node_;
  KernelOption option_;
  std::vector<std::vector<std::byte>> memory_;  // inputs, outputs, workspace
  std::vector<Operand> operands_;
  PreparedKernel kernel_;
};

// Runs the node with an output over an input, and must get the same bytes.
TEST_P(OpCases, InPlaceGivesTheSameBytes) {
  if (!op_case().error.empty()) return;
  const CaseRun apart(GetParam(), DType::kF32);
  ASSERT_TRUE(apart.ready());
  const NodeSignature& node = apart.node();
  const auto wanted = Forward(DType::kF32);
  for (const InPlacePair& pair : apart.option().in_place) {
    if (!CanShare(node, pair)) continue;
    const auto output = static_cast<size_t>(pair.output);
    CaseRun run(GetParam(), DType::kF32, &pair);
    run.Run();
    EXPECT_EQ(run.OutputBytes(output), BytesOf((*wanted)[output]))
        << "output " << pair.output << " over input " << pair.input;
  }
}

// Every byte of every output is written, whatever the memory held, and nothing is allocated.
TEST_P(OpCases, RunWritesAllAndAllocatesNothing) {
  if (!op_case().error.empty()) return;
  for (DType dtype : {DType::kF64, DType::kF32, DType::kBF16}) {
    CaseRun run(GetParam(), dtype);
    if (!run.ready()) continue;
    const int64_t before = CurrentHeapUse().allocations;
    run.Run();
    EXPECT_EQ(CurrentHeapUse().allocations, before) << Name(dtype);
    const auto wanted = Forward(dtype);
    for (size_t i = 0; i < wanted->size(); ++i) {
      EXPECT_EQ(run.OutputBytes(i), BytesOf((*wanted)[i])) << Name(dtype) << " output " << i;
    }
  }
}

// Σ seed·output over the floating-point outputs: what the gradient is taken of.
double Objective(const CaseGraph& c, const std::map<ValueId, HostTensor>& sources,
                 const std::map<ValueId, HostTensor>& seeds) {
  const auto values = Interpret(c.graph, Reference(), sources);
  double sum = 0;
  for (const auto& [output, seed] : seeds) {
    for (int64_t i = 0; i < seed.elements(); ++i) sum += seed.At(i) * values.at(output).At(i);
  }
  return sum;
}

// The derivative by central differences, or nothing at a kink: there the slopes on both sides
// differ.
std::optional<double> Slope(const CaseGraph& c, const std::map<ValueId, HostTensor>& seeds,
                            ValueId input, int64_t element) {
  constexpr double kStep = 1e-5;
  const auto at = [&](double shift) {
    auto sources = c.sources;
    HostTensor& tensor = sources.at(input);
    tensor.Set(element, tensor.At(element) + shift);
    return Objective(c, sources, seeds);
  };
  const double middle = at(0), up = at(kStep), down = at(-kStep);
  const double right = (up - middle) / kStep, left = (middle - down) / kStep;
  if (std::abs(right - left) > 2e-2 * std::max(1.0, std::abs(right) + std::abs(left))) {
    return std::nullopt;
  }
  return (up - down) / (2 * kStep);
}

bool CarriesGradient(const OpCase& op_case, int output) {
  const std::vector<int>& outputs = op_case.gradient_outputs;
  return outputs.empty() || std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

TEST_P(OpCases, GradientAgreesWithFiniteDifferences) {
  if (!ChecksGradient(GetParam())) return;
  CaseGraph c = MakeGraph(GetParam(), DType::kF64);
  const CaseGraph forward = c;
  Builder builder(c.graph);
  std::vector<std::pair<ValueId, ValueId>> seeds;
  std::map<ValueId, HostTensor> seed_tensors;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const ValueId output = c.outputs[i];
    const TensorType type = c.graph.values[output].type;
    if (type.dtype != DType::kF64 || !CarriesGradient(op_case(), static_cast<int>(i))) continue;
    CaseInput uniform = Uniform(type.shape, 0.5, 1.5);
    const std::string name = "seed of " + c.graph.values[output].name;
    HostTensor seed = MakeInput(uniform, DType::kF64, RandomKey(7, name));
    seeds.emplace_back(output, builder.AddConstant(seed, name));
    seed_tensors.emplace(output, std::move(seed));
  }
  std::vector<ValueId> wrt;
  for (int i : GradientInputs(op_case())) wrt.push_back(c.inputs.at(static_cast<size_t>(i)));
  const auto gradients = AddGradients(builder, seeds, wrt, PathId());
  ASSERT_EQ(VerifyGraph(c.graph), std::vector<std::string>());
  const auto values = Interpret(c.graph, Reference(), c.sources);
  for (ValueId input : wrt) {
    ASSERT_TRUE(gradients.contains(input)) << "no gradient of " << c.graph.values[input].name;
    const HostTensor& gradient = values.at(gradients.at(input));
    int64_t checked = 0, nonzero = 0;
    const int64_t stride = std::max<int64_t>(1, gradient.elements() / 150);
    for (int64_t i = 0; i < gradient.elements(); i += stride) {
      const std::optional<double> slope = Slope(forward, seed_tensors, input, i);
      if (!slope) continue;
      ++checked;
      nonzero += gradient.At(i) != 0;
      EXPECT_NEAR(gradient.At(i), *slope, 1e-5 * std::max(1.0, std::abs(*slope)))
          << c.graph.values[input].name << " element " << i;
    }
    EXPECT_GT(checked, 0) << "every element is a kink";
    EXPECT_GT(nonzero, 0) << "the gradient is zero everywhere";
  }
}

std::string CaseName(const testing::TestParamInfo<NamedCase>& info) {
  std::string name = std::string(NameOf(info.param.op)) + "_" + info.param.op_case.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, OpCases, testing::ValuesIn(AllCases()), CaseName);

}  // namespace
}  // namespace cgrun
