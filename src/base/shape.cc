// Shapes: binding the batch, counting, printing.
#include "src/base/shape.h"

#include <fmt/format.h>

#include <ranges>

#include "src/base/check.h"

namespace cgrun {
namespace {

int64_t CheckedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  CGRUN_CHECK(!__builtin_mul_overflow(a, b, &product)) << a << " x " << b << " elements";
  return product;
}

}  // namespace

std::string Dim::ToString() const {
  if (!batch) return std::to_string(size);
  return size == 1 ? "N" : std::to_string(size) + "N";
}

Shape Shape::Of(const std::vector<int64_t>& sizes) {
  return Shape(std::vector<Dim>(sizes.begin(), sizes.end()));
}

bool Shape::IsBound() const {
  for (const Dim& dim : dims_) {
    if (dim.batch) return false;
  }
  return true;
}

Shape Shape::Bind(int64_t batch) const {
  Shape bound = *this;
  for (Dim& dim : bound.dims_) {
    if (dim.batch) dim = Dim(CheckedProduct(dim.size, batch));
  }
  return bound;
}

Dim Shape::ElementsDim() const {
  Dim count(1);
  for (const Dim& dim : dims_) {
    CGRUN_CHECK(!(count.batch && dim.batch)) << "two batch dimensions in " << ToString();
    count.size = CheckedProduct(count.size, dim.size);
    count.batch |= dim.batch;
  }
  return count;
}

int64_t Shape::Elements() const {
  CGRUN_CHECK(IsBound()) << ToString() << " has no batch size yet";
  return ElementsDim().size;
}

std::vector<int64_t> Shape::Sizes() const {
  CGRUN_CHECK(IsBound()) << ToString() << " has no batch size yet";
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims_) sizes.push_back(dim.size);
  return sizes;
}

std::string Shape::ToString() const {
  return fmt::format("[{}]", fmt::join(dims_ | std::views::transform(&Dim::ToString), ", "));
}

std::optional<int64_t> CheckedElements(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product;
}

std::vector<int64_t> RowMajorStrides(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] =
        strides[static_cast<size_t>(axis) + 1] * shape[axis + 1].size;
  }
  return strides;
}

}  // namespace cgrun
