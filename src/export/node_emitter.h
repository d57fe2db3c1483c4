// NodeEmitter shows an emitter the node that it exports, and adds nodes of ONNX.
#ifndef CGRUN_EXPORT_NODE_EMITTER_H_
#define CGRUN_EXPORT_NODE_EMITTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/ir/graph.h"
#include "src/ir/op_def.h"
#include "src/onnx/model.h"

namespace cgrun {

// Names a value of the exported graph. The name "" stands for an input that is absent.
struct OnnxValue {
  std::string name;
  DType dtype = DType::kF32;
};

// Holds what the steps of an export share.
struct ExportState {
  const Graph& graph;
  int64_t opset = 0;     // whose forms are emitted
  int64_t needed = 0;    // the highest one that an operator asked for
  onnx::Graph out = {};  // as far as it is built
  std::map<ValueId, OnnxValue> values = {};
  std::map<ValueId, std::string> wishes = {};       // names of values that are outputs of the model
  std::map<std::string, OnnxValue> constants = {};  // by type, sizes and bytes
  std::set<std::string, std::less<>> names = {};    // that are taken
  std::vector<std::string> drawn = {};

  // Takes the name `wish`, or that with a number behind it where it is taken.
  std::string Take(const std::string& wish);
  // Adds an input to the model.
  OnnxValue AddInput(const std::string& wish, const TensorType& type);
};

// Says why an operator cannot be exported.
class ExportFault : public std::runtime_error {
 public:
  ExportFault(const std::string& message, std::string help)
      : std::runtime_error(message), help_(std::move(help)) {}
  const std::string& help() const { return help_; }

 private:
  std::string help_;
};

onnx::ValueInfo ValueInfoOf(const std::string& name, const TensorType& type);
// Returns a tensor with elements of its own.
onnx::Tensor TensorOf(const std::string& name, const HostTensor& tensor);

onnx::Attribute IntOf(const std::string& name, int64_t value);
onnx::Attribute IntsOf(const std::string& name, std::vector<int64_t> values);
onnx::Attribute RealOf(const std::string& name, double value);
onnx::Attribute RealsOf(const std::string& name, const std::vector<double>& values);
onnx::Attribute TextOf(const std::string& name, const std::string& value);
onnx::Attribute TensorAttributeOf(const std::string& name, const HostTensor& tensor);

class NodeEmitter {
 public:
  using Values = std::vector<OnnxValue>;
  using AttributeList = std::vector<onnx::Attribute>;

  NodeEmitter(ExportState& state, const Node& node) : state_(state), node_(node) {}

  const Node& node() const { return node_; }
  template <class T>
  const T& attributes() const {
    return node_.attributes.As<T>();
  }
  ExportState& state() { return state_; }

  // These describe the operands of the node.
  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  OnnxValue In(int i) const;
  const TensorType& TypeOf(int i) const;
  const Shape& ShapeOf(int i) const { return TypeOf(i).shape; }
  const TensorType& OutType() const;

  // Has() asks whether the model has an opset so far. A form of a later one calls Need(): the
  // export then begins again with that opset.
  bool Has(int64_t opset) const { return state_.opset >= opset; }
  void Need(int64_t opset);
  [[noreturn]] void Fail(const std::string& message, const std::string& help = "") const;

  // These add constants. Equal ones become one.
  OnnxValue Integers(const std::vector<int64_t>& values);
  OnnxValue Number(DType dtype, double value);  // has no axis
  OnnxValue Numbers(DType dtype, const std::vector<double>& values, Shape shape);
  OnnxValue Constant(const HostTensor& tensor);
  static OnnxValue Absent() { return {}; }

  // Adds a node. The result has the type of the first input unless `dtype` says otherwise.
  OnnxValue Emit(const std::string& op_type, const Values& inputs, AttributeList attributes = {},
                 std::optional<DType> dtype = {});
  Values EmitAll(const std::string& op_type, const Values& inputs, AttributeList attributes,
                 const std::vector<DType>& dtypes);
  // Says which value is output 0 of the node. The name of that goes to the last node that was
  // added, if it makes the value.
  void Set(const OnnxValue& value);

  // These add nodes that several operators need, in the form of the opset.
  OnnxValue Cast(const OnnxValue& value, DType dtype);
  OnnxValue Reshape(const OnnxValue& value, const Shape& shape);
  OnnxValue Transpose(const OnnxValue& value, const std::vector<int64_t>& perm);
  OnnxValue Concat(const Values& values, int64_t axis);
  struct Cut {
    int64_t axis, start, end, step = 1;
  };
  OnnxValue Slice(const OnnxValue& value, const std::vector<Cut>& cuts);
  // `op_type` is ReduceSum, ReduceMean or ReduceMax.
  OnnxValue Reduce(const std::string& op_type, const OnnxValue& value,
                   const std::vector<int64_t>& axes, bool keeps);
  OnnxValue Pad(const OnnxValue& value, const std::vector<int64_t>& before,
                const std::vector<int64_t>& after, double fill,
                const std::string& mode = "constant");
  // Returns the size of the batch, as a list of one int64.
  OnnxValue BatchSize();
  // Returns the sizes of axes from `first` to before `last` of a value of `shape`, as a list of
  // int64. Sizes that depend on the batch are computed when the model runs.
  OnnxValue Sizes(const OnnxValue& value, const Shape& shape, int first, int last);

 private:
  ExportState& state_;
  const Node& node_;
  size_t added_ = 0;  // nodes so far
};

}  // namespace cgrun

#endif  // CGRUN_EXPORT_NODE_EMITTER_H_
