// Normalisations that are made of other operators, and norms over images.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// Images or rows with channels, as their normalisations see them: [N, channels, …].
class Channels {
 public:
  explicit Channels(NodeContext& node) : node_(node), write_(node), shape_(node.ShapeOf(0)) {
    if (shape_.rank() < 3) node.Fail("reads " + shape_.ToString() + ", which has no channels");
  }

  // Normalises x in so many groups of channels. The groups stay apart in the result.
  NetworkValue Normalised(int64_t groups) {
    const int64_t channels = shape_[1].size;
    if (groups < 1 || channels % groups != 0) {
      node_.Fail("cannot divide " + std::to_string(channels) + " channels into " +
                 std::to_string(groups) + " groups");
    }
    int64_t elements = channels / groups;
    for (int axis = 2; axis < shape_.rank(); ++axis) elements *= shape_[axis].size;
    const NetworkValue flat =
        write_.Reshaped(node_.Value(0), {shape_[0], Dim(groups), Dim(elements)});
    const float epsilon = node_.Real("epsilon", 1e-5f);
    ItemWriter::Keys keys = {KeyOf("axis", int64_t{2}), KeyOf("affine", false)};
    if (epsilon != 1e-5f) keys.push_back(KeyOf("epsilon", NumberText(epsilon)));
    return write_.Part("layer_norm", {flat}, std::move(keys));
  }
  NetworkValue Restored(const NetworkValue& groups) {
    return write_.Reshaped(groups, {shape_.begin(), shape_.end()});
  }
  // Input `i`, a number a channel or a group, as it goes with a value of `rank`.
  NetworkValue ForEach(int i, int rank) {
    const NetworkValue numbers = node_.Value(i);
    std::vector<Dim> dims(static_cast<size_t>(rank) - 1, Dim(1));
    dims[0] = write_.ShapeOf(numbers)[0];
    return write_.Reshaped(numbers, dims);
  }
  void FinishAffine(const NetworkValue& normal) {
    const NetworkValue scaled = write_.Part("mul", {normal, ForEach(1, shape_.rank())});
    write_.Finish("add", {scaled, ForEach(2, shape_.rank())});
  }
  int64_t count() const { return shape_[1].size; }
  ItemWriter& write() { return write_; }

 private:
  NodeContext& node_;
  ItemWriter write_;
  Shape shape_;
};

void InstanceNormalization(NodeContext& node, const Adapter&) {
  Channels channels(node);
  channels.FinishAffine(channels.Restored(channels.Normalised(channels.count())));
}

// Before opset 21, scale and bias had a number a group.
void GroupNormalization(NodeContext& node, const Adapter& row) {
  Channels channels(node);
  node.Ignore("stash_type");
  const NetworkValue normal = channels.Normalised(node.Int("num_groups", 0));
  if (row.since >= 21) return channels.FinishAffine(channels.Restored(normal));
  ItemWriter& write = channels.write();
  const NetworkValue scaled = write.Part("mul", {normal, channels.ForEach(1, 3)});
  const NetworkValue moved = write.Part("add", {scaled, channels.ForEach(2, 3)});
  node.Set(channels.Restored(moved));
}

// Fail() where one of the axes is that of the batch.
ItemWriter::Keys KeptAxes(NodeContext& node, const std::vector<int64_t>& axes) {
  for (const int64_t axis : axes) {
    if (node.ShapeOf(0)[static_cast<int>(axis)].batch) node.Fail("normalises the batch axis");
  }
  return {KeyOfList("axes", axes), KeyOf("keep_dims", true)};
}

// x / √(mean of squares + epsilon), times a scale.
void RmsNormalization(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  node.Ignore("stash_type");
  const NetworkValue x = node.Value(0);
  const auto axes = AxesFrom(AxisOf(node, -1), write.ShapeOf(x).rank());
  const NetworkValue mean =
      write.Part("reduce_mean", {write.Part("mul", {x, x})}, KeptAxes(node, axes));
  const NetworkValue shifted = write.Part("add", {mean, node.Real("epsilon", 1e-5f)});
  const NetworkValue normal = write.Part("div", {x, write.Part("sqrt", {shifted})});
  write.Finish("mul", {normal, node.Value(1)});
}

// A line of zeros stays one.
void LpNormalization(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const int64_t p = node.Int("p", 2), axis = AxisOf(node, -1);
  if (p != 1 && p != 2) node.FailAttribute("p", "must be 1 or 2");
  const NetworkValue powers = p == 1 ? write.Part("abs", {x}) : write.Part("mul", {x, x});
  NetworkValue norm = write.Part("reduce_sum", {powers}, KeptAxes(node, {axis}));
  if (p == 2) norm = write.Part("sqrt", {norm});
  const NetworkValue is_zero =
      write.Part("compare", {norm, 0.0f}, {KeyOf("is", std::string("equal"))});
  write.Finish("div", {x, write.Part("where", {is_zero, 1.0f, norm})});
}

