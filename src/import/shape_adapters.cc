// Operators that move elements.
#include <algorithm>
#include <iterator>
#include <utility>

#include "src/import/adapters.h"

namespace cgrun {
namespace {

constexpr int kAnyCount = 1 << 20;

// Axes stand in an attribute, and from some opset on in an input.
std::optional<std::vector<int64_t>> AxesOf(NodeContext& node, int input) {
  if (node.Has(input)) return node.Integers(input);
  return node.Ints("axes");
}

std::vector<int64_t> Counted(NodeContext& node, std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) axis = node.Axis(axis, rank);
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) node.Fail("has an axis twice");
  return axes;
}

std::vector<Dim> DimsOf(const Shape& shape) { return {shape.begin(), shape.end()}; }

void Concat(NodeContext& node, const Adapter&) {
  std::vector<Network::Input> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back({node.Value(i), ""});
  const int64_t axis = node.Axis(node.Int("axis", 1), node.ShapeOf(0).rank());
  std::vector<TreeEntry> keys;
  if (axis != 1) keys.push_back(KeyOf("axis", axis));
  node.Set(node.Emit("concat", inputs, std::move(keys)));
}

void Flatten(NodeContext& node, const Adapter&) {
  const int rank = node.ShapeOf(0).rank();
  int64_t axis = node.Int("axis", 1);
  if (axis != rank) axis = node.Axis(axis, rank);
  const bool has_batch = !node.ShapeOf(0).IsBound();
  if (has_batch && axis == 0) node.FailAttribute("axis", "is 0, and axis 0 is the batch");
  std::vector<TreeEntry> keys;
  if (axis != 1) keys.push_back(KeyOf("axis", axis));
  node.Set(node.Emit("flatten", {{node.Value(0), ""}}, std::move(keys)));
}

// The sizes that a Reshape asks for, where 0 copies a size. `rest` is the place of -1.
std::vector<Dim> WantedSizes(NodeContext& node, const Shape& shape, std::optional<size_t>* rest) {
  auto sizes = SizesOf(node.ConstantInput(1), node.state().file);
  if (!sizes) node.Fail("its shape must be a list of integers");
  const bool copies = node.Int("allowzero", 0) == 0;
  for (size_t i = 0; i < sizes->size(); ++i) {
    Dim& size = (*sizes)[i];
    if (size.size == 0 && copies) {
      if (static_cast<int>(i) >= shape.rank()) node.Fail("its shape copies an axis that is absent");
      size = shape[static_cast<int>(i)];
    } else if (size == Dim(-1)) {
      if (*rest) node.Fail("its shape has -1 twice");
      *rest = i;
    } else if (size.size < 0) {
      node.Fail("its shape has the size " + std::to_string(size.size) + " in axis " +
                std::to_string(i) + ", and sizes must be at least 1, or -1 for the rest");
    }
  }
  return *std::move(sizes);
}

// Multiplies the sizes from `first` on, but for that at `rest`.
int64_t ProductOf(NodeContext& node, const std::vector<Dim>& sizes, size_t first,
                  std::optional<size_t> rest) {
  std::vector<int64_t> others;
  for (size_t i = first; i < sizes.size(); ++i) {
    if (sizes[i].batch) node.Fail("its shape has the batch in axis " + std::to_string(i));
    if (rest != i) others.push_back(sizes[i].size);
  }
  const std::optional<int64_t> product = CheckedElements(others);
  if (!product) node.Fail("its shape is too large");
  return *product;
}

// The first size may be that of the batch, as the file has it.
void Reshape(NodeContext& node, const Adapter&) {
  const Shape shape = node.ShapeOf(0);
  std::optional<size_t> rest;
  std::vector<Dim> sizes = WantedSizes(node, shape, &rest);
  const bool has_batch = !shape.IsBound();
  if (has_batch && sizes.empty()) node.Fail("its shape has no axis, and the batch is lost");
  const Dim elements = shape.ElementsDim();
  const int64_t product = ProductOf(node, sizes, has_batch ? 1 : 0, rest);
  if (has_batch) {
    const bool is_batch = rest == 0u
                              ? product == elements.size
                              : sizes[0] == kBatchDim || Dim(node.batch().value_or(-1)) == sizes[0];
    if (!is_batch) {
      node.Fail("its shape does not keep the batch axis in front: the input is " +
                shape.ToString());
    }
    sizes[0] = kBatchDim;
  }
  if (rest && (*rest > 0 || !has_batch)) {
    if (product == 0 || elements.size % product != 0) {
      node.Fail("its shape does not fit " + shape.ToString());
    }
    sizes[*rest] = Dim(elements.size / product);
  }
  node.Set(node.EmitReshape(node.Value(0), sizes));
}

