// Tensors that a user writes on the command line: `16000`, `[1, 2]`, `[[true, false]]`.
#ifndef CGRUN_BASE_TENSOR_TEXT_H_
#define CGRUN_BASE_TENSOR_TEXT_H_

#include <optional>
#include <string_view>

#include "src/base/dtype.h"
#include "src/base/host_tensor.h"

namespace cgrun {

// Reads a number, or nested lists of them, which give the shape. `true` and `false` are numbers of
// bool. Returns nothing where lists differ in length or are empty, and where `dtype`, which is not
// f16, has no such number.
std::optional<HostTensor> ParseTensor(std::string_view text, DType dtype);

// The same elements as `dtype`, which is not f16. Floating-point numbers are rounded to narrower
// ones. Returns nothing where another element would change.
std::optional<HostTensor> ConvertTensor(const HostTensor& tensor, DType dtype);

}  // namespace cgrun

#endif  // CGRUN_BASE_TENSOR_TEXT_H_
