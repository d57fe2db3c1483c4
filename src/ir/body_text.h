// The listing of what a fused node does.
#ifndef CGRUN_IR_BODY_TEXT_H_
#define CGRUN_IR_BODY_TEXT_H_

#include <span>
#include <string>

#include "src/ir/signature.h"

namespace cgrun {

// Writes a line for each operator of the body, behind `indent`, with its attributes:
//   %0 = conv(input 0, input 1) {filters=20 kernel=[5, 5]}
//   %1 = leaky_relu(%0) {slope=0.1}
std::string BodyText(std::span<const FusedOperator> body, const std::string& indent);

}  // namespace cgrun

#endif  // CGRUN_IR_BODY_TEXT_H_
