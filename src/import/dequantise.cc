// Computes (x − zero point)·scale as the operators would, without their results in between.
#include "src/import/dequantise.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "src/base/for_type.h"
#include "src/import/walk.h"

namespace cgrun {
namespace {

// A scale for the elements whose index along an axis is the same; of one scale the axis has the
// size 1.
struct Scales {
  HostTensor scale, zero_point;
  int64_t size = 1, inner = 1;
};

bool AreConstants(const NodeContext& node) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.IsConstant(i) || node.ConstantInput(i).folded) return false;
  }
  return node.num_inputs() >= 2 && node.TypeOf(1).dtype == DType::kF32;
}

// Returns whether the output is f32, and scales lie along an axis.
bool IsPlain(NodeContext& node) {
  const auto type = static_cast<onnx::DataType>(node.Int("output_dtype", 0));
  return (type == onnx::DataType::kUndefined || type == onnx::DataType::kFloat) &&
         node.Int("block_size", 0) == 0;
}

std::optional<Scales> ReadScales(NodeContext& node) {
  onnx::OnnxFile& file = node.state().file;
  const std::vector<int64_t>& sizes = node.ConstantInput(0).dims;
  std::optional<HostTensor> scale = HostOf(node.ConstantInput(1), file);
  std::optional<HostTensor> zero_point(HostTensor(node.TypeOf(0).dtype, scale->shape()));
  if (node.Has(2)) zero_point = HostOf(node.ConstantInput(2), file);
  const int64_t given = node.Int("axis", 1);
  if (zero_point->dtype() != node.TypeOf(0).dtype) return std::nullopt;
  if (zero_point->elements() != scale->elements() || scale->shape().rank() > 1) return std::nullopt;
  Scales scales{*std::move(scale), *std::move(zero_point)};
  if (scales.scale.elements() == 1) return scales;
  const auto axis = static_cast<size_t>(node.Axis(given, static_cast<int>(sizes.size())));
  scales.size = sizes[axis];
  for (size_t i = axis + 1; i < sizes.size(); ++i) scales.inner *= sizes[i];
  if (scales.scale.elements() != scales.size) return std::nullopt;
  return scales;
}

template <class T>
void Dequantise(const HostTensor& x, const Scales& scales, HostTensor& y) {
  const auto* const from = reinterpret_cast<const T*>(x.bytes().data());
  const auto* const zeros = reinterpret_cast<const T*>(scales.zero_point.bytes().data());
  const auto* const factors = reinterpret_cast<const float*>(scales.scale.bytes().data());
  auto* const to = reinterpret_cast<float*>(y.bytes().data());
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t place = i / scales.inner % scales.size;
    const int64_t difference = int64_t{from[i]} - int64_t{zeros[place]};
    to[i] = static_cast<float>(difference) * factors[place];
  }
}

bool ReadsIntegers(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 ||
         dtype == DType::kU16 || dtype == DType::kI32;
}

}  // namespace

bool FoldDequantised(NodeContext& node) {
  const bool is_one = node.node().op_type == "DequantizeLinear" && AreConstants(node);
  if (!is_one || !ReadsIntegers(node.TypeOf(0).dtype) || !IsPlain(node)) return false;
  const auto bytes = CheckedByteSize(DType::kF32, node.ConstantInput(0).dims);
  int64_t& budget = node.state().budget.dequantised;
  if (!bytes || *bytes > budget || *bytes == 0) return false;
  const std::optional<Scales> scales = ReadScales(node);
  if (!scales) return false;
  budget -= *bytes;
  const HostTensor x = *HostOf(node.ConstantInput(0), node.state().file);
  HostTensor y(DType::kF32, x.shape());
  ForAnyType<BFloat16>(x.dtype(), [&]<class T>(T*) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) Dequantise<T>(x, *scales, y);
  });
  Constant constant = ConstantOf(std::move(y));
  constant.name = node.ConstantInput(0).name;
  node.Set(0, {std::move(constant), {}});
  node.Finish(3);
  return true;
}

}  // namespace cgrun
