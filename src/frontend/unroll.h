// A network that is used once for every index along an axis: the steps of a sequence.
#ifndef CGRUN_FRONTEND_UNROLL_H_
#define CGRUN_FRONTEND_UNROLL_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/frontend/place.h"
#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

class Unroller {
 public:
  using Values = std::vector<ValueId>;
  // Uses the network under a label: its outputs, nothing after an error.
  using Use = std::function<std::optional<Values>(const std::string& label, const Values& inputs)>;

  // All must outlive this.
  Unroller(Builder& builder, Diagnostics& diagnostics, const OpSpec& op, const Place& place)
      : builder_(builder), diagnostics_(diagnostics), op_(op), place_(place) {}

  // Uses the network of an item with `unroll` for the indices 0, 1, … of that axis of inputs[0].
  // The axis has a size that does not depend on the batch. A use reads inputs[0] at its index,
  // without the axis. Its further inputs are the further outputs of the use before, or at first
  // inputs[1], …. If the network has one output, that is both its result and the next use's second
  // input. Returns the results side by side along the axis, then the last further outputs. Returns
  // nothing after an error.
  std::optional<Values> Run(const Values& inputs, const Use& use);

 private:
  bool CheckAxis(ValueId sequence);
  // Returns the further inputs of the next use; nothing after an error.
  std::optional<Values> NextStates(const Values& outputs, const Values& states);
  bool CheckResult(ValueId result);
  ValueId At(ValueId sequence, int64_t index);
  ValueId Stack(const Values& results);
  ValueId Reshape(ValueId value, Shape shape, const std::string& name);
  std::string Label() const;
  std::string LabelAt(int64_t index) const;
  const TensorType& TypeOf(ValueId value) const { return builder_.graph().values[value].type; }

  Builder& builder_;
  Diagnostics& diagnostics_;
  const OpSpec& op_;
  const Place& place_;
  int axis_ = 1;
};

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_UNROLL_H_
