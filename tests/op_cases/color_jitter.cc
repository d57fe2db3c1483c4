// Cases of color_jitter. Known results: its formulas in PyTorch and Python's colorsys, with numbers
// that Philox4x32-10 written out in Python draws.
#include "src/ops/color_jitter.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Jitter(RealList brightness, RealList contrast, RealList saturation, RealList hue,
                  bool varied = true) {
  return Attributes::Of(ColorJitterAttributes{std::move(brightness), std::move(contrast),
                                              std::move(saturation), std::move(hue), 5, varied});
}

OpCase Refused(std::string name, Attributes attributes, CaseInput x, std::string error) {
  return {.name = std::move(name),
          .attributes = std::move(attributes),
          .inputs = {std::move(x), Step(0)},
          .error = std::move(error)};
}

}  // namespace

std::vector<OpCase> color_jitter() {
  const std::vector<double> red = {0.1, 0.9, 0.4, 0.3}, green = {0.7, 0.2, 0.4, 1.0},
                            blue = {0.5, 0.6, 0.4, 0.0};
  const auto image = [](std::initializer_list<std::vector<double>> planes) {
    std::vector<double> values;
    for (const auto& plane : planes) values.insert(values.end(), plane.begin(), plane.end());
    return values;
  };
  const CaseInput x = Given({1, 3, 2, 2}, image({red, green, blue}));
  const CaseInput two = Given({2, 3, 2, 2}, image({red, green, blue, blue, green, red}));
  return {
      // 0.7489, 0.8178, 1.1740, -0.1815; 0.8613, 1.1398, 0.2496, 0.2332.
      {"known",
       Jitter({0.4}, {0.5}, {0.8}, {0.3}),
       {two, Step(3)},
       {{0.270345631664,  0.335384692918, 0.314206599645, 0.716104989464,
         0.519474847037,  0.164564343047, 0.314206599645, 0.43943799701,
         0.0880854020057, 0.667852028916, 0.314206599645, 0.0,
         0.385735983269,  0.454719342773, 0.332680721942, 0.426077848449,
         0.532730410468,  0.283225844374, 0.332680721942, 0.505751550281,
         0.49340983413,   0.288268064769, 0.332680721942, 0.656104869103}}},
      {"brightness alone",
       Jitter({1.3, 1.3}, {}, {}, {}),
       {x, Step(0)},
       {{0.13, 1.0, 0.52, 0.39, 0.91, 0.26, 0.52, 1.0, 0.65, 0.78, 0.52, 0.0}}},
      {"contrast alone",
       Jitter({}, {0.6, 0.6}, {}, {}),
       {x, Step(0)},
       {{0.262923, 0.742923, 0.442923, 0.382923, 0.622923, 0.322923, 0.442923, 0.802923, 0.502923,
         0.562923, 0.442923, 0.202923}}},
      {"saturation alone",
       Jitter({}, {}, {1.7, 1.7}, {}),
       {x, Step(0)},
       {{0.0, 1.0, 0.400028, 0.036331, 0.841547, 0.021633, 0.400028, 1.0, 0.501547, 0.701633,
         0.400028, 0.0}}},
      {"hue alone",
       Jitter({}, {}, {}, {0.21, 0.21}),
       {x, Step(0)},
       {{0.1, 0.9, 0.4, 0.0, 0.144, 0.682, 0.4, 1.0, 0.7, 0.2, 0.4, 0.96}}},
      {"grey",
       Jitter({1.3, 1.3}, {0.6, 0.6}, {9, 9}, {0.5, 0.5}),
       {Given({1, 1, 2, 2}, {0.2, 0.4, 0.9, 0.5}), Step(0)},
       {{0.399, 0.555, 0.843, 0.633}}},
      {"bytes",
       Jitter({1.2, 1.2}, {0.7, 0.7}, {1.5, 1.5}, {-0.1, -0.1}),
       {Given({1, 3, 2, 2}, {10, 200, 30, 40, 50, 60, 255, 0, 90, 100, 110, 120}, DType::kU8),
        Step(0)},
       {{24, 236, 42, 18, 124, 60, 235, 58, 114, 216, 5, 169}}},
      {"nothing", Jitter({}, {}, {}, {}), {two, Step(3)}, {two.values}},
      {"outside training", Jitter({0.4}, {0.5}, {0.8}, {0.3}, false), {two, Step(3)}, {two.values}},
      {"NaN",
       Jitter({2, 2}, {}, {}, {}),
       {Given({1, 1, 1, 2}, {kNaN, 0.25}), Step(0)},
       {{kNaN, 0.5}}},
      {"random", Jitter({0.4}, {0.4}, {0.4}, {0.1}), {Uniform({3, 3, 3, 4}, 0, 1), Step(7)}},
      Refused("two channels", Jitter({}, {}, {}, {}), Uniform({1, 2, 2, 2}), "[N, 3, height"),
      Refused("no samples", Jitter({}, {}, {}, {}), Uniform({3, 2, 2}), "[N, 3, height"),
      Refused("below 0", Jitter({-0.1}, {}, {}, {}), x, "`brightness` must be at least 0"),
      Refused("hue", Jitter({}, {}, {}, {0.6}), x, "`hue` must be at most 0.5"),
      Refused("hue below 0", Jitter({}, {}, {}, {-0.2}), x, "`hue` must be at least 0"),
      Refused("three numbers", Jitter({}, {1, 2, 3}, {}, {}), x, "1 or 2 numbers"),
      Refused("backwards", Jitter({}, {}, {2, 1}, {}), x, "from the smaller"),
      Refused("integers", Jitter({}, {}, {}, {}), Integers({1, 3, 2, 2}, DType::kI32, 0, 1),
              "uint8 or floating"),
  };
}

}  // namespace cgrun::op_cases
