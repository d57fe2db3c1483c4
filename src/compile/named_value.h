// Finds the value that a user's name stands for. `keep`, `--keep` and `plan --why` read names
// alike.
#ifndef CGRUN_COMPILE_NAMED_VALUE_H_
#define CGRUN_COMPILE_NAMED_VALUE_H_

#include <optional>
#include <string>

#include "src/compile/compile.h"

namespace cgrun {

struct NamedValue {
  std::string value;  // its name in the graph of training, which passes can take away
  // If the name is that of an operator with an `activation`, it stands for the activation's result.
  // Then this is the value that the activation reads. Otherwise it is "".
  std::string before_activation = {};
  // If the name is that of a gradient, this is its value or parameter. Otherwise it is "".
  std::string gradient_of = {};
  bool is_needed = true;  // a step has it, though nothing keeps it
};

// Finds a value by the rule of `keep` in a model file (docs/reference/training.md). A name is NAME,
// PATH.NAME, the end of a parameter's name, an operator without a name, `grad(NAME)` or
// `PATH.grad(NAME)`. Returns nothing after an error, which goes to `diagnostics` in the words of
// `keep`.
std::optional<NamedValue> FindNamedValue(const ModelSpec& model, const std::string& name,
                                         const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_NAMED_VALUE_H_
