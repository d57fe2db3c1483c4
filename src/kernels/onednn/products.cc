// Computes linear, and matmul of two matrices, of bf16 by one product of oneDNN. It reads the
// operands as they lie, or transposed, adds in f32 and rounds once. In f32 they would need copies
// of all of them.
//
// oneDNN 2.6 also takes stacks of matrices, but is wrong for some of 49 to 63 columns if it has
// several threads. Only a stack that goes with one matrix is a product here: that of all its rows.
#include <string_view>

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"
#include "src/ops/matmul.h"

namespace cgrun::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Product = dnnl::matmul;

// The speeds of one thread were measured: 350e9 to 1,200e9 by tiles in the caches, 40e9 to 80e9 by
// pairs.
constexpr double kTileFlopsPerSecond = 320e9, kPairFlopsPerSecond = 60e9;
// The operands move at this speed however many threads there are. It was measured as 3e9 to 8e9
// beyond the caches.
constexpr double kBytesPerSecond = 6e9;

// y[rows, columns] = a·b. An operand that is transposed lies as the plain other one.
struct Sizes {
  int64_t rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  bool has_bias = false;
};

int64_t LastOf(const TensorType& type) { return type.shape[type.shape.rank() - 1].size; }

Sizes SizesOf(const NodeSignature& node) {
  Sizes sizes;
  if (node.op == OpId::matmul) {
    const auto& attributes = node.attributes.As<MatmulAttributes>();
    sizes.transpose_a = attributes.transpose_a;
    sizes.transpose_b = attributes.transpose_b;
  } else {
    sizes.transpose_b = true;  // the weight
    sizes.has_bias = node.inputs.size() == 3;
  }
  sizes.columns = LastOf(node.outputs[0]);
  sizes.rows = node.outputs[0].shape.Elements() / sizes.columns;
  sizes.depth = sizes.transpose_a ? node.inputs[0].shape[0].size : LastOf(node.inputs[0]);
  return sizes;
}

// Returns whether SizesOf() can describe the node: all rows of the first operand go with one second
// operand.
bool IsOneProduct(const NodeSignature& node) {
  if (node.op != OpId::matmul) return true;
  return node.inputs[1].shape.rank() == 2 &&
         (node.inputs[0].shape.rank() == 2 || !node.attributes.As<MatmulAttributes>().transpose_a);
}

bool Supports(const NodeSignature& node) {
  for (const TensorType& type : node.inputs) {
    if (type.dtype != DType::kBF16) return false;
  }
  return MultipliesPairs() && node.outputs[0].shape.Elements() > 0 && IsOneProduct(node) &&
         IsSoundDepth(SizesOf(node).depth);
}

double Seconds(const NodeSignature& node, int threads) {
  const double flops = MultipliesTiles() ? kTileFlopsPerSecond : kPairFlopsPerSecond;
  return static_cast<double>(CostOf(node).flops) / flops / threads +
         static_cast<double>(OperandBytes(node)) / kBytesPerSecond;
}

Desc MatrixOf(int64_t rows, int64_t columns, bool transpose) {
  using Tag = dnnl::memory::format_tag;
  return {{rows, columns}, DataType(DType::kBF16), transpose ? Tag::ba : Tag::ab};
}

Product::primitive_desc DescOf(const NodeSignature& node, int threads) {
  SetThreads(threads);
  const Sizes sizes = SizesOf(node);
  const Desc a = MatrixOf(sizes.rows, sizes.depth, sizes.transpose_a);
  const Desc b = MatrixOf(sizes.depth, sizes.columns, sizes.transpose_b);
  const Desc y = MatrixOf(sizes.rows, sizes.columns, false);
  if (!sizes.has_bias) return {Product::desc(a, b, y), Attributes(), Engine()};
  return {Product::desc(a, b, MatrixOf(1, sizes.columns, false), y), Attributes(), Engine()};
}

bool Choose(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  return Try([&] {
    const auto product = DescOf(node, setting.threads);
    option->workspace_bytes = static_cast<int64_t>(product.scratchpad_desc().get_size());
    return RunsInScratch(product);
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const auto product = DescOf(request.node, request.threads);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, product.src_desc()},
                                     {DNNL_ARG_WEIGHTS, 1, product.weights_desc()}};
  const int output = static_cast<int>(request.node.inputs.size());
  if (output == 3) arguments.push_back({DNNL_ARG_BIAS, 2, product.bias_desc()});
  arguments.push_back({DNNL_ARG_DST, output, product.dst_desc()});
  AddScratch(product.scratchpad_desc(), output + 1, arguments);
  return PrepareRun(Product(product), arguments);
}

KernelDef KernelOf(std::string_view name) {
  return {
      .name = name, .supports = Supports, .prepare = Prepare, .choose = Choose, .seconds = Seconds};
}

}  // namespace

KernelDef linear() { return KernelOf("onednn.linear"); }
KernelDef matmul() { return KernelOf("onednn.matmul"); }

}  // namespace cgrun::onednn
