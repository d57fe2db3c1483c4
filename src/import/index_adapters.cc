// Operators that read or write at indices, triangles, and repetitions.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// One place on an axis that is known beforehand is a slice without that axis.
bool TakeOneSlice(NodeContext& node, ItemWriter& write, int64_t axis) {
  if (!node.IsConstant(1) || !node.ConstantInput(1).dims.empty()) return false;
  const NetworkValue x = node.Value(0);
  const Shape shape = write.ShapeOf(x);
  const Dim size = shape[static_cast<int>(axis)];
  if (size.batch) return false;
  int64_t place = IntegerOf(node, 1);
  if (place < 0) place += size.size;
  if (place < 0 || place >= size.size) {
    node.Fail("its index " + std::to_string(place) + " is not on an axis of " +
              std::to_string(size.size));
  }
  const NetworkValue part = write.Part(
      "slice", {x},
      {KeyOfList("axes", {axis}), KeyOfList("starts", {place}), KeyOfList("ends", {place + 1})});
  std::vector<Dim> dims(shape.begin(), shape.end());
  dims.erase(dims.begin() + axis);
  node.Set(node.EmitReshape(part, dims));
  return true;
}

// Constant indices that no element has would give NaN.
void CheckIndices(NodeContext& node, const Dim& size) {
  if (!node.IsConstant(1) || size.batch) return;
  const auto indices = IntegersOf(node.ConstantInput(1), node.state().file);
  if (!indices) return;
  for (const int64_t index : *indices) {
    if (index >= -size.size && index < size.size) continue;
    node.Fail("its index " + std::to_string(index) + " is not on an axis of " +
              std::to_string(size.size));
  }
}

void ImportGather(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const int64_t axis = AxisOf(node, 0);
  CheckIndices(node, node.ShapeOf(0)[static_cast<int>(axis)]);
  if (TakeOneSlice(node, write, axis)) return;
  ItemWriter::Keys keys;
  if (axis != 0) keys.push_back(KeyOf("axis", axis));
  write.Finish("gather", {node.Value(0), node.Value(1)}, std::move(keys));
}

void ImportGatherElements(NodeContext& node, const Adapter&) {
  ItemWriter(node).Finish("gather_elements", {node.Value(0), node.Value(1)},
                          {KeyOf("axis", AxisOf(node, 0))});
}

void AddReductionKey(NodeContext& node, ItemWriter::Keys* keys) {
  const std::string reduction = node.Text("reduction", "none");
  if (reduction != "none") keys->push_back(KeyOf("reduction", reduction));
}

void ImportScatterElements(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys = {KeyOf("axis", AxisOf(node, 0))};
  AddReductionKey(node, &keys);
  ItemWriter(node).Finish("scatter_elements", {node.Value(0), node.Value(1), node.Value(2)},
                          std::move(keys));
}

void ImportGatherNd(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys;
  const int64_t batch_dims = node.Int("batch_dims", 0);
  if (batch_dims != 0) keys.push_back(KeyOf("batch_dims", batch_dims));
  ItemWriter(node).Finish("gather_nd", {node.Value(0), node.Value(1)}, std::move(keys));
}

void ImportScatterNd(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys;
  AddReductionKey(node, &keys);
  ItemWriter(node).Finish("scatter_nd", {node.Value(0), node.Value(1), node.Value(2)},
                          std::move(keys));
}

// Indices as int64, those that count from the end as others.
NetworkValue PlainIndices(NodeContext& node, ItemWriter& write, int64_t depth) {
  NetworkValue index = node.Value(0);
  if (node.TypeOf(index).dtype != DType::kI64) {
    index = write.Part("cast", {index}, {KeyOf("to", std::string("int64"))});
  }
  const NetworkValue is_negative =
      write.Part("compare", {index, 0.0}, {KeyOf("is", std::string("less"))});
  const NetworkValue counted = write.Part("add", {index, static_cast<double>(depth)});
  return write.Part("where", {is_negative, counted, index});
}

void ImportOneHot(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const std::vector<double> depth = NumbersOf(node, 1), values = NumbersOf(node, 2);
  if (depth.size() != 1 || !(depth[0] >= 1 && depth[0] <= (1 << 30))) {
    node.Fail("its depth must be one number from 1 to 2³⁰");
  }
  if (values.size() != 2) node.Fail("its values must be two numbers");
  const int rank = node.ShapeOf(0).rank();
  const int64_t axis = node.Axis(node.Int("axis", -1), rank + 1);
  const auto classes = static_cast<int64_t>(depth[0]);
  const DType wanted = *DTypeOfOnnx(node.ConstantInput(2).type);
  const DType dtype = IsFloat(wanted) ? wanted : DType::kF64;
  ItemWriter::Keys keys = {KeyOf("classes", classes), KeyOf("dtype", std::string(Name(dtype)))};
  if (values[1] != 1) keys.push_back(KeyOf("on_value", NumberText(values[1])));
  if (values[0] != 0) keys.push_back(KeyOf("off_value", NumberText(values[0])));
  const NetworkValue index = PlainIndices(node, write, classes);
  if (axis == rank && dtype == wanted) return write.Finish("one_hot", {index}, std::move(keys));
  NetworkValue rows = write.Part("one_hot", {index}, std::move(keys));
  std::vector<int64_t> perm = AxesFrom(0, rank);
  perm.insert(perm.begin() + axis, rank);
  if (dtype == wanted) return write.Finish("transpose", {rows}, {KeyOfList("perm", perm)});
  write.Finish("cast", {write.Transposed(rows, perm)}, {KeyOf("to", std::string(Name(wanted)))});
}

