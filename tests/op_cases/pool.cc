// Cases of max_pool, avg_pool, their gradients and global_avg_pool. Known results are PyTorch's
// unless a comment says otherwise.
#include "src/ops/pool.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A window, and the shape of its images.
struct Geometry {
  std::string name;
  Shape x;
  WindowAttributes window;

  Shape y() const { return WindowOutput(x, x[1], *WindowOn(x, window)); }
  Attributes max() const {
    return Attributes::Of(MaxPoolAttributes{window.kernel, window.stride, window.padding,
                                            window.dilation, window.ceil_mode});
  }
  Attributes avg(bool count_include_pad = true) const {
    return Attributes::Of(AvgPoolAttributes{window.kernel, window.stride, window.padding,
                                            window.ceil_mode, count_include_pad});
  }
  Attributes grad(bool count_include_pad = true) const {
    return Attributes::Of(PoolGradAttributes{x, window.kernel, window.stride, window.padding,
                                             window.dilation, window.ceil_mode, count_include_pad});
  }
};

const IntList kNone = {0, 0, 0, 0}, kOnes = {1, 1}, kSame = {-1, -1, -1, -1};

Geometry Plain() { return {"plain", {1, 2, 4, 4}, {{2, 2}, {}, kNone, kOnes}}; }
Geometry Overlapping(int64_t images) {
  return {"overlapping", {images, 1, 5, 4}, {{3, 3}, {2, 1}, {1, 1, 1, 1}, kOnes}};
}
Geometry Ceil() { return {"ceil mode", {1, 1, 5, 5}, {{2, 3}, {2, 2}, {0, 1, 0, 1}, kOnes, true}}; }
Geometry Dilated() { return {"dilated", {1, 1, 5, 6}, {{2, 2}, {1, 2}, {1, 0, 1, 0}, {2, 3}}}; }
// The last window begins in the padding after the image, and is left out.
Geometry CeilInPadding() {
  return {"ceil mode, beginning in the padding",
          {1, 1, 5, 4},
          {{3, 3}, {3, 3}, {1, 1, 1, 1}, kOnes, true}};
}
Geometry CeilHanging() {
  return {"ceil mode, hanging over", {1, 1, 4, 2}, {{3, 3}, {2, 2}, {1, 1, 1, 1}, kOnes, true}};
}
Geometry CeilLarge() {
  return {"ceil mode, kernel larger than the image",
          {1, 1, 2, 2},
          {{3, 3}, {2, 2}, kNone, kOnes, true}};
}

// Geometries without known results.
std::vector<Geometry> Others() {
  return {
      {"one pixel", {1, 1, 1, 1}, {{1, 1}, {}, kNone, kOnes}},
      {"kernel as large as the image", {2, 2, 3, 4}, {{3, 4}, {}, kNone, kOnes}},
      {"stride beyond the kernel", {1, 2, 7, 8}, {{2, 2}, {3, 4}, kNone, kOnes}},
      {"flat kernel, uneven padding", {2, 1, 3, 4}, {{1, 3}, {1, 2}, {0, 2, 0, 1}, kOnes}},
      {"same, one row more at the end", {1, 2, 5, 6}, {{2, 2}, {2, 1}, kSame, kOnes}},
      {"same, stride beyond the kernel", {1, 1, 4, 4}, {{1, 1}, {3, 3}, kSame, kOnes}},
  };
}

// The results below were made with these inputs.
CaseInput Images(const Geometry& g) { return Pattern(g.x, 7, 11); }
CaseInput OutputGradient(const Geometry& g) { return Pattern(g.y(), 4, 9); }

struct KnownMax {
  Geometry geometry;
  std::vector<double> y, index, dx;
};

std::vector<KnownMax> KnownMaxima() {
  return {
      {Plain(), {2, 5, 3, 5, 4, 2, 5, 3}, {1, 1, 1, 2, 1, 3, 1, 3}, {0, -4, 0, 0, 0, 0, 0,  0,
                                                                     0, 4,  0, 0, 0, 0, -1, 0,
                                                                     0, 3,  0, 0, 0, 0, 0,  -2,
                                                                     0, 2,  0, 0, 0, 0, 0,  -3}},
      {Overlapping(2),
       {2, 4, 5, 5, 3, 5, 5, 5, 4, 5, 5, 5, 5, 5, 5, 2, 5, 5, 5, 3, 5, 5, 4, 4},
       {5, 8, 5, 4, 5, 8, 7, 6, 5, 2, 1, 0, 8, 7, 6, 4, 2, 1, 0, 4, 4, 3, 5, 4},
       {0, -4, 0, 3, 0, 0,  0, 0, 0, 3, 0, 0, 0, 0, -3, 0, 0, 1, 0, 0,
        0, 0,  0, 2, 0, -6, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 3, 0, 0, 1}},
      {Ceil(),
       {4, 5, 5, 1, 4, 5, 3, 2, 2},
       {5, 2, 0, 4, 4, 1, 1, 2, 0},
       {0, 0, 0, 4, 0, 0, -4, 0, 0, 0, 0, 0, 0, 0, -2, -1, 0, 3, 0, 0, 2, 0, 0, -2, 0}},
      {Dilated(),
       {4, -4, 5, 5, 4, 3, 2, 5, 0, 3},
       {2, 2, 1, 2, 0, 2, 0, 0, 0, 0},
       {0, 0, 0, 4, 0, 0,  -1, 0, 0, 0, 0, 0, 2, 0, -4,
        0, 0, 0, 1, 0, -6, 0,  0, 0, 0, 0, 0, 0, 0, 0}},
  };
}