// (x − mean) / (deviation + 1e-9).
void MeanVarianceNormalization(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  std::vector<int64_t> axes = node.Ints("axes").value_or(std::vector<int64_t>{0, 2, 3});
  for (int64_t& axis : axes) axis = node.Axis(axis, write.ShapeOf(x).rank());
  const ItemWriter::Keys kept = KeptAxes(node, axes);
  const NetworkValue centred = write.Part("sub", {x, write.Part("reduce_mean", {x}, kept)});
  const NetworkValue squares = write.Part("mul", {centred, centred});
  const NetworkValue deviation = write.Part("sqrt", {write.Part("reduce_mean", {squares}, kept)});
  write.Finish("div", {centred, write.Part("add", {deviation, 1e-9})});
}

// x / (bias + alpha·mean of squares)^beta, where the mean goes over `size` channels around each one
// and counts those that are absent as 0.
void LocalResponseNormalization(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const Shape shape = write.ShapeOf(x);
  if (shape.rank() < 3) node.Fail("reads " + shape.ToString() + ", which has no channels");
  const int64_t size = node.Int("size", 0);
  if (size < 1 || size > 2 * shape[1].size) node.FailAttribute("size", "does not fit the channels");
  int64_t elements = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) elements *= shape[axis].size;
  const NetworkValue squares =
      write.Reshaped(write.Part("mul", {x, x}), {shape[0], Dim(1), shape[1], Dim(elements)});
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  const NetworkValue mean = write.Part("avg_pool", {squares},
                                       {KeyOfList("kernel", {size, 1}), KeyOf("stride", int64_t{1}),
                                        KeyOfList("padding", {before, 0, after, 0})});
  const NetworkValue scaled = write.Part(
      "mul", {write.Reshaped(mean, {shape.begin(), shape.end()}), node.Real("alpha", 1e-4f)});
  const NetworkValue moved = write.Part("add", {scaled, node.Real("bias", 1)});
  write.Finish("div", {x, write.Part("pow", {moved, node.Real("beta", 0.75f)})});
}

// The norm over all pixels of a channel.
void GlobalLpPool(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const int64_t p = node.Int("p", 2);
  if (p < 1) node.FailAttribute("p", "must be at least 1");
  const auto kept = KeptAxes(node, AxesFrom(2, write.ShapeOf(x).rank()));
  if (p == 1) return write.Finish("reduce_sum", {write.Part("abs", {x})}, kept);
  const auto power = static_cast<double>(p);
  const NetworkValue powers =
      p == 2 ? write.Part("mul", {x, x}) : write.Part("pow", {write.Part("abs", {x}), power});
  const NetworkValue sum = write.Part("reduce_sum", {powers}, kept);
  if (p == 2) return write.Finish("sqrt", {sum});
  write.Finish("pow", {sum, 1 / power});
}

constexpr Adapter kNorms[] = {
    {"GlobalLpPool", GlobalLpPool},
    {"GroupNormalization", GroupNormalization, "", 3},
    {"GroupNormalization", GroupNormalization, "", 3, 21},
    {"InstanceNormalization", InstanceNormalization, "", 3},
    {"LRN", LocalResponseNormalization},
    {"LpNormalization", LpNormalization},
    {"MeanVarianceNormalization", MeanVarianceNormalization},
    {"RMSNormalization", RmsNormalization, "", 2},
};

}  // namespace

void SetNormStatistics(NodeContext& node) {
  if (node.node().outputs.size() < 2) return;
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const ItemWriter::Keys kept = KeptAxes(node, AxesFrom(AxisOf(node, -1), write.ShapeOf(x).rank()));
  const NetworkValue mean = write.Part("reduce_mean", {x}, kept);
  const NetworkValue centred = write.Part("sub", {x, mean});
  const NetworkValue variance =
      write.Part("reduce_mean", {write.Part("mul", {centred, centred})}, kept);
  const NetworkValue shifted = write.Part("add", {variance, node.Real("epsilon", 1e-5f)});
  node.Set(1, {{}, mean});
  if (node.node().outputs.size() < 3) return;
  node.Set(2, {{}, write.Part("div", {1.0f, write.Part("sqrt", {shifted})})});
}

std::span<const Adapter> NormAdapters() { return kNorms; }

}  // namespace cgrun
