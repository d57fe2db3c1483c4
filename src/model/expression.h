// `${…}` in the body of a block: integer arithmetic on the block's parameters. Substitute() is the
// entry point; CheckPlaceholders() finds what is wrong before a block is used.
#ifndef CGRUN_MODEL_EXPRESSION_H_
#define CGRUN_MODEL_EXPRESSION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/model/tree.h"

namespace cgrun {

// A parameter of a block. Without a value (before a use is known) any value is thought possible.
struct Binding {
  std::string name;
  const TreeNode* value = nullptr;
};

// Limits the text that all substitutions of a file make together, so that blocks within blocks
// cannot fill the memory.
struct SubstitutionBudget {
  int64_t nodes = 1'000'000;
  int64_t bytes = 64 << 20;  // of scalars
  bool exceeded() const { return nodes < 0 || bytes < 0; }
};

// A scalar that holds `${`.
bool HasPlaceholder(const TreeNode& node);

// Returns the node with every `${…}` in its values replaced (keys are left alone). If a scalar is
// nothing but `${name}`, it becomes the parameter's value, of whatever kind; `${expression}`
// becomes an integer or a boolean. Within a longer text, the value's text is put in. Marks stay
// those of `node`. A `${…}` that cannot be replaced is an error at its scalar, and stays. Stops if
// `budget` is exceeded, which is no error of its own.
TreeNode Substitute(const TreeNode& node, const std::vector<Binding>& bindings,
                    SubstitutionBudget& budget, Diagnostics& diagnostics);

// Reports what is wrong with the `${…}` of `node` whatever the parameters' values are.
void CheckPlaceholders(const TreeNode& node, const std::vector<Binding>& parameters,
                       Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_EXPRESSION_H_
