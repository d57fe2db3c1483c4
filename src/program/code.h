// Code: an image's instructions with their kernels prepared. It needs no arena, so that what it
// takes can be measured before there is one.
#ifndef CGRUN_PROGRAM_CODE_H_
#define CGRUN_PROGRAM_CODE_H_

#include <memory>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// Holds an entry point that is ready to run.
struct EntryPoint {
  const ImageEntry* image = nullptr;
  std::vector<Instruction> instructions;  // one by one
  // Each stretch in streams is one instruction (join_streams.h). Empty: there are no streams.
  std::vector<Instruction> with_streams;
  std::vector<ReachSet> reach;  // of each; none where the entry point is not incremental
};

class Code {
 public:
  // Verifies the image, prepares its kernels, and has the libraries take what they would take in
  // their first calls: threads, buffers. `image` must outlive the code. Throws InputError if the
  // image is not sound.
  Code(const ProgramImage& image, Device& device, const KernelLibrary& library);

  const std::vector<EntryPoint>& entries() const { return entries_; }

 private:
  void Prepare(const ImageEntry& entry, const KernelLibrary& library, int threads);

  std::vector<EntryPoint> entries_;
  std::vector<std::shared_ptr<const void>> parameters_;  // of all instructions
  std::vector<std::unique_ptr<Operand[]>> operands_;
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_CODE_H_
