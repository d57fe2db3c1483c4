// Declares our own convolutions of f32 in plain layout. Most are products of matrices in tiles,
// whose patches are packed a tile at a time.
#ifndef CGRUN_KERNELS_CPU_TILED_CONV_H_
#define CGRUN_KERNELS_CPU_TILED_CONV_H_

#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

std::vector<KernelDef> tiled_conv();
std::vector<KernelDef> tiled_fused_conv();  // with relu or leaky_relu behind it
// These are for groups of one channel, and make no matrices.
std::vector<KernelDef> depthwise_conv();
std::vector<KernelDef> activated_depthwise_conv();  // with relu or leaky_relu behind it
// These are for few filters, and pack no patches.
std::vector<KernelDef> direct_conv();
std::vector<KernelDef> activated_direct_conv();
std::vector<KernelDef> tiled_conv_input_grad();
std::vector<KernelDef> tiled_conv_weight_grad();
std::vector<KernelDef> tiled_conv_transpose();
// This node has max_pool behind conv, and may have relu or leaky_relu between the two.
std::vector<KernelDef> tiled_conv_max_pool();
// These nodes have max_pool_grad before them, which gives dy.
std::vector<KernelDef> tiled_unpooled_input_grad();
std::vector<KernelDef> tiled_unpooled_weight_grad();
std::vector<KernelDef> unpooled_sum();  // reduce_sum over all axes but the channels'

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_TILED_CONV_H_
