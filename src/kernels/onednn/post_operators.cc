// One list says what runs, in which order, on which operands.
#include "src/kernels/onednn/post_operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "src/ops/batch_norm.h"
#include "src/ops/leaky_relu.h"

namespace cgrun::onednn {
namespace {

using Algorithm = dnnl::algorithm;

PostOperator Relu(double slope = 0) {
  return {Algorithm::eltwise_relu, static_cast<float>(slope), 0};
}

// Describes one number for each filter.
dnnl::memory::desc OfFilters(int64_t filters) {
  return {{1, filters, 1, 1}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abcd};
}

// Adds the operators that a norm outside the weights needs: a factor and a summand for each filter.
void AddFactors(std::vector<PostOperator>& operators) {
  operators.push_back({Algorithm::binary_mul});
  operators.push_back({Algorithm::binary_add});
}

void AddClip(const BatchNormAttributes& norm, std::vector<PostOperator>& operators) {
  if (!norm.clips()) return;
  if (norm.min == 0 && std::isinf(norm.max)) {
    operators.push_back(Relu());
  } else {
    operators.push_back(
        {Algorithm::eltwise_clip, static_cast<float>(norm.min), static_cast<float>(norm.max)});
  }
}

// Adds a tensor like the result. It is the operand of `op` beside the result of the operator
// before.
bool AddTensor(const NodeSignature& node, const FusedOperator& op,
               std::vector<PostOperator>& operators) {
  const int other = std::max(op.operands[0], op.operands[1]);
  if (other < 0 || node.inputs[static_cast<size_t>(other)] != node.outputs[0]) return false;
  operators.push_back({Algorithm::undef, 0, 0, other});
  return true;
}

// Adds what `op` is. Activations are those that give the very bits that our own kernels give, but
// for NaN. oneDNN rounds to bf16 once, behind all of them, which relu lets it.
bool Add(const NodeSignature& node, const FusedOperator& op, std::vector<PostOperator>& operators) {
  switch (op.op) {
    case OpId::relu:
      operators.push_back(Relu());
      return true;
    case OpId::leaky_relu:
      operators.push_back(Relu(op.attributes.As<LeakyReluAttributes>().slope));
      return node.outputs[0].dtype == DType::kF32;
    case OpId::batch_norm:
      if (!FoldsIntoWeights(node)) AddFactors(operators);
      AddClip(op.attributes.As<BatchNormAttributes>(), operators);
      return CanFold(node);
    case OpId::add:
      return AddTensor(node, op, operators);
    default:
      return false;
  }
}

struct Copying {
  PreparedKernel conv;
  int from = 0, to = 0;  // operands
  int64_t bytes = 0;
  int threads = 1;
};

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Copying*>(i.parameters);
  const auto* from = Data<const std::byte>(context, i, p.from);
  auto* to = Data<std::byte>(context, i, p.to);
  if (from != to) {
    const int64_t part = (p.bytes + p.threads - 1) / p.threads;
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t begin = 0; begin < p.bytes; begin += part) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(part, p.bytes - begin)));
    }
  }
  Instruction conv = i;
  conv.parameters = p.conv.parameters.get();
  p.conv.run(context, conv);
}

}  // namespace

std::optional<std::vector<PostOperator>> PostOperatorsOf(const NodeSignature& node) {
  std::vector<PostOperator> operators;
  for (size_t i = 1; i < node.body.size(); ++i) {
    if (!Add(node, node.body[i], operators)) return std::nullopt;
  }
  return operators;
}

dnnl::post_ops Described(const std::vector<PostOperator>& operators, int64_t filters) {
  dnnl::post_ops described;
  for (const PostOperator& op : operators) {
    if (op.added >= 0) {
      described.append_sum();
    } else if (op.of_filters()) {
      described.append_binary(op.algorithm, OfFilters(filters));
    } else {
      described.append_eltwise(1, op.algorithm, op.alpha, op.beta);
    }
  }
  return described;
}

void AddFoldedArguments(const std::vector<PostOperator>& operators, int64_t filters,
                        const FoldedPlaces& places, int workspace,
                        std::vector<Argument>& arguments) {
  for (size_t k = 0; k < operators.size(); ++k) {
    if (!operators[k].of_filters()) continue;
    const bool multiplies = operators[k].algorithm == Algorithm::binary_mul;
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                         workspace, OfFilters(filters),
                         multiplies ? places.factors : places.summands});
  }
}

int AddedOperand(const std::vector<PostOperator>& operators) {
  const auto adds = [](const PostOperator& op) { return op.added >= 0; };
  const auto added = std::ranges::find_if(operators, adds);
  return added == operators.end() ? -1 : added->added;
}

PreparedKernel BehindCopy(int added, const KernelRequest& request, PreparedKernel conv) {
  if (added < 0) return conv;
  const NodeSignature& node = request.node;
  const int y = static_cast<int>(node.inputs.size());
  const int64_t bytes = ByteSize(node.outputs[0], request.operands[static_cast<size_t>(y)].layout);
  return PreparedKernel::Of(&Run, Copying{std::move(conv), added, y, bytes, request.threads});
}

}  // namespace cgrun::onednn
