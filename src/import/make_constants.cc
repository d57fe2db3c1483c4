// Sizes are checked before memory is taken.
#include "src/import/make_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/import/evaluate.h"
#include "src/import/item_writer.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// Zeros of a shape that comes from the file.
HostTensor Zeros(NodeContext& node, DType dtype, const std::vector<int64_t>& sizes,
                 int64_t input_bytes) {
  const std::optional<int64_t> bytes = CheckedByteSize(dtype, sizes);
  FoldBudget& budget = node.state().budget;
  if (!bytes || *bytes > MostFoldedBytes(input_bytes) || *bytes > budget.bytes) {
    node.Fail("would make " + (bytes ? std::to_string(*bytes) : "too many") + " bytes from " +
                  std::to_string(input_bytes) + ", and is not folded",
              "a constant that is computed has at most 64 KiB, or four times the bytes of its "
              "inputs; all of them have at most the model's size and 64 MiB");
  }
  budget.bytes -= *bytes;
  return HostTensor(dtype, Shape::Of(sizes));
}

void SetConstant(NodeContext& node, HostTensor tensor) {
  node.Set(0, {ConstantOf(std::move(tensor)), {}});
}

// A constant above the budget of one output, but not of all, is made when the model runs.
bool RepeatsWhenRun(NodeContext& node, const HostTensor& number,
                    const std::vector<int64_t>& sizes) {
  const std::optional<int64_t> bytes = CheckedByteSize(number.dtype(), sizes);
  FoldBudget& budget = node.state().budget;
  const bool fits = bytes && *bytes > MostFoldedBytes(InputBytes(node)) && *bytes <= budget.bytes;
  if (!fits || !FindOp("expand") || *bytes == 0) return false;
  budget.bytes -= *bytes;
  HostTensor one(number.dtype(), Shape::Of(std::vector<int64_t>(sizes.size(), 1)));
  std::ranges::copy(number.bytes(), one.bytes().begin());
  node.Set(node.Emit("expand", {{node.EmitParameter(ConstantOf(std::move(one)), "number"), ""}},
                     {KeyOfList("sizes", sizes)}));
  return true;
}

// A constant whose first axis is the batch is made when the model runs.
bool RepeatsForBatch(NodeContext& node, const HostTensor& number, const std::vector<Dim>& sizes) {
  if (sizes.empty() || sizes[0] != kBatchDim) return false;
  std::vector<int64_t> expanded = {0};
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i].batch || sizes[i].size < 1) return false;
    expanded.push_back(sizes[i].size);
  }
  HostTensor one(number.dtype(), Shape::Of(std::vector<int64_t>(sizes.size(), 1)));
  std::ranges::copy(number.bytes(), one.bytes().begin());
  node.Set(node.Emit("expand", {{node.EmitParameter(ConstantOf(std::move(one)), "number"), ""}},
                     {KeyOfList("sizes", expanded)}));
  return true;
}

bool MakeConstantOfShape(NodeContext& node) {
  const std::optional<std::vector<Dim>> wanted =
      node.IsConstant(0) ? SizesOf(node.ConstantInput(0), node.state().file) : std::nullopt;
  if (!wanted) return false;
  const std::optional<std::vector<int64_t>> sizes =
      IntegersOf(node.ConstantInput(0), node.state().file);
  DType dtype = DType::kF32;
  double value = 0;
  if (const onnx::Tensor* tensor = node.TensorAttribute("value")) {
    const Constant constant = ConstantOf(*tensor, node.state().file);
    const std::optional<DType> given = DTypeOfOnnx(constant.type);
    const std::optional<double> number = NumberOf(constant, node.state().file);
    if (!given || !number) node.FailAttribute("value", "is no tensor of one number");
    dtype = *given;
    value = *number;
  }
  HostTensor number(dtype, Shape());
  number.Set(0, value);
  if (!sizes) return RepeatsForBatch(node, number, *wanted);
  if (RepeatsWhenRun(node, number, *sizes)) return true;
  HostTensor filled = Zeros(node, dtype, *sizes, InputBytes(node));
  for (int64_t i = 0; value != 0 && i < filled.elements(); ++i) filled.Set(i, value);
  SetConstant(node, std::move(filled));
  return true;
}

