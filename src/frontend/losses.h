// The losses of a path: numbers that become targets, weights, their sum.
#ifndef CGRUN_FRONTEND_LOSSES_H_
#define CGRUN_FRONTEND_LOSSES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/frontend/place.h"
#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

class Losses {
 public:
  // Both must outlive this.
  Losses(Builder& builder, Diagnostics& diagnostics)
      : builder_(builder), diagnostics_(diagnostics) {}

  // Adds the operator of a loss under a label, nothing after an error.
  using Add = std::function<std::optional<ValueId>(const OpSpec& op, const std::string& label)>;

  // The sum of a path's losses, each times its weight; invalid after an error, or without a loss.
  ValueId Sum(const PathSpec& spec, const Place& place, const Add& add);

  // A number that a loss reads stands for a target of the size of its first input: puts one into
  // `inputs`.
  void FillNumbers(const OpSpec& op, const Place& place, const std::string& label,
                   std::vector<ValueId>& inputs);

  // Returns whether `value` is a number, as a loss must be; reports it where not.
  bool IsLoss(const OpSpec& op, ValueId value);

 private:
  ValueId Weighted(ValueId value, const LossSpec& loss, const Place& place,
                   const std::string& label);
  // Warns of a loss of logits that reads what is no logits any more: it learns, but badly.
  void WarnOfTwice(const OpSpec& spec, ValueId loss);

  Builder& builder_;
  Diagnostics& diagnostics_;
};

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_LOSSES_H_
