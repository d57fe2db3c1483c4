// Reads how the parameters of an operator start and learn: the keys init, regularize, frozen and
// lr.
#ifndef CGRUN_FRONTEND_PARAMETER_OPTIONS_H_
#define CGRUN_FRONTEND_PARAMETER_OPTIONS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

struct Regularization {
  double l1 = 0;
  double l2 = 0;
};

// Maps a tensor ("weight") to its option. Under "" stands an option that the file gives without a
// name. An initialiser and a regulariser without one are of the operator's first tensor; a rate and
// `frozen` are of all tensors.
struct ParameterOptions {
  std::map<std::string, ParameterInfo> init;
  std::map<std::string, Regularization> regularization;
  std::map<std::string, bool> frozen;
  std::map<std::string, double> learning_rate_scale;
};

// An argument of an initialiser, and its value where none is given.
struct InitArgument {
  std::string_view name;
  double fallback;
};

// The initialiser that others call `name`, if only in capitals; "" where there is none.
std::string OurInitializer(std::string_view name);

// The arguments that an initialiser takes, in order; `file` has other ones.
std::span<const InitArgument> InitArguments(std::string_view initializer);

// Returns whether `frozen` keeps the running statistics of an operator that has some: it is `true`,
// or names one of them. The operator then normalises by them in training, too.
bool FreezesStatistics(const OpSpec& op);

// Reads the keys from an operator whose tensors are called `tensors`. Paths of files are relative
// to `model_file`.
ParameterOptions ReadParameterOptions(const OpSpec& op, const std::vector<std::string>& tensors,
                                      Diagnostics& diagnostics, const std::string& model_file = "");

// Reports what can be told to be wrong with the keys of an operator whose tensors are not known
// yet.
void CheckParameterOptions(const OpSpec& op, bool has_parameters, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_PARAMETER_OPTIONS_H_
