// Random nodes with inputs, for comparing the kernels of CPU devices with the reference kernels.
#ifndef CGRUN_TESTS_KERNELS_CPU_CASES_H_
#define CGRUN_TESTS_KERNELS_CPU_CASES_H_

#include <functional>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/ir/signature.h"
#include "tests/support/dice.h"

namespace cgrun {

// Says how far a kernel may be from the reference kernel.
struct Tolerance {
  double relative = 0;  // of the largest number of the output
  double absolute = 0;  // both 0: the same bits, but for NaN
};

struct RandomNode {
  NodeSignature node;
  std::vector<HostTensor> inputs;
};

// A case is a family of random nodes.
struct CpuCase {
  OpId op = OpId::identity;
  Tolerance tolerance;
  // A node of about `elements` elements at most.
  std::function<RandomNode(Dice&, int64_t elements)> make;
};

// One for every operator that has kernels of our own on CPUs, some with two.
std::vector<CpuCase> AllCpuCases();
// f32 convolutions, and gradients of their weights.
RandomNode AnyConvNode(Dice& dice, int64_t elements);
RandomNode AnyConvWeightGrad(Dice& dice, int64_t elements);
// Makes a max_pool of images, and the gradient of one.
RandomNode AnyMaxPoolOf(Dice& dice, const HostTensor& x);
RandomNode GradientOf(Dice& dice, const RandomNode& max_pool);

}  // namespace cgrun

#endif  // CGRUN_TESTS_KERNELS_CPU_CASES_H_
