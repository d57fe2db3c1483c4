// Finds sequences of items that repeat, so that the model file has them once, as a block.
#ifndef CGRUN_IMPORT_BLOCKS_H_
#define CGRUN_IMPORT_BLOCKS_H_

#include <string>
#include <vector>

#include "src/import/network.h"

namespace cgrun {

// The same `length` items stand at several places: with the same operators, keys and operands, but
// for the values of keys, and for weights.
struct RepeatedBlock {
  int length = 0;
  std::vector<int> starts;  // places in BlockPlan::order
};

struct BlockPlan {
  std::vector<int> order;  // of items: parameters that several parts of the network read come first
  std::vector<RepeatedBlock> blocks;  // that do not overlap
};

// Finds the blocks that make the model file shorter: of three items at least. A block begins and
// ends where few values are alive, as between the layers of a transformer. Takes time and memory in
// proportion to the number of items.
BlockPlan FindBlocks(const Network& network, const std::vector<std::string>& outputs);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_BLOCKS_H_
