// What a name is followed by tells.
#include "src/model/glued_key.h"

#include "src/model/values.h"

namespace cgrun {

std::string GluedKey::Message() const {
  if (has_colon) return "a blank is missing behind this ':'";
  return (has_equals_sign ? "a ':' and no '=' stands behind '" : "a ':' is missing behind '") +
         key + "'";
}

std::string GluedKey::Help() const {
  return "write `" + key + ": " + (value.empty() ? "…" : value) +
         "`: behind a key stand a colon and a blank";
}

std::optional<GluedKey> FindGluedKey(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && IsIdentifier(text.substr(0, length + 1))) ++length;
  if (length == 0) return std::nullopt;
  GluedKey glued;
  glued.key = text.substr(0, length);
  const size_t next = text.find_first_not_of(' ', length);
  if (next == std::string_view::npos) return std::nullopt;
  glued.has_colon = text[next] == ':';
  if (!glued.has_colon && next == length) return std::nullopt;  // "a.b", "a-b"
  glued.colon = glued.has_colon ? next : length;
  const size_t begin = glued.has_colon ? next + 1 : next;
  if (begin == text.size() || text[begin] == ' ') return std::nullopt;
  glued.value = text.substr(begin);
  if (!glued.has_colon && glued.value.starts_with('=')) {
    glued.has_equals_sign = true;
    const size_t value = glued.value.find_first_not_of(' ', 1);
    glued.value = value == std::string::npos ? "" : glued.value.substr(value);
  }
  return glued;
}

}  // namespace cgrun