// Adds cases that every pool refuses. `make` gives the attributes for a window.
template <class Make>
void AddRefused(std::vector<OpCase>& cases, Make make) {
  const auto add = [&](std::string name, WindowAttributes window, CaseInput x, std::string error) {
    const Geometry g{name, {}, std::move(window)};
    cases.push_back(Refused(std::move(name), make(g), {std::move(x)}, std::move(error)));
  };
  const WindowAttributes window{{2, 2}, {}, kNone, kOnes};
  add("not images", window, Uniform({2, 3, 4}), "[N, channels, height, width]");
  add("width depends on the batch", window, Uniform({2, 1, 4, kBatchDim}), "[2, 1, 4, N]");
  add("integers", window, Integers({1, 1, 4, 4}, DType::kU8, 0, 9), "floating-point");
  add("kernel too large", {{3, 5}, {}, {1, 0, 0, 0}, kOnes}, Uniform({1, 1, 4, 4}),
      "a kernel 3x5 is larger than the images of [1, 1, 4, 4], which are 5x4");
  add("windows of padding alone", {{2, 2}, {1, 1}, {0, 2, 0, 0}, kOnes}, Uniform({1, 1, 4, 4}),
      "would cover padding alone at output column 0");
  add("windows of padding alone, at the end", {{2, 2}, {1, 1}, {0, 0, 3, 0}, kOnes},
      Uniform({1, 1, 4, 4}), "would cover padding alone at output row 4");
}

}  // namespace

std::vector<OpCase> max_pool() {
  std::vector<OpCase> cases;
  for (const KnownMax& known : KnownMaxima()) {
    const Geometry& g = known.geometry;
    cases.push_back({g.name, g.max(), {Images(g)}, {known.y, known.index}, {}, false});
  }
  const CaseInput special =
      Given({1, 1, 4, 4}, {kNaN, 1, 2, kNaN, 3, kNaN, kInfinity, 2, -kInfinity, -kInfinity, 5, 5,
                           -kInfinity, -kInfinity, 5, 5});
  cases.push_back({"special values and ties",
                   Attributes::Of(MaxPoolAttributes{{2, 2}, {}}),
                   {special},
                   {{kNaN, kNaN, -kInfinity, 5}, {3, 1, 0, 0}},
                   {},
                   false});
  // The result is worked out by hand: the greatest of 0 … 255 is the last, at position 255, which a
  // byte cannot tell.
  std::vector<double> ramp;
  for (int i = 0; i < 256; ++i) ramp.push_back(i);
  cases.push_back({"wide index",
                   Attributes::Of(MaxPoolAttributes{{16, 16}, {}}),
                   {Given({1, 1, 16, 16}, ramp)},
                   {{255}, {255}}});
  for (const Geometry& g : Others()) cases.push_back({g.name, g.max(), {Uniform(g.x)}});
  for (const Geometry& g : {Plain(), Overlapping(2), Ceil(), Dilated(), CeilLarge()}) {
    cases.push_back({g.name + ", random", g.max(), {Uniform(g.x)}});
  }
  AddRefused(cases, [](const Geometry& g) { return g.max(); });
  cases.push_back(Refused("dilation too large",
                          Attributes::Of(MaxPoolAttributes{{2, 2}, {}, kNone, {1, 4}}),
                          {Uniform({1, 1, 4, 4})}, "covers 2x5"));
  return cases;
}

std::vector<OpCase> max_pool_grad() {
  std::vector<OpCase> cases;
  for (const KnownMax& known : KnownMaxima()) {
    const Geometry& g = known.geometry;
    cases.push_back(
        {g.name, g.grad(), {Given(g.y(), known.index, DType::kU8), OutputGradient(g)}, {known.dx}});
  }
  // The gradient goes to the last of 256 elements. This is worked out by hand.
  const Geometry wide{"wide index", {1, 1, 1, 256}, {{1, 256}, {}, kNone, kOnes}};
  std::vector<double> last(256, 0);
  last[255] = 3;
  cases.push_back({wide.name,
                   wide.grad(),
                   {Given(wide.y(), {255}, DType::kI32), Given(wide.y(), {3})},
                   {last}});
  const Geometry g = Plain();
  cases.push_back(Refused("index of another type", g.grad(),
                          {Integers(g.y(), DType::kI32, 0, 3), Uniform(g.y())},
                          "`index` must be uint8[1, 2, 2, 2], not int32[1, 2, 2, 2]"));
  cases.push_back(Refused("gradient of another shape", g.grad(),
                          {Integers(g.y(), DType::kU8, 0, 3), Uniform(g.x)},
                          "no max_pool of [1, 2, 4, 4] makes `dy` f64[1, 2, 4, 4]"));
  return cases;
}

