// Cases of adamw, rmsprop and adagrad. Known results: three steps of PyTorch's AdamW, RMSprop and
// Adagrad.
#include <limits>

#include "src/ops/optimizer.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

CaseInput Rate(double rate) {
  CaseInput input = Fixed({}, DType::kF64, rate, rate);
  input.values = {rate};
  return input;
}

CaseInput Vector(Values values) { return Given({3}, std::move(values)); }

const std::vector<Values> kGradients = {{0.1, -0.2, 0.3}, {0.4, 0.5, -0.6}, {-0.7, 0.8, 0.9}};

// Holds the parameter and the states, before the first step or after one.
using State = std::vector<Values>;

// A case a step. `states` has the one before the first step, too.
std::vector<OpCase> Steps(const std::string& name, const Attributes& attributes, double rate,
                          const std::vector<State>& states, bool counts) {
  std::vector<OpCase> cases;
  for (size_t t = 0; t + 1 < states.size(); ++t) {
    std::vector<CaseInput> inputs = {Vector(states[t][0]), Vector(kGradients[t]), Rate(rate)};
    for (size_t i = 1; i < states[t].size(); ++i) inputs.push_back(Vector(states[t][i]));
    if (counts) inputs.push_back(Step(static_cast<int64_t>(t)));
    cases.push_back({.name = name + ", step " + std::to_string(t + 1),
                     .attributes = attributes,
                     .inputs = std::move(inputs),
                     .expected = states[t + 1]});
  }
  return cases;
}

// The states are several vectors, in memory for two threads.
OpCase Large(const Attributes& attributes, int states, bool counts) {
  const Shape shape = {5, 2003};
  OpCase large = {.name = "for two threads",
                  .attributes = attributes,
                  .inputs = {Uniform(shape), Uniform(shape), Rate(0.1)}};
  for (int s = 0; s < states; ++s) large.inputs.push_back(Uniform(shape, 0.5, 2));
  if (counts) large.inputs.push_back(Step(7));
  return large;
}

void Append(std::vector<OpCase>& cases, std::vector<OpCase> more) {
  for (OpCase& one : more) cases.push_back(std::move(one));
}

const Values kStart = {1, -2, 0.5};
const Values kZero = {0, 0, 0};

AdamwAttributes OtherAdamw() {
  AdamwAttributes attributes;
  attributes.beta1 = 0.5;
  attributes.beta2 = 0.99;
  attributes.epsilon = 1e-3;
  attributes.weight_decay = 0.1;
  return attributes;
}

RmspropAttributes Rmsprop(double alpha, double momentum, bool centered, double epsilon = 1e-8) {
  RmspropAttributes attributes;
  attributes.alpha = alpha;
  attributes.momentum = momentum;
  attributes.centered = centered;
  attributes.epsilon = epsilon;
  return attributes;
}

AdagradAttributes OtherAdagrad() {
  AdagradAttributes attributes;
  attributes.lr_decay = 0.5;
  attributes.weight_decay = 0.01;
  attributes.initial_accumulator = 0.1;
  attributes.epsilon = 1e-3;
  return attributes;
}

}  // namespace

