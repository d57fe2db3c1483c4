// Rebuilds the graph and the memory layout of a program from its byte code, for listings and
// pictures.
#ifndef CGRUN_PROGRAM_IMAGE_LAYOUT_H_
#define CGRUN_PROGRAM_IMAGE_LAYOUT_H_

#include "src/ir/graph.h"
#include "src/plan/memory_layout.h"
#include "src/program/image.h"

namespace cgrun {

// An instruction is a node, so that views are not there; values have the names of ValuesOf(). How
// parameters start and learn is left out. The image is sound (VerifyImage).
Graph GraphOf(const ProgramImage& image, const ImageEntry& entry);

// Where everything lies, for how many bytes and instructions. The bound is the most that is alive
// at one instruction. What planned it, and in which time, an image does not tell.
MemoryLayout LayoutOf(const ProgramImage& image);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_LAYOUT_H_
