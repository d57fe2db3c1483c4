// Cases of layer_norm and its gradient. Known results: PyTorch's layer_norm in f64.
#include "src/ops/layer_norm.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Norm(int64_t axis, bool affine = true, double epsilon = 1e-5) {
  return Attributes::Of(LayerNormAttributes{axis, epsilon, affine});
}

CaseInput X() { return Given({2, 2, 3}, {-2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5}); }
CaseInput Dy() { return Given({2, 2, 3}, {-2, 0, 2, -0.5, 1.5, -1, 1, -1.5, 0.5, -2, 0, 2}); }
CaseInput RowScale() { return Given({3}, {2, -1, 0.5}); }
CaseInput RowShift() { return Given({3}, {0.25, 1, -3}); }
CaseInput ImageScale() { return Given({2, 3}, {1, 2, -1, 0.5, 3, -2}); }
CaseInput ImageShift() { return Given({2, 3}, {0, 1, 2, 3, 4, 5}); }
CaseInput RowMean() { return AtLeastF32(Given({2, 2}, {-0.833333333333, 0.5, 0, -0.5})); }
CaseInput RowInverse() {
  return AtLeastF32(
      Given({2, 2}, {0.697484135882, 0.612371287501, 0.612371287501, 0.612371287501}));
}

// A gradient flows through y alone.
OpCase Case(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
            std::vector<std::vector<double>> expected = {}) {
  return {.name = std::move(name),
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .expected = std::move(expected),
          .gradient_outputs = {0}};
}

}  // namespace

std::vector<OpCase> layer_norm() {
  std::vector<OpCase> cases = {
      Case("last axis", Norm(-1), {X(), RowScale(), RowShift()},
           {{-2.07494711961, -0.278720915784, -3.05812367799, 2.69948515, 1, -3.6123712875,
             2.69948515, 1, -3.6123712875, 2.69948515, 1, -3.6123712875},
            RowMean().values,
            RowInverse().values}),
      Case("two axes", Norm(1, true, 0.25), {X(), ImageScale(), ImageShift()},
           {{-1.33484762494, 2.33484762494, 2.47673129462, 3.7627700714, 5.14415510709,
             6.52554014279, 1.30357228388, 1.28968272975, 3.01388955413, 3.50694477706,
             3.56547590537, 7.60714456776},
            {-0.166666666667, -0.25},
            {0.572077553547, 0.579365459502}}),
      Case("not affine", Norm(2, false), {X()},
           {{-1.1624735598, 1.27872091578, -0.11624735598, 1.224742575, 0, -1.224742575,
             1.224742575, 0, -1.224742575, 1.224742575, 0, -1.224742575}}),
      // The results are worked out by hand: one element does not differ from its mean.
      Case("one element", Norm(1, true, 0.25),
           {Given({2, 1}, {7, -3}), Given({1}, {2}), Given({1}, {5})}, {{5, 5}, {7, -3}, {2, 2}}),
      Case("special values", Norm(-1, false, 0),
           {Given({4, 2}, {kNaN, 1, kInfinity, 1, 2, 2, 1, -1})},
           {{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 1, -1},
            {kNaN, kInfinity, 2, 0},
            {kNaN, kNaN, kInfinity, 1}}),
      Case("random rows", Norm(-1, true, 1e-3), {Uniform({4, 5}), Uniform({5}), Uniform({5})}),
      Case("random sequences", Norm(-1), {Uniform({2, 3, 4}), Uniform({4}), Uniform({4})}),
      Case("random images", Norm(-3),
           {Uniform({2, 3, 2, 2}), Uniform({3, 2, 2}), Uniform({3, 2, 2})}),
      Case("large rows", Norm(-1), {Uniform({13, 1003}, 3, 7), Uniform({1003}), Uniform({1003})}),
      Case("random, not affine", Norm(1, false), {Uniform({3, 2, 3})}),
      Case("a vector", Norm(0), {Uniform({6}), Uniform({6}), Uniform({6})}),
      Refused("no such axis", Norm(2), {Uniform({2, 3}), Uniform({3}), Uniform({3})}, "axes [2]"),
      Refused("scalar", Norm(-1, false), {Uniform({})}, "[N, …, features]"),
      Refused("over the batch", Norm(0, false), {Uniform({kBatchDim, 3})},
              "cannot normalise over the batch"),
      Refused("integers", Norm(-1, false), {Integers({2, 3}, DType::kU8, 0, 9)}, "floating-point"),
      Refused("scale too long", Norm(-1), {Uniform({2, 3}), Uniform({4}), Uniform({3})},
              "`scale` must be f64[3] for an input f64[2, 3], not f64[4]"),
      Refused("shift of another shape", Norm(0), {Uniform({2, 3}), Uniform({2, 3}), Uniform({3})},
              "`shift` must be f64[2, 3]"),
      Refused("no shift", Norm(-1), {Uniform({2, 3}), Uniform({3})},
              "reads scale and shift exactly where it is affine"),
      Refused("scale for nothing", Norm(-1, false), {Uniform({2, 3}), Uniform({3}), Uniform({3})},
              "reads scale and shift exactly where it is affine"),
      Refused("epsilon below 0", Norm(-1, false, -1), {Uniform({2, 3})}, "`epsilon`"),
  };
  cases[3].gradient_inputs = {2};  // in exact arithmetic those of x and scale are 0
  cases[4].check_gradient = false;
  return cases;
}

