// Cases of batch_norm, its result again and its gradient, in training and with frozen statistics,
// and of the same with a tensor that is added. Known results: PyTorch.
#include "src/ops/batch_norm.h"

#include <algorithm>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Norm(bool training, double epsilon = 1e-5, double momentum = 0.1) {
  return Attributes::Of(BatchNormAttributes{epsilon, momentum, training});
}

Attributes ClippedNorm(bool training, double min, double max = BatchNormAttributes().max) {
  return Attributes::Of(
      BatchNormAttributes{.epsilon = 1e-5, .training = training, .min = min, .max = max});
}

CaseInput Statistic(Shape shape, std::vector<double> values) {
  return AtLeastF32(Given(std::move(shape), std::move(values)));
}

std::vector<double> First(std::vector<double> values, const Shape& x) {
  values.resize(static_cast<size_t>(x[1].size));
  return values;
}

// x, scale, shift and running statistics of the known results.
std::vector<CaseInput> KnownInputs(const Shape& x) {
  const Shape channels = {x[1]};
  return {Pattern(x, 7, 11), Statistic(channels, First({2, -1, 0.5}, x)),
          Statistic(channels, First({0.25, 1, -3}, x)), Statistic(channels, First({0.5, -1, 2}, x)),
          Statistic(channels, First({1, 4, 0.25}, x))};
}

std::vector<CaseInput> RandomInputs(const Shape& x) {
  const Shape channels = {x[1]};
  return {Uniform(x), AtLeastF32(Uniform(channels)), AtLeastF32(Uniform(channels)),
          AtLeastF32(Uniform(channels)), AtLeastF32(Uniform(channels, 0.5, 2))};
}

// A gradient flows through y alone, to x, scale and shift.
OpCase Case(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
            std::vector<std::vector<double>> expected = {}) {
  OpCase result{
      std::move(name), std::move(attributes), std::move(inputs), std::move(expected), {0, 1, 2}};
  result.gradient_outputs = {0};
  return result;
}

OpCase Refused(std::string name, size_t input, CaseInput replacement, std::string error) {
  std::vector<CaseInput> inputs = RandomInputs({2, 3, 4});
  inputs[input] = std::move(replacement);
  return {std::move(name), Norm(true), std::move(inputs), {}, {}, true, std::move(error)};
}

const Shape kImages = {2, 3, 1, 2}, kRows = {4, 2};

// These are the statistics that batch_norm saves of the known inputs.
CaseInput ImageMean() { return Statistic({3}, {0.25, 0.5, -2}); }
CaseInput ImageDeviation() {
  return Statistic({3}, {0.298973903481, 0.274721024229, 0.447213148287});
}

}  // namespace

