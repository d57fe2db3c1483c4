// Each body is walked in a scope of its own.
#include "src/import/subgraphs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/import/walk.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

constexpr int64_t kMostIterations = 1024;
constexpr int kMostDepth = 64;

std::vector<std::string> NamesOf(const std::vector<onnx::ValueInfo>& values) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo& value : values) names.push_back(value.name);
  return names;
}

// A scope that names are looked up in while this lives.
class InnerScope {
 public:
  InnerScope(NodeContext& node, const GraphScope* outer)
      : node_(node), before_(node.state().scope) {
    scope_.outer = outer;
    node_.state().scope = &scope_;
    if (++node_.state().depth > kMostDepth) {
      --node_.state().depth;
      node_.state().scope = before_;
      node_.Fail("stands in more than 64 graphs and functions, one in the other");
    }
  }
  ~InnerScope() {
    node_.state().scope = before_;
    --node_.state().depth;
  }
  InnerScope(const InnerScope&) = delete;
  InnerScope& operator=(const InnerScope&) = delete;

  void Add(const std::string& name, ImportedValue operand) {
    operand.shared = true;
    scope_.operands[name] = std::move(operand);
  }

  // Looks up the outputs of an imported body.
  std::vector<ImportedValue> Outputs(const std::vector<std::string>& names) const {
    std::vector<ImportedValue> outputs;
    for (const std::string& name : names) {
      const ImportedValue* operand = scope_.Find(name);
      if (operand == nullptr) {
        node_.Fail("has a body without a node that makes its output '" + onnx::Shown(name) + "'");
      }
      outputs.push_back(*operand);
      outputs.back().shared = true;
    }
    return outputs;
  }

 private:
  NodeContext& node_;
  GraphScope* before_;
  GraphScope scope_;
};

// Imports a body in the scope `inner`, which has its inputs.
std::vector<ImportedValue> ImportBody(NodeContext& node, InnerScope& inner,
                                      const onnx::Graph& body) {
  AddInitializers(node.state(), body);
  const std::vector<std::string> outputs = NamesOf(body.outputs);
  ImportNodes(node.state(), body.nodes, outputs);
  return inner.Outputs(outputs);
}

void SetAll(NodeContext& node, std::vector<ImportedValue> outputs) {
  if (outputs.size() < node.node().outputs.size()) node.Fail("has more outputs than its body");
  for (size_t i = 0; i < node.node().outputs.size(); ++i) {
    node.Set(static_cast<int>(i), std::move(outputs[i]));
  }
}

const onnx::Graph& GraphAttribute(NodeContext& node, std::string_view name) {
  node.Ignore(name);
  for (const onnx::Attribute& attribute : node.node().attributes) {
    if (attribute.name == name && attribute.g) return *attribute.g;
  }
  node.Fail("has no graph '" + std::string(name) + "'");
}

// The number of input `i`; Fail() where it is computed when the model runs.
double ConstantNumber(NodeContext& node, int i, const std::string& what) {
  const std::optional<double> number =
      node.IsConstant(i) ? node.Number(i) : std::optional<double>();
  if (number) return *number;
  node.Fail(what + " '" + onnx::Shown(node.node().inputs[static_cast<size_t>(i)]) +
                "' is not known before the model runs",
            "`--const` makes an input that it depends on a constant, and `--dim` a dimension");
}

void InlineIf(NodeContext& node) {
  const bool holds = ConstantNumber(node, 0, "its condition") != 0;
  const onnx::Graph& taken = GraphAttribute(node, holds ? "then_branch" : "else_branch");
  GraphAttribute(node, holds ? "else_branch" : "then_branch");
  std::vector<ImportedValue> outputs;
  {
    InnerScope inner(node, node.state().scope);
    outputs = ImportBody(node, inner, taken);
  }
  SetAll(node, std::move(outputs));
  node.Finish(1);
}

onnx::Attribute AttributeOf(const std::string& name) {
  onnx::Attribute attribute;
  attribute.name = name;
  return attribute;
}

