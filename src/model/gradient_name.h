// How `keep` of a model file names a gradient: `grad(NAME)`, or with the path whose loss it is of,
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

// Nothing where the text names no gradient.
std::optional<GradientName> ParseGradientName(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_MODEL_GRADIENT_NAME_H_