std::vector<OpCase> batch_norm() {
  std::vector<OpCase> cases = {
      Case("images", Norm(true), KnownInputs(kImages),
           {{-2.88922598655, 1.29640866218, 1.68680256057, -0.236244609031, -2.32918027757,
             -3.22360657414, 2.49230427611, 0.100513048259, 2.23624460903, 0.313197439427,
             -2.77639342586, -3.67081972243},
            {0.475, -0.85, 1.6},
            {2.39166666667, 5.36666666667, 0.891666666667},
            {0.25, 0.5, -2},
            {0.298973903481, 0.274721024229, 0.447213148287}}),
      Case("rows", Norm(true, 0.5, 0.25), KnownInputs(kRows),
           {{-2.37556984696, 0.666666666667, -0.625189948987, -0.333333333333, 1.12518994899,
             2.33333333333, 2.87556984696, 1.33333333333},
            {0.25, -0.5},
            {4.5, 5.83333333333},
            {-0.5, 1},
            {0.291729982996, 0.333333333333}}),
      Case("frozen", Norm(false), KnownInputs(kImages),
           {{-10.7499450004, 3.24998500011, 1.499999375, -1.99999625001, -3.9999800006,
             -7.999900003, 7.24996500026, -0.749995000037, 2.499998125, -0.999997500005,
             -5.9999400018, -9.9998600042}}),
      // The results are the same, but clipped.
      Case("frozen, clipped", ClippedNorm(false, 0, 6), KnownInputs(kImages),
           {{0, 3.24998500011, 1.499999375, 0, 0, 0, 6, 0, 2.499998125, 0, 0, 0}}),
      Case("clipped from above", ClippedNorm(true, BatchNormAttributes().min, 2),
           KnownInputs(kImages),
           {{-2.88922598655, 1.29640866218, 1.68680256057, -0.236244609031, -2.32918027757,
             -3.22360657414, 2, 0.100513048259, 2, 0.313197439427, -2.77639342586, -3.67081972243},
            {0.475, -0.85, 1.6},
            {2.39166666667, 5.36666666667, 0.891666666667},
            {0.25, 0.5, -2},
            {0.298973903481, 0.274721024229, 0.447213148287}}),
      Case("random images, clipped", ClippedNorm(true, 0), RandomInputs({2, 3, 3, 2})),
      // The results are worked out by hand: one element does not differ from its mean, and its
      // variance is 0.
      Case("one element", Norm(true, 0.25),
           {Given({1, 2, 1}, {7, -3}), Statistic({2}, {2, 3}), Statistic({2}, {5, -1}),
            Statistic({2}, {1, 2}), Statistic({2}, {1, 10})},
           {{5, -1}, {1.6, 1.5}, {0.9, 9}, {7, -3}, {2, 2}}),
      Case("one channel", Norm(true), RandomInputs({3, 1, 2, 2})),
      Case("random images", Norm(true, 1e-3, 1), RandomInputs({2, 3, 3, 2})),
      Case("random volumes", Norm(true, 1e-3, 0), RandomInputs({2, 2, 2, 1, 2})),
      Case("random rows, frozen", Norm(false), RandomInputs({5, 3})),
      Refused("no channels", 0, Uniform({3}), "[N, channels, …]"),
      Refused("channels depend on the batch", 0, Uniform({3, kBatchDim}), "[3, N]"),
      Refused("integers", 0, Integers({2, 3, 4}, DType::kU8, 0, 9), "floating-point"),
      Refused("scale too long", 1, Uniform({4}), "`scale` must be f64[3]"),
      Refused("shift too long", 2, Uniform({4}), "`shift` must be f64[3]"),
      Refused("mean of another type", 3, Given({3}, {}, DType::kF32),
              "`running_mean` must be f64[3] for an input f64[2, 3, 4], not f32[3]"),
      Refused("variance too short", 4, Uniform({2}), "`running_var` must be f64[3]"),
  };
  // With one element a channel, dx is 0 in exact arithmetic.
  std::ranges::find(cases, "one element", &OpCase::name)->gradient_inputs = {2};
  OpCase momentum = Case("momentum beyond 1", Norm(true, 1e-5, 1.5), RandomInputs({2, 3}));
  momentum.error = "`momentum`";
  cases.push_back(std::move(momentum));
  return cases;
}

std::vector<OpCase> batch_norm_apply() {
  const std::vector<CaseInput> known = KnownInputs(kImages);
  std::vector<CaseInput> other_mean = {Uniform({2, 3, 2}), Uniform({3}), Uniform({3}),
                                       AtLeastF32(Uniform({2})), AtLeastF32(Uniform({3}))};
  return {
      {"images, clipped",
       ClippedNorm(true, 0),
       {known[0], known[1], known[2], ImageMean(), ImageDeviation()},
       {{0, 1.29640866218, 1.68680256057, 0, 0, 0, 2.49230427611, 0.100513048259, 2.23624460903,
         0.313197439427, 0, 0}}},
      // The statistics are those that batch_norm gives for these inputs.
      {"images",
       Norm(true),
       {known[0], known[1], known[2], ImageMean(), ImageDeviation()},
       {{-2.88922598655, 1.29640866218, 1.68680256057, -0.236244609031, -2.32918027757,
         -3.22360657414, 2.49230427611, 0.100513048259, 2.23624460903, 0.313197439427,
         -2.77639342586, -3.67081972243}}},
      {"random rows", Norm(true), RandomInputs({5, 3})},
      {"random volumes", Norm(true), RandomInputs({2, 2, 2, 1, 2})},
      {"mean too short",
       Norm(true),
       std::move(other_mean),
       {},
       {},
       true,
       "`mean` must be f64[3] for an input f64[2, 3, 2]"},
  };
}

