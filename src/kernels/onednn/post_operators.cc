// One list says what runs, in which order, on which operands.
#include "src/kernels/onednn/post_operators.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/onednn/folded_norm.h"
#include "src/ops/batch_norm.h"
#include "src/ops/leaky_relu.h"

namespace cgrun::onednn {
namespace {

using Algorithm = dnnl::algorithm;

PostOperator Relu(double slope = 0) {
  return {Algorithm::eltwise_relu, static_cast<float>(slope), 0, {}};
}

void AddClip(const BatchNormAttributes& norm, std::vector<PostOperator>& operators) {
  if (!norm.clips()) return;
  if (norm.min == 0 && std::isinf(norm.max)) {
    operators.push_back(Relu());
  } else {
    operators.push_back(
        {Algorithm::eltwise_clip, static_cast<float>(norm.min), static_cast<float>(norm.max), {}});
  }
}

// Of a tensor like the result: `op` has it beside the result of the operator before.
bool AddTensor(const NodeSignature& node, const FusedOperator& op, const Layout* y,
               std::vector<PostOperator>& operators) {
  const int other = std::max(op.operands[0], op.operands[1]);
  if (other < 0 || node.inputs[static_cast<size_t>(other)] != node.outputs[0]) return false;
  const Layout layout = y == nullptr ? Layout() : *y;
  operators.push_back(
      {Algorithm::binary_add, 0, 0, Argument{0, other, Describe(node.outputs[0], layout)}});
  return true;
}

// Adds what `op` is. Activations are those that give the very bits that our own kernels give, but
// for NaN. oneDNN rounds to bf16 once, behind all of them, which relu lets it.
bool Add(const NodeSignature& node, const FusedOperator& op, const Layout* y,
         std::vector<PostOperator>& operators) {
  switch (op.op) {
    case OpId::relu:
      operators.push_back(Relu());
      return true;
    case OpId::leaky_relu:
      operators.push_back(Relu(op.attributes.As<LeakyReluAttributes>().slope));
      return node.outputs[0].dtype == DType::kF32;
    case OpId::batch_norm:
      AddClip(op.attributes.As<BatchNormAttributes>(), operators);
      return CanFold(node);
    case OpId::add:
      return AddTensor(node, op, y, operators);
    default:
      return false;
  }
}

}  // namespace

std::optional<std::vector<PostOperator>> PostOperatorsOf(const NodeSignature& node,
                                                         const Layout* y) {
  std::vector<PostOperator> operators;
  for (size_t i = 1; i < node.body.size(); ++i) {
    if (!Add(node, node.body[i], y, operators)) return std::nullopt;
  }
  return operators;
}

dnnl::post_ops Described(const std::vector<PostOperator>& operators) {
  dnnl::post_ops described;
  for (const PostOperator& op : operators) {
    if (op.operand) {
      described.append_binary(op.algorithm, op.operand->desc);
    } else {
      described.append_eltwise(1, op.algorithm, op.alpha, op.beta);
    }
  }
  return described;
}

dnnl::post_ops DescribedInPlace(const std::vector<PostOperator>& operators) {
  dnnl::post_ops described;
  for (const PostOperator& op : operators) {
    if (op.operand) {
      described.append_sum();
    } else {
      described.append_eltwise(1, op.algorithm, op.alpha, op.beta);
    }
  }
  return described;
}

int AddedOperand(const std::vector<PostOperator>& operators) {
  const auto has_operand = [](const PostOperator& op) { return op.operand.has_value(); };
  const auto added = std::ranges::find_if(operators, has_operand);
  return added == operators.end() ? -1 : added->operand->operand;
}

void AddArguments(const std::vector<PostOperator>& operators, std::vector<Argument>& arguments) {
  for (size_t i = 0; i < operators.size(); ++i) {
    if (!operators[i].operand) continue;
    arguments.push_back(*operators[i].operand);
    arguments.back().kind = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
  }
}

}  // namespace cgrun::onednn
