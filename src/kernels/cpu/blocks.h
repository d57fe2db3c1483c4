// Channels in blocks: the layouts aBcd8b and aBcd16b of [N, C, H, W], which convolutions choose,
// and acdb, all channels in one block. The channels of a block lie side by side at every position
// of an image; what pads the last block is 0.
#ifndef CGRUN_KERNELS_CPU_BLOCKS_H_
#define CGRUN_KERNELS_CPU_BLOCKS_H_

#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Returns whether all channels of [N, C, H, W] lie side by side: NHWC.
inline bool HasChannelsLast(const Layout& layout) {
  return layout.order == std::vector<int>{0, 2, 3, 1} && layout.blocks.empty();
}

// Returns the channels of a block of the layout of x. For another layout, it is 0.
inline int64_t BlockOf(const Shape& x, const Layout& layout) {
  if (HasChannelsLast(layout)) return x[1].size;
  const bool outer = layout.order.empty() || layout.order == std::vector<int>{0, 1, 2, 3};
  if (!outer || layout.blocks.size() != 1 || layout.blocks[0].axis != 1) return 0;
  return layout.blocks[0].size;
}

// [N, C, H, W] in blocks.
struct Blocks {
  int64_t images = 0;
  int64_t groups = 0;  // of channels, in each image
  int64_t plane = 0;   // positions
  int64_t block = 0;   // channels at a position

  int64_t planes() const { return images * groups; }
  int64_t channels() const { return groups * block; }  // with those that pad
};

inline Blocks BlocksOf(const Shape& x, const Layout& layout) {
  const int64_t block = BlockOf(x, layout);
  return {x[0].size, (x[1].size + block - 1) / block, x[2].size * x[3].size, block};
}

// Returns the layout in which a kernel for blocks of whole vectors takes one of a node's inputs, as
// it comes. If it does not come so, returns null.
inline const Layout* ComesInBlocks(const NodeSignature& node, const RunSetting& setting,
                                   size_t input, int64_t lanes) {
  if (input >= setting.layouts.size() || node.inputs[input].shape.rank() != 4) return nullptr;
  const Layout& layout = setting.layouts[input];
  const int64_t block = BlockOf(node.inputs[input].shape, layout);
  return block > 0 && block % lanes == 0 ? &layout : nullptr;
}

// These kernels take tensors in blocks. Other kernels of the same operators take plain tensors.
std::vector<KernelDef> max_pool_in_blocks();
std::vector<KernelDef> max_pool_grad_in_blocks();
std::vector<KernelDef> avg_pool_in_blocks();
std::vector<KernelDef> avg_pool_grad_in_blocks();
std::vector<KernelDef> global_avg_pool_in_blocks();
std::vector<KernelDef> reduce_sum_in_blocks();
std::vector<KernelDef> relu_bits_in_blocks();
std::vector<KernelDef> relu_grad_by_bits_in_blocks();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_BLOCKS_H_
