// Declares the attributes of the optimizers, and the part of type inference that they share.
#ifndef CGRUN_OPS_OPTIMIZER_H_
#define CGRUN_OPS_OPTIMIZER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"
#include "src/ir/range_text.h"

namespace cgrun {

struct SgdAttributes {
  double lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double learning_rate_scale = 1;
  double l1 = 0;
  double l2 = 0;

  static const AttributeSchema& Schema();
};

struct AdamAttributes {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double learning_rate_scale = 1;
  double l1 = 0;
  double l2 = 0;

  static const AttributeSchema& Schema();
};

struct AdamwAttributes {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  double learning_rate_scale = 1;
  double l1 = 0;
  double l2 = 0;

  static const AttributeSchema& Schema();
};

struct RmspropAttributes {
  double lr = 0.01;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  bool centered = false;
  double weight_decay = 0;
  double learning_rate_scale = 1;
  double l1 = 0;
  double l2 = 0;

  static const AttributeSchema& Schema();
};

struct AdagradAttributes {
  double lr = 0.01;
  double lr_decay = 0;
  double initial_accumulator = 0;
  double epsilon = 1e-10;
  double weight_decay = 0;
  double learning_rate_scale = 1;
  double l1 = 0;
  double l2 = 0;

  static const AttributeSchema& Schema();
};

inline constexpr char kDecayInGradient[] = "this much of the parameter is added to its gradient";

// Says whether one learning rate suits many models, or each model has its own.
enum class Rate : uint8_t { kHasDefault, kRequired };

// Adds the fields that every optimizer has: lr, weight_decay, and those that the compiler fills in
// for each parameter.
template <class T>
SchemaBuilder<T>& AddOptimizerFields(SchemaBuilder<T>& builder,
                                     std::string weight_decay = kDecayInGradient,
                                     Rate rate = Rate::kHasDefault) {
  builder.Add("lr", &T::lr, "learning rate, before its schedule").AtLeast(0);
  if (rate == Rate::kRequired) builder.Required();
  return builder.Add("weight_decay", &T::weight_decay, std::move(weight_decay))
      .AtLeast(0)
      .Add("learning_rate_scale", &T::learning_rate_scale, "factor of the parameter's own")
      .Internal()
      .Add("l1", &T::l1, "l1·sign(parameter) is added to the gradient")
      .Internal()
      .Add("l2", &T::l2, "l2·parameter is added to the gradient")
      .Internal();
}

// Adds the fields of Adam's moments.
template <class T>
SchemaBuilder<T>& AddMoments(SchemaBuilder<T>& builder) {
  return builder.Add("beta1", &T::beta1, "part of the mean of gradients that is kept, less than 1")
      .AtLeast(0)
      .AtMost(kBelowOne)
      .Add("beta2", &T::beta2, "part of the mean of squared gradients that is kept, less than 1")
      .AtLeast(0)
      .AtMost(kBelowOne)
      .Add("epsilon", &T::epsilon, "added to what is divided by")
      .AtLeast(0);
}

// Checks inputs 0 … 2 (parameter, gradient, learning rate) and `states` states of the parameter's
// type after them.
bool CheckOptimizerInputs(InferContext& context, int states);

// Warns of an `epsilon` of 0, as nothing else keeps an update from dividing by 0.
void WarnOfNoEpsilon(InferContext& context, double epsilon);

// Returns whether input `i` is the step counter; reports it where not.
bool CheckStepCounter(InferContext& context, int i);

}  // namespace cgrun

#endif  // CGRUN_OPS_OPTIMIZER_H_
