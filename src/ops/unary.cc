// Defines neg, exp, log, sqrt, erf: functions of one number whose gradients are made of the
// arithmetic operators.
#include <numbers>

#include "src/ops/builders.h"
#include "src/ops/fill.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

constexpr std::string_view kInfiniteAtZero =
    "its gradient at 0 is infinite: `clip` with `min: 1.0e-7`, say, keeps what it reads above";

void NegGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(OpId::neg, Attributes(), {context.output_gradient(0)}, "dx"));
}

void ExpGradient(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(OpId::mul, Attributes(),
                                           {context.output_gradient(0), context.output(0)}, "dx"));
}

void LogGradient(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(OpId::div, Attributes(),
                                           {context.output_gradient(0), context.input(0)}, "dx"));
}

// dx = dy / 2y.
void SqrtGradient(GradientContext& context) {
  const ValueId twice =
      context.Emit(OpId::add, Attributes(), {context.output(0), context.output(0)}, "2y");
  context.SetInputGradient(
      0, context.Emit(OpId::div, Attributes(), {context.output_gradient(0), twice}, "dx"));
}

// dx = dy·2/√π·e^(−x²).
void ErfGradient(GradientContext& context) {
  const ValueId x = context.input(0);
  const auto emit = [&](OpId op, std::vector<ValueId> inputs, const char* name) {
    return context.Emit(op, Attributes(), std::move(inputs), name);
  };
  const ValueId square = emit(OpId::mul, {x, x}, "square");
  const ValueId bell = emit(OpId::exp, {emit(OpId::neg, {square}, "minus_square")}, "bell");
  const ValueId factor = context.Emit(
      OpId::fill, Attributes::Of(FillAttributes{2 * std::numbers::inv_sqrtpi}), {x}, "factor");
  const ValueId slope = emit(OpId::mul, {bell, factor}, "slope");
  context.SetInputGradient(0, emit(OpId::mul, {context.output_gradient(0), slope}, "dx"));
}

}  // namespace

OpDef neg() {
  OpDef def = ElementwiseOp({"neg", "Takes the negative of each element.",
                             "y = -x: the sign is flipped, of 0 too. Integers wrap around. ONNX "
                             "Neg."},
                            NegGradient);
  def.infer = InferSameNumbers;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef exp() {
  OpDef def = ElementwiseOp({"exp", "Takes the exponential of each element.", "y = e^x. ONNX Exp."},
                            ExpGradient);
  constexpr std::string_view kHelp =
      "beyond 88 it is more than f32 holds: `clip` with `max: 80`, say, keeps what it reads below";
  def.finite_help = {kHelp, kHelp};
  return def;
}

OpDef log() {
  OpDef def = ElementwiseOp({"log", "Takes the natural logarithm of each element.",
                             "y = ln x: -inf for 0, NaN for what is negative. ONNX Log."},
                            LogGradient);
  def.finite_help = {
      "it takes numbers above 0: `clip` with `min: 1.0e-7`, say, keeps what it reads there",
      kInfiniteAtZero};
  return def;
}

OpDef sqrt() {
  OpDef def = ElementwiseOp(
      {"sqrt", "Takes the square root of each element.",
       "y = √x: NaN for what is negative; -0 for -0. The gradient at 0 is infinite. ONNX Sqrt."},
      SqrtGradient);
  def.finite_help = {"it takes no numbers below 0: `clip` with `min: 0` keeps what it reads there",
                     kInfiniteAtZero};
  return def;
}

OpDef erf() {
  OpDef def = ElementwiseOp({"erf", "Takes the error function of each element.",
                             "y = 2/√π·∫ e^(-t²) dt from 0 to x. ONNX Erf."},
                            ErfGradient);
  def.bounded = true;
  return def;
}

}  // namespace cgrun::op_def
