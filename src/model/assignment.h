// Assignment: a value that another file than the model's gives to a setting of a model. A search
// does that for each trial. Errors are marked in that other file.
#ifndef CGRUN_MODEL_ASSIGNMENT_H_
#define CGRUN_MODEL_ASSIGNMENT_H_

#include <optional>
#include <span>
#include <string>

#include "src/base/diagnostics.h"
#include "src/model/model_file.h"
#include "src/model/model_spec.h"
#include "src/model/tree.h"

namespace cgrun {

struct Assignment {
  std::string path;  // dotted, as of ApplyOverride()
  TreeNode value;    // with its own marks
  SourceMark mark;   // of the path
};

// Sets the value as ApplyOverride() does. Returns false after an error.
bool Assign(TreeNode& root, const Assignment& assignment, Diagnostics& diagnostics);

// Does what LoadModelFile() does, with assignments in place of overrides.
std::optional<ModelSpec> LoadAssignedModel(const std::string& path,
                                           std::span<const Assignment> assignments,
                                           Diagnostics& diagnostics,
                                           const TreeExpander& expand = {});

}  // namespace cgrun

#endif  // CGRUN_MODEL_ASSIGNMENT_H_
