// Types tell how much memory a node takes before anything is computed.
#include "src/import/evaluate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/import/import.h"
#include "src/import/widen.h"
#include "src/ir/op_def.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

// Returns whether the node has inputs, and each is a constant that has elements and a type of
// cgrun.
bool HasConstantsAlone(const NodeContext& node) {
  bool has_any = false;
  for (int i = 0; i < static_cast<int>(node.node().inputs.size()); ++i) {
    if (!node.Has(i)) continue;
    if (!node.IsConstant(i)) return false;
    has_any = true;
  }
  return has_any && !node.node().outputs.empty();
}

// While this lives, what adapters emit goes to a network of its own.
class Trial {
 public:
  explicit Trial(NodeContext& node)
      : node_(node),
        state_(node.state()),
        network_(std::exchange(state_.network, Network(state_.network.precision()))),
        parameters_(std::exchange(state_.parameters, {})),
        casts_(std::exchange(state_.casts, {})) {}
  ~Trial() {
    state_.network = std::move(network_);
    state_.parameters = std::move(parameters_);
    state_.casts = std::move(casts_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Takes the outputs that were set out of the scope.
  std::map<std::string, ImportedValue> TakeOutputs() {
    std::map<std::string, ImportedValue> outputs;
    for (const std::string& name : node_.node().outputs) {
      auto taken = state_.scope->operands.extract(name);
      if (!taken.empty()) outputs.emplace(name, std::move(taken.mapped()));
    }
    return outputs;
  }

 private:
  NodeContext& node_;
  ImportState& state_;
  Network network_;
  ImportState::Parameters parameters_;
  decltype(ImportState::casts) casts_;
};

// The nodes that values are computed by, in an order in which they can run.
std::vector<NodeId> NodesFor(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<bool> needed(graph.values.size());
  for (const ValueId id : values) needed[static_cast<size_t>(id.index)] = true;
  const std::vector<NodeId> order = TopologicalOrder(graph);
  std::vector<NodeId> nodes;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (std::ranges::none_of(node.outputs, [&](ValueId value) {
          return static_cast<bool>(needed[static_cast<size_t>(value.index)]);
        })) {
      continue;
    }
    nodes.push_back(*id);
    for (const ValueId input : node.inputs) needed[static_cast<size_t>(input.index)] = true;
  }
  std::ranges::reverse(nodes);
  return nodes;
}

// Takes what the nodes need from the budget. Returns false where that is too much, or where a node
// needs more than constants.
bool TakeFromBudget(const Graph& graph, const std::vector<NodeId>& nodes, int64_t most,
                    FoldBudget& budget) {
  int64_t bytes = 0, flops = 0;
  for (const NodeId id : nodes) {
    const Node& node = graph.nodes[id];
    if (GetOpDef(node.op).needs_step || GetOpDef(node.op).has_effect) return false;
    for (const ValueId output : node.outputs) {
      const TensorType& type = graph.values[output].type;
      if (!type.shape.IsBound()) return false;
      const std::optional<int64_t> size = CheckedByteSize(type.dtype, type.shape.Sizes());
      if (!size || *size > most) return false;
      bytes += *size;
    }
    flops += std::min(CostOf(SignatureOf(graph, node)).flops, budget.flops + 1);
    if (bytes > budget.bytes || flops > budget.flops) return false;
  }
  budget.bytes -= bytes;
  budget.flops -= flops;
  return true;
}

// The values that the nodes read and give.
class Evaluation {
 public:
  Evaluation(const Network& network, onnx::OnnxFile& file) : network_(network), file_(file) {}

  bool Run(const std::vector<NodeId>& nodes) {
    const KernelLibrary& library = *FindKernelLibrary("reference");
    const Graph& graph = network_.graph();
    for (const NodeId id : nodes) {
      const Node& node = graph.nodes[id];
      std::vector<HostTensor> inputs;
      for (const ValueId input : node.inputs) inputs.push_back(ValueOf(input));
      auto outputs = library.Evaluate(SignatureOf(graph, node), inputs);
      if (!outputs) return false;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        values_.insert_or_assign(node.outputs[i], std::move((*outputs)[i]));
      }
    }
    return true;
  }

  const HostTensor& ValueOf(ValueId id) {
    const auto known = values_.find(id);
    if (known != values_.end()) return known->second;
    const auto constant = network_.graph().constants.find(id);
    if (constant != network_.graph().constants.end()) return constant->second;
    const Weight& weight = *network_.WeightOf(id);
    const onnx::TensorBytes bytes = BytesOf(weight, file_);  // before memory is taken: it checks
    HostTensor tensor(weight.type.dtype, weight.type.shape);
    std::ranges::copy(bytes.bytes(), tensor.bytes().begin());
    return values_.emplace(id, std::move(tensor)).first->second;
  }

 private:
  const Network& network_;
  onnx::OnnxFile& file_;
  std::map<ValueId, HostTensor> values_;
};

// The outputs of the node as constants; nothing where it is left to the model.
std::optional<std::map<std::string, ImportedValue>> Evaluated(NodeContext& node,
                                                              const Adapter& adapter) {
  ImportState& state = node.state();
  const int64_t most = MostFoldedBytes(InputBytes(node));
  Trial trial(node);
  std::map<std::string, ImportedValue> outputs;
  try {
    NodeContext tried(state, node.node(), node.index());
    RunAdapter(tried, adapter);
    tried.Finish(adapter.max_inputs);
    outputs = trial.TakeOutputs();
  } catch (const InputError&) {
    trial.TakeOutputs();
    return std::nullopt;
  }
  std::vector<ValueId> values;
  for (const auto& [name, operand] : outputs) {
    if (!operand.constant) values.push_back(operand.value.id);
  }
  const std::vector<NodeId> nodes = NodesFor(state.network.graph(), values);
  if (!TakeFromBudget(state.network.graph(), nodes, most, state.budget)) return std::nullopt;
  Evaluation evaluation(state.network, state.file);
  if (!evaluation.Run(nodes)) return std::nullopt;
  for (auto& [name, operand] : outputs) {
    if (!operand.constant) {
      operand = {ConstantOf(evaluation.ValueOf(operand.value.id)), {}};
    }
  }
  return outputs;
}

}  // namespace

int64_t MostFoldedBytes(int64_t input_bytes) {
  constexpr int64_t kAlways = 64 << 10, kTimes = 4;
  return std::max(kAlways, kTimes * input_bytes);
}

int64_t InputBytes(NodeContext& node) {
  int64_t bytes = 0;
  for (int i = 0; i < static_cast<int>(node.node().inputs.size()); ++i) {
    if (!node.IsConstant(i)) continue;
    const Constant& constant = node.ConstantInput(i);
    bytes += constant.tensor == nullptr
                 ? std::ssize(*constant.folded) * static_cast<int64_t>(sizeof(int64_t))
                 : std::ssize(node.state().file.Bytes(*constant.tensor).bytes());
  }
  return bytes;
}

bool FoldByEvaluation(NodeContext& node, const Adapter& adapter) {
  if (!HasConstantsAlone(node)) return false;
  auto outputs = Evaluated(node, adapter);
  if (!outputs) return false;
  for (auto& [name, operand] : *outputs) {
    node.state().scope->operands.emplace(name, std::move(operand));
  }
  return true;
}

}  // namespace cgrun
