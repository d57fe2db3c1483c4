// One node of an ONNX graph, as its adapter sees it.
#ifndef CGRUN_IMPORT_NODE_CONTEXT_H_
#define CGRUN_IMPORT_NODE_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/import/import_state.h"
#include "src/onnx/model.h"

namespace cgrun {

// Tells how an operator runs on types in which cgrun does not compute; see widen.h.
struct Widening {
  std::vector<std::optional<ImportedValue>> inputs = {};  // of the wider type; nothing: as it is
  uint32_t narrowed = 0;  // a bit for each output that is cast from `wide` to `narrow`
  DType narrow = DType::kI8;
  DType wide = DType::kI32;
  bool exchanges = false;  // uint64 in the order of int64
};

// Errors are InputError "'FILE': node 'NAME' (OPERATOR): WHAT".
class NodeContext {
 public:
  NodeContext(ImportState& state, const onnx::Node& node, size_t index);

  int64_t opset() const { return state_.opset; }
  std::optional<int64_t> batch() const { return state_.batch; }
  const onnx::Node& node() const { return node_; }
  size_t index() const { return index_; }
  // "node 'NAME' (OPERATOR)"
  std::string Label() const;
  [[noreturn]] void Fail(const std::string& what, const std::string& help = "") const;
  [[noreturn]] void FailAttribute(std::string_view name, const std::string& what) const;

  // Inputs. Fail() where input `i` is absent, or not of the kind.
  int num_inputs() const;
  bool Has(int i) const;
  const ImportedValue& Input(int i) const;
  bool IsConstant(int i) const { return Has(i) && Input(i).constant.has_value(); }
  // A value of the network. A constant becomes one as a `parameter`, once for all its readers.
  const NetworkValue& Value(int i) const;
  const Constant& ConstantInput(int i) const;
  std::vector<int64_t> Integers(int i) const;
  std::optional<double> Number(int i) const;  // of a constant of one element
  // Returns the type of a value or a constant. The latter does not become a value.
  TensorType TypeOf(int i) const;
  Shape ShapeOf(int i) const { return TypeOf(i).shape; }
  // Returns whether axis `axis` of input `i` depends on the batch. An adapter that computes along
  // it must fail: samples would depend on each other.
  bool IsBatch(int i, int64_t axis) const { return ShapeOf(i)[static_cast<int>(axis)].batch; }
  // Fail() where that is so: "WHAT the batch axis".
  void RefuseBatch(int i, int64_t axis, const std::string& what) const;
  // Returns whether this node alone reads the value.
  bool IsOnlyUse(int i) const;

  // Attributes. One that no call has asked for is an error of Finish().
  int64_t Int(std::string_view name, int64_t fallback);
  float Real(std::string_view name, float fallback);
  std::string Text(std::string_view name, const std::string& fallback);
  std::optional<std::vector<int64_t>> Ints(std::string_view name);
  std::vector<float> Reals(std::string_view name);  // empty where it is absent
  const onnx::Tensor* TensorAttribute(std::string_view name);
  // Fail() where the attribute has another value.
  void Only(std::string_view name, int64_t value);
  void Ignore(std::string_view name) { Find(name); }
  // An axis counts from 0.
  int64_t Axis(int64_t axis, int rank) const;

  // Adds an item. The last one that a node adds has the node's name, others a `part`.
  NetworkValue Emit(const std::string& op, const std::vector<Network::Input>& inputs,
                    std::vector<TreeEntry> keys = {}, std::vector<Weight> weights = {},
                    const std::string& part = "");
  // Adds a `parameter` of a constant's elements, which is frozen.
  NetworkValue EmitParameter(Constant constant, const std::string& part);
  const TensorType& TypeOf(const NetworkValue& value) const { return state_.network.TypeOf(value); }
  // Gives a value the shape `dims`. If the batch is among them, it is the first one.
  NetworkValue EmitReshape(const NetworkValue& value, const std::vector<Dim>& dims,
                           const std::string& part = "");
  void Set(int output, ImportedValue operand);
  void Set(const NetworkValue& value) { Set(0, {{}, value}); }

  // The name that the model file has for what the node gives, where that is an output of the graph;
  // null for others.
  const std::string* ReservedName() const;

  // From now on, inputs and outputs are those of a wider type.
  void Widen(std::optional<Widening> widening) { widening_ = std::move(widening); }

  // Fail() where the node says more than its adapter has looked at.
  void Finish(int max_inputs) const;

  ImportState& state() { return state_; }

 private:
  const onnx::Attribute* Find(std::string_view name);
  std::string Wish(const std::vector<Weight>& weights) const;
  const NetworkValue& ParameterOf(int i, const Constant& constant) const;
  NetworkValue AddParameter(int i, const Constant& constant) const;
  // Casts what a widened operator gives.
  void Narrow(int output, ImportedValue* operand);

  ImportState& state_;
  const onnx::Node& node_;
  size_t index_;
  int items_before_;  // of the network; what they give has other names already
  std::set<std::string, std::less<>> asked_;
  std::optional<Widening> widening_;
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_NODE_CONTEXT_H_
