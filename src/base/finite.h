// Finds NaN and infinity among the elements of a tensor.
#ifndef CGRUN_BASE_FINITE_H_
#define CGRUN_BASE_FINITE_H_

#include <cstddef>
#include <span>

#include "src/base/dtype.h"

namespace cgrun {

// Returns whether all elements are finite; integers are. `*nan`, where it is given, says if the
// first that is not is NaN.
bool AllFinite(DType dtype, std::span<const std::byte> elements, bool* nan = nullptr);

}  // namespace cgrun

#endif  // CGRUN_BASE_FINITE_H_
