// Reads packing problems as bytes, six a buffer. If a problem has no fault, it is packed within few
// nodes. The plan must be valid, and keep its bound and its verdict. For few buffers, no order may
// beat it.
#include "src/base/check.h"
#include "src/packing/pack.h"
#include "src/packing/validator.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

constexpr size_t kBytesABuffer = 6;
constexpr size_t kMostBuffers = 60;
constexpr size_t kFew = 6;

// Bytes: lower, length (may be 0: a fault), size (in two), alignment (may be no power of two),
// offset (fixed where it is odd).
MemoryProblem ProblemOf(std::span<const std::byte> input) {
  const auto number = [&](size_t i) { return std::to_integer<int64_t>(input[i]); };
  MemoryProblem problem;
  for (size_t i = 0; i + kBytesABuffer <= input.size(); i += kBytesABuffer) {
    if (problem.buffers.size() == kMostBuffers) break;
    Buffer buffer;
    buffer.lower = number(i);
    buffer.upper = buffer.lower + number(i + 1);
    buffer.bytes = 16 * number(i + 2) + number(i + 3) % 16;
    buffer.alignment = number(i + 4) < 64 ? 1 : number(i + 4) % 65;
    if (number(i + 5) % 2 == 1) buffer.offset = 64 * number(i + 5);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const MemoryProblem problem = ProblemOf(input);
  if (!ProblemFaults(problem, 1).empty()) return false;
  const Packing packing = Pack(problem, {.nodes = 2000});
  const std::vector<Violation> violations = ValidatePlan(problem, packing.plan);
  CGRUN_CHECK(violations.empty()) << ToString(violations);
  CGRUN_CHECK((packing.verdict == Verdict::kGap) ==
              (packing.plan.lower_bound_bytes < packing.plan.peak_bytes));
  if (problem.buffers.size() <= kFew) {
    const Bytes optimum = OptimalPeak(problem);
    CGRUN_CHECK(packing.plan.lower_bound_bytes <= optimum);
    CGRUN_CHECK(packing.plan.peak_bytes >= optimum);
    CGRUN_CHECK(packing.verdict == Verdict::kGap || packing.plan.peak_bytes == optimum);
  }
  return true;
}

std::vector<std::string> GoodInputs() {
  return {std::string("\x00\x04\x10\x00\x00\x00\x02\x05\x08\x03\x00\x00"
                      "\x01\x09\x06\x01\x51\x00\x03\x03\x20\x00\x00\x00",
                      24),
          std::string("\x00\x04\x02\x00\x00\x05\x02\x05\x08\x03\x51\x00", 12)};
}

}  // namespace cgrun
