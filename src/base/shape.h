// Shapes whose dimensions are `k` or `k·N`, N the batch size that is bound before kernels are
// chosen.
#ifndef CGRUN_BASE_SHAPE_H_
#define CGRUN_BASE_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/inline_vector.h"

namespace cgrun {

// The size of a dimension is `size`, times the batch size if `batch` is set.
struct Dim {
  int64_t size = 0;
  bool batch = false;

  constexpr Dim() = default;
  constexpr Dim(int64_t s) : size(s) {}  // NOLINT: a literal is a dimension
  constexpr Dim(int64_t s, bool b) : size(s), batch(b) {}

  friend bool operator==(const Dim&, const Dim&) = default;
  std::string ToString() const;  // "28", "N", "4N"
};

// This is the batch dimension N itself.
inline constexpr Dim kBatchDim{1, true};

class Shape {
 public:
  using Dims = InlineVector<Dim, 4>;

  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::span<const Dim> dims) : dims_(dims.begin(), dims.end()) {}
  static Shape Of(const std::vector<int64_t>& sizes);

  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  Dim& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  const Dims& dims() const { return dims_; }
  Dims& dims() { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  // No dimension depends on the batch.
  bool IsBound() const;
  // The shape for N = `batch`.
  Shape Bind(int64_t batch) const;
  // Number of elements as a dimension (`k·N`). At most one dimension may depend on the batch.
  Dim ElementsDim() const;
  // Number of elements of a bound shape.
  int64_t Elements() const;
  // The sizes of a bound shape.
  std::vector<int64_t> Sizes() const;

  friend bool operator==(const Shape&, const Shape&) = default;
  std::string ToString() const;  // "[N, 1, 28, 28]"

 private:
  Dims dims_;
};

// Returns the product of sizes that come from outside; nothing where one is negative or where it
// does not fit. If there is a product, Shape::Elements() can count the shape, too.
std::optional<int64_t> CheckedElements(std::span<const int64_t> sizes);

// Row-major strides, in elements, of a bound shape.
std::vector<int64_t> RowMajorStrides(const Shape& shape);

}  // namespace cgrun

#endif  // CGRUN_BASE_SHAPE_H_
