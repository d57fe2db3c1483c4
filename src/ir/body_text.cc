// Results of the body are numbered as they are made.
#include "src/ir/body_text.h"

#include <fmt/format.h>

#include <ranges>

namespace cgrun {
namespace {

std::string OperandText(int operand) {
  return operand >= 0 ? fmt::format("input {}", operand) : fmt::format("%{}", -1 - operand);
}

}  // namespace

std::string BodyText(std::span<const FusedOperator> body, const std::string& indent) {
  std::string out;
  for (size_t j = 0; j < body.size(); ++j) {
    const FusedOperator& inner = body[j];
    const std::string attributes = inner.attributes.ToString();
    out += fmt::format("{}%{} = {}({}){}\n", indent, j, NameOf(inner.op),
                       fmt::join(inner.operands | std::views::transform(OperandText), ", "),
                       attributes.empty() ? "" : " {" + attributes + "}");
  }
  return out;
}

}  // namespace cgrun
