// The values of an entry point as its byte code shows them: names, places, lifespans. An image
// keeps no graph, so that whoever lists or checks a program asks here.
#ifndef CGRUN_PROGRAM_IMAGE_VALUES_H_
#define CGRUN_PROGRAM_IMAGE_VALUES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/plan/liveness.h"
#include "src/program/image.h"

namespace cgrun {

enum class ImageValueKind : uint8_t { kState, kConstant, kFeed, kWritten, kWorkspace };

struct ImageValue {
  // The instruction's name; further outputs add a number ("classify.pool1.2"), workspaces
  // ".workspace".
  std::string name;
  ImageValueKind kind = ImageValueKind::kState;
  ImageOperand bytes;
  TensorType type;       // not of a workspace
  Lifespan lifespan;     // in instructions
  int instruction = -1;  // that writes it; −1 for what is fed or kept between runs
  int persistent = -1;   // of states and constants: the index in the image's list
};

// The states and constants of the whole image come first, then feeds, then what the instructions
// write, in their order. The image is sound (VerifyImage).
std::vector<ImageValue> ValuesOf(const ProgramImage& image, const ImageEntry& entry);

// Returns whether two operands have bytes in common.
bool Overlap(const ImageOperand& a, const ImageOperand& b);
// Returns whether they are the same bytes.
bool SameBytes(const ImageOperand& a, const ImageOperand& b);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_VALUES_H_
