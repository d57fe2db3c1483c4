// Writes the items of a network, and its blocks.
#ifndef CGRUN_IMPORT_BLOCK_EMITTER_H_
#define CGRUN_IMPORT_BLOCK_EMITTER_H_

#include <string>
#include <vector>

#include "src/import/network.h"
#include "src/model/tree.h"

namespace cgrun {

struct EmittedItems {
  std::vector<TreeEntry> blocks;    // of `blocks:`
  std::vector<TreeNode> ops;        // of the path
  std::vector<std::string> labels;  // of each item in the path, such as `layers[3].norm1`
};

// If `blocks` is true, writes sequences that repeat as uses of a block. Values that differ among
// the uses become its parameters.
EmittedItems EmitItems(const Network& network, const std::vector<std::string>& outputs,
                       bool blocks);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_BLOCK_EMITTER_H_
