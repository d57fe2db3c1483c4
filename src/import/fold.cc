// Sizes are dimensions `k` or `k·N`, so that a chain from Shape to Reshape folds with an open
// batch.
#include "src/import/fold.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cgrun {
namespace {

using Sizes = std::vector<Dim>;
constexpr size_t kMostFolded = (64 << 10) / sizeof(int64_t);

ImportedValue Folded(onnx::DataType type, Sizes sizes, bool is_scalar = false) {
  Constant constant;
  constant.type = type;
  if (!is_scalar) constant.dims = {static_cast<int64_t>(sizes.size())};
  constant.folded = std::move(sizes);
  return {std::move(constant), {}};
}

// Returns nothing for what is no list of sizes.
std::optional<Sizes> SizesAt(NodeContext& node, int i) {
  if (!node.IsConstant(i) || node.ConstantInput(i).dims.size() > 1) return std::nullopt;
  // Sums of smaller integers would wrap around.
  using onnx::DataType;
  const DataType type = node.ConstantInput(i).type;
  const bool is_list =
      type == DataType::kInt64 || type == DataType::kInt32 || type == DataType::kBool;
  if (!is_list) return std::nullopt;
  return SizesOf(node.ConstantInput(i), node.state().file);
}

bool IsScalar(const NodeContext& node, int i) { return node.ConstantInput(i).dims.empty(); }

bool FoldShape(NodeContext& node) {
  const Shape shape = node.IsConstant(0) ? Shape::Of(node.ConstantInput(0).dims) : node.ShapeOf(0);
  const int64_t rank = shape.rank();
  const auto place = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = place(std::clamp<int64_t>(node.Int("start", 0), -rank, rank));
  const int64_t end = place(std::clamp<int64_t>(node.Int("end", rank), -rank, rank));
  Sizes sizes;
  for (int64_t axis = start; axis < end; ++axis) sizes.push_back(shape[static_cast<int>(axis)]);
  node.Set(0, Folded(onnx::DataType::kInt64, std::move(sizes)));
  return true;
}

bool FoldSize(NodeContext& node) {
  Dim elements;
  if (node.IsConstant(0)) {
    elements = Dim(ElementsOf(node.ConstantInput(0)));
  } else {
    const Shape& shape = node.ShapeOf(0);
    if (std::ranges::count(shape.dims(), true, &Dim::batch) > 1) return false;
    elements = shape.ElementsDim();
  }
  node.Set(0, Folded(onnx::DataType::kInt64, {elements}, true));
  return true;
}

bool FoldNeg(NodeContext& node) {
  auto sizes = SizesAt(node, 0);
  if (!sizes) return false;
  for (Dim& size : *sizes) {
    if (size.batch || size.size == std::numeric_limits<int64_t>::min()) return false;
    size.size = -size.size;
  }
  node.Set(0, Folded(node.ConstantInput(0).type, std::move(*sizes), IsScalar(node, 0)));
  return true;
}

bool FoldGather(NodeContext& node) {
  const auto sizes = SizesAt(node, 0), indices = SizesAt(node, 1);
  if (!sizes || !indices || IsScalar(node, 0) || node.Int("axis", 0) != 0) return false;
  const auto count = static_cast<int64_t>(sizes->size());
  Sizes gathered;
  for (const Dim& index : *indices) {
    if (index.batch || index.size < -count || index.size >= count) {
      node.Fail("its index " + std::to_string(index.size) + " is outside of its input, which has " +
                std::to_string(count) + (count == 1 ? " element" : " elements"));
    }
    gathered.push_back((*sizes)[static_cast<size_t>(index.size + (index.size < 0 ? count : 0))]);
  }
  node.Set(0, Folded(node.ConstantInput(0).type, std::move(gathered), IsScalar(node, 1)));
  return true;
}

bool FoldConcat(NodeContext& node) {
  Sizes all;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const auto sizes = SizesAt(node, i);
    if (!sizes || IsScalar(node, i)) return false;
    all.insert(all.end(), sizes->begin(), sizes->end());
    if (all.size() > kMostFolded) return false;
  }
  node.Ignore("axis");
  node.Set(0, Folded(node.ConstantInput(0).type, std::move(all)));
  return true;
}

