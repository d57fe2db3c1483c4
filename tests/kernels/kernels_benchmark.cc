// Bytes per second of the kernels of the device `blas`: each operator's preferred kernel on one
// thread and on two, and the reference kernel; memcpy is the measure of what memory gives.
//
//     bazel run -c opt //tests/kernels:kernels_benchmark -- --benchmark_filter=relu
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>

#include "src/base/random.h"
#include "src/ir/op_def.h"
#include "src/kernels/kernel.h"
#include "src/ops/batch_norm.h"
#include "src/ops/dropout.h"
#include "src/ops/embedding.h"
#include "src/ops/gelu.h"
#include "src/ops/layer_norm.h"
#include "src/ops/linear.h"
#include "src/ops/loss.h"
#include "src/ops/matmul.h"
#include "src/ops/norm_scale.h"
#include "src/ops/normalize.h"
#include "src/ops/optimizer.h"
#include "src/ops/pool.h"
#include "src/ops/reduce.h"
#include "src/ops/resize.h"
#include "src/ops/softmax.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

struct Line {
  alignas(64) std::byte bytes[64];
};

// Holds memory for a node's operands, one after another.
class Operands {
 public:
  Operands(const NodeSignature& node, int64_t workspace) {
    for (const TensorType& type : node.inputs) Add(ByteSize(type));
    for (const TensorType& type : node.outputs) Add(ByteSize(type));
    if (workspace > 0) Add(workspace);
    for (size_t i = 0; i < node.inputs.size(); ++i) Fill(node.inputs[i], memory_[i].get());
    for (const auto& bytes : memory_) {
      operands_.push_back(
          {reinterpret_cast<int64_t>(bytes.get()), ArenaKind::kDevice, Access::kRead});
    }
  }

  const std::vector<Operand>& operands() const { return operands_; }

 private:
  void Add(int64_t bytes) {
    memory_.push_back(std::make_unique<Line[]>(static_cast<size_t>(bytes / 64 + 1)));
  }

  // Fills with numbers from 0 to 2, which serve as variances, probabilities and labels, too.
  static void Fill(const TensorType& type, Line* lines) {
    HostTensor tensor(type.dtype, type.shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      tensor.Set(i, 2 * UniformFloat(RandomBits(1, 2, static_cast<uint64_t>(i))));
    }
    std::memcpy(lines, tensor.bytes().data(), tensor.bytes().size());
  }

  std::vector<std::unique_ptr<Line[]>> memory_;
  std::vector<Operand> operands_;
};

// Returns the option of the reference kernel, or the preferred one.
KernelOption OptionOf(const KernelLibrary& library, const NodeSignature& node, int threads,
                      bool reference) {
  const std::vector<KernelOption> options = library.Options(node, {threads});
  return reference ? options.back() : options.front();
}

void RunNode(benchmark::State& state, const NodeSignature& node, int threads, bool reference) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const KernelOption option = OptionOf(library, node, threads, reference);
  KernelRequest request{node, {}, threads};
  request.operands.resize(node.inputs.size() + node.outputs.size());
  const PreparedKernel kernel = library.Prepare(option.kernel, request);
  const Operands operands(node, option.workspace_bytes);
  const Instruction instruction{kernel.run, operands.operands().data(), kernel.parameters.get(),
                                static_cast<int32_t>(operands.operands().size()), 0};
  const RunContext context;
  int64_t bytes = 0;
  for (const TensorType& type : node.inputs) bytes += ByteSize(type);
  for (const TensorType& type : node.outputs) bytes += ByteSize(type);
  for (auto _ : state) {
    kernel.run(context, instruction);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetLabel(option.kernel);
}

