// Computes softmax and its like on f32, for groups of elements along an axis. Along the last axis,
// it takes a group at a time. Otherwise it takes as many groups side by side as a vector has lanes.
// Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_OVER_GROUPS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_OVER_GROUPS_H_
#undef CGRUN_KERNELS_CPU_OVER_GROUPS_H_
#else
#define CGRUN_KERNELS_CPU_OVER_GROUPS_H_
#endif

#include "src/kernels/axis_groups.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/sums.h"
#include "src/ops/infer.h"
#include "src/ops/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// The vectors of groups side by side: work(group, first, lanes) gets the first group's number, the
// offset of its first element, and how many there are.
template <class Work>
void ForColumns(const AxisGroups& groups, int threads, const Work& work) noexcept {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const int64_t stride = groups.stride, tiles = (stride + kLanes - 1) / kLanes;
  Split(threads, groups.count / stride * tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % tiles * kLanes, group = task / tiles * stride + column;
      work(group, groups.First(group), std::min(kLanes, stride - column));
    }
  });
}

// Calls run(load, store) for the `lanes` groups side by side whose first elements are at `first`:
// load(k, c) is element c of each of them in in[k], and store(c, v) writes it to `out`.
template <class Run>
HWY_INLINE void WithColumns(int64_t stride, const float* const* in, float* out, int64_t first,
                            int64_t lanes, const Run& run) {
  const F32 d;
  if (lanes == static_cast<int64_t>(kF32Lanes)) {
    run([=](int k, int64_t c) { return hn::LoadU(d, in[k] + first + c * stride); },
        [=](int64_t c, VF32 v) { hn::StoreU(v, d, out + first + c * stride); });
  } else {
    run([=](int k, int64_t c) { return LoadFirst(d, in[k] + first + c * stride, lanes); },
        [=](int64_t c, VF32 v) { StoreFirst(d, v, out + first + c * stride, lanes); });
  }
}

// A Kernel with kInputs inputs has Row(inputs, output, count) for a group that is contiguous, and
// Columns(count, load, store) for groups side by side. Both read a group to its end before they
// write.
template <class Kernel>
struct OverGroups {
  struct Parameters {
    AxisGroups groups;
    int threads = 1;
  };

  static void Rows(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const float* in[Kernel::kInputs];
    for (int k = 0; k < Kernel::kInputs; ++k) in[k] = Data<const float>(context, i, k);
    float* out = Data<float>(context, i, Kernel::kInputs);
    const int64_t size = p.groups.size;
    Split(p.threads, p.groups.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const float* rows[Kernel::kInputs];
        for (int k = 0; k < Kernel::kInputs; ++k) rows[k] = in[k] + g * size;
        Kernel::Row(rows, out + g * size, size);
      }
    });
  }

  static void Columns(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const float* in[Kernel::kInputs];
    for (int k = 0; k < Kernel::kInputs; ++k) in[k] = Data<const float>(context, i, k);
    float* out = Data<float>(context, i, Kernel::kInputs);
    ForColumns(p.groups, p.threads, [&](int64_t /*group*/, int64_t first, int64_t lanes) {
      WithColumns(p.groups.stride, in, out, first, lanes,
                  [&](auto load, auto store) { Kernel::Columns(p.groups.size, load, store); });
    });
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const Shape& shape = request.node.inputs[0].shape;
    const auto axis =
        NormalizeAxis(request.node.attributes.As<SoftmaxAttributes>().axis, shape.rank());
    const Parameters p{GroupsAlong(shape, *axis), ThreadsFor(request, Work::kComputes)};
    return PreparedKernel::Of(p.groups.stride == 1 ? &Rows : &Columns, p);
  }

  static KernelDef Define(std::string_view name) {
    return PerElement({.name = name, .supports = AllF32, .prepare = Prepare});
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_OVER_GROUPS_H_
