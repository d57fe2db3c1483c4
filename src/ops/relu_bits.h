// Says how relu_bits packs.
#ifndef CGRUN_OPS_RELU_BITS_H_
#define CGRUN_OPS_RELU_BITS_H_

#include "src/base/shape.h"

namespace cgrun {

inline constexpr int64_t kBitsOfByte = 8;

// Returns the axis along which eight elements become a byte: 1 if samples or images are axis 0. For
// a vector it is 0.
inline int BitsAxis(const Shape& shape) { return shape.rank() > 1 ? 1 : 0; }

// Returns the bytes for so many elements along that axis.
inline constexpr int64_t BytesOfBits(int64_t elements) {
  return (elements + kBitsOfByte - 1) / kBitsOfByte;
}

}  // namespace cgrun

#endif  // CGRUN_OPS_RELU_BITS_H_
