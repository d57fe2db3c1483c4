// Operators that cut and frame tensors, and that exchange depth and space.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// Returns the axes that are given, or else 0, 1, … as many as `count`.
std::vector<int64_t> CountedAxes(NodeContext& node, std::optional<std::vector<int64_t>> given,
                                 size_t count) {
  std::vector<int64_t> axes = given ? *given : AxesFrom(0, static_cast<int>(count));
  for (int64_t& axis : axes) axis = node.Axis(axis, node.ShapeOf(0).rank());
  return axes;
}

struct Frame {
  std::vector<int64_t> axes, before, after;

  void Add(int64_t axis, int64_t first, int64_t last) {
    axes.push_back(axis);
    before.push_back(first);
    after.push_back(last);
  }
};

// The pads, elements that are taken away apart from those that are added.
void ReadFrame(NodeContext& node, bool from_inputs, Frame* taken, Frame* added) {
  const Shape shape = node.ShapeOf(0);
  const auto pads = from_inputs ? node.Integers(1) : node.Ints("pads").value_or(IntList());
  std::optional<std::vector<int64_t>> given;
  if (from_inputs && node.Has(3)) given = node.Integers(3);
  const std::vector<int64_t> axes = CountedAxes(node, given, static_cast<size_t>(shape.rank()));
  if (pads.size() != 2 * axes.size()) node.Fail("has not two pads for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t first = pads[i], last = pads[i + axes.size()];
    if (first == 0 && last == 0) continue;
    if (shape[static_cast<int>(axes[i])].batch) node.Fail("pads the batch axis");
    const auto outside = [](int64_t pad) { return pad < -(1 << 30) || pad > (1 << 30); };
    if (outside(first) || outside(last)) node.Fail("has pads out of range");
    if (first < 0 || last < 0) {
      taken->Add(axes[i], std::max<int64_t>(-first, 0), std::max<int64_t>(-last, 0));
    }
    if (first > 0 || last > 0) {
      added->Add(axes[i], std::max<int64_t>(first, 0), std::max<int64_t>(last, 0));
    }
  }
}

double PadValue(NodeContext& node, bool from_inputs) {
  if (!from_inputs) return static_cast<double>(node.Real("value", 0));
  if (!node.Has(2)) return 0;
  const std::optional<double> number = node.Number(2);
  if (!number) node.Fail("its value must be one number");
  return *number;
}

NetworkValue WithoutEdges(NodeContext& node, ItemWriter& write, const Frame& taken) {
  const NetworkValue x = node.Value(0);
  if (taken.axes.empty()) return x;
  const Shape shape = write.ShapeOf(x);
  std::vector<int64_t> ends;
  for (size_t i = 0; i < taken.axes.size(); ++i) {
    ends.push_back(shape[static_cast<int>(taken.axes[i])].size - taken.after[i]);
    if (ends.back() <= taken.before[i]) node.Fail("takes away a whole axis");
  }
  return write.Part(
      "slice", {x},
      {KeyOfList("axes", taken.axes), KeyOfList("starts", taken.before), KeyOfList("ends", ends)});
}

// A number of a model file is finite, so an infinite one around `x` comes from the constant that is
// input 2. The mask is true where `x` is: its elements are equal to themselves, or else NaN.
void PadWithInfinity(NodeContext& node, ItemWriter& write, const NetworkValue& x,
                     const ItemWriter::Keys& frame) {
  if (!node.Has(2)) node.Fail("has an infinite pad");
  const NetworkValue numbers = write.Part("compare", {x, x}, {KeyOf("is", std::string("equal"))});
  const NetworkValue nans = write.Part("compare", {x, x}, {KeyOf("is", std::string("not_equal"))});
  const NetworkValue all = write.Part("logical_or", {numbers, nans});
  const NetworkValue mask = write.Part("pad", {all}, frame);
  const NetworkValue padded = write.Part("pad", {x}, frame);
  write.Finish("where", {mask, padded, node.Value(2)});
}

