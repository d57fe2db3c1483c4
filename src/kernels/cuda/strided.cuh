// Describes index spaces that several plain tensors follow with strides of their own, as kernels
// get them by value. Defines elementwise kernels whose operands are broadcast.
#ifndef CGRUN_KERNELS_CUDA_STRIDED_CUH_
#define CGRUN_KERNELS_CUDA_STRIDED_CUH_

#include <array>
#include <utility>

#include "src/base/check.h"
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/strided.h"

namespace cgrun::cuda {

inline constexpr int kMaxAxes = 8;  // that are left once neighbours are joined

template <int K>
struct DeviceSpace {
  int axes = 0;
  int64_t count = 1;  // of indices
  int64_t sizes[kMaxAxes] = {};
  int64_t strides[kMaxAxes][K] = {};  // in elements
  int64_t base[K] = {};

  // Computes the offsets of all operands at index `index`, in row-major order.
  __device__ void At(int64_t index, int64_t (&at)[K]) const {
    for (int k = 0; k < K; ++k) at[k] = base[k];
    for (int axis = axes; axis-- > 0;) {
      const int64_t rest = Quotient(index, sizes[axis]), here = index - rest * sizes[axis];
      for (int k = 0; k < K; ++k) at[k] += here * strides[axis][k];
      index = rest;
    }
  }
};

// Returns whether ToDevice() takes a space: a part of `supports`.
template <size_t K>
bool HasFewAxes(const StridedSpace<K>& space) {
  return space.outer.size() < static_cast<size_t>(kMaxAxes);
}

template <size_t K>
DeviceSpace<static_cast<int>(K)> ToDevice(const StridedSpace<K>& space,
                                          const std::array<int64_t, K>& base = {}) {
  DeviceSpace<static_cast<int>(K)> result;
  const auto add = [&](const typename StridedSpace<K>::Axis& axis) {
    CGRUN_CHECK(result.axes < kMaxAxes) << "more axes than CUDA kernels have";
    result.sizes[result.axes] = axis.size;
    for (size_t k = 0; k < K; ++k) result.strides[result.axes][k] = axis.strides[k];
    result.count *= axis.size;
    ++result.axes;
  };
  for (const auto& axis : space.outer) add(axis);
  add(space.inner);
  for (size_t k = 0; k < K; ++k) result.base[k] = base[k];
  return result;
}

// `supports` of kernels that walk such a space.
template <size_t kInputs>
bool BroadcastsFewAxes(const NodeSignature& node) {
  return HasFewAxes(BroadcastSpace<kInputs>(node));
}

template <class Formula, class T>
struct BroadcastBody2 {
  DeviceSpace<3> space;
  const T *a, *b;
  T* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[3];
    space.At(index, at);
    y[at[2]] = Store<T>(Formula()(Load(a[at[0]]), Load(b[at[1]])));
  }
};

template <class Formula, class T>
struct BroadcastBody3 {
  DeviceSpace<4> space;
  const T *a, *b, *c;
  T* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[4];
    space.At(index, at);
    y[at[3]] = Store<T>(Formula()(Load(a[at[0]]), Load(b[at[1]]), Load(c[at[2]])));
  }
};

// A Formula is a stateless functor. It is called with kInputs computed numbers, two or three.
template <class Formula, int kInputs = 2>
struct Broadcasting {
  using Space = DeviceSpace<kInputs + 1>;

  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& space = *static_cast<const Space*>(i.parameters);
      const T* a = Data<const T>(context, i, 0);
      const T* b = Data<const T>(context, i, 1);
      T* y = Data<T>(context, i, kInputs);
      if constexpr (kInputs == 2) {
        ForEachElement(context, space.count, BroadcastBody2<Formula, T>{space, a, b, y});
      } else {
        const T* c = Data<const T>(context, i, 2);
        ForEachElement(context, space.count, BroadcastBody3<Formula, T>{space, a, b, c, y});
      }
    }
  };

  // Two operands of one shape need no strides.
  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    if constexpr (kInputs == 2) {
      const Shape& y = node.outputs[0].shape;
      if (node.inputs[0].shape == y && node.inputs[1].shape == y) {
        return Elementwise<Formula, 2>::Prepare(request);
      }
    }
    return PreparedKernel::Of(ForFloat<Kernel>(node.outputs[0].dtype),
                              ToDevice(BroadcastSpace<static_cast<size_t>(kInputs)>(node)));
  }
  static bool Supports(const NodeSignature& node) {
    return AllFloat(node) && BroadcastsFewAxes<static_cast<size_t>(kInputs)>(node);
  }
  static KernelDef Define(std::string_view name) {
    KernelDef kernel;
    kernel.name = name;
    kernel.supports = Supports;
    kernel.prepare = Prepare;
    return kernel;
  }
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_STRIDED_CUH_
