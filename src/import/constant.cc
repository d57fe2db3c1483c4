// Elements of constants as numbers.
#include "src/import/constant.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "src/base/check.h"
#include "src/base/for_type.h"

namespace cgrun {
namespace {

constexpr int64_t kFoldedBytes = 64 << 10;

template <class T>
std::vector<Dim> Widened(onnx::ByteSpan bytes) {
  std::vector<Dim> sizes;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    sizes.emplace_back(static_cast<int64_t>(value));
  }
  return sizes;
}

// A tensor of no file, with its elements.
struct OwnedElements {
  HostTensor host;
  onnx::Tensor tensor;
};

}  // namespace

Constant ConstantOf(const onnx::Tensor& tensor, const onnx::OnnxFile& file) {
  if (!CheckedElements(tensor.dims)) {
    onnx::ThrowTensorError(tensor, file.path(), "is too large");
  }
  return {tensor.data_type, tensor.dims, tensor.name, &tensor, {}, nullptr};
}

Constant ConstantOf(HostTensor tensor) {
  auto elements = std::make_shared<OwnedElements>();
  elements->host = std::move(tensor);
  onnx::Tensor& as_onnx = elements->tensor;
  as_onnx.data_type = OnnxTypeOf(elements->host.dtype());
  as_onnx.dims = elements->host.shape().Sizes();
  as_onnx.raw_data = std::as_const(elements->host).bytes();
  Constant constant{as_onnx.data_type, as_onnx.dims, "", &as_onnx, {}, nullptr};
  constant.owned = std::shared_ptr<const onnx::Tensor>(std::move(elements), constant.tensor);
  return constant;
}

std::optional<HostTensor> HostOf(const Constant& constant, onnx::OnnxFile& file) {
  const std::optional<DType> dtype = DTypeOfOnnx(constant.type);
  if (!dtype) return std::nullopt;
  if (constant.folded) {
    HostTensor tensor(*dtype, Shape::Of(constant.dims));
    for (size_t i = 0; i < constant.folded->size(); ++i) {
      const Dim& size = (*constant.folded)[i];
      if (size.batch) return std::nullopt;
      if (*dtype == DType::kI64) {
        tensor.data<int64_t>()[i] = size.size;
      } else {
        tensor.Set(static_cast<int64_t>(i), static_cast<double>(size.size));
      }
    }
    return tensor;
  }
  const onnx::TensorBytes bytes = file.Bytes(*constant.tensor);
  HostTensor tensor(*dtype, Shape::Of(constant.dims));
  CGRUN_CHECK(bytes.bytes().size() == tensor.bytes().size()) << constant.name;
  std::ranges::copy(bytes.bytes(), tensor.bytes().begin());
  return tensor;
}

int64_t ElementsOf(const Constant& constant) {
  int64_t elements = 1;
  for (const int64_t dim : constant.dims) elements *= dim;
  return elements;
}

std::optional<std::vector<Dim>> SizesOf(const Constant& constant, onnx::OnnxFile& file) {
  if (constant.folded) return constant.folded;
  const std::optional<DType> dtype = DTypeOfOnnx(constant.type);
  if (!dtype || IsFloat(*dtype) || *dtype == DType::kU64) return std::nullopt;
  if (ElementsOf(constant) > kFoldedBytes / SizeOf(*dtype)) return std::nullopt;
  const onnx::TensorBytes bytes = file.Bytes(*constant.tensor);
  return ForAnyType<BFloat16>(*dtype, [&]<class T>(T*) -> std::optional<std::vector<Dim>> {
    if constexpr (std::is_integral_v<T>) return Widened<T>(bytes.bytes());
    return std::nullopt;
  });
}

std::optional<std::vector<int64_t>> IntegersOf(const Constant& constant, onnx::OnnxFile& file) {
  const std::optional<std::vector<Dim>> sizes = SizesOf(constant, file);
  if (!sizes) return std::nullopt;
  std::vector<int64_t> integers;
  for (const Dim& size : *sizes) {
    if (size.batch) return std::nullopt;
    integers.push_back(size.size);
  }
  return integers;
}

std::optional<double> NumberOf(const Constant& constant, onnx::OnnxFile& file) {
  if (ElementsOf(constant) != 1) return std::nullopt;
  if (constant.folded) {
    const Dim& size = constant.folded->front();
    return size.batch ? std::nullopt : std::optional<double>(static_cast<double>(size.size));
  }
  const std::optional<DType> dtype = DTypeOfOnnx(constant.type);
  if (!dtype) return std::nullopt;
  const onnx::TensorBytes bytes = file.Bytes(*constant.tensor);
  return NumberAt(*dtype, bytes.bytes().data());
}

}  // namespace cgrun
