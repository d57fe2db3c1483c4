// GridSample takes pixels of images, or of volumes, at places that a grid has.
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// A pixel that takes part in a result: its place on one axis and its weight, each [N, places, 1].
struct Tap {
  NetworkValue index, weight;
};

class GridWriter {
 public:
  explicit GridWriter(NodeContext& node) : node_(node), write_(node), shape_(node.ShapeOf(0)) {
    const Shape grid = node.ShapeOf(1);
    axes_ = shape_.rank() - 2;
    if (axes_ < 1 || axes_ > 3 || grid.rank() != shape_.rank() || grid[axes_ + 1] != Dim(axes_)) {
      node.Fail("its images " + shape_.ToString() + " and its grid " + grid.ToString() +
                " do not fit each other");
    }
    mode_ = node.Text("mode", "linear");
    if (mode_ == "bilinear" || mode_ == "bicubic") mode_ = mode_.substr(2);
    padding_ = node.Text("padding_mode", "zeros");
    aligns_ = node.Int("align_corners", 0) != 0;
    if (mode_ != "linear" && mode_ != "nearest" && mode_ != "cubic") {
      node.FailAttribute("mode", "is '" + mode_ + "', which is not known");
    }
    if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection") {
      node.FailAttribute("padding_mode", "is '" + padding_ + "', which is not known");
    }
    for (int axis = 1; axis < grid.rank(); ++axis) {
      if (grid[axis].batch || shape_[axis].batch) node.Fail("samples the batch axis");
      if (axis <= axes_) places_ *= grid[axis].size;
    }
  }

  void Run() {
    const Shape grid = node_.ShapeOf(1);
    const NetworkValue places =
        write_.Reshaped(node_.Value(1), {grid[0], Dim(places_), Dim(axes_)});
    int64_t pixels = 1;
    for (int axis = 0; axis < axes_; ++axis) {
      size_ = shape_[2 + axis].size;
      pixels *= size_;
      // The last number of a place belongs to the first axis.
      AddAxis(write_.Part("slice", {places},
                          {KeyOfList("axes", {2}), KeyOfList("starts", {axes_ - 1 - axis}),
                           KeyOfList("ends", {axes_ - axis})}));
    }
    const NetworkValue image = write_.Transposed(
        write_.Reshaped(node_.Value(0), {shape_[0], shape_[1], Dim(pixels)}), {0, 2, 1});
    const NetworkValue y = write_.Transposed(Sum(image), {0, 2, 1});
    std::vector<Dim> dims = {shape_[0], shape_[1]};
    for (int axis = 0; axis < axes_; ++axis) dims.push_back(grid[1 + axis]);
    node_.Set(node_.EmitReshape(y, dims));
  }

 private:
  double least() const { return aligns_ ? 0 : -0.5; }
  double most() const { return static_cast<double>(size_) - (aligns_ ? 1 : 0.5); }
  double last() const { return static_cast<double>(size_ - 1); }

  NetworkValue Clipped(const NetworkValue& x, double low, double high) {
    return write_.Part("clip", {x},
                       {KeyOf("min", NumberText(low)), KeyOf("max", NumberText(high))});
  }

  // Throws places back at both ends, as often as they are beyond one.
  NetworkValue Reflected(const NetworkValue& x) {
    const double range = most() - least();
    if (range == 0) return write_.Part("mul", {x, 0.0});
    const NetworkValue distance = write_.Part("abs", {write_.Part("sub", {x, least()})});
    const NetworkValue turns = write_.Part("floor", {write_.Part("div", {distance, 2 * range})});
    const NetworkValue rest =
        write_.Part("sub", {distance, write_.Part("mul", {turns, 2 * range})});
    const NetworkValue from_end = write_.Part("abs", {write_.Part("sub", {range, rest})});
    return write_.Part("sub", {most(), from_end});
  }

  // Turns numbers from -1 to 1 into places on the axis, beyond which the padding is.
  NetworkValue Place(const NetworkValue& x) {
    const double half = (aligns_ ? last() : static_cast<double>(size_)) / 2;
    NetworkValue place = write_.Part("add", {write_.Part("mul", {x, half}), last() / 2});
    if (mode_ == "nearest") place = write_.Part("round", {place});
    if (padding_ == "reflection") return Reflected(place);
    if (padding_ == "zeros") return place;
    const NetworkValue is_outside = write_.Part("compare", {Clipped(place, least(), most()), place},
                                                {KeyOf("is", std::string("not_equal"))});
    return write_.Part("where", {is_outside, Clipped(place, 0, last()), place});
  }

  // Weighs a pixel by its distance from the place: Keys' cubic convolution, as PyTorch has it.
  NetworkValue Cubic(const NetworkValue& distance, bool is_near) {
    constexpr double a = -0.75;
    const std::vector<double> factors = is_near ? std::vector<double>{a + 2, -(a + 3), 0, 1}
                                                : std::vector<double>{a, -5 * a, 8 * a, -4 * a};
    NetworkValue y = write_.Part("mul", {distance, factors[0]});
    for (size_t i = 1; i < 3; ++i) {
      y = write_.Part("mul", {write_.Part("add", {y, factors[i]}), distance});
    }
    return write_.Part("add", {y, factors[3]});
  }

  // A pixel beyond the image counts as 0, or another one takes its place.
  Tap Inside(Tap tap) {
    if (padding_ == "reflection") tap.index = write_.Part("round", {Reflected(tap.index)});
    const NetworkValue clipped = Clipped(tap.index, 0, last());
    if (padding_ == "zeros") {
      const NetworkValue is_inside =
          write_.Part("compare", {clipped, tap.index}, {KeyOf("is", std::string("equal"))});
      tap.weight = write_.Part("where", {is_inside, tap.weight, 0.0});
    }
    return {write_.Part("cast", {clipped}, {KeyOf("to", std::string("int64"))}), tap.weight};
  }

  std::vector<Tap> TapsAt(const NetworkValue& place) {
    if (mode_ == "nearest") {
      const NetworkValue one = write_.Part("fill", {place}, {KeyOf("value", std::string("1"))});
      return {Inside({write_.Part("round", {place}), one})};
    }
    const NetworkValue base = write_.Part("floor", {place});
    const int64_t reach = mode_ == "cubic" ? 2 : 1;
    std::vector<Tap> taps;
    for (int64_t i = 1 - reach; i <= reach; ++i) {
      const NetworkValue index = write_.Part("add", {base, static_cast<double>(i)});
      const NetworkValue distance = write_.Part("abs", {write_.Part("sub", {place, index})});
      const NetworkValue weight =
          reach == 1 ? write_.Part("sub", {1.0, distance}) : Cubic(distance, i == 0 || i == 1);
      taps.push_back(Inside({index, weight}));
    }
    return taps;
  }

  // Each tap so far goes with each tap of the next axis.
  void AddAxis(const NetworkValue& numbers) {
    const std::vector<Tap> next = TapsAt(Place(numbers));
    if (taps_.empty()) {
      taps_ = next;
      return;
    }
    std::vector<Tap> all;
    for (const Tap& a : taps_) {
      const NetworkValue row = write_.Part("mul", {a.index, static_cast<double>(size_)});
      for (const Tap& b : next) {
        all.push_back(
            {write_.Part("add", {row, b.index}), write_.Part("mul", {a.weight, b.weight})});
      }
    }
    taps_ = std::move(all);
  }

  // Adds up weighted pixels of an image [N, pixels, channels]. The result is [N, places, channels].
  NetworkValue Sum(const NetworkValue& image) {
    NetworkValue sum;
    for (size_t i = 0; i < taps_.size(); ++i) {
      const NetworkValue pixels =
          write_.Part("gather_nd", {image, taps_[i].index}, {KeyOf("batch_dims", int64_t{1})});
      const NetworkValue part = write_.Part("mul", {pixels, taps_[i].weight});
      sum = i == 0 ? part : write_.Part("add", {sum, part});
    }
    return sum;
  }

  NodeContext& node_;
  ItemWriter write_;
  Shape shape_;  // [N, channels, …]
  std::string mode_, padding_;
  bool aligns_ = false;
  int axes_ = 0;                   // of an image
  int64_t places_ = 1, size_ = 1;  // the latter of the current axis
  std::vector<Tap> taps_;          // of all axes so far, with places among all their pixels
};

void GridSample(NodeContext& node, const Adapter&) { GridWriter(node).Run(); }

constexpr Adapter kGridSample[] = {{"GridSample", GridSample, "", 2, 16}};

}  // namespace

std::span<const Adapter> GridSampleAdapters() { return kGridSample; }

}  // namespace cgrun
