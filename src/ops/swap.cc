// Defines four operators that swap a tensor to a file, or another swap space, and back. As they are
// operators, liveness, packing and byte code need no rule for them. One operator begins a transfer
// and another waits for it. Between the two the step goes on. These operators enter the graph when
// memory is planned, and carry no gradient.
#include "src/ops/swap.h"

#include <algorithm>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

const TensorType kToken{DType::kU8, Shape()};

// Returns the node of a transfer of a tensor of `type`.
NodeSignature SignatureOfTransfer(OpId op, const TensorType& type) {
  switch (op) {
    case OpId::swap_out:
      return {op, {}, {type}, {type}, {}};
    case OpId::swap_out_wait:
      return {op, {}, {type, type}, {kToken}, {}};
    case OpId::swap_in:
      return {op, {}, {type, kToken}, {type}, {}};
    default:
      return {op, {}, {type, type}, {type}, {}};
  }
}

}  // namespace

std::optional<KernelOption> OptionOfTransfer(const Target& target, OpId op, const TensorType& type,
                                             const Layout& layout, int threads) {
  const NodeSignature node = SignatureOfTransfer(op, type);
  const auto in_layout = [&](const std::vector<TensorType>& types) {
    std::vector<Layout> layouts(types.size());
    for (size_t i = 0; i < types.size(); ++i) layouts[i] = types[i] == type ? layout : Layout();
    return layouts;
  };
  const RunSetting setting{threads, in_layout(node.inputs)};
  for (KernelOption& option : target.Options(node, setting)) {
    if (option.input_layouts == setting.layouts &&
        option.output_layouts == in_layout(node.outputs)) {
      return std::move(option);
    }
  }
  return std::nullopt;
}

bool CanSwap(const Target& target, const TensorType& type, const Layout& layout, int threads) {
  return std::ranges::all_of(kTransfers, [&](OpId op) {
    return OptionOfTransfer(target, op, type, layout, threads).has_value();
  });
}

namespace op_def {
namespace {

std::vector<TensorType> InferSwap(InferContext& context) { return {context.input(0)}; }

std::vector<TensorType> InferToken(InferContext& context) {
  if (!ExpectInput(context, 1, "x", context.input(0))) return {};
  return {kToken};
}

std::vector<TensorType> InferFromToken(InferContext& context) {
  if (!ExpectInput(context, 1, "written", kToken)) return {};
  return {context.input(0)};
}

std::vector<TensorType> InferArrived(InferContext& context) {
  if (!ExpectInput(context, 1, "f", context.input(0))) return {};
  return {context.input(0)};
}

OpDef Transfer(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.infer = InferSwap;
  def.cost = NoOperations;
  def.has_effect = true;
  return def;
}

OperandDef InFile(std::string doc) { return {"f", std::move(doc), Arity::kOne, ArenaKind::kFile}; }

}  // namespace

OpDef swap_out() {
  OpDef def = Transfer("swap_out", "Begins to write a tensor to the swap file.",
                       "f = x, in the file. The bytes of x stay as they are until swap_out_wait.");
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {InFile("the same tensor in the file")};
  return def;
}

OpDef swap_out_wait() {
  OpDef def = Transfer("swap_out_wait", "Waits until a tensor is in the swap file.",
                       "Reads x, so that it is held until then. What it gives is read by swap_in, "
                       "which therefore comes later.");
  def.inputs = {InFile("what swap_out gives"), {"x", "what it reads"}};
  def.outputs = {{"written", "uint8, 1"}};
  def.infer = InferToken;
  return def;
}

OpDef swap_in() {
  OpDef def = Transfer("swap_in", "Begins to read a tensor from the swap file.",
                       "y = f. The bytes of y are there after swap_in_wait.");
  def.inputs = {InFile("a tensor in the file"), {"written", "from swap_out_wait"}};
  def.outputs = {{"y", "the same tensor"}};
  def.infer = InferFromToken;
  return def;
}

OpDef swap_in_wait() {
  OpDef def =
      Transfer("swap_in_wait", "Waits until a tensor is back from the swap file.", "z = y.");
  def.inputs = {{"y", "what swap_in gives"}, InFile("what it reads")};
  def.outputs = {{"z", "the same tensor"}};
  def.infer = InferArrived;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
