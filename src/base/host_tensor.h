// A dense row-major tensor that owns its bytes on the host: constants, files, tests, user inputs.
#ifndef CGRUN_BASE_HOST_TENSOR_H_
#define CGRUN_BASE_HOST_TENSOR_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/base/shape.h"

namespace cgrun {

class HostTensor {
 public:
  HostTensor() = default;
  // Zeros. `shape` is bound.
  HostTensor(DType dtype, Shape shape);

  template <class T>
  static HostTensor Of(Shape shape, const std::vector<T>& values) {
    HostTensor tensor(DTypeOf<T>(), std::move(shape));
    CGRUN_CHECK(static_cast<int64_t>(values.size()) == tensor.elements());
    for (size_t i = 0; i < values.size(); ++i) tensor.data<T>()[i] = values[i];
    return tensor;
  }
  template <class T>
  static HostTensor Scalar(T value) {
    return Of<T>(Shape(), std::vector<T>{value});
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return shape_.Elements(); }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  template <class T>
  std::span<T> data() {
    CGRUN_CHECK(DTypeOf<T>() == dtype_);
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> data() const {
    CGRUN_CHECK(DTypeOf<T>() == dtype_);
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  // Element `i` (row-major) as a double, and back with the type's rounding; not back to f16.
  // An integer type cuts off the fraction, takes its nearest bound for what is beyond, 0 for NaN.
  double At(int64_t i) const;
  void Set(int64_t i, double value);

  // Same type, shape and bytes (so that NaN equals itself and −0 differs from +0).
  friend bool operator==(const HostTensor&, const HostTensor&) = default;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_{0};
  std::vector<std::byte> bytes_;
};

// The number of that type at `bytes`, as a double; every type but f16.
double NumberAt(DType dtype, const std::byte* bytes);

// Returns the bytes of a tensor whose sizes come from outside. Returns nothing where a size is
// negative or where the bytes do not fit. A size that passes here can be a HostTensor, memory
// permitting.
std::optional<int64_t> CheckedByteSize(DType dtype, std::span<const int64_t> sizes);

}  // namespace cgrun

#endif  // CGRUN_BASE_HOST_TENSOR_H_
