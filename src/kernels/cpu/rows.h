// Sweeps over operands of several number types, each of which goes on along a row or stays at one
// number. Included once for each target.
#if defined(CGRUN_KERNELS_CPU_ROWS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_ROWS_H_
#undef CGRUN_KERNELS_CPU_ROWS_H_
#else
#define CGRUN_KERNELS_CPU_ROWS_H_
#endif

#include "src/kernels/cpu/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// Reads an operand along a row, in vectors of D.
template <class D, class T>
struct Along {
  const T* from;
  bool goes_on;
  hn::Vec<D> fixed;  // if it does not go on

  HWY_INLINE Along(D d, const T* row, int64_t stride)
      : from(row),
        goes_on(stride != 0),
        fixed(hn::Set(d, static_cast<hn::TFromD<D>>(stride == 0 ? *row : T()))) {}

  HWY_INLINE hn::Vec<D> At(D d, int64_t e) const {
    return goes_on ? LoadLanes(d, from + e) : fixed;
  }
  HWY_INLINE hn::Vec<D> FirstAt(D d, int64_t e, int64_t n) const {
    return goes_on ? LoadFirst(d, from + e, n) : fixed;
  }
};

// y = f(d, x…) for the elements [begin, end) of a row.
template <class D, class To, class F, class... From>
HWY_INLINE void SweepRow(D d, To* y, int64_t begin, int64_t end, F f, Along<D, From>... x) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t e = begin;
  for (; e + lanes <= end; e += lanes) StoreLanes(d, f(d, x.At(d, e)...), y + e);
  if (e < end) StoreFirst(d, f(d, x.FirstAt(d, e, end - e)...), y + e, end - e);
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_ROWS_H_