void Squeeze(NodeContext& node, const Adapter&) {
  const Shape& shape = node.ShapeOf(0);
  const auto given = AxesOf(node, 1);
  std::vector<int64_t> axes;
  if (given) {
    axes = Counted(node, *given, shape.rank());
  } else {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == Dim(1)) axes.push_back(axis);
    }
  }
  std::vector<Dim> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) {
      dims.push_back(shape[axis]);
    } else if (shape[axis] != Dim(1)) {
      node.Fail("axis " + std::to_string(axis) + " of " + shape.ToString() + " is not 1");
    }
  }
  node.Set(node.EmitReshape(node.Value(0), dims));
}

void Unsqueeze(NodeContext& node, const Adapter&) {
  const Shape shape = node.ShapeOf(0);
  const auto given = AxesOf(node, 1);
  if (!given) node.Fail("has no axes");
  if (given->size() > 8) node.Fail("has too many axes");
  const int rank = shape.rank() + static_cast<int>(given->size());
  std::vector<Dim> dims = DimsOf(shape);
  for (const int64_t axis : Counted(node, *given, rank)) dims.insert(dims.begin() + axis, Dim(1));
  node.Set(node.EmitReshape(node.Value(0), dims));
}

void Transpose(NodeContext& node, const Adapter&) {
  std::vector<TreeEntry> keys;
  if (const auto perm = node.Ints("perm")) keys.push_back(KeyOfList("perm", *perm));
  node.Set(node.Emit("transpose", {{node.Value(0), ""}}, std::move(keys)));
}

// Equal parts, the last of which may be smaller, or as many elements as the file says.
std::vector<int64_t> PartsOf(NodeContext& node, int64_t size) {
  auto parts = node.Has(1) ? node.Integers(1) : node.Ints("split").value_or(IntList());
  const auto count = std::ssize(node.node().outputs);
  const int64_t told = node.Int("num_outputs", count);
  if (told != count) node.FailAttribute("num_outputs", "is not the number of outputs");
  if (parts.empty()) {
    parts.assign(static_cast<size_t>(count), (size + count - 1) / count);
    parts.back() = size - parts.front() * (count - 1);
  }
  int64_t rest = size;
  for (const int64_t part : parts) {
    if (part < 1 || part > rest)
      node.Fail("its parts do not fit an axis of " + std::to_string(size));
    rest -= part;
  }
  if (rest != 0 || std::ssize(parts) != count) {
    node.Fail("its parts do not fit an axis of " + std::to_string(size));
  }
  return parts;
}

void Split(NodeContext& node, const Adapter&) {
  const Shape shape = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), shape.rank());
  node.RefuseBatch(0, axis, "splits");
  int64_t start = 0;
  const std::vector<int64_t> parts = PartsOf(node, shape[static_cast<int>(axis)].size);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = i == 0 ? "" : std::to_string(i);
    const int64_t end = start + parts[i];
    node.Set(static_cast<int>(i),
             {{},
              node.Emit("slice", {{node.Value(0), ""}},
                        {KeyOfList("axes", {axis}), KeyOfList("starts", {start}),
                         KeyOfList("ends", {end})},
                        {}, part)});
    start = end;
  }
}

constexpr Adapter kShapes[] = {
    {"Concat", Concat, "", kAnyCount}, {"Flatten", Flatten},        {"Reshape", Reshape, "", 2},
    {"Split", Split, "", 2},           {"Squeeze", Squeeze, "", 2}, {"Transpose", Transpose},
    {"Unsqueeze", Unsqueeze, "", 2},
};

}  // namespace

std::span<const Adapter> ShapeAdapters() { return kShapes; }

}  // namespace cgrun
