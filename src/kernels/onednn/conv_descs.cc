// Windows, weights and layouts as oneDNN describes them.
#include "src/kernels/onednn/conv_descs.h"

#include <algorithm>

namespace cgrun::onednn {

int64_t ChannelBlock() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
}

double Filling(int64_t channels) {
  const int64_t block = ChannelBlock();
  return static_cast<double>((channels + block - 1) / block * block) /
         static_cast<double>(channels);
}

double BlockedSeconds(const NodeSignature& node, int64_t channels, int64_t filters) {
  const double filling = Filling(channels) * Filling(filters);
  return static_cast<double>(CostOf(node).flops) * filling / kConvFlopsPerSecond;
}

WindowDims WindowDimsOf(const Shape& images, const WindowAttributes& attributes) {
  const Window w = WindowOf(images, attributes);
  return {{w.y.stride, w.x.stride},
          {w.y.dilation - 1, w.x.dilation - 1},
          {w.y.before, w.x.before},
          {w.y.after, w.x.after}};
}

const Layout* At(Layouts layouts, size_t i) {
  return layouts == nullptr ? nullptr : &(*layouts)[i].layout;
}

dnnl::memory::desc Tensor(const TensorType& type, const Layout* layout) {
  return layout == nullptr ? DescribeAny(type) : Describe(type, *layout);
}

dnnl::memory::desc GroupedWeights(const TensorType& type, int64_t groups) {
  std::vector<Dim> dims = {Dim(groups), Dim(type.shape[0].size / groups)};
  for (int axis = 1; axis < 4; ++axis) dims.push_back(type.shape[axis]);
  return Describe({type.dtype, Shape(std::move(dims))}, Layout());
}

bool Choose(const dnnl::memory::desc& desc, Layout* layout) {
  if (desc.data.ndims != 4) return true;
  const std::optional<Layout> chosen = LayoutOf(desc);
  if (chosen) *layout = *chosen;
  return chosen.has_value();
}

bool SupportsConv(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  const auto fits = [dtype](const TensorType& type) {
    return type.dtype == dtype && type.shape.Elements() > 0;
  };
  return IsOnednnFloat(dtype) && std::all_of(node.inputs.begin(), node.inputs.end(), fits) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), fits);
}

}  // namespace cgrun::onednn
