// Reads what operators made of several items have in common.
#include "src/import/item_writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/base/host_tensor.h"
#include "src/onnx/tensor_bytes.h"

namespace cgrun {

std::vector<double> NumbersOf(NodeContext& node, int i) {
  const Constant& constant = node.ConstantInput(i);
  constexpr int64_t kMost = (64 << 10) / sizeof(double);
  const std::optional<DType> dtype = DTypeOfOnnx(constant.type);
  if (!dtype || ElementsOf(constant) > kMost) {
    node.Fail("input " + std::to_string(i) + " must be a short list of numbers");
  }
  if (!IsFloat(*dtype)) {
    const std::vector<int64_t> integers = node.Integers(i);
    return {integers.begin(), integers.end()};
  }
  HostTensor tensor(*dtype, Shape::Of(constant.dims));
  const onnx::TensorBytes bytes = onnx::Bytes(*constant.tensor, node.state().file.path());
  std::ranges::copy(bytes.bytes(), tensor.bytes().begin());
  std::vector<double> numbers;
  for (int64_t e = 0; e < tensor.elements(); ++e) numbers.push_back(tensor.At(e));
  return numbers;
}

int64_t IntegerOf(NodeContext& node, int i) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const std::vector<int64_t> integers = node.Integers(i);
  if (integers.size() != 1 || integers[0] < -kMost || integers[0] > kMost) {
    node.Fail("input " + std::to_string(i) + " must be one integer, and no larger than 2³¹");
  }
  return integers[0];
}

NetworkValue EmitPlaces(NodeContext& node, int64_t count) {
  ItemWriter write(node);
  HostTensor one(DType::kI64, Shape{1});
  one.Set(0, 1);
  const NetworkValue ones = write.Part("expand", {node.EmitParameter(ConstantOf(one), "one")},
                                       {KeyOfList("sizes", {count})});
  return write.Part("cumsum", {ones}, {KeyOf("axis", int64_t{0}), KeyOf("exclusive", true)});
}

std::vector<int64_t> AxesFrom(int64_t first, int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(rank - first, 0)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

}  // namespace cgrun
