// Makes byte code from scheduled graphs and their memory layout.
#ifndef CGRUN_PROGRAM_BUILD_IMAGE_H_
#define CGRUN_PROGRAM_BUILD_IMAGE_H_

#include <string>
#include <vector>

#include "src/plan/memory_layout.h"
#include "src/program/image.h"

namespace cgrun {

struct ImageSource {
  std::string name;
  EntryKind kind = EntryKind::kTrain;
  int64_t batch = 0;
  const Graph* graph = nullptr;
  const Schedule* schedule = nullptr;
};

// `sources` and `layout.entries` go together. Fills arenas, states, constants and entries.
ProgramImage BuildImage(const std::vector<ImageSource>& sources, const MemoryLayout& layout);

// Entry points may run different paths: adds those of a graph to the paths of all, each once, by
// its name. Returns where they stand.
std::vector<int> AddPaths(const Graph& graph, std::vector<ImagePath>& paths);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_BUILD_IMAGE_H_