void ImportPad(NodeContext& node, const Adapter& row) {
  ItemWriter write(node);
  const std::string mode = node.Text("mode", "constant");
  const bool is_known = mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap";
  if (!is_known) node.FailAttribute("mode", "is '" + mode + "', which is not supported");
  const bool from_inputs = row.since > 2;
  Frame taken, added;
  ReadFrame(node, from_inputs, &taken, &added);
  const double value = PadValue(node, from_inputs);
  const NetworkValue x = WithoutEdges(node, write, taken);
  if (added.axes.empty()) return node.Set(x);
  ItemWriter::Keys keys = {KeyOfList("axes", added.axes), KeyOfList("before", added.before)};
  if (added.after != added.before) keys.push_back(KeyOfList("after", added.after));
  if (mode != "constant") keys.push_back(KeyOf("mode", mode));
  if (mode == "constant" && std::isinf(value)) return PadWithInfinity(node, write, x, keys);
  if (mode == "constant" && value != 0) keys.push_back(KeyOf("value", NumberText(value)));
  write.Finish("pad", {x}, std::move(keys));
}

// Says what a Slice takes: from `starts` to `ends` in steps, and backwards on `flipped`.
struct Cuts {
  std::vector<int64_t> axes, starts, ends, steps, flipped;
};

// Positions count from the end where they are negative, and what is beyond is cut off.
void AddCut(NodeContext& node, const Dim& size, int64_t axis, int64_t start, int64_t end,
            int64_t step, Cuts* cuts) {
  if (step == 0) node.Fail("has a step of 0");
  constexpr int64_t kEnd = 1'000'000'000;         // exporters write this, or more, for the end
  constexpr int64_t kLargest = int64_t{1} << 48;  // beyond the size of any axis
  step = std::clamp(step, -kLargest, kLargest);
  const bool is_whole = start == 0 && step == 1 && end >= (size.batch ? kEnd : size.size);
  if (is_whole) return;
  if (size.batch) node.Fail("cuts the batch axis");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size.size : size.size - 1;
  const auto counted = [&](int64_t position) {
    if (position < 0) position = position < -size.size ? -1 : position + size.size;
    return std::clamp(position, low, high);
  };
  int64_t first = std::max<int64_t>(counted(start), 0), last = counted(end);
  if (step < 0) {
    // The elements lie at first, first + step, … above `last`. The slice begins with the lowest.
    const int64_t steps = first > last ? (first - last - 1) / -step : 0;
    const int64_t lowest = first + steps * step;
    last = first > last ? first + 1 : lowest;
    first = lowest;
    cuts->flipped.push_back(axis);
  }
  cuts->axes.push_back(axis);
  cuts->starts.push_back(first);
  cuts->ends.push_back(std::max<int64_t>(last, 0));
  cuts->steps.push_back(std::abs(step));
}

Cuts ReadCuts(NodeContext& node, bool from_inputs) {
  const Shape shape = node.ShapeOf(0);
  const auto list = [&](int input, const char* name) {
    if (from_inputs) return node.Integers(input);
    const auto given = node.Ints(name);
    if (!given) node.Fail("has no attribute '" + std::string(name) + "'");
    return *given;
  };
  const std::vector<int64_t> starts = list(1, "starts"), ends = list(2, "ends");
  std::optional<std::vector<int64_t>> given;
  if (!from_inputs) given = node.Ints("axes");
  if (from_inputs && node.Has(3)) given = node.Integers(3);
  const std::vector<int64_t> axes = CountedAxes(node, given, starts.size());
  std::vector<int64_t> steps(starts.size(), 1);
  if (from_inputs && node.Has(4)) steps = node.Integers(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    node.Fail("its starts, ends, axes and steps are not as many");
  }
  Cuts cuts;
  for (size_t i = 0; i < axes.size(); ++i) {
    AddCut(node, shape[static_cast<int>(axes[i])], axes[i], starts[i], ends[i], steps[i], &cuts);
  }
  return cuts;
}

void ImportSlice(NodeContext& node, const Adapter& row) {
  ItemWriter write(node);
  const Cuts cuts = ReadCuts(node, row.since > 1);
  const NetworkValue x = node.Value(0);
  if (cuts.axes.empty()) return node.Set(x);
  ItemWriter::Keys keys = {KeyOfList("axes", cuts.axes), KeyOfList("starts", cuts.starts),
                           KeyOfList("ends", cuts.ends)};
  if (std::ranges::any_of(cuts.steps, [](int64_t step) { return step != 1; })) {
    keys.push_back(KeyOfList("steps", cuts.steps));
  }
  if (cuts.flipped.empty()) return write.Finish("slice", {x}, std::move(keys));
  write.Finish("flip", {write.Part("slice", {x}, std::move(keys))},
               {KeyOfList("axes", cuts.flipped)});
}

