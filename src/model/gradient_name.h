// In a model file, `keep` names a gradient as `grad(NAME)`, or with the path of its loss as
// `PATH.grad(NAME)`.
#ifndef CGRUN_MODEL_GRADIENT_NAME_H_
#define CGRUN_MODEL_GRADIENT_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace cgrun {

struct GradientName {
  std::string path;   // "" where none is named
  std::string value;  // or parameter; may be no name at all
};

// Returns nothing if the text names no gradient.
std::optional<GradientName> ParseGradientName(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_MODEL_GRADIENT_NAME_H_
