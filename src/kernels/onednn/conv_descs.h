// What the descriptors of convolutions and of their transposes have in common.
#ifndef CGRUN_KERNELS_ONEDNN_CONV_DESCS_H_
#define CGRUN_KERNELS_ONEDNN_CONV_DESCS_H_

#include <vector>

#include "src/kernels/onednn/primitive.h"
#include "src/ops/window.h"

namespace cgrun::onednn {

// Of one thread, with what fills up blocks of channels: 92 % of the peak of 117e9 of the machine
// on which they were measured. See cpu/conv_seconds.h.
inline constexpr double kConvFlopsPerSecond = 108e9;

// Channels that lie side by side where oneDNN puts them in blocks.
int64_t ChannelBlock();
// How much more than `channels` there are when their blocks are whole.
double Filling(int64_t channels);
// An estimate for one thread of a convolution with its channels in blocks; of one group.
double BlockedSeconds(const NodeSignature& node, int64_t channels, int64_t filters);

// A window as oneDNN wants it.
struct WindowDims {
  dnnl::memory::dims strides, dilates, before, after;
};
WindowDims WindowDimsOf(const Shape& images, const WindowAttributes& attributes);

// The layouts of a node's operands, inputs then outputs; none: oneDNN's choice.
using Layouts = const std::vector<OperandLayout>*;
const Layout* At(Layouts layouts, size_t i);

// Null: a layout of oneDNN's choice.
dnnl::memory::desc Tensor(const TensorType& type, const Layout* layout);

// [filters, channels of a group, …] as [groups, filters of a group, …], plain: oneDNN wants the
// groups as an axis where there are several.
dnnl::memory::desc GroupedWeights(const TensorType& type, int64_t groups);

// Notes the layout that oneDNN chose; false where it is none of ours. Weights of several groups,
// which have five axes, are plain.
bool Choose(const dnnl::memory::desc& desc, Layout* layout);

// `supports`: all operands are of one type that oneDNN takes, and none is empty.
bool SupportsConv(const NodeSignature& node);

// kMakeDesc(node, layouts) for a team of threads.
template <auto kMakeDesc>
auto WithThreads(const NodeSignature& node, Layouts layouts, int threads) {
  SetThreads(threads);
  return kMakeDesc(node, layouts);
}

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_CONV_DESCS_H_
