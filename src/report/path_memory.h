// Measures the memory that the paths of a training step share, such as the two networks of a GAN
// pair.
#ifndef CGRUN_REPORT_PATH_MEMORY_H_
#define CGRUN_REPORT_PATH_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/graph.h"
#include "src/plan/memory_layout.h"

namespace cgrun {

// All in bytes. State is parameters, statistics and what optimizers keep.
struct PathMemory {
  std::string name;
  int64_t repetitions = 1;      // in a step
  int64_t parameter_bytes = 0;  // that its loss changes
  int64_t state_bytes = 0;      // that it reads or changes
  int64_t transient_bytes = 0;  // of addresses at which a buffer of the path lies at some time
};

struct PathSharing {
  std::vector<PathMemory> paths;  // empty where there are less than two
  int64_t state_bytes = 0;        // that several paths read or change
  int64_t passed_bytes = 0;       // transient buffers that one path fills and another reads
  int64_t transient_bytes = 0;    // of addresses at which several paths have buffers
};

// Measures the entry point with the index `entry`. The layout was planned for its graph `graph`.
PathSharing SharingOf(const Graph& graph, const MemoryLayout& layout, int entry);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PATH_MEMORY_H_
