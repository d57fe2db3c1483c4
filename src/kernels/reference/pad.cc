// Computes pad: it fills the output, then copies the input into its middle, or reads every element
// from where its mode says. Its gradient adds up what was read.
#include "src/ops/pad.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

// Maps elements of y to their places in x. It has an offset for each place on each axis of y, the
// axes one after another. An element's place is the sum of its offsets over the axes.
struct SourcePlan {
  std::vector<int64_t> sizes;  // of y
  std::vector<int64_t> offsets;
  int64_t elements = 0;  // of x

  // Calls f(n, offset) for each element n of y.
  template <class F>
  void ForEachElement(F f) const {
    int64_t n = 0;
    Walk(0, 0, 0, n, f);
  }

 private:
  template <class F>
  void Walk(size_t axis, size_t first, int64_t offset, int64_t& n, F& f) const {
    if (axis == sizes.size()) return f(n++, offset);
    const auto size = static_cast<size_t>(sizes[axis]);
    for (size_t k = first; k < first + size; ++k) {
      Walk(axis + 1, first + size, offset + offsets[k], n, f);
    }
  }
};

SourcePlan PlanSources(const PadAttributes& attributes, const Shape& x, const Shape& y) {
  const PadWidths widths = WidthsOf(attributes, x.rank());
  const std::vector<int64_t> strides = RowMajorStrides(x);
  SourcePlan plan{y.Sizes(), {}, x.Elements()};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto at = static_cast<size_t>(axis);
    for (int64_t i = 0; i < y[axis].size; ++i) {
      const int64_t place = PaddedFrom(attributes.mode, i - widths.before[at], x[axis].size);
      plan.offsets.push_back(place * strides[at]);
    }
  }
  return plan;
}

template <class Bits>
struct PadWithOwn {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& plan = *static_cast<const SourcePlan*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    plan.ForEachElement([=](int64_t n, int64_t offset) { y[n] = x[offset]; });
  }
};

template <class T>
struct PadGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& plan = *static_cast<const SourcePlan*>(i.parameters);
    const T* dy = Data<const T>(context, i, 0);
    T* dx = Data<T>(context, i, 1);
    double* sums = Data<double>(context, i, 2);
    std::fill_n(sums, plan.elements, 0.0);
    plan.ForEachElement([=](int64_t n, int64_t offset) { sums[offset] += LoadF64(dy[n]); });
    for (int64_t e = 0; e < plan.elements; ++e) dx[e] = StoreF64<T>(sums[e]);
  }
};

PreparedKernel PreparePad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<PadAttributes>();
  const DType dtype = node.inputs[0].dtype;
  if (attributes.mode == "constant") return PrepareFillAndCopy(dtype, PlanPad(node));
  return PreparedKernel::Of(ForBytes<PadWithOwn>(SizeOf(dtype)),
                            PlanSources(attributes, node.inputs[0].shape, node.outputs[0].shape));
}

PreparedKernel PreparePadGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& a = node.attributes.As<PadGradAttributes>();
  return PreparedKernel::Of(ForFloat<PadGrad>(node.outputs[0].dtype),
                            PlanSources({a.axes, a.before, a.after, 0, a.mode},
                                        node.outputs[0].shape, node.inputs[0].shape));
}

// A sum for each element of dx.
int64_t PadGradWorkspaceBytes(const NodeSignature& node, int) {
  return node.outputs[0].shape.Elements() * static_cast<int64_t>(sizeof(double));
}

}  // namespace

KernelDef pad() { return {.name = "reference.pad", .prepare = PreparePad}; }

KernelDef pad_grad() {
  return {.name = "reference.pad_grad",
          .supports = AllFloat,
          .workspace_bytes = PadGradWorkspaceBytes,
          .prepare = PreparePadGrad};
}

}  // namespace cgrun::reference