bool FoldSlice(NodeContext& node) {
  const auto sizes = SizesAt(node, 0);
  if (!sizes || IsScalar(node, 0)) return false;
  const bool from_inputs = node.opset() >= 10;
  const auto one = [&](int input, const char* name,
                       std::optional<int64_t> fallback) -> std::optional<int64_t> {
    std::optional<std::vector<int64_t>> list;
    if (from_inputs && node.IsConstant(input)) list = node.Integers(input);
    if (!from_inputs) list = node.Ints(name);
    if (!list) return fallback;
    return list->size() == 1 ? std::optional(list->front()) : std::nullopt;
  };
  const auto start = one(1, "starts", {}), end = one(2, "ends", {}), step = one(4, "steps", 1);
  if (!start || !end || step != 1) return false;
  const auto count = static_cast<int64_t>(sizes->size());
  const auto place = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? std::max(at, -count) + count : at, 0, count);
  };
  const int64_t first = place(*start), last = std::max(place(*end), first);
  if (!from_inputs) node.Ignore("axes");
  node.Set(
      0, Folded(node.ConstantInput(0).type, Sizes(sizes->begin() + first, sizes->begin() + last)));
  return true;
}

// Sizes that would overflow, or that are no `k·N`, are not folded.
std::optional<Dim> Computed(std::string_view op, const Dim& a, const Dim& b) {
  int64_t size = 0;
  if (op == "Mul") {
    if ((a.batch && b.batch) || __builtin_mul_overflow(a.size, b.size, &size)) return std::nullopt;
    return Dim(size, a.batch || b.batch);
  }
  if (op == "Div") {
    if (b.size == 0 || b.size == -1) return std::nullopt;
    if (!a.batch && !b.batch) return Dim(a.size / b.size);
    if (a.size % b.size != 0 || !a.batch) return std::nullopt;
    return Dim(a.size / b.size, a.batch != b.batch);
  }
  if (a.batch != b.batch) return std::nullopt;
  const bool overflows = op == "Add" ? __builtin_add_overflow(a.size, b.size, &size)
                                     : __builtin_sub_overflow(a.size, b.size, &size);
  if (overflows) return std::nullopt;
  return Dim(size, a.batch && size != 0);
}

bool FoldArithmetic(NodeContext& node) {
  const auto a = SizesAt(node, 0), b = SizesAt(node, 1);
  if (!a || !b || a->empty() || b->empty()) return false;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return false;
  Sizes results;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto result =
        Computed(node.node().op_type, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!result) return false;
    results.push_back(*result);
  }
  node.Set(0, Folded(node.ConstantInput(0).type, std::move(results),
                     IsScalar(node, 0) && IsScalar(node, 1)));
  return true;
}

// Sizes are above 0, so that `k·N` is no -1 and no 0.
std::optional<bool> AreEqual(const Dim& a, const Dim& b) {
  if (a.batch == b.batch) return a.size == b.size;
  const Dim& fixed = a.batch ? b : a;
  const Dim& open = a.batch ? a : b;
  return fixed.size < 1 && open.size > 0 ? std::optional(false) : std::nullopt;
}

bool FoldEqual(NodeContext& node) {
  const auto a = SizesAt(node, 0), b = SizesAt(node, 1);
  if (!a || !b || a->size() != b->size() || IsScalar(node, 0) != IsScalar(node, 1)) return false;
  Sizes results;
  for (size_t i = 0; i < a->size(); ++i) {
    const std::optional<bool> equal = AreEqual((*a)[i], (*b)[i]);
    if (!equal) return false;
    results.emplace_back(*equal ? 1 : 0);
  }
  node.Set(0, Folded(onnx::DataType::kBool, std::move(results), IsScalar(node, 0)));
  return true;
}

bool FoldWhere(NodeContext& node) {
  const auto condition = SizesAt(node, 0), a = SizesAt(node, 1), b = SizesAt(node, 2);
  if (!condition || !a || !b || a->size() != b->size() || a->size() != condition->size()) {
    return false;
  }
  if (IsScalar(node, 0) || IsScalar(node, 1) || IsScalar(node, 2)) return false;
  Sizes results;
  for (size_t i = 0; i < a->size(); ++i) {
    results.push_back((*condition)[i] == Dim(0) ? (*b)[i] : (*a)[i]);
  }
  node.Set(0, Folded(node.ConstantInput(1).type, std::move(results)));
  return true;
}

bool FoldCast(NodeContext& node) {
  const auto to = static_cast<onnx::DataType>(node.Int("to", 0));
  Constant constant = node.ConstantInput(0);
  if (to != constant.type) {
    const auto dtype = DTypeOfOnnx(to);
    const auto sizes = SizesAt(node, 0);
    if (!sizes || (to != onnx::DataType::kInt64 && to != onnx::DataType::kInt32)) return false;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const bool fits = std::ranges::all_of(
        *sizes, [](const Dim& size) { return size.size >= -kMost && size.size <= kMost; });
    if (*dtype == DType::kI32 && !fits) return false;
    constant.folded = sizes;
    constant.tensor = nullptr;
    constant.type = to;
  }
  node.Set(0, {std::move(constant), {}});
  return true;
}

