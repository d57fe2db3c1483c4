// How the parameters of an operator start and learn: the keys init, regularize, frozen and lr.
#ifndef CGRUN_FRONTEND_PARAMETER_OPTIONS_H_
#define CGRUN_FRONTEND_PARAMETER_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

struct ParameterOptions {
  // By tensor ("weight"); "" for the operator's first one.
  std::map<std::string, ParameterInfo> init;
  double l1 = 0;  // of the first parameter
  double l2 = 0;
  bool frozen = false;
  double learning_rate_scale = 1;
};

// Reads the keys from an operator whose tensors are called `tensors`. Paths of files are relative
// to `model_file`.
ParameterOptions ReadParameterOptions(const OpSpec& op, const std::vector<std::string>& tensors,
                                      Diagnostics& diagnostics, const std::string& model_file = "");

// Reports what can be told to be wrong with the keys of an operator whose tensors are not known
// yet.
void CheckParameterOptions(const OpSpec& op, bool has_parameters, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_PARAMETER_OPTIONS_H_
