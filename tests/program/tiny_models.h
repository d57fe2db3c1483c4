// The tiny models of tests/golden as programs, and two ways to run them that must agree: the
// virtual machine, which sees addresses alone, and values, which have no addresses.
#ifndef CGRUN_TESTS_PROGRAM_TINY_MODELS_H_
#define CGRUN_TESTS_PROGRAM_TINY_MODELS_H_

#include <memory>
#include <string>
#include <vector>

#include "src/program/program.h"

namespace cgrun {

// "tiny_mlp", "tiny_conv", "tiny_paths".
const std::vector<std::string>& TinyModels();

// Compiled for `reference` with the entry points train, train.tail and eval. Without passes too,
// because they change what instructions there are.
ProgramImage TinyImage(const std::string& model, bool passes = true);

// Makes a program of tiny_mlp's kind, with a fused node and constants in it.
ProgramImage FusedImage();

// Returns a program whose joined operands lie in the result from the beginning, and whose slices
// lie in their source.
ProgramImage PartsImage();

// Two of its tensors go to a file and come back; `reuse`: bytes serve several tensors in turn.
ProgramImage SwapImage(bool reuse = true);

// Two inputs, a network on each, and what joins them: an entry point that can run in part.
ProgramImage IncrementalImage();

// The numbers that feed `port` takes at `step`: they depend on its name and the step alone.
HostTensor FeedFor(const ImagePort& port, int64_t step);

// Holds the results and states that an entry point leaves, in their order.
struct RunResult {
  std::vector<std::vector<std::byte>> results;
  std::vector<std::vector<std::byte>> states;
  friend bool operator==(const RunResult&, const RunResult&) = default;
};

// A program of the kernels of `reference`, with what it needs.
class TinyProgram {
 public:
  explicit TinyProgram(ProgramImage image);  // throws UserError
  TinyProgram(ProgramImage image, std::unique_ptr<Device> device);
  RunResult Run(int entry, int64_t step);
  // A whole run, and then runs in part, each with one more feed changed to its numbers at `step`.
  RunResult RunInPart(int entry, int64_t step);

 private:
  RunResult ResultOf(int entry);
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  Program program_;
};

// Returns why the program is refused, or "".
std::string Refusal(const ProgramImage& image);

// The same as TinyProgram(image).Run(entry, step), from initial states, by the operands' values:
// every value has memory of its own, so that no mistake in an address can change it.
RunResult RunByValues(const ProgramImage& image, int entry, int64_t step);

}  // namespace cgrun

#endif  // CGRUN_TESTS_PROGRAM_TINY_MODELS_H_
