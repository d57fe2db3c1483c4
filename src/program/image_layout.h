// Rebuilds the graph and the memory layout of a program from its byte code, for listings and
// pictures.
#ifndef CGRUN_PROGRAM_IMAGE_LAYOUT_H_
#define CGRUN_PROGRAM_IMAGE_LAYOUT_H_

#include "src/ir/graph.h"
#include "src/plan/memory_layout.h"
#include "src/program/image.h"

namespace cgrun {

// Returns a graph with a node for each instruction, so that views are not there. Values have the
// names of ValuesOf(). The graph does not say how parameters start and learn. The image must be
// sound (VerifyImage).
Graph GraphOf(const ProgramImage& image, const ImageEntry& entry);

// Returns the place of all buffers, with the bytes and instructions that they serve. The bound is
// the most that is alive at one instruction. An image does not tell which planner made it, or in
// what time.
MemoryLayout LayoutOf(const ProgramImage& image);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_LAYOUT_H_