// Numbers that are too many to be folded, but not for the model, are made when it runs.
bool CountsWhenRun(NodeContext& node, double start, double delta, int64_t count) {
  const DType dtype = node.TypeOf(0).dtype;
  const std::optional<int64_t> bytes = CheckedByteSize(DType::kI64, std::vector<int64_t>{count});
  FoldBudget& budget = node.state().budget;
  if (count < 1 || !bytes || *bytes <= MostFoldedBytes(InputBytes(node)) || *bytes > budget.bytes) {
    return false;
  }
  budget.bytes -= *bytes;
  ItemWriter write(node);
  NetworkValue numbers = EmitPlaces(node, count);
  if (dtype != DType::kI64) {
    numbers = write.Part("cast", {numbers}, {KeyOf("to", std::string(Name(dtype)))});
  }
  if (delta != 1) numbers = write.Part("mul", {numbers, delta});
  if (start != 0) numbers = write.Part("add", {numbers, start});
  node.Set(numbers);
  return true;
}

bool MakeRange(NodeContext& node) {
  for (int i = 0; i < 3; ++i) {
    if (!node.IsConstant(i)) return false;
  }
  const auto start = node.Number(0), limit = node.Number(1), delta = node.Number(2);
  if (!start || !limit || !delta) return false;
  if (*delta == 0) node.Fail("steps by 0");
  const double steps = std::ceil((*limit - *start) / *delta);
  constexpr double kMost = 1e15;
  if (std::isnan(steps) || steps > kMost) node.Fail("has too many steps");
  const auto count = static_cast<int64_t>(std::max(steps, 0.0));
  if (CountsWhenRun(node, *start, *delta, count)) return true;
  HostTensor range = Zeros(node, node.TypeOf(0).dtype, {count}, InputBytes(node));
  for (int64_t i = 0; i < count; ++i) range.Set(i, *start + static_cast<double>(i) * *delta);
  SetConstant(node, std::move(range));
  return true;
}

// The shape is that of the input, whose elements do not matter.
bool MakeEyeLike(NodeContext& node) {
  const TensorType like = node.TypeOf(0);
  if (!like.shape.IsBound() || like.shape.rank() != 2) return false;
  DType dtype = like.dtype;
  if (const auto type = static_cast<onnx::DataType>(node.Int("dtype", 0));
      type != onnx::DataType::kUndefined) {
    const std::optional<DType> given = DTypeOfOnnx(type);
    if (!given)
      node.FailAttribute("dtype", "is " + onnx::NameOf(type) + ", which is not supported");
    dtype = *given;
  }
  const int64_t k = node.Int("k", 0), rows = like.shape[0].size, columns = like.shape[1].size;
  HostTensor eye = Zeros(node, dtype, {rows, columns}, InputBytes(node));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t column = 0;
    if (__builtin_add_overflow(row, k, &column)) continue;
    if (column >= 0 && column < columns) eye.Set(row * columns + column, 1);
  }
  SetConstant(node, std::move(eye));
  return true;
}

bool MakeNonZero(NodeContext& node) {
  if (!node.IsConstant(0)) return false;
  const std::optional<HostTensor> x = HostOf(node.ConstantInput(0), node.state().file);
  if (!x) return false;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x->elements(); ++i) {
    if (x->At(i) != 0) places.push_back(i);
  }
  const std::vector<int64_t> strides = RowMajorStrides(x->shape()), sizes = x->shape().Sizes();
  const int64_t rank = x->shape().rank(), count = std::ssize(places);
  HostTensor indices = Zeros(node, DType::kI64, {rank, count}, InputBytes(node) * rank);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto at = static_cast<size_t>(axis);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = places[static_cast<size_t>(i)] / strides[at] % sizes[at];
      indices.data<int64_t>()[static_cast<size_t>(axis * count + i)] = index;
    }
  }
  SetConstant(node, std::move(indices));
  return true;
}

struct Maker {
  std::string_view op_type;
  bool (*make)(NodeContext&);
  int inputs;
};

constexpr std::array<Maker, 4> kMakers = {{{"ConstantOfShape", MakeConstantOfShape, 1},
                                           {"EyeLike", MakeEyeLike, 1},
                                           {"NonZero", MakeNonZero, 1},
                                           {"Range", MakeRange, 3}}};

}  // namespace

bool NeedsConstants(std::string_view op_type) {
  return std::ranges::find(kMakers, op_type, &Maker::op_type) != kMakers.end();
}

bool MakeConstant(NodeContext& node) {
  const auto* const maker = std::ranges::find(kMakers, node.node().op_type, &Maker::op_type);
  if (maker == kMakers.end() || !node.Has(0) || !maker->make(node)) return false;
  node.Finish(maker->inputs);
  return true;
}

}  // namespace cgrun
