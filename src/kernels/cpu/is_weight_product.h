// Says which products our own kernel computes, alone and with an optimizer or an addition behind
// them. No other kernel computes them, so that one fused node has the bits of two nodes.
#ifndef CGRUN_KERNELS_CPU_IS_WEIGHT_PRODUCT_H_
#define CGRUN_KERNELS_CPU_IS_WEIGHT_PRODUCT_H_

#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Estimates for one thread, to choose between kernels by.
inline constexpr double kWeightProductFlopsPerSecond = 60e9;

// Returns whether the node is aᵀ·b of two f32 matrices, not deeper than a packed strip of it should
// be.
bool IsWeightProduct(const NodeSignature& node);
// Returns whether it is fused from such a product of its inputs 0 and 1, and an optimizer that
// reads the result as its gradient, the node's other inputs in their order beside it.
bool IsUpdateByProduct(const NodeSignature& node, OpId optimizer);

// Returns whether the node is fused from such products and additions. The first product is of
// inputs 0 and 1, and input 2, which has the result's shape, is added to it. Each further product,
// of inputs 3 and 4, of 5 and 6, …, is added to the sum so far. Its inputs are as large as those of
// the first.
bool IsSumByProducts(const NodeSignature& node);

std::vector<KernelDef> weight_product();
// This kernel runs a fused node of additions.
std::vector<KernelDef> add_by_product();
// These kernels run fused nodes of optimizers.
std::vector<KernelDef> sgd_by_product();
std::vector<KernelDef> adam_by_product();
std::vector<KernelDef> adamw_by_product();
std::vector<KernelDef> rmsprop_by_product();
std::vector<KernelDef> adagrad_by_product();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_IS_WEIGHT_PRODUCT_H_
