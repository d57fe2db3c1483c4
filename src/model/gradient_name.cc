// ParseGradientName: what stands before `grad(`, and inside of it.
#include "src/model/gradient_name.h"

#include "src/model/values.h"

namespace cgrun {

std::optional<GradientName> ParseGradientName(std::string_view text) {
  constexpr std::string_view kOpen = "grad(";
  const size_t open = text.find(kOpen);
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  std::string_view path = text.substr(0, open);
  if (!path.empty()) {
    if (!path.ends_with('.') || !IsIdentifier(path.substr(0, path.size() - 1))) return std::nullopt;
    path.remove_suffix(1);
  }
  const size_t begin = open + kOpen.size();
  return GradientName{std::string(path), std::string(text.substr(begin, text.size() - 1 - begin))};
}

}  // namespace cgrun