std::vector<OpCase> avg_pool() {
  const auto known = [](const Geometry& g, bool include, std::vector<double> y) {
    const std::string name = g.name + (include ? "" : ", padding does not count");
    return OpCase{name, g.avg(include), {Images(g)}, {std::move(y)}};
  };
  const double n = 1.0 / 9;
  std::vector<OpCase> cases = {
      known(Plain(), true, {-1.25, 1.75, -0.25, 0, 0.75, -1.75, 1.75, -0.75}),
      known(Overlapping(1), true,
            {-5 * n, -3 * n, 6 * n, 7 * n, -3 * n, 5 * n, 2 * n, 4 * n, n, 6 * n, 4 * n, 2 * n}),
      known(Overlapping(1), false,
            {-1.25, -0.5, 1, 1.75, -0.5, 5 * n, 2 * n, 6 * n, 0.25, 1, 6 * n, 0.5}),
      known(Ceil(), true, {-3 * n, 7.5 * n, 7.5 * n, -12 * n, -6 * n, -1.5 * n, 6 * n, -12 * n, 0}),
      known(CeilInPadding(), true, {-5 * n, 7 * n, 0, -4 * n}),
      known(CeilInPadding(), false, {-1.25, 1.75, 0, -6 * n}),
      known(CeilHanging(), true, {0, 10.5 * n, 5 * n, 3 * n, 6 * n, 0}),
      known(CeilLarge(), true, {0}),
  };
  for (const Geometry& g : Others()) {
    cases.push_back({g.name, g.avg(), {Uniform(g.x)}});
    cases.push_back({g.name + ", padding does not count", g.avg(false), {Uniform(g.x)}});
  }
  AddRefused(cases, [](const Geometry& g) { return g.avg(); });
  return cases;
}

std::vector<OpCase> avg_pool_grad() {
  const auto known = [](const Geometry& g, bool include, std::vector<double> dx) {
    const std::string name = g.name + (include ? "" : ", padding does not count");
    return OpCase{name, g.grad(include), {OutputGradient(g)}, {std::move(dx)}};
  };
  const double n = 1.0 / 9;
  std::vector<OpCase> cases = {
      known(Overlapping(1), true,
            {-4 * n, 0,  3 * n,  3 * n, -3 * n, 3 * n, 0,      2 * n,  n, 3 * n,
             -3 * n, -n, -2 * n, 0,     -3 * n, 3 * n, -3 * n, -3 * n, 0, 4 * n}),
      known(CeilInPadding(), true,
            {-4 * n, -4 * n, 0,     0,     -4 * n, -4 * n, 0,     0,     4 * n, 4 * n,
             -n,     -n,     4 * n, 4 * n, -n,     -n,     4 * n, 4 * n, -n,    -n}),
      known(CeilInPadding(), false, {-1,       -1,       0,     0,        -1,       -1,      0,
                                     0,        6 * n,    6 * n, -1.5 * n, -1.5 * n, 6 * n,   6 * n,
                                     -1.5 * n, -1.5 * n, 6 * n, 6 * n,    -1.5 * n, -1.5 * n}),
      known(CeilHanging(), true, {-4 * n, -4 * n, 0, -1.5 * n, 4 * n, 2.5 * n, 8.5 * n, 2.5 * n}),
      known(CeilLarge(), true, {-1, -1, -1, -1}),
  };
  for (const Geometry& g : Others()) {
    cases.push_back({g.name, g.grad(), {Uniform(g.y())}});
    cases.push_back({g.name + ", padding does not count", g.grad(false), {Uniform(g.y())}});
  }
  const Geometry g = Plain();
  cases.push_back(Refused("gradient of another shape", g.grad(), {Uniform(g.x)},
                          "no avg_pool of [1, 2, 4, 4] makes `dy` f64[1, 2, 4, 4]"));
  return cases;
}

std::vector<OpCase> global_avg_pool() {
  return {
      // The results are worked out by hand.
      {"known", {}, {Given({1, 2, 2, 2}, {1, 2, 3, 6, -1, -1, 0, 0})}, {{3, -0.5}}},
      {"one pixel", {}, {Uniform({2, 3, 1, 1})}},
      {"images", {}, {Uniform({2, 3, 4, 5})}},
      {"one axis", {}, {Uniform({2, 3, 4})}},
      {"three axes", {}, {Uniform({1, 2, 2, 3, 2})}},
      Refused("no image", {}, {Uniform({2, 3})}, "[N, channels, height, width]"),
      Refused("integers", {}, {Integers({1, 1, 2, 2}, DType::kU8, 0, 9)}, "floating-point"),
  };
}

}  // namespace cgrun::op_cases