void RunMemcpy(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const auto from = std::make_unique<Line[]>(bytes / 64), to = std::make_unique<Line[]>(bytes / 64);
  for (auto _ : state) {
    std::memcpy(to.get(), from.get(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * static_cast<int64_t>(bytes));
}

NodeSignature Node(OpId op, Attributes attributes, std::vector<TensorType> inputs) {
  NodeSignature node{op, std::move(attributes), std::move(inputs), {}, {}};
  InferContext context(node.attributes, node.inputs);
  node.outputs = InferTypes(op, context);
  CGRUN_CHECK(!context.failed()) << NameOf(op) << ": " << context.message();
  return node;
}

void Register(const std::string& name, const NodeSignature& node) {
  const auto add = [&](const std::string& who, int threads, bool reference) {
    benchmark::RegisterBenchmark((name + "/" + who).c_str(), [=](benchmark::State& state) {
      RunNode(state, node, threads, reference);
    })->UseRealTime();
  };
  add("1", 1, false);
  add("2", 2, false);
  add("reference", 1, true);
}

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

// The activations are those of images, in a middle layer of ResNet at batch 16, or of LeNet at
// batch 64.
void RegisterImages(const std::string& size, const Shape& x) {
  const TensorType f32 = F32(x), channels = F32({x[1]});
  const auto name = [&](const char* op) { return size + "/" + op; };
  Register(name("relu"), Node(OpId::relu, {}, {f32}));
  Register(name("relu_grad"), Node(OpId::relu_grad, {}, {f32, f32}));
  const NodeSignature bits = Node(OpId::relu_bits, {}, {f32});
  Register(name("relu_bits"), bits);
  Register(name("relu_grad_by_bits"), Node(OpId::relu_grad_by_bits, {}, {bits.outputs[0], f32}));
  Register(name("sigmoid"), Node(OpId::sigmoid, {}, {f32}));
  Register(name("tanh"), Node(OpId::tanh, {}, {f32}));
  Register(name("add"), Node(OpId::add, {}, {f32, f32}));
  Register(name("add_scalar"), Node(OpId::add, {}, {f32, F32({1})}));
  Register(name("mul_channels"), Node(OpId::mul, {}, {f32, F32({x[1], 1, 1})}));
  Register(name("bias"), Node(OpId::bias, {}, {f32, channels}));
  Register(name("bias_grad"),
           Node(OpId::reduce_sum, Attributes::Of(ReduceAttributes{{0, 2, 3}, false}), {f32}));
  Register(name("sum_of_all"), Node(OpId::reduce_sum, Attributes::Of(ReduceAttributes{}), {f32}));
  Register(name("sum_over_batch"),
           Node(OpId::reduce_sum, Attributes::Of(ReduceAttributes{{0}, false}), {f32}));
  Register(name("global_avg_pool"), Node(OpId::global_avg_pool, {}, {f32}));
  Register(name("dropout"), Node(OpId::dropout, Attributes::Of(DropoutAttributes{0.5, 1, true}),
                                 {f32, {DType::kI64, {}}}));
  const std::vector<TensorType> norm = {f32, channels, channels, channels, channels};
  Register(name("batch_norm"), Node(OpId::batch_norm, Attributes::Of(BatchNormAttributes{}), norm));
  Register(name("batch_norm_grad"),
           Node(OpId::batch_norm_grad, Attributes::Of(BatchNormAttributes{}),
                {f32, f32, channels, channels, channels}));
  const Attributes relu = Attributes::Of(BatchNormAttributes{.min = 0});
  Register(name("batch_norm_add"),
           Node(OpId::batch_norm_add, relu, {f32, f32, channels, channels, channels, channels}));
  Register(name("batch_norm_add_grad"), Node(OpId::batch_norm_add_grad, relu,
                                             {f32, f32, channels, channels, channels, f32, f32}));
  MaxPoolAttributes two;
  two.kernel = {2, 2};
  const NodeSignature pool = Node(OpId::max_pool, Attributes::Of(two), {f32});
  Register(name("max_pool_2x2"), pool);
  PoolGradAttributes grad{x, {2, 2}, {2, 2}};
  Register(name("max_pool_grad_2x2"),
           Node(OpId::max_pool_grad, Attributes::Of(grad), {pool.outputs[1], pool.outputs[0]}));
  MaxPoolAttributes three;
  three.kernel = {3, 3};
  three.stride = {2, 2};
  three.padding = {1, 1, 1, 1};
  Register(name("max_pool_3x3"), Node(OpId::max_pool, Attributes::Of(three), {f32}));
  AvgPoolAttributes average;
  average.kernel = {2, 2};
  Register(name("avg_pool_2x2"), Node(OpId::avg_pool, Attributes::Of(average), {f32}));
  Register(name("avg_pool_grad_2x2"),
           Node(OpId::avg_pool_grad, Attributes::Of(grad), {pool.outputs[0]}));
  const TensorType labels = {DType::kI64, {x[0], x[2], x[3]}};
  for (const OpId loss : {OpId::softmax_cross_entropy, OpId::accuracy}) {
    Register(name(("labels_of_places_" + std::string(GetOpDef(loss).name)).c_str()),
             Node(loss, Attributes::Defaults(*GetOpDef(loss).schema), {f32, labels}));
  }
  Register(name("to_channels_last"),
           Node(OpId::transpose, Attributes::Of(TransposeAttributes{{0, 2, 3, 1}}), {f32}));
}

// Matrices [rows, columns], as logits and weights are.
void RegisterMatrices(const std::string& size, const Shape& x) {
  const TensorType f32 = F32(x), scalar = F32({}), labels = {DType::kI64, {x[0]}};
  const auto name = [&](const char* op) { return size + "/" + op; };
  Register(name("softmax"), Node(OpId::softmax, Attributes::Of(SoftmaxAttributes{1}), {f32}));
  Register(
      name("softmax_cross_entropy"),
      Node(OpId::softmax_cross_entropy,
           Attributes::Defaults(*GetOpDef(OpId::softmax_cross_entropy).schema), {f32, labels}));
  Register(name("squared_error"), Node(OpId::squared_error, {}, {f32, f32}));
  Register(name("sum_of_rows"),
           Node(OpId::reduce_sum, Attributes::Of(ReduceAttributes{{1}, false}), {f32}));
  Register(name("sum_of_columns"),
           Node(OpId::reduce_sum, Attributes::Of(ReduceAttributes{{0}, false}), {f32}));
  Register(name("transpose"), Node(OpId::transpose, Attributes::Of(TransposeAttributes{}), {f32}));
  const TensorType rate = {DType::kF64, {}}, step = {DType::kI64, {}};
  SgdAttributes sgd;
  sgd.momentum = 0.9;
  Register(name("sgd_momentum"), Node(OpId::sgd, Attributes::Of(sgd), {f32, f32, rate, f32}));
  Register(name("adam"),
           Node(OpId::adam, Attributes::Of(AdamAttributes{}), {f32, f32, rate, f32, f32, step}));
}

// The activations are those of transformers: x is [tokens, features].
void RegisterTokens(const std::string& size, const Shape& x) {
  const TensorType f32 = F32(x), features = F32({x[1]}), tokens = F32({x[0]}), scalar = F32({});
  const auto name = [&](const char* op) { return size + "/" + op; };
  const Attributes norm = Attributes::Of(LayerNormAttributes{});
  Register(name("layer_norm"), Node(OpId::layer_norm, norm, {f32, features, features}));
  Register(name("layer_norm_grad"),
           Node(OpId::layer_norm_grad, norm, {f32, f32, tokens, tokens, features}));
  for (const char* approximate : {"none", "tanh"}) {
    const Attributes gelu = Attributes::Of(GeluAttributes{approximate});
    Register(name("gelu_") + approximate, Node(OpId::gelu, gelu, {f32}));
    Register(name("gelu_grad_") + approximate, Node(OpId::gelu_grad, gelu, {f32, f32}));
  }
  Register(name("log_softmax"),
           Node(OpId::log_softmax, Attributes::Of(SoftmaxAttributes{1}), {f32}));
  Register(name("binary_cross_entropy"),
           Node(OpId::binary_cross_entropy, Attributes::Of(BinaryCrossEntropyAttributes{}),
                {f32, {DType::kU8, x}}));
  Register(name("pow"), Node(OpId::pow, {}, {f32, scalar}));
  const EmbeddingAttributes table{1000, x[1].size};
  const TensorType ids = {DType::kI64, {x[0]}};
  Register(name("embedding"),
           Node(OpId::embedding, Attributes::Of(table), {ids, F32({table.entries, table.units})}));
  Register(name("embedding_grad"), Node(OpId::embedding_grad, Attributes::Of(table), {ids, f32}));
  const TensorType rate = {DType::kF64, {}}, step = {DType::kI64, {}};
  Register(name("adamw"),
           Node(OpId::adamw, Attributes::Of(AdamwAttributes{}), {f32, f32, rate, f32, f32, step}));
  Register(name("norm_scale"),
           Node(OpId::norm_scale, Attributes::Of(NormScaleAttributes{}), {f32, features}));
}

// A linear layer of [rows, features] to [rows, units], and the products of its gradients.
void RegisterLinear(const std::string& size, int64_t rows, int64_t features, int64_t units) {
  const TensorType x = F32({rows, features}), weight = F32({units, features});
  const TensorType dy = F32({rows, units});
  Register(size + "/linear",
           Node(OpId::linear, Attributes::Of(LinearAttributes{units}), {x, weight, F32({units})}));
  Register(size + "/linear_dx",
           Node(OpId::matmul, Attributes::Of(MatmulAttributes{}), {dy, weight}));
  Register(size + "/linear_dweight",
           Node(OpId::matmul, Attributes::Of(MatmulAttributes{true, false}), {dy, x}));
}

int Main(int argc, char** argv) {
  benchmark::RegisterBenchmark("memcpy", RunMemcpy)->Arg(1 << 16)->Arg(1 << 20)->Arg(16 << 20);
  RegisterImages("large", {16, 64, 56, 56});
  RegisterImages("small", {64, 6, 24, 24});
  RegisterMatrices("large", {2048, 1000});
  RegisterMatrices("small", {64, 100});
  RegisterTokens("tokens", {1024, 768});
  RegisterLinear("784_to_512", 64, 784, 512);
  RegisterLinear("512_to_256", 64, 512, 256);
  const TensorType photos = {DType::kU8, {16, 3, 224, 224}};
  Register("photos/normalize",
           Node(OpId::normalize,
                Attributes::Of(NormalizeAttributes{1.0 / 255, {0.4, 0.4, 0.4}, {0.2, 0.2, 0.2}}),
                {photos}));
  Register("photos/resize",
           Node(OpId::resize, Attributes::Of(ResizeAttributes{{256, 256}}), {F32(photos.shape)}));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace cgrun

int main(int argc, char** argv) { return cgrun::Main(argc, argv); }