// Unsqueeze along the first axis. `axes` names a constant, which opsets from 13 on read.
onnx::Node RowOf(const std::string& name, const std::string& axes, int64_t opset) {
  onnx::Node node;
  node.op_type = "Unsqueeze";
  node.inputs = {name};
  node.outputs = {name + "_row"};
  if (opset >= 13) {
    node.inputs.push_back(axes);
  } else {
    node.attributes = {AttributeOf("axes")};
    node.attributes[0].ints = {0};
  }
  return node;
}

// Stacks what the iterations of a loop give along a new axis. Nodes of ONNX do that, which are
// imported like any others.
ImportedValue StackedScan(NodeContext& node, const std::vector<ImportedValue>& parts) {
  if (parts.empty()) node.Fail("stacks what its iterations give, and has none");
  ImportState& state = node.state();
  InnerScope inner(node, nullptr);
  inner.Add("axes", {ConstantOf(HostTensor::Of<int64_t>(Shape{1}, {0})), {}});
  onnx::Node concat;
  concat.op_type = "Concat";
  concat.name = node.node().name + "_stack";
  concat.outputs = {"stack"};
  concat.attributes = {AttributeOf("axis")};
  concat.attributes[0].i = 0;
  std::vector<onnx::Node>& nodes = state.made_bodies.emplace_back();
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = "part" + std::to_string(i);
    inner.Add(name, parts[i]);
    nodes.push_back(RowOf(name, "axes", state.opset));
    concat.inputs.push_back(nodes.back().outputs[0]);
  }
  nodes.push_back(std::move(concat));
  ImportNodes(state, nodes, {"stack"});
  return inner.Outputs({"stack"})[0];
}

struct LoopState {
  std::vector<ImportedValue> carried;
  std::vector<std::vector<ImportedValue>> scans;  // of each scan output, by iteration
  bool goes_on = true;
};

void RunIteration(NodeContext& node, const onnx::Graph& body, int64_t iteration, LoopState& loop) {
  InnerScope inner(node, node.state().scope);
  inner.Add(body.inputs[0].name, {ConstantOf(HostTensor::Of<int64_t>(Shape(), {iteration})), {}});
  HostTensor condition(DType::kBool, Shape());
  condition.Set(0, 1);
  inner.Add(body.inputs[1].name, {ConstantOf(std::move(condition)), {}});
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    inner.Add(body.inputs[i + 2].name, loop.carried[i]);
  }
  std::vector<ImportedValue> outputs = ImportBody(node, inner, body);
  const std::optional<double> goes_on =
      outputs[0].constant ? NumberOf(*outputs[0].constant, node.state().file) : std::nullopt;
  if (!goes_on) {
    node.Fail("the condition of its iteration " + std::to_string(iteration) +
                  " is not known before the model runs",
              "a loop with a constant number of iterations is unrolled");
  }
  loop.goes_on = *goes_on != 0;
  for (size_t i = 0; i < loop.carried.size(); ++i) loop.carried[i] = std::move(outputs[i + 1]);
  for (size_t i = 0; i < loop.scans.size(); ++i) {
    loop.scans[i].push_back(std::move(outputs[1 + loop.carried.size() + i]));
  }
}

// Outputs of a loop are what it carries, then what its iterations give, stacked.
void SetLoopOutputs(NodeContext& node, LoopState loop) {
  std::vector<ImportedValue> outputs = std::move(loop.carried);
  for (size_t i = 0; i < loop.scans.size(); ++i) {
    const size_t place = outputs.size();
    if (place >= node.node().outputs.size()) break;
    if (node.node().outputs[place].empty()) {
      outputs.emplace_back();
      continue;
    }
    outputs.push_back(StackedScan(node, loop.scans[i]));
  }
  SetAll(node, std::move(outputs));
}

void UnrollLoop(NodeContext& node) {
  const onnx::Graph& body = GraphAttribute(node, "body");
  const int carried = static_cast<int>(node.node().inputs.size()) - 2;
  const size_t wanted = static_cast<size_t>(std::max(carried, 0));
  if (carried < 0 || body.inputs.size() != wanted + 2 || body.outputs.size() < wanted + 1) {
    node.Fail("has a body whose inputs and outputs are not those of a loop");
  }
  int64_t trips = kMostIterations + 1;
  if (node.Has(0)) {
    const double count = ConstantNumber(node, 0, "its number of iterations");
    trips = static_cast<int64_t>(std::clamp<double>(count, 0, kMostIterations + 1));
  }
  LoopState loop;
  if (node.Has(1)) loop.goes_on = ConstantNumber(node, 1, "its condition") != 0;
  for (int i = 0; i < carried; ++i) loop.carried.push_back(node.Input(i + 2));
  loop.scans.resize(body.outputs.size() - 1 - wanted);
  for (int64_t i = 0; i < trips && loop.goes_on; ++i) {
    if (i == kMostIterations) node.Fail("has more than 1,024 iterations");
    RunIteration(node, body, i, loop);
  }
  SetLoopOutputs(node, std::move(loop));
  node.Finish(static_cast<int>(node.node().inputs.size()));
}

