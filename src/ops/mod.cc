// Defines mod, the remainder of a division.
#include "src/ops/mod.h"

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun {

const AttributeSchema& ModAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ModAttributes>()
          .Add("truncate", &ModAttributes::truncate,
               "the remainder has the sign of a, as C's fmod gives it, instead of that of b")
          .Build();
  return schema;
}

namespace op_def {
namespace {

void SetModGradient(GradientContext& context, int input, ValueId gradient) {
  context.SetInputGradient(input,
                           ReduceToShape(context, gradient, context.input_type(input).shape));
}

// da = dy; db = −dy·q, where q = (a − y)/b is a whole number.
void ModGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  if (context.needs_gradient(0)) SetModGradient(context, 0, dy);
  if (!context.needs_gradient(1)) return;
  const auto emit = [&](OpId op, ValueId a, ValueId b, const char* name) {
    return context.Emit(op, Attributes(), {a, b}, name);
  };
  const ValueId rest = emit(OpId::sub, context.output(0), context.input(0), "minus_multiple");
  const ValueId quotient = emit(OpId::div, rest, context.input(1), "minus_quotient");
  SetModGradient(context, 1, emit(OpId::mul, dy, quotient, "db"));
}

}  // namespace

OpDef mod() {
  OpDef def = Described(
      {"mod", "Takes the remainder of a division, element by element.",
       "y = a - q·b, where q is the whole number that a/b is rounded to: down, or towards 0 if "
       "`truncate`. NaN for a division of floats by 0, 0 for one of integers. ONNX Mod: `fmod` is "
       "`truncate`."});
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "floats or integers, any shape"},
                {"b", "type of a, a shape that goes with a's"}};
  def.outputs = {{"y", "the broadcast shape"}};
  def.schema = &ModAttributes::Schema();
  def.infer = InferBroadcastNumbers;
  def.gradient = ModGradient;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