std::vector<OpCase> adamw() {
  std::vector<OpCase> cases = Steps(
      "defaults", Attributes::Of(AdamwAttributes()), 0.001,
      {{kStart, kZero, kZero},
       {{0.9989900001, -1.99898000005, 0.498995000033}, {0.01, -0.02, 0.03}, {1e-05, 4e-05, 9e-05}},
       {{0.99809563374, -1.9994022255, 0.499356113603},
        {0.049, 0.032, -0.033},
        {0.00016999, 0.00028996, 0.00044991}},
       {{0.998289338777, -2.00010307106, 0.499007878967},
        {-0.0259, 0.1088, 0.0603},
        {0.00065982001, 0.00092967004, 0.00125946009}}},
      true);
  Append(cases, Steps("other attributes", Attributes::Of(OtherAdamw()), 0.1,
                      {{kStart, kZero, kZero},
                       {{0.89099009901, -1.88049751244, 0.395332225914},
                        {0.05, -0.1, 0.15},
                        {0.0001, 0.0004, 0.0009}},
                       {{0.77975859985, -1.93141280366, 0.454396673572},
                        {0.225, 0.2, -0.225},
                        {0.001699, 0.002896, 0.004491}},
                       {{0.829497091922, -2.0142161736, 0.390597112274},
                        {-0.2375, 0.5, 0.3375},
                        {0.00658201, 0.00926704, 0.01254609}}},
                      true));
  AdamwAttributes scaled = OtherAdamw(), wrong;
  scaled.learning_rate_scale = 0.5;
  wrong.beta2 = 1;
  const CaseInput w = Vector(kStart), g = Vector(kGradients[0]), zero = Vector(kZero);
  Append(cases, {{"scaled rate",
                  Attributes::Of(scaled),
                  {w, g, Rate(0.2), zero, zero, Step(0)},
                  {{0.89099009901, -1.88049751244, 0.395332225914}}},
                 {"random",
                  Attributes::Of(AdamwAttributes()),
                  {Uniform({3, 4}), Uniform({3, 4}), Rate(0.01), Uniform({3, 4}),
                   Uniform({3, 4}, 0.1, 1), Step(7)}},
                 Large(Attributes::Of(OtherAdamw()), 2, true),
                 Refused("beta2", Attributes::Of(wrong), {w, g, Rate(0.1), zero, zero, Step(0)},
                         "`beta2` must be less than 1"),
                 Refused("no step", Attributes::Of(AdamwAttributes()),
                         {w, g, Rate(0.1), zero, zero, Rate(0)}, "step counter")});
  return cases;
}

std::vector<OpCase> rmsprop() {
  std::vector<OpCase> cases = Steps(
      "defaults", Attributes::Of(RmspropAttributes()), 0.01,
      {{kStart, kZero},
       {{0.9000001, -1.90000005, 0.400000033333}, {0.0001, 0.0004, 0.0009}},
       {{0.802957327331, -1.99291180102, 0.48953231618}, {0.001699, 0.002896, 0.004491}},
       {{0.889239032142, -2.0760153217, 0.409181873954}, {0.00658201, 0.00926704, 0.01254609}}},
      false);
  RmspropAttributes momentum = Rmsprop(0.9, 0.5, false, 1e-3);
  momentum.weight_decay = 0.01;
  Append(cases, Steps("momentum, weight decay", Attributes::Of(momentum), 0.1,
                      {{kStart, kZero, kZero},
                       {{0.692609101009, -1.68825327805, 0.187017277496},
                        {0.00121, 0.00484, 0.0093025},
                        {3.07390898991, -3.11746721951, 3.12982722504}},
                       {{0.234886562434, -1.82094280399, 0.313845780786},
                        {0.0176478843545, 0.0276962487133, 0.0441481790216},
                        {4.57722538575, 1.3268952594, -1.2682850329}},
                       {{0.279532050873, -2.15289876408, 0.118688884177},
                        {0.0645548064486, 0.0860462736825, 0.121299268517},
                        {-0.446454884394, 3.31955960092, 1.95156896609}}},
                      false));
  Append(cases, Steps("centered", Attributes::Of(Rmsprop(0.9, 0, true, 1e-3)), 0.1,
                      {{kStart, kZero, kZero},
                       {{0.677419354839, -1.67213114754, 0.17032967033},
                        {0.001, 0.004, 0.009},
                        {0.01, -0.02, 0.03}},
                       {{0.347962068476, -1.97142440237, 0.45825006353},
                        {0.0169, 0.0286, 0.0441},
                        {0.049, 0.032, -0.033}},
                       {{0.624565585559, -2.25702618059, 0.195959890731},
                        {0.06421, 0.08974, 0.12069},
                        {-0.0259, 0.1088, 0.0603}}},
                      false));
  Append(cases, Steps("centered, momentum", Attributes::Of(Rmsprop(0.8, 0.9, true)), 0.1,
                      {{kStart, kZero, kZero, kZero},
                       {{0.7500000625, -1.75000003125, 0.250000020833},
                        {0.002, 0.008, 0.018},
                        {0.02, -0.04, 0.06},
                        {2.499999375, -2.4999996875, 2.49999979167}},
                       {{0.268842375365, -1.74473834782, 0.235538012462},
                        {0.0336, 0.0564, 0.0864},
                        {0.096, 0.068, -0.072},
                        {4.81157687135, -0.0526168342742, 0.144620083711}},
                       {{0.0371313662009, -1.96435345788, 0.0289349797868},
                        {0.12488, 0.17312, 0.23112},
                        {-0.0632, 0.2144, 0.1224},
                        {2.31711009164, 2.19615110053, 2.06603032675}}},
                      false));
  const CaseInput w = Vector(kStart), g = Vector(kGradients[0]), zero = Vector(kZero);
  const Shape shape = {3, 4};
  Append(cases,
         {// The numbers are worked out by hand: v' = 0.5, m' = 1; the step is 1 / 0.5.
          {"v less than m squared",
           Attributes::Of(Rmsprop(0.5, 0, true, 0.5)),
           {w, Vector({1, 1, 1}), Rate(0.1), zero, Vector({1, 1, 1})},
           {{0.8, -2.2, 0.3}, {0.5, 0.5, 0.5}, {1, 1, 1}}},
          {"an infinite parameter does not reach the state",
           Attributes::Of(Rmsprop(0.99, 0, false)),
           {Vector({kInfinity, -2, 0.5}), g, Rate(0.1), zero},
           {{kInfinity, -1.0000005, -0.49999966667}, {0.0001, 0.0004, 0.0009}}},
          {"random",
           Attributes::Of(Rmsprop(0.9, 0.5, true, 1e-3)),
           {Uniform(shape), Uniform(shape), Rate(0.01), Uniform(shape, 0.5, 1),
            Uniform(shape, -0.3, 0.3), Uniform(shape)}},
          Large(Attributes::Of(RmspropAttributes()), 1, false),
          Refused("alpha", Attributes::Of(Rmsprop(1, 0, false)), {w, g, Rate(0.1), zero},
                  "`alpha` must be less than 1"),
          Refused("negative momentum", Attributes::Of(Rmsprop(0.9, -1, false)),
                  {w, g, Rate(0.1), zero}, "`momentum` must be at least 0"),
          Refused("state missing", Attributes::Of(Rmsprop(0.9, 0.5, true)),
                  {w, g, Rate(0.1), zero, zero}, "3 states"),
          Refused("state of another shape", Attributes::Of(Rmsprop(0.9, 0, false)),
                  {w, g, Rate(0.1), Uniform({2})}, "1 states")});
  return cases;
}