// ---- functions

const onnx::Function* FindFunction(const onnx::Node& node, const ImportState& state) {
  const std::string domain = IsStandard(node.domain) ? "" : node.domain;
  const auto found = state.functions.find(std::tuple(domain, node.op_type, node.overload));
  return found == state.functions.end() ? nullptr : found->second;
}

void BindNodes(std::vector<onnx::Node>& nodes, const std::vector<onnx::Attribute>& given);

// Attributes that refer to those of the function take their values; one that nothing gives goes.
void BindAttributes(std::vector<onnx::Attribute>& attributes,
                    const std::vector<onnx::Attribute>& given) {
  std::vector<onnx::Attribute> bound;
  for (onnx::Attribute& attribute : attributes) {
    if (!attribute.ref_attr_name.empty()) {
      const auto value = std::ranges::find(given, attribute.ref_attr_name, &onnx::Attribute::name);
      if (value == given.end()) continue;
      bound.push_back(*value);
      bound.back().name = attribute.name;
      continue;
    }
    if (attribute.g) BindNodes(attribute.g->nodes, given);
    bound.push_back(std::move(attribute));
  }
  attributes = std::move(bound);
}

void BindNodes(std::vector<onnx::Node>& nodes, const std::vector<onnx::Attribute>& given) {
  for (onnx::Node& node : nodes) BindAttributes(node.attributes, given);
}

// Reads the operators of a body in the opset that its function names.
class OpsetOf {
 public:
  OpsetOf(ImportState& state, const onnx::Function& function)
      : state_(state), before_(state.opset) {
    for (const onnx::OperatorSet& set : function.opset_imports) {
      if (IsStandard(set.domain)) state_.opset = set.version;
    }
  }
  ~OpsetOf() { state_.opset = before_; }
  OpsetOf(const OpsetOf&) = delete;
  OpsetOf& operator=(const OpsetOf&) = delete;

 private:
  ImportState& state_;
  int64_t before_;
};

}  // namespace

bool InlineControlFlow(NodeContext& node) {
  const std::string& op = node.node().op_type;
  if (op == "If") {
    InlineIf(node);
  } else if (op == "Loop") {
    UnrollLoop(node);
  } else if (op == "Scan") {
    node.Fail("is control flow that is not supported");
  } else {
    return false;
  }
  return true;
}

bool InlineFunction(NodeContext& node) {
  ImportState& state = node.state();
  const onnx::Function* function = FindFunction(node.node(), state);
  if (function == nullptr) return false;
  std::vector<onnx::Attribute> given = node.node().attributes;
  for (const onnx::Attribute& attribute : given) node.Ignore(attribute.name);
  given.insert(given.end(), function->attribute_protos.begin(), function->attribute_protos.end());
  std::vector<ImportedValue> inputs;
  for (int i = 0; i < static_cast<int>(function->inputs.size()) && node.Has(i); ++i) {
    inputs.push_back(node.Input(i));
  }
  state.made_bodies.push_back(function->nodes);
  std::vector<onnx::Node>& nodes = state.made_bodies.back();
  BindNodes(nodes, given);
  std::vector<ImportedValue> outputs;
  {
    InnerScope inner(node, nullptr);
    const OpsetOf opset(state, *function);
    for (size_t i = 0; i < inputs.size(); ++i) inner.Add(function->inputs[i], inputs[i]);
    ImportNodes(state, nodes, function->outputs);
    outputs = inner.Outputs(function->outputs);
  }
  SetAll(node, std::move(outputs));
  node.Finish(static_cast<int>(function->inputs.size()));
  return true;
}

}  // namespace cgrun
