// Random shapes, tensors and nodes: what the cases of CPU kernels are made of.
#ifndef CGRUN_TESTS_KERNELS_RANDOM_TENSORS_H_
#define CGRUN_TESTS_KERNELS_RANDOM_TENSORS_H_

#include <vector>

#include "tests/kernels/cpu_cases.h"

namespace cgrun {

using Sizes = std::vector<int64_t>;

// `rank` sizes whose product is about `elements` at most.
Sizes AnySizes(Dice& dice, int rank, int64_t elements);
Shape AnyShape(Dice& dice, int64_t elements);
// Makes a shape whose rank lies in [low, high].
Shape AnyShape(Dice& dice, int low, int high, int64_t elements);
// Makes images [N, C, H, W] of 4 × 4 at least.
Shape AnyImages(Dice& dice, int64_t elements);
// Returns `whole` with some axes 1 and some leading ones left out.
Shape Broadcastable(Dice& dice, const Sizes& whole);
DType AnyFloat(Dice& dice);

enum class Specials {
  kNone,
  kZeros,
  kAll
};  // among the numbers: zeros, or infinities and NaN, too

// Normal numbers times `scale`.
HostTensor Numbers(Dice& dice, DType dtype, const Shape& shape, Specials specials = Specials::kNone,
                   double scale = 1);
HostTensor Integers(Dice& dice, DType dtype, const Shape& shape, int64_t low, int64_t high);

RandomNode MakeNode(OpId op, Attributes attributes, std::vector<HostTensor> inputs);
// Returns the outputs of the reference kernel for it.
std::vector<HostTensor> Evaluated(const RandomNode& random);

// Each returns cases that cpu_cases.cc joins to its own.
std::vector<CpuCase> ElementwiseCases();
std::vector<CpuCase> LayerCases();
std::vector<CpuCase> IntegerCases();
std::vector<CpuCase> TrainingCases();

inline constexpr Tolerance kSameBits{0};
inline constexpr Tolerance kRounding{1e-6};  // some units in the last place
inline constexpr Tolerance kSums{4e-6};
inline constexpr Tolerance kDifferences{4e-6, 1e-6};  // of numbers of about 1, which may cancel

}  // namespace cgrun

#endif  // CGRUN_TESTS_KERNELS_RANDOM_TENSORS_H_
