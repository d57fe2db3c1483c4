// KeepActivationsInBF16: one walk over the nodes, which writes them anew with casts between them.
#include "src/autodiff/mixed_precision.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/ops/cast.h"

namespace cgrun {
namespace {

// Returns whether a value is a number of the model, not of a sample: it takes the type of what it
// is put together with.
bool IsOfModel(const Value& value) {
  return value.role == Role::kParameter || value.role == Role::kConstant;
}

class Rewriter {
 public:
  explicit Rewriter(Graph graph) : graph_(std::move(graph)), builder_(graph_) {}

  Graph Run() {
    const std::vector<NodeId> order = TopologicalOrder(graph_);
    IdVector<NodeId, Node> nodes = std::exchange(graph_.nodes, {});
    for (NodeId id : order) Add(std::move(nodes[id]));
    for (Path& path : graph_.paths) {
      if (path.loss.valid()) path.loss = InF32(path.loss);
    }
    for (Output& output : graph_.outputs) output.value = InF32(output.value);
    for (UpdateEdge& update : graph_.updates) update.next = InF32(update.next);
    return std::move(graph_);
  }

 private:
  const Value& value(ValueId id) const { return graph_.values[id]; }

  void Add(Node node) {
    const OpDef& def = GetOpDef(node.op);
    for (ValueId& input : node.inputs) input = StandIn(input);
    const int narrow_inputs = ComputesInBF16(def, node) ? def.narrow_inputs : 0;
    std::vector<TensorType> types;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool narrow = static_cast<int>(i) < narrow_inputs;
      node.inputs[i] = In(node.inputs[i], narrow ? DType::kBF16 : DType::kF32, OptionsOf(node));
      types.push_back(value(node.inputs[i]).type);
    }
    SetOutputTypes(node, std::move(types));
    const ValueId result = node.outputs[0];
    const Builder::NodeOptions options = OptionsOf(node);
    const NodeId id(static_cast<int64_t>(graph_.nodes.size()));
    for (ValueId output : node.outputs) graph_.values[output].producer = id;
    graph_.nodes.push_back(std::move(node));
    if (def.narrow == Narrow::kResult) stand_ins_[result] = In(result, DType::kBF16, options);
  }

  // Returns whether the node computes in bf16. With Narrow::kFollows, every floating-point input
  // must be bf16, but for parameters and constants of the model. A node that reads only those stays
  // in f32.
  bool ComputesInBF16(const OpDef& def, const Node& node) const {
    if (def.narrow == Narrow::kAlways) return true;
    if (def.narrow != Narrow::kFollows) return false;
    bool reads_bf16 = false;
    for (size_t i = 0; i < node.inputs.size() && static_cast<int>(i) < def.narrow_inputs; ++i) {
      const Value& input = value(node.inputs[i]);
      if (!IsFloat(input.type.dtype) || IsOfModel(input)) continue;
      if (input.type.dtype != DType::kBF16) return false;
      reads_bf16 = true;
    }
    return reads_bf16;
  }

  void SetOutputTypes(const Node& node, std::vector<TensorType> inputs) {
    InferContext context(node.attributes, std::move(inputs));
    const std::vector<TensorType> types = InferTypes(node.op, context);
    CGRUN_CHECK(!context.failed()) << node.name << " in bf16: " << context.message();
    for (size_t i = 0; i < types.size(); ++i) graph_.values[node.outputs[i]].type = types[i];
  }

  static Builder::NodeOptions OptionsOf(const Node& node) {
    Builder::NodeOptions options;
    options.path = node.path;
    options.mark = node.mark;
    return options;
  }

  // Returns the bf16 copy of a value whose operator has Narrow::kResult, else the value itself.
  // Readers use that copy in its place.
  ValueId StandIn(ValueId id) const {
    const auto it = stand_ins_.find(id);
    return it == stand_ins_.end() ? id : it->second;
  }

  ValueId InF32(ValueId id) {
    Builder::NodeOptions options;
    const NodeId producer = value(id).producer;
    if (producer.valid()) options = OptionsOf(graph_.nodes[producer]);
    return In(id, DType::kF32, options);
  }

  // The value in f32 or bf16, where it is the other one of these.
  ValueId In(ValueId id, DType to, const Builder::NodeOptions& options) {
    const DType from = value(id).type.dtype;
    if (from == to || (from != DType::kF32 && from != DType::kBF16)) return id;
    if (const auto it = casts_.find({id, to}); it != casts_.end()) return it->second;
    const std::string name = value(id).name + "." + std::string(Name(to));
    const ValueId cast =
        builder_.AddNode(OpId::cast, Attributes::Of(CastAttributes{to}), {id}, name, options)[0];
    if (!IsOfModel(value(id))) casts_[{id, to}] = cast;
    return cast;
  }

  Graph graph_;
  Builder builder_;
  std::map<ValueId, ValueId> stand_ins_;
  std::map<std::pair<ValueId, DType>, ValueId> casts_;  // of what readers share
};

}  // namespace

Graph KeepActivationsInBF16(Graph forward) { return Rewriter(std::move(forward)).Run(); }

}  // namespace cgrun