// Cuts axes that are too long on both sides, and puts zeros around those that are too short.
void CenterCropPad(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const Shape shape = node.ShapeOf(0);
  const std::vector<int64_t> sizes = node.Integers(1);
  const std::vector<int64_t> axes =
      CountedAxes(node, node.Ints("axes"), static_cast<size_t>(shape.rank()));
  if (axes.size() != sizes.size()) node.Fail("its axes and its sizes are not as many");
  Frame taken, added;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim size = shape[static_cast<int>(axes[i])];
    if (sizes[i] < 1 || sizes[i] > (1 << 30)) node.Fail("has sizes out of range");
    if (size == Dim(sizes[i]) || (size.batch && Dim(node.batch().value_or(-1)) == Dim(sizes[i]))) {
      continue;
    }
    if (size.batch) node.Fail("cuts or pads the batch axis");
    const int64_t more = std::abs(sizes[i] - size.size);
    (sizes[i] < size.size ? taken : added).Add(axes[i], more / 2, more - more / 2);
  }
  const NetworkValue x = WithoutEdges(node, write, taken);
  if (added.axes.empty()) return node.Set(x);
  write.Finish("pad", {x},
               {KeyOfList("axes", added.axes), KeyOfList("before", added.before),
                KeyOfList("after", added.after)});
}

// The size of the blocks of images, which the shape of input 0 must fit.
int64_t BlockOf(NodeContext& node) {
  const int64_t block = node.Int("blocksize", 0);
  if (node.ShapeOf(0).rank() != 4) {
    node.Fail("reads " + node.ShapeOf(0).ToString() + ", which is no stack of images");
  }
  if (block < 1 || block > (1 << 15)) node.FailAttribute("blocksize", "is out of range");
  return block;
}

void DepthToSpace(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const Shape shape = node.ShapeOf(0);
  const int64_t block = BlockOf(node), depth = shape[1].size / (block * block);
  const std::string mode = node.Text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.FailAttribute("mode", "must be DCR or CRD");
  if (depth * block * block != shape[1].size) node.Fail("its channels do not fit its blocks");
  const Dim b(block), c(depth), h = shape[2], w = shape[3];
  const bool depth_last = mode == "DCR";
  const std::vector<Dim> apart = depth_last ? std::vector<Dim>{shape[0], b, b, c, h, w}
                                            : std::vector<Dim>{shape[0], c, b, b, h, w};
  const NetworkValue blocks = write.Reshaped(node.Value(0), apart);
  const std::vector<int64_t> perm =
      depth_last ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
  node.Set(node.EmitReshape(write.Transposed(blocks, perm),
                            {shape[0], c, Dim(h.size * block), Dim(w.size * block)}));
}

void SpaceToDepth(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const Shape shape = node.ShapeOf(0);
  const int64_t block = BlockOf(node);
  const Dim b(block), h(shape[2].size / block), w(shape[3].size / block);
  if (h.size * block != shape[2].size || w.size * block != shape[3].size) {
    node.Fail("its height and width do not fit its blocks");
  }
  const NetworkValue blocks = write.Reshaped(node.Value(0), {shape[0], shape[1], h, b, w, b});
  node.Set(node.EmitReshape(write.Transposed(blocks, {0, 3, 5, 1, 2, 4}),
                            {shape[0], Dim(shape[1].size * block * block), h, w}));
}

constexpr Adapter kParts[] = {
    {"CenterCropPad", CenterCropPad, "", 2},
    {"DepthToSpace", DepthToSpace},
    {"Pad", ImportPad},
    {"Pad", ImportPad, "", 4, 11},
    {"Slice", ImportSlice},
    {"Slice", ImportSlice, "", 5, 10},
    {"SpaceToDepth", SpaceToDepth},
};

}  // namespace

std::span<const Adapter> PartAdapters() { return kParts; }

}  // namespace cgrun
