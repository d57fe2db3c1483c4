// Cases of random_normal, random_uniform and random_mix. Known numbers: Philox4x32-10 and
// Box-Muller written out in Python.
#include "src/ops/random.h"

#include "src/ops/random_mix.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Normal(Shape shape, double mean = 0, double deviation = 1, DType dtype = DType::kF64,
                  int64_t key = 5) {
  return Attributes::Of(RandomNormalAttributes{std::move(shape), mean, deviation, dtype, key});
}

Attributes Uniformly(Shape shape, double low = 0, double high = 1, DType dtype = DType::kF64,
                     int64_t key = 5) {
  return Attributes::Of(RandomUniformAttributes{std::move(shape), low, high, dtype, key});
}

}  // namespace

std::vector<OpCase> random_normal() {
  const std::vector<double> first = {
      -0.757278902224, 0.322988758751, -0.955238026706, 2.01688538494,  -1.83113239873,
      -1.11625949278,  0.596307225332, 0.693367684361,  0.371456467784, 0.22524344734};
  return {
      {"known, step 3", Normal({2, 5}), {Step(3)}, {first}},
      {"known, step 4",
       Normal({5}),
       {Step(4)},
       {{-0.0846120701554, 1.63425193975, -0.411143543618, 0.737728458127, -0.704568047633}}},
      {"another key",
       Normal({5}, 0, 1, DType::kF64, 6),
       {Step(3)},
       {{1.92319987762, -1.62755747733, -1.64447776584, 1.02988431628, 0.642682019106}}},
      {"mean and deviation",
       Normal({5}, 1, 0.5),
       {Step(3)},
       {{0.621360548888, 1.16149437938, 0.522380986647, 2.00844269247, 0.0844338006329}}},
      {"no deviation", Normal({3}, -2, 0), {Step(3)}, {{-2, -2, -2}}},
      {"f32", Normal({2, 5}, 0, 1, DType::kF32), {Step(3)}, {first}},
      {"bf16",
       Normal({5}, 0, 1, DType::kBF16),
       {Step(3)},
       {{-0.7578125, 0.322265625, -0.95703125, 2.015625, -1.828125}}},
      {"scalar", Normal({}), {Step(3)}, {{first[0]}}},
      Refused("integers", Normal({2}, 0, 1, DType::kI32), {Step(0)}, "`dtype` must be floating"),
      Refused("negative deviation", Normal({2}, 0, -1), {Step(0)}, "`deviation` must be at least"),
      Refused("size 0", Normal({kBatchDim, 0}), {Step(0)},
              "[N, 0] has a size that is not positive"),
      Refused("open size", Normal({kBatchDim, -1}), {Step(0)}, "not positive"),
      Refused("too large", Normal({int64_t{1} << 40, 1 << 20}), {Step(0)}, "too large"),
      Refused("without a step", Normal({2}), {}, "takes 1 input, not 0"),
      Refused("step of another type", Normal({2}), {Uniform({})}, "needs the step counter"),
  };
}

std::vector<OpCase> random_mix() {
  const Attributes mix = Attributes::Of(RandomMixAttributes{5});
  // The results use the first two numbers of random_uniform, 0.186… and 0.317…, one for each
  // sample.
  return {
      {.name = "one number a sample",
       .attributes = mix,
       .inputs = {Given({2, 2}, {1, 0, 1, 2}), Given({2, 2}, {0, 1, 0, -2}), Step(3)},
       .expected = {{0.186110675335, 0.813889324665, 0.317751765251, -0.728992938996}}},
      {.name = "random", .attributes = mix, .inputs = {Uniform({3, 4}), Uniform({3, 4}), Step(7)}},
      Refused("shapes differ", mix, {Uniform({3}), Uniform({4}), Step(0)}, "inputs differ"),
      Refused("scalars", mix, {Uniform({}), Uniform({}), Step(0)}, "needs samples"),
      Refused("integers", mix,
              {Integers({2}, DType::kI32, 0, 1), Integers({2}, DType::kI32, 0, 1), Step(0)},
              "floating-point"),
      Refused("step of another type", mix, {Uniform({2}), Uniform({2}), Uniform({})},
              "needs the step counter"),
  };
}

std::vector<OpCase> random_uniform() {
  const std::vector<double> first = {
      0.186110675335, 0.317751765251,  0.608769416809, 0.197454869747, 0.326596200466,
      0.639773130417, 0.0309798121452, 0.888658225536, 0.105458796024, 0.415807127953};
  return {
      {"known, step 3", Uniformly({2, 5}), {Step(3)}, {first}},
      {"known, step 4",
       Uniformly({5}),
       {Step(4)},
       {{0.919609069824, 0.283131361008, 0.192158401012, 0.928136587143, 0.776593089104}}},
      {"low and high",
       Uniformly({5}, -2, 6),
       {Step(3)},
       {{-0.511114597321, 0.542014122009, 2.87015533447, -0.420361042023, 0.612769603729}}},
      {"f32", Uniformly({2, 5}, 0, 1, DType::kF32), {Step(3)}, {first}},
      {"bf16",
       Uniformly({5}, 0, 1, DType::kBF16),
       {Step(3)},
       {{0.1865234375, 0.318359375, 0.609375, 0.197265625, 0.326171875}}},
      Refused("low is high", Uniformly({2}, 1, 1), {Step(0)}, "1 is not less than 1"),
      Refused("integers", Uniformly({2}, 0, 9, DType::kU8), {Step(0)}, "`dtype` must be floating"),
      Refused("size 0", Uniformly({0}), {Step(0)}, "not positive"),
      Refused("step of another shape", Uniformly({2}), {Integers({1}, DType::kI64, 0, 1)},
              "needs the step counter"),
  };
}

}  // namespace cgrun::op_cases
