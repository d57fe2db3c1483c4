// Choosing a kernel's instance by the number types of logits and labels.
#ifndef CGRUN_KERNELS_REFERENCE_LABELS_H_
#define CGRUN_KERNELS_REFERENCE_LABELS_H_

#include "src/kernels/reference/number.h"

namespace cgrun::reference {

// Kernel<T, Label>::Run; input 0 has the floating-point type T, input 1 the integer type Label.
// Static as number.h says.
template <template <class, class> class Kernel>
static KernelFunction ForLogitsAndLabels(const NodeSignature& node) {
  return ForEach(node.inputs[0].dtype, [&]<class T>(T*) {
    return ForEach(node.inputs[1].dtype, []<class Label>(Label*) -> KernelFunction {
      constexpr bool kIndex = std::is_integral_v<Label> && !std::is_same_v<Label, bool>;
      if constexpr (kIsFloat<T> && kIndex) return &Kernel<T, Label>::Run;
      CGRUN_CHECK(false) << "no logits or no labels";
      return nullptr;
    });
  });
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_LABELS_H_
