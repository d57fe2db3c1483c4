// Makes a model file of the imported network.
#ifndef CGRUN_IMPORT_EMIT_H_
#define CGRUN_IMPORT_EMIT_H_

#include <string>
#include <vector>

#include "src/import/import_state.h"
#include "src/model/tree.h"

namespace cgrun {

// A placeholder has this name in the model file.
struct EmittedInput {
  std::string name;
  TensorType type;
  bool batch = true;
};

struct EmittedModel {
  TreeNode tree;
  std::vector<std::string> labels;  // of the network's items in the path
};

// Returns the tree that a person would write: with blocks for what repeats, if there may be any,
// and without `in:` where an item reads the one before.
EmittedModel EmitModel(const Network& network, const std::vector<EmittedInput>& inputs,
                       const std::vector<std::string>& outputs, bool blocks);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_EMIT_H_