std::vector<OpCase> layer_norm_grad() {
  return {
      {.name = "last axis",
       .attributes = Norm(-1),
       .inputs = {X(), Dy(), RowMean(), RowInverse(), RowScale()},
       .expected = {{-0.867148400143, -0.650350272371, 1.51749867251, 0.153092247779,
                     -0.30618564375, 0.153093395971, -0.0765444016018, 0.153092821875,
                     -0.0765484202733, -0.30619138471, 0.612371287501, -0.306179902791},
                    {0.487833257104, 0, -2.06960857446},
                    {-3.5, 0, 3.5}}},
      {.name = "two axes",
       .attributes = Norm(-2, true, 0.25),
       .inputs = {X(), Dy(), AtLeastF32(Given({2}, {-0.166666666667, -0.25})),
                  AtLeastF32(Given({2}, {0.572077553547, 0.579365459502})), ImageScale()},
       .expected = {{-0.921824966966, -0.432958693935, -1.20266303871, -0.856816154063,
                     2.23500298761, 1.17925986606, 0.601648746406, -1.09188105829, 0.980464623773,
                     -0.401099164271, 0.802198328542, -0.891331476157},
                    {3.97326753377, -0.217262047313, -1.46040736631, -2.79054917965, 0.572077553547,
                     -1.84437449636},
                    {-1, -1.5, 2.5, -2.5, 1.5, 1}}},
      {.name = "not affine",
       .attributes = Norm(-1, false),
       .inputs = {X(), Dy(), RowMean(), RowInverse()},
       .expected = {{-0.829443345224, -0.622077419194, 1.45152076442, -0.45927789153,
                     0.918556931251, -0.459279039721, 0.459279039721, -0.918556931251,
                     0.45927789153, -4.59276743325e-06, 0, 4.59276743325e-06}}},
      {.name = "random",
       .attributes = Norm(1),
       .inputs = {Uniform({3, 5}), Uniform({3, 5}), AtLeastF32(Uniform({3})),
                  AtLeastF32(Uniform({3}, 0.5, 2)), Uniform({5})}},
      {.name = "large rows",
       .attributes = Norm(1),
       .inputs = {Uniform({13, 1003}), Uniform({13, 1003}), AtLeastF32(Uniform({13}, -0.1, 0.1)),
                  AtLeastF32(Uniform({13}, 0.5, 2)), Uniform({1003})}},
      {.name = "NaN in one row",
       .attributes = Norm(1),
       .inputs = {Given({2, 2}, {1, -1, 1, kNaN}), Given({2, 2}, {1, 2, 3, 4}),
                  AtLeastF32(Given({2}, {0, kNaN})), AtLeastF32(Given({2}, {1, kNaN})),
                  Given({2}, {1, 1})},
       .expected = {{0, 0, kNaN, kNaN}, {kNaN, kNaN}, {4, 6}}},
      Refused("gradient of another shape", Norm(-1, false),
              {Uniform({2, 3}), Uniform({2, 4}), Uniform({2}), Uniform({2})}, "`dy` must be"),
      Refused("mean of another shape", Norm(-1, false),
              {Uniform({2, 3}), Uniform({2, 3}), Uniform({3}), Uniform({2})},
              "`mean` must be f64[2]"),
      Refused("no scale", Norm(-1), {Uniform({2, 3}), Uniform({2, 3}), Uniform({2}), Uniform({2})},
              "reads scale exactly where it is affine"),
  };
}

}  // namespace cgrun::op_cases
