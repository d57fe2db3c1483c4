// Defines sin, cos, tan, the hyperbolic functions and their inverses. Their gradients are made of
// one another and of the arithmetic operators.
#include <utility>

#include "src/ops/builders.h"
#include "src/ops/fill.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

// Emits formulas of x, y and dy.
class SlopeWriter {
 public:
  explicit SlopeWriter(GradientContext& context) : context_(context) {}

  ValueId x() const { return context_.input(0); }
  ValueId y() const { return context_.output(0); }
  ValueId Of(OpId op, ValueId a) { return Emit(op, {a}); }
  ValueId Times(ValueId a, ValueId b) { return Emit(OpId::mul, {a, b}); }
  ValueId Plus(ValueId a, ValueId b) { return Emit(OpId::add, {a, b}); }
  ValueId Minus(ValueId a, ValueId b) { return Emit(OpId::sub, {a, b}); }
  ValueId One() {
    return context_.Emit(OpId::fill, Attributes::Of(FillAttributes{1}), {x()}, "one");
  }
  // (1 − x)(1 + x) keeps the digits that 1 − x² loses where x is near 1.
  ValueId OneMinusSquare() {
    const ValueId one = One();
    return Times(Minus(one, x()), Plus(one, x()));
  }
  ValueId OnePlusSquare(ValueId a) { return Plus(One(), Times(a, a)); }

  void SetProduct(ValueId slope) { Set(Times(context_.output_gradient(0), slope)); }
  void SetQuotient(ValueId divisor) { Set(Quotient(divisor)); }
  void SetNegative(ValueId gradient) { Set(Of(OpId::neg, gradient)); }
  ValueId Quotient(ValueId divisor) {
    return Emit(OpId::div, {context_.output_gradient(0), divisor});
  }

 private:
  ValueId Emit(OpId op, std::vector<ValueId> inputs) {
    return context_.Emit(op, Attributes(), std::move(inputs), NameOf(op));
  }
  void Set(ValueId gradient) { context_.SetInputGradient(0, gradient); }

  GradientContext& context_;
};

void SinGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetProduct(slope.Of(OpId::cos, slope.x()));
}

void CosGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetProduct(slope.Of(OpId::neg, slope.Of(OpId::sin, slope.x())));
}

void TanGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetProduct(slope.OnePlusSquare(slope.y()));
}

void AsinGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetQuotient(slope.Of(OpId::sqrt, slope.OneMinusSquare()));
}

void AcosGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetNegative(slope.Quotient(slope.Of(OpId::sqrt, slope.OneMinusSquare())));
}

void AtanGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetQuotient(slope.OnePlusSquare(slope.x()));
}

void SinhGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetProduct(slope.Of(OpId::cosh, slope.x()));
}

void CoshGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetProduct(slope.Of(OpId::sinh, slope.x()));
}

void AsinhGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetQuotient(slope.Of(OpId::sqrt, slope.OnePlusSquare(slope.x())));
}

void AcoshGradient(GradientContext& context) {
  SlopeWriter slope(context);
  const ValueId one = slope.One();
  const ValueId product = slope.Times(slope.Minus(slope.x(), one), slope.Plus(slope.x(), one));
  slope.SetQuotient(slope.Of(OpId::sqrt, product));
}

void AtanhGradient(GradientContext& context) {
  SlopeWriter slope(context);
  slope.SetQuotient(slope.OneMinusSquare());
}

}  // namespace

OpDef sin() {
  OpDef def = ElementwiseOp(
      {"sin", "Takes the sine of each element.", "y = sin x, of an angle in radians. ONNX Sin."},
      SinGradient);
  def.bounded = true;
  return def;
}

OpDef cos() {
  OpDef def = ElementwiseOp(
      {"cos", "Takes the cosine of each element.", "y = cos x, of an angle in radians. ONNX Cos."},
      CosGradient);
  def.bounded = true;
  return def;
}

OpDef tan() {
  return ElementwiseOp(
      {"tan", "Takes the tangent of each element.", "y = tan x, of an angle in radians. ONNX Tan."},
      TanGradient);
}

OpDef asin() {
  return ElementwiseOp({"asin", "Takes the angle whose sine is each element.",
                        "y = arcsin x, from -π/2 to π/2: NaN for what is beyond 1 or -1. The "
                        "gradient at 1 and -1 is infinite. ONNX Asin."},
                       AsinGradient);
}

OpDef acos() {
  return ElementwiseOp(
      {"acos", "Takes the angle whose cosine is each element.",
       "y = arccos x, from 0 to π: NaN for what is beyond 1 or -1. The gradient at "
       "1 and -1 is infinite. ONNX Acos."},
      AcosGradient);
}

OpDef atan() {
  return ElementwiseOp({"atan", "Takes the angle whose tangent is each element.",
                        "y = arctan x, from -π/2 to π/2. ONNX Atan."},
                       AtanGradient);
}

OpDef sinh() {
  return ElementwiseOp(
      {"sinh", "Takes the hyperbolic sine of each element.", "y = (e^x - e^-x)/2. ONNX Sinh."},
      SinhGradient);
}

OpDef cosh() {
  return ElementwiseOp(
      {"cosh", "Takes the hyperbolic cosine of each element.", "y = (e^x + e^-x)/2. ONNX Cosh."},
      CoshGradient);
}

OpDef asinh() {
  return ElementwiseOp({"asinh", "Takes the inverse hyperbolic sine of each element.",
                        "y = ln(x + √(x² + 1)). ONNX Asinh."},
                       AsinhGradient);
}

OpDef acosh() {
  return ElementwiseOp({"acosh", "Takes the inverse hyperbolic cosine of each element.",
                        "y = ln(x + √(x² - 1)): NaN for what is below 1. The gradient at 1 is "
                        "infinite. ONNX Acosh."},
                       AcoshGradient);
}

OpDef atanh() {
  return ElementwiseOp({"atanh", "Takes the inverse hyperbolic tangent of each element.",
                        "y = ½·ln((1 + x)/(1 - x)): NaN for what is beyond 1 or -1. ONNX Atanh."},
                       AtanhGradient);
}

}  // namespace cgrun::op_def
