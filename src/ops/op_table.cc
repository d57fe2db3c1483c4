// The operator table: the built-in operators, one line of op_list.inc each, then those of plug-ins.
// An operator without its definition is a link error.
#include <algorithm>
#include <deque>
#include <map>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

class OpTable {
 public:
  OpTable() {
#define CGRUN_OP(name, cpu, cuda) Add(op_def::name());
#include "src/ir/op_list.inc"
#undef CGRUN_OP
  }

  OpId Add(OpDef def) {
    const OpId id = static_cast<OpId>(defs_.size());
    CGRUN_CHECK(def.infer != nullptr) << def.name << " has no type inference";
    CGRUN_CHECK(by_name_.emplace(def.name, id).second) << "two operators are called " << def.name;
    defs_.push_back(std::move(def));
    return id;
  }

  const OpDef& Get(OpId op) const { return defs_[static_cast<size_t>(op)]; }
  int size() const { return static_cast<int>(defs_.size()); }
  std::optional<OpId> Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) return std::nullopt;
    return it->second;
  }

 private:
  std::deque<OpDef> defs_;  // stable addresses
  std::map<std::string, OpId, std::less<>> by_name_;
};

OpTable& Table() {
  static OpTable table;
  return table;
}

}  // namespace

const OpDef& GetOpDef(OpId op) {
  CGRUN_CHECK(static_cast<int>(op) < Table().size()) << "operator id " << static_cast<int>(op);
  return Table().Get(op);
}

std::optional<OpId> FindOp(std::string_view name) { return Table().Find(name); }

int OpCount() { return Table().size(); }

OpId AddOperator(OpDef def) { return Table().Add(std::move(def)); }

std::optional<Shape> ShownBy(OpId op, const Attributes& attributes, const TensorType& sums) {
  const OpDef& def = GetOpDef(op);
  const bool number = sums.dtype == DType::kF64 || sums.dtype == DType::kI64;
  if (def.usage != Usage::kMetric || !number || &attributes.schema() != def.schema) {
    return std::nullopt;
  }
  if (def.metric.shape != nullptr) return def.metric.shape(attributes, sums.shape);
  if (sums.shape.rank() != 0) return std::nullopt;
  return Shape();
}

namespace {

int64_t ReadsInBody(std::span<const FusedOperator> body, int operand) {
  int64_t reads = 0;
  for (const FusedOperator& inner : body) reads += std::ranges::count(inner.operands, operand);
  return reads;
}

// Returns `pairs` of operator `index` of a fused node's body, in the operands of the node. These
// are the pairs on inputs that nothing else in the body reads. With `through`, the operator may
// also write over what its in-place operators before it may, if that is passed on to it alone.
std::vector<InPlacePair> PairsInBody(std::span<const FusedOperator> body, size_t index,
                                     std::span<const InPlacePair> pairs, bool through) {
  const std::vector<int>& operands = body[index].operands;
  std::vector<InPlacePair> of_node;
  for (const InPlacePair& pair : pairs) {
    if (static_cast<size_t>(pair.input) >= operands.size()) continue;
    const int operand = operands[static_cast<size_t>(pair.input)];
    if (ReadsInBody(body, operand) != 1) continue;
    if (operand >= 0) of_node.push_back({operand, pair.output});
    if (operand >= 0 || !through) continue;
    const auto before = static_cast<size_t>(-1 - operand);
    for (const InPlacePair& earlier :
         PairsInBody(body, before, GetOpDef(body[before].op).in_place, through)) {
      if (earlier.output == 0)
        of_node.push_back({earlier.input, pair.output});  // the body passes its value on
    }
  }
  return of_node;
}

}  // namespace

OpCost CostOf(const NodeSignature& signature) {
  const OpDef& def = GetOpDef(signature.op);
  if (def.view) return {};
  if (def.cost != nullptr) return def.cost(signature);
  OpCost cost;
  for (const TensorType& output : signature.outputs) cost.flops += output.shape.Elements();
  return cost;
}

std::vector<InPlacePair> InPlacePairsOf(OpId op, std::span<const FusedOperator> body) {
  if (op != OpId::fused) return GetOpDef(op).in_place;
  return PairsInBody(body, body.size() - 1, GetOpDef(body.back().op).in_place, /*through=*/true);
}

std::vector<InPlacePair> UpdatesOf(const Node& node) {
  if (node.op != OpId::fused) return GetOpDef(node.op).updates;
  const std::vector<InPlacePair>& updates = GetOpDef(node.body.back().op).updates;
  return PairsInBody(node.body, node.body.size() - 1, updates, /*through=*/false);
}

bool IsTransfer(OpId op) {
  const OpDef& def = GetOpDef(op);
  const auto in_file = [](const OperandDef& operand) { return operand.arena == ArenaKind::kFile; };
  return std::ranges::any_of(def.inputs, in_file) || std::ranges::any_of(def.outputs, in_file);
}

ArenaKind ArenaOf(const Graph& graph, ValueId value) {
  const NodeId producer = graph.values[value].producer;
  if (!producer.valid()) return ArenaKind::kDevice;
  const std::vector<OperandDef>& outputs = GetOpDef(graph.nodes[producer].op).outputs;
  const auto index = static_cast<size_t>(graph.values[value].output_index);
  return index < outputs.size() ? outputs[index].arena : ArenaKind::kDevice;  // variadic or fused
}

std::string_view NameOf(OpId op) { return GetOpDef(op).name; }

NodeSignature SignatureOf(const Graph& graph, const Node& node) {
  NodeSignature signature{node.op, node.attributes, {}, {}, node.body};
  signature.inputs.reserve(node.inputs.size());
  signature.outputs.reserve(node.outputs.size());
  for (ValueId id : node.inputs) signature.inputs.push_back(graph.values[id].type);
  for (ValueId id : node.outputs) signature.outputs.push_back(graph.values[id].type);
  return signature;
}

}  // namespace cgrun
