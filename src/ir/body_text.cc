// Results of the body are numbered as they are made.
#include "src/ir/body_text.h"

namespace cgrun {

std::string BodyText(std::span<const FusedOperator> body, const std::string& indent) {
  std::string out;
  for (size_t j = 0; j < body.size(); ++j) {
    const FusedOperator& inner = body[j];
    out += indent + "%" + std::to_string(j) + " = " + std::string(NameOf(inner.op)) + "(";
    for (size_t i = 0; i < inner.operands.size(); ++i) {
      const int operand = inner.operands[i];
      out += (i ? ", " : "");
      out += operand >= 0 ? "input " + std::to_string(operand) : "%" + std::to_string(-1 - operand);
    }
    const std::string attributes = inner.attributes.ToString();
    out += ")" + (attributes.empty() ? "" : " {" + attributes + "}") + "\n";
  }
  return out;
}

}  // namespace cgrun
