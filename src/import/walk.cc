// Imports one node after the other.
#include "src/import/walk.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "src/import/adapters.h"
#include "src/import/dequantise.h"
#include "src/import/evaluate.h"
#include "src/import/fold.h"
#include "src/import/make_constants.h"
#include "src/import/node_context.h"
#include "src/import/subgraphs.h"
#include "src/import/widen.h"
#include "src/io/file_error.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

using Names = std::set<std::string_view>;

// Adds the names that the graphs among a node's attributes read or give. Some are their own.
void AddInnerNames(const onnx::Node& node, std::vector<std::string_view>& names) {
  const auto add = [&](const onnx::Graph& graph) {
    for (const onnx::Node& inner : graph.nodes) {
      names.insert(names.end(), inner.inputs.begin(), inner.inputs.end());
      AddInnerNames(inner, names);
    }
    for (const onnx::ValueInfo& output : graph.outputs) names.push_back(output.name);
  };
  for (const onnx::Attribute& attribute : node.attributes) {
    if (attribute.g) add(*attribute.g);
    for (const onnx::Graph& graph : attribute.graphs) add(graph);
  }
}

// Returns the places of nodes in an order in which they can run: that of the list, but for nodes
// that read what stands behind them. Nodes of a cycle come last.
std::vector<size_t> RunOrder(const std::vector<onnx::Node>& nodes) {
  std::map<std::string_view, size_t> makers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].outputs) makers.emplace(output, i);
  }
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<size_t> waits(nodes.size());  // for so many nodes
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string_view> names(nodes[i].inputs.begin(), nodes[i].inputs.end());
    AddInnerNames(nodes[i], names);
    for (const std::string_view name : names) {
      const auto maker = name.empty() ? makers.end() : makers.find(name);
      if (maker == makers.end() || maker->second == i) continue;
      readers[maker->second].push_back(i);
      ++waits[i];
    }
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] == 0) ready.insert(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(*ready.begin());
    ready.erase(ready.begin());
    for (const size_t reader : readers[order.back()]) {
      if (--waits[reader] == 0) ready.insert(reader);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] > 0) order.push_back(i);
  }
  return order;
}

// Returns for each node whether an output depends on it, and counts the uses of names.
std::vector<bool> LiveNodes(GraphScope& scope, const std::vector<onnx::Node>& nodes,
                            const std::vector<std::string>& outputs) {
  Names wanted;
  for (const std::string& output : outputs) {
    wanted.insert(output);
    ++scope.uses[output];
  }
  std::vector<bool> live(nodes.size());
  std::vector<std::string_view> reads;
  for (size_t i = nodes.size(); i-- > 0;) {
    live[i] = std::ranges::any_of(
        nodes[i].outputs, [&](const std::string& output) { return wanted.contains(output); });
    if (!live[i]) continue;
    reads.assign(nodes[i].inputs.begin(), nodes[i].inputs.end());
    AddInnerNames(nodes[i], reads);
    for (const std::string_view input : reads) {
      if (input.empty()) continue;
      wanted.insert(input);
      ++scope.uses[std::string(input)];
    }
  }
  return live;
}

// A node Constant has a tensor, or numbers that become one.
void TakeConstantNode(NodeContext& node) {
  const onnx::OnnxFile& file = node.state().file;
  if (const onnx::Tensor* tensor = node.TensorAttribute("value")) {
    node.Set(0, {ConstantOf(*tensor, file), {}});
    return node.Finish(0);
  }
  if (node.node().attributes.size() != 1) node.Fail("holds not one value");
  const std::string name = node.node().attributes[0].name;
  auto tensor = std::make_shared<onnx::Tensor>();
  const bool is_list = name.ends_with('s');
  if (name == "value_int" || name == "value_ints") {
    tensor->data_type = onnx::DataType::kInt64;
    tensor->int64_data.values = is_list ? *node.Ints(name) : IntList{node.Int(name, 0)};
    if (is_list) tensor->dims = {std::ssize(tensor->int64_data.values)};
  } else if (name == "value_float" || name == "value_floats") {
    tensor->data_type = onnx::DataType::kFloat;
    tensor->float_data.values = is_list ? node.Reals(name) : std::vector{node.Real(name, 0)};
    if (is_list) tensor->dims = {std::ssize(tensor->float_data.values)};
  } else {
    node.FailAttribute(name, "is not supported: a constant is a tensor or numbers");
  }
  Constant constant = ConstantOf(*tensor, file);
  constant.owned = std::move(tensor);
  node.Set(0, {std::move(constant), {}});
  node.Finish(0);
}

[[noreturn]] void FailUnknown(const NodeContext& node) {
  const std::string& domain = node.node().domain;
  if (!IsStandard(domain)) {
    node.Fail("is an operator of '" + onnx::Shown(domain) + "', which is not supported");
  }
  if (NeedsConstants(node.node().op_type)) {
    node.Fail("needs constant inputs, and these depend on the batch or on data");
  }
  node.Fail("cannot be imported: there is no such operator in this version of cgrun",
            "cut the model before this node, or export it with other operators");
}

void ImportNode(NodeContext& node) {
  if (InlineFunction(node)) return;
  const bool is_standard = IsStandard(node.node().domain);
  if (is_standard && node.node().op_type == "Constant") return TakeConstantNode(node);
  if (is_standard && InlineControlFlow(node)) return;
  const Adapter* adapter = FindAdapter(node.node(), node.opset());
  if ((is_standard && (Fold(node) || MakeConstant(node))) ||
      (adapter != nullptr && (FoldDequantised(node) || FoldByEvaluation(node, *adapter)))) {
    node.state().folded.push_back(node.Label());
    return;
  }
  if (adapter == nullptr) FailUnknown(node);
  RunAdapter(node, *adapter);
  node.Finish(adapter->max_inputs);
}

}  // namespace

bool IsStandard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

void AddInitializers(ImportState& state, const onnx::Graph& graph,
                     const std::map<std::string, Constant>& given) {
  if (!graph.sparse_initializers.empty()) {
    ThrowFileError(state.file.path(), "has sparse initialisers, which are not supported");
  }
  for (const onnx::Tensor& tensor : graph.initializers) {
    if (given.contains(tensor.name)) continue;
    ImportedValue operand{ConstantOf(tensor, state.file), {}};
    if (!state.scope->operands.emplace(tensor.name, std::move(operand)).second) {
      ThrowFileError(state.file.path(), "has two initialisers '" + onnx::Shown(tensor.name) + "'");
    }
  }
}

void ImportNodes(ImportState& state, const std::vector<onnx::Node>& listed,
                 const std::vector<std::string>& outputs) {
  const std::vector<size_t> order = RunOrder(listed);
  const bool is_sorted = std::ranges::is_sorted(order);
  if (!is_sorted) {
    std::vector<onnx::Node>& sorted = state.made_bodies.emplace_back();
    for (const size_t i : order) sorted.push_back(listed[i]);
  }
  const std::vector<onnx::Node>& nodes = is_sorted ? listed : state.made_bodies.back();
  const std::vector<bool> live = LiveNodes(*state.scope, nodes, outputs);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i]) continue;
    NodeContext node(state, nodes[i], order[i]);
    if (state.depth > 0 && --state.budget.nodes < 0) {
      node.Fail("is one of more than 131,072 nodes that come out of functions and loops");
    }
    ImportNode(node);
  }
}

}  // namespace cgrun