// Squeeze, Unsqueeze, Reshape and Flatten of a constant: its elements stay where they are.
bool FoldView(NodeContext& node) {
  Constant constant = node.ConstantInput(0);
  const std::string& op = node.node().op_type;
  const auto rank = static_cast<int>(constant.dims.size());
  std::vector<int64_t> dims = constant.dims, axes;
  if (op == "Reshape") {
    if (!node.IsConstant(1)) return false;
    const auto wanted = IntegersOf(node.ConstantInput(1), node.state().file);
    if (!wanted) return false;
    dims = *wanted;
    if (node.Int("allowzero", 0) != 0) return false;
    int64_t known = 1, *rest = nullptr;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 0 && i < constant.dims.size()) dims[i] = constant.dims[i];
      if (dims[i] == -1 && rest == nullptr) {
        rest = &dims[i];
      } else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) {
        return false;
      }
    }
    if (rest != nullptr) {
      if (known == 0 || ElementsOf(constant) % known != 0) return false;
      *rest = ElementsOf(constant) / known;
    }
    const auto product = CheckedElements(dims);
    if (!product || *product != ElementsOf(constant)) node.Fail("its shape does not fit its input");
  } else {
    const bool squeezes = op == "Squeeze";
    if (node.Has(1)) {
      if (!node.IsConstant(1)) return false;
      axes = node.Integers(1);
    } else {
      const auto given = node.Ints("axes");
      if (!given && squeezes) {
        std::erase(dims, 1);
      } else if (!given) {
        return false;
      } else {
        axes = *given;
      }
    }
    if (axes.size() > 8) return false;
    const int counted = squeezes ? rank : rank + static_cast<int>(axes.size());
    for (int64_t& axis : axes) axis = node.Axis(axis, counted);
    std::ranges::sort(axes);
    if (std::ranges::adjacent_find(axes) != axes.end()) node.Fail("has an axis twice");
    if (squeezes) std::ranges::reverse(axes);
    for (const int64_t axis : axes) {
      if (!squeezes) {
        dims.insert(dims.begin() + axis, 1);
      } else if (dims[static_cast<size_t>(axis)] == 1) {
        dims.erase(dims.begin() + axis);
      } else {
        node.Fail("squeezes an axis that is not 1");
      }
    }
  }
  constant.dims = std::move(dims);
  node.Set(0, {std::move(constant), {}});
  return true;
}

// Small files must not ask for much memory.
void CheckBudget(NodeContext& node) {
  constexpr int64_t kMostInAll = 64 << 20;
  const Constant& result = *node.state().scope->operands.at(node.node().outputs[0]).constant;
  if (!result.folded) return;
  const auto bytes = static_cast<int64_t>(result.folded->size() * sizeof(Dim));
  node.state().folded_bytes += bytes;
  if (node.state().folded_bytes > kMostInAll) {
    node.Fail("the sizes that were computed until here take more than 64 MiB");
  }
}

struct FoldRow {
  std::string_view op_type;
  bool (*fold)(NodeContext&);
  int max_inputs;
};

constexpr std::array<FoldRow, 16> kFoldRows = {{{"Add", FoldArithmetic, 2},
                                                {"Cast", FoldCast, 1},
                                                {"Concat", FoldConcat, 1 << 20},
                                                {"Div", FoldArithmetic, 2},
                                                {"Equal", FoldEqual, 2},
                                                {"Gather", FoldGather, 2},
                                                {"Mul", FoldArithmetic, 2},
                                                {"Reshape", FoldView, 2},
                                                {"Neg", FoldNeg, 1},
                                                {"Shape", FoldShape, 1},
                                                {"Size", FoldSize, 1},
                                                {"Slice", FoldSlice, 5},
                                                {"Squeeze", FoldView, 2},
                                                {"Sub", FoldArithmetic, 2},
                                                {"Unsqueeze", FoldView, 2},
                                                {"Where", FoldWhere, 3}}};

}  // namespace

bool Fold(NodeContext& node) {
  const auto* const row = std::ranges::find(kFoldRows, node.node().op_type, &FoldRow::op_type);
  if (row == kFoldRows.end() || !node.Has(0)) return false;
  const bool reads_type = row->fold == FoldShape || row->fold == FoldSize;
  if (!node.IsConstant(0) && !reads_type) return false;
  if (!row->fold(node)) return false;
  node.Finish(row->max_inputs);
  CheckBudget(node);
  return true;
}

}  // namespace cgrun
