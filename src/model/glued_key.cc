// The character behind a name tells whether it was meant as a key.
#include "src/model/glued_key.h"

#include "src/base/lookalikes.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

// "my path:": a key of several words, with its colon.
bool HasOwnColon(const SourceMark& mark, const std::string& key) {
  const std::string_view text = mark.file->text;
  size_t at = 0;
  for (int line = mark.file->first_line; line < mark.line; ++line) at = text.find('\n', at) + 1;
  at = text.find(key, at);
  if (at == std::string_view::npos) return false;
  const size_t next = text.find_first_not_of(' ', at + key.size());
  return next != std::string_view::npos && text[next] == ':';
}

}  // namespace

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
  const bool has_equals_sign = text[next] == '=' && !text.substr(next).starts_with("==");
  if (!glued.has_colon && !has_equals_sign && next == length) return std::nullopt;  // "a.b", "a-b"
  glued.colon = glued.has_colon ? next : length;
  const size_t begin = glued.has_colon ? next + 1 : next;
  if (begin == text.size() || text[begin] == ' ') return std::nullopt;
  glued.value = text.substr(begin);
  const std::string number = WithoutLookalikes(glued.value).text;  // without a no-break space
  if (ParseReal(number)) glued.value = number;
  glued.has_equals_sign = has_equals_sign;
  if (has_equals_sign) {
    const size_t value = glued.value.find_first_not_of(' ', 1);
    glued.value = value == std::string::npos ? "" : glued.value.substr(value);
  }
  return glued;
}

bool MendGluedKey(std::string& key, const SourceMark& key_mark, TreeNode& value,
                  Diagnostics& diagnostics) {
  const bool written =
      value.mark.line != key_mark.line || value.mark.column != key_mark.column;  // `a:b: null`
  if (!value.IsNull() || written) return false;
  const std::optional<GluedKey> glued = FindGluedKey(key);
  if (!glued || (!glued->has_colon && HasOwnColon(key_mark, key))) return false;
  SourceMark mark = key_mark;
  if (glued->has_colon) {
    mark.column += static_cast<int>(glued->colon);
    mark.length = 1;
  }
  diagnostics.Error(mark, glued->Message(), glued->Help());
  value = TreeNode::Scalar(glued->value, key_mark, false);
  key = glued->key;
  return true;
}

}  // namespace cgrun