std::vector<OpCase> batch_norm_grad() {
  const std::vector<CaseInput> known = KnownInputs(kImages);
  const CaseInput dy = Pattern(kImages, 4, 9);
  const auto random = [](Shape x, bool training, std::string name) {
    const Shape channels = {x[1]};
    return OpCase{std::move(name),
                  Norm(training),
                  {Uniform(x), Uniform(x), AtLeastF32(Uniform(channels)),
                   AtLeastF32(Uniform(channels)), AtLeastF32(Uniform(channels, 0.5, 2))}};
  };
  const auto clipped = [&](Shape x, bool training, std::string name) {
    OpCase result = random(x, training, std::move(name));
    result.attributes = ClippedNorm(training, -0.5, 0.75);
    result.inputs.push_back(AtLeastF32(Uniform({x[1]})));
    return result;
  };
  OpCase no_shift = random({2, 3, 2}, true, "clipped, without the shift");
  no_shift.attributes = ClippedNorm(true, 0);
  no_shift.error = "`shift` is needed";
  OpCase other_dy = random({2, 3, 2}, true, "gradient of another shape");
  other_dy.inputs[1] = Uniform({2, 3, 1});
  other_dy.error = "`dy` must be f64[2, 3, 2]";
  OpCase other_mean = random({2, 3, 2}, true, "mean of another shape");
  other_mean.inputs[3] = Uniform({2});
  other_mean.error = "`mean` must be f64[3]";
  return {
      {"images",
       Norm(true),
       {known[0], dy, known[1], ImageMean(), ImageDeviation()},
       {{0.40753801199, 0.0634699316573, -0.723086753054, -0.401714194723, 0.424852423791,
         -0.737901672313, 0.47769145753, -0.948699401178, 0.401714194723, 0.723086753054,
         -0.268327911333, 0.581377159855},
        {8.74498667682, -7.96690970264, -0.447213148287},
        {-5, 0, 5}}},
      {"frozen",
       Norm(false),
       {known[0], dy, known[1], known[3], known[4]},
       {{-7.9999600003, 0, -1.9999975, 0.499999375001, 2.9999400018, -1.9999600012, 3.99998000015,
         -5.99997000022, -0.499999375001, 1.9999975, 0, 3.9999200024},
        {30.4998475011, -14.499981875, -41.9991600252},
        {-5, 0, 5}}},
      {"images, clipped",
       ClippedNorm(true, 0),
       {known[0], dy, known[1], ImageMean(), ImageDeviation(), known[2]}},
      clipped({2, 3, 2, 2}, true, "random images, clipped"),
      clipped({5, 3}, false, "random rows, frozen and clipped"),
      std::move(no_shift),
      random({4, 2}, true, "random rows"),
      random({2, 3, 2, 2}, true, "random images"),
      random({2, 1, 3}, false, "random rows of one channel, frozen"),
      std::move(other_dy),
      std::move(other_mean),
  };
}

// The results are those of batch_norm with (5·i mod 7) − 3 added at element i.
std::vector<OpCase> batch_norm_add() {
  const auto with_addend = [](std::vector<CaseInput> inputs, CaseInput addend) {
    inputs.insert(inputs.begin() + 1, std::move(addend));
    return inputs;
  };
  const auto add = [&](std::string name, Attributes attributes, std::vector<CaseInput> inputs,
                       std::vector<std::vector<double>> expected = {}) {
    OpCase result =
        Case(std::move(name), std::move(attributes), std::move(inputs), std::move(expected));
    result.gradient_inputs = {0, 1, 2, 3};
    return result;
  };
  const auto random = [&](const Shape& x) { return with_addend(RandomInputs(x), Uniform(x)); };
  OpCase frozen = add("frozen", Norm(false), random({2, 3}));
  frozen.error = "is for training";
  OpCase other = add("addend of another shape", Norm(true), random({2, 3, 4}));
  other.inputs[1] = Uniform({2, 3, 1});
  other.error = "`addend` must be f64[2, 3, 4]";
  OpCase short_shift = add("shift too short", Norm(true), random({2, 3, 4}));
  short_shift.inputs[3] = Uniform({2});
  short_shift.error = "`shift` must be f64[3]";
  return {
      add("images", ClippedNorm(true, 0), with_addend(KnownInputs(kImages), Pattern(kImages, 5, 7)),
          {{0, 3.29640866218, 1.68680256057, 0, 0.67081972243, 0, 1.49230427611, 0, 4.23624460903,
            0.313197439427, 0, 0},
           {0.475, -0.85, 1.6},
           {2.39166666667, 5.36666666667, 0.891666666667},
           {0.25, 0.5, -2},
           {0.298973903481, 0.274721024229, 0.447213148287}}),
      add("images, not clipped", Norm(true),
          with_addend(KnownInputs(kImages), Pattern(kImages, 5, 7)),
          {{-5.88922598655, 3.29640866218, 1.68680256057, -2.23624460903, 0.67081972243,
            -2.22360657414, 1.49230427611, -2.89948695174, 4.23624460903, 0.313197439427,
            -4.77639342586, -0.67081972243}}),
      add("random images", ClippedNorm(true, -0.5, 0.75), random({2, 3, 3, 2})),
      add("random rows", Norm(true), random({5, 3})),
      std::move(frozen),
      std::move(other),
      std::move(short_shift),
  };
}