void ImportTrilu(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys;
  if (node.Int("upper", 1) != 0) keys.push_back(KeyOf("upper", true));
  if (node.Has(1)) {
    const int64_t diagonal = IntegerOf(node, 1);
    if (diagonal != 0) keys.push_back(KeyOf("diagonal", diagonal));
  }
  ItemWriter(node).Finish("trilu", {node.Value(0)}, std::move(keys));
}

std::string ListText(const std::vector<int64_t>& list) {
  std::string text;
  for (const int64_t number : list) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

void ImportTile(NodeContext& node, const Adapter&) {
  const std::vector<int64_t> repeats = node.Integers(1);
  for (const int64_t count : repeats) {
    if (count >= 1) continue;
    node.Fail("its repeats are " + ListText(repeats) + ", and each must be at least 1");
  }
  ItemWriter(node).Finish("tile", {node.Value(0)}, {KeyOfList("repeats", repeats)});
}

// The shape may hold the batch, which `expand` writes as 0.
void ImportExpand(NodeContext& node, const Adapter&) {
  const auto wanted = SizesOf(node.ConstantInput(1), node.state().file);
  if (!wanted) node.Fail("its shape must be a short list of integers");
  const Shape shape = node.ShapeOf(0);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < wanted->size(); ++i) {
    const Dim size = (*wanted)[i];
    const int axis = shape.rank() - static_cast<int>(wanted->size() - i);
    const bool is_batch = axis >= 0 && shape[axis].batch;
    if (size.batch && size != kBatchDim) node.Fail("its shape has a multiple of the batch");
    if (!size.batch && size.size < 1) {
      node.Fail("its shape has the size " + std::to_string(size.size) + " in axis " +
                std::to_string(i) + ", and sizes must be at least 1");
    }
    const bool keeps = is_batch && Dim(node.batch().value_or(-1)) == size;
    sizes.push_back(size.batch ? 0 : keeps ? 1 : size.size);
  }
  ItemWriter(node).Finish("expand", {node.Value(0)}, {KeyOfList("sizes", sizes)});
}

// The place that each place of a sequence is taken from, [sequences, places, 1].
NetworkValue ReversedPlaces(NodeContext& node, ItemWriter& write, int64_t places) {
  const NetworkValue place = EmitPlaces(node, places);
  NetworkValue lengths = node.Value(1);
  if (node.TypeOf(lengths).dtype != DType::kI64) {
    lengths = write.Part("cast", {lengths}, {KeyOf("to", std::string("int64"))});
  }
  const Dim sequences = write.ShapeOf(lengths)[0];
  lengths = write.Reshaped(lengths, {sequences, Dim(1)});
  const NetworkValue from_end = write.Part("sub", {write.Part("sub", {lengths, place}), 1.0});
  const NetworkValue is_reversed =
      write.Part("compare", {place, lengths}, {KeyOf("is", std::string("less"))});
  const NetworkValue index = write.Part("where", {is_reversed, from_end, place});
  return write.Reshaped(index, {sequences, Dim(places), Dim(1)});
}

// Each sequence is reversed up to its length.
void ReverseSequence(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const Shape shape = node.ShapeOf(0);
  const int64_t batch = node.Axis(node.Int("batch_axis", 1), shape.rank());
  const int64_t time = node.Axis(node.Int("time_axis", 0), shape.rank());
  if (batch == time) node.FailAttribute("time_axis", "is the axis of the sequences");
  node.RefuseBatch(0, time, "reverses");
  if (node.ShapeOf(1).rank() != 1) node.Fail("its lengths are " + node.ShapeOf(1).ToString());
  std::vector<int64_t> perm = {batch, time}, back(static_cast<size_t>(shape.rank()));
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis != batch && axis != time) perm.push_back(axis);
  }
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const NetworkValue x = write.Transposed(node.Value(0), perm);
  const NetworkValue index = ReversedPlaces(node, write, shape[static_cast<int>(time)].size);
  const ItemWriter::Keys keys = {KeyOf("batch_dims", int64_t{1})};
  if (std::ranges::is_sorted(perm)) return write.Finish("gather_nd", {x, index}, keys);
  write.Finish("transpose", {write.Part("gather_nd", {x, index}, keys)}, {KeyOfList("perm", back)});
}

constexpr Adapter kIndices[] = {
    {"Expand", ImportExpand, "", 2},
    {"Gather", ImportGather, "", 2},
    {"GatherElements", ImportGatherElements, "", 2},
    {"GatherND", ImportGatherNd, "", 2},
    {"OneHot", ImportOneHot, "", 3},
    {"ReverseSequence", ReverseSequence, "", 2},
    {"Scatter", ImportScatterElements, "", 3},
    {"ScatterElements", ImportScatterElements, "", 3},
    {"ScatterND", ImportScatterNd, "", 3},
    {"Tile", ImportTile, "", 2, 6},
    {"Trilu", ImportTrilu, "", 2},
};

}  // namespace

std::span<const Adapter> IndexAdapters() { return kIndices; }

}  // namespace cgrun