std::vector<OpCase> adagrad() {
  std::vector<OpCase> cases =
      Steps("defaults", Attributes::Of(AdagradAttributes()), 0.01,
            {{kStart, kZero},
             {{0.99000000001, -1.99, 0.490000000003}, {0.01, 0.04, 0.09}},
             {{0.980298575011, -1.99928476691, 0.498944271912}, {0.17, 0.29, 0.45}},
             {{0.988914979378, -2.00758038047, 0.490926434655}, {0.66, 0.93, 1.26}}},
            true);
  Append(cases,
         Steps("other attributes", Attributes::Of(OtherAdagrad()), 0.1,
               {{kStart, {0.1, 0.1, 0.1}},
                {{0.967243711457, -1.94303870966, 0.430736301169}, {0.1121, 0.1484, 0.193025}},
                {{0.915720902611, -1.99497155048, 0.484316460626},
                 {0.279931505731, 0.379347152846, 0.547874717762}},
                {{0.95537120317, -2.03417422734, 0.445648724942},
                 {0.757195267572, 0.987825599187, 1.3666158703}}},
               true));
  AdagradAttributes negative;
  negative.lr_decay = -1;
  const CaseInput w = Vector(kStart), g = Vector(kGradients[0]), zero = Vector(kZero);
  const Attributes defaults = Attributes::Of(AdagradAttributes());
  Append(cases, {{"an infinite parameter does not reach the state",
                  defaults,
                  {Vector({kInfinity, -2, 0.5}), g, Rate(0.01), zero, Step(0)},
                  {{kInfinity, -1.99, 0.490000000003}, {0.01, 0.04, 0.09}}},
                 {"random",
                  defaults,
                  {Uniform({3, 4}), Uniform({3, 4}), Rate(0.01), Uniform({3, 4}, 0.1, 1), Step(7)}},
                 Large(defaults, 1, true),
                 Refused("negative decay", Attributes::Of(negative),
                         {w, g, Rate(0.1), zero, Step(0)}, "`lr_decay` must be at least 0"),
                 Refused("no step", defaults, {w, g, Rate(0.1), zero, Rate(0)}, "step counter"),
                 Refused("state of another shape", defaults,
                         {w, g, Rate(0.1), Uniform({2}), Step(0)}, "1 states")});
  return cases;
}

}  // namespace cgrun::op_cases
