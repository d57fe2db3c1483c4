// Runs until more of them tell little.
#include "src/kernels/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

#include "src/device/device.h"
#include "src/kernels/host_run.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.02;  // that the runs take together, but for long ones
constexpr int kFewestRuns = 3, kMostRuns = 200;

// Fills in numbers that no kernel is unusually fast or slow on, as it is on zeros, denormal numbers
// and NaN. If a layout pads, they stand in the padding too, as nobody reads the results.
void Fill(std::span<std::byte> bytes) {
  constexpr size_t kPeriod = 61;
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    const float number = static_cast<float>(i / sizeof(float) % kPeriod) / kPeriod - 0.4f;
    std::memcpy(bytes.data() + i, &number, sizeof(float));
  }
}

// Returns whether there is memory for the operands, and for as much that a library may pack them
// into. Linux would hand it out all the same, and kill the process when it is touched.
bool HasRoom(const NodeSignature& node, const KernelOption& option) {
  constexpr int64_t kLibraries = int64_t{4} << 20;
  int64_t bytes = option.workspace_bytes;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    bytes += ByteSize(node.inputs[i], option.input_layouts[i]);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    bytes += ByteSize(node.outputs[i], option.output_layouts[i]);
  }
  return 2 * bytes + kLibraries <= FreeHostMemory();
}

}  // namespace

std::optional<double> MeasureOnHost(const KernelLibrary& library, const NodeSignature& node,
                                    const KernelOption& option, int threads) {
  if (!HasRoom(node, option)) return std::nullopt;
  try {
    HostRun run(library, node, option, threads);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].dtype == DType::kF32) Fill(run.operand(i));
    }
    run.Run();  // takes memory from the system, and makes code
    double least = std::numeric_limits<double>::infinity(), all = 0;
    for (int i = 0; i < kMostRuns && (i < kFewestRuns || all < kSeconds); ++i) {
      const Clock::time_point start = Clock::now();
      run.Run();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      least = std::min(least, seconds);
      all += seconds;
    }
    return least;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace cgrun