std::vector<OpCase> batch_norm_add_apply() {
  const std::vector<CaseInput> known = KnownInputs(kImages);
  const std::vector<CaseInput> of_known = {known[0],    Pattern(kImages, 5, 7), known[1], known[2],
                                           ImageMean(), ImageDeviation()};
  std::vector<CaseInput> other_addend = of_known;
  other_addend[1] = Uniform({2, 3});
  return {
      {"images",
       ClippedNorm(true, 0),
       of_known,
       {{0, 3.29640866218, 1.68680256057, 0, 0.67081972243, 0, 1.49230427611, 0, 4.23624460903,
         0.313197439427, 0, 0}}},
      {"images, not clipped",
       Norm(true),
       of_known,
       {{-5.88922598655, 3.29640866218, 1.68680256057, -2.23624460903, 0.67081972243,
         -2.22360657414, 1.49230427611, -2.89948695174, 4.23624460903, 0.313197439427,
         -4.77639342586, -0.67081972243}}},
      {"addend of another shape",
       Norm(true),
       std::move(other_addend),
       {},
       {},
       true,
       "`addend` must be f64[2, 3, 1, 2]"},
  };
}

// The gradient that batch_norm_grad has known results for is what is let through here.
std::vector<OpCase> batch_norm_add_grad() {
  const std::vector<CaseInput> known = KnownInputs(kImages);
  const auto random = [](const Shape& x, std::string name) {
    const CaseInput of_channels = AtLeastF32(Uniform({x[1]}));
    return OpCase{std::move(name),
                  ClippedNorm(true, 0),
                  {Uniform(x), Uniform(x), of_channels, of_channels,
                   AtLeastF32(Uniform({x[1]}, 0.5, 2)), Uniform(x)}};
  };
  OpCase two_parts = random({2, 3, 2, 2}, "random images, in two parts");
  two_parts.inputs.push_back(Uniform({2, 3, 2, 2}));
  OpCase not_clipped = random({2, 3}, "not clipped");
  not_clipped.attributes = Norm(true);
  not_clipped.error = "for results that are clipped";
  OpCase other_y = random({2, 3, 2}, "result of another shape");
  other_y.inputs[5] = Uniform({2, 3, 1});
  other_y.error = "`y` must be f64[2, 3, 2]";
  return {
      {"images",
       ClippedNorm(true, 0),
       {known[0], Pattern(kImages, 4, 9), known[1], ImageMean(), ImageDeviation(),
        Uniform(kImages, 1, 2)},
       {{0.40753801199, 0.0634699316573, -0.723086753054, -0.401714194723, 0.424852423791,
         -0.737901672313, 0.47769145753, -0.948699401178, 0.401714194723, 0.723086753054,
         -0.268327911333, 0.581377159855},
        {8.74498667682, -7.96690970264, -0.447213148287},
        {-5, 0, 5},
        {-4, 0, 4, -1, 3, -2, 2, -3, 1, -4, 0, 4}}},
      random({5, 3}, "random rows"),
      random({2, 3, 2, 2}, "random images"),
      std::move(two_parts),
      std::move(not_clipped),
      std::move(other_y),
  };
}

}  // namespace cgrun::op_cases
