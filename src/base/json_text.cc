// nlohmann's text, with the escapes that it leaves out and a limit that it does not have.
#include "src/base/json_text.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "src/base/printable.h"

namespace cgrun {
namespace {

// Returns the code point of a character of UTF-8, which has at most three bytes.
unsigned CodeOf(std::string_view character) {
  const auto low = [&](size_t i) { return static_cast<unsigned char>(character[i]) & 0x3FU; };
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  if (character.size() == 2) return (lead & 0x1FU) << 6 | low(1);
  return (lead & 0x0FU) << 12 | low(1) << 6 | low(2);
}

// Escapes the characters that PrintableText() replaces and nlohmann leaves: DEL, U+0080 to U+009F,
// and those that change the direction of a text. They occur in strings alone.
std::string WithEscapes(const std::string& json) {
  constexpr char kHex[] = "0123456789abcdef";
  const std::string_view text = json;
  std::string escaped;
  for (size_t i = 0; i < text.size();) {
    const size_t shown = PrintableBytes(text.substr(i));
    escaped += text.substr(i, shown);
    i += shown;
    if (i == text.size()) break;
    const size_t bytes = text[i] == '\n' ? 0 : Utf8Bytes(text.substr(i));
    if (bytes == 0) {  // a line end of the layout
      escaped += text[i++];
      continue;
    }
    const unsigned code = CodeOf(text.substr(i, bytes));
    escaped += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) escaped += kHex[code >> shift & 15];
    i += bytes;
  }
  return escaped;
}

// Copying, comparing and writing of nlohmann's values recurse: no text may nest so deeply that they
// overflow the stack. Returns the text up to where it does, which no parser takes for a whole one.
std::string_view WithinDepth(std::string_view text) {
  constexpr int kMostDepth = 256;
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostDepth) return text.substr(0, i);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return text;
}

template <class Json>
std::string TextOf(const Json& json, int indent) {
  return WithEscapes(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string JsonText(const nlohmann::json& json, int indent) { return TextOf(json, indent); }

std::string JsonText(const nlohmann::ordered_json& json, int indent) {
  return TextOf(json, indent);
}

// In bytes of the heap: what a list holds for an item, twice as it grows; a list and an object of
// their own; a key's node; a text.
int64_t JsonMemory(std::string_view text) {
  constexpr int64_t kItem = 48, kList = 32, kObject = 64, kKey = 48, kText = 48;
  int64_t bytes = kItem;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case ',':
        bytes += kItem;
        break;
      case ':':
        bytes += kKey;
        break;
      case '[':
        bytes += kItem + kList;
        break;
      case '{':
        bytes += kItem + kObject;
        break;
      case '"': {
        const size_t begin = i++;
        while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
        bytes += kText + static_cast<int64_t>(i - begin);
        break;
      }
      default:
        break;
    }
  }
  return bytes;
}

nlohmann::json ParseJson(std::string_view text) { return nlohmann::json::parse(WithinDepth(text)); }

nlohmann::ordered_json ParseOrderedJson(std::string_view text) {
  return nlohmann::ordered_json::parse(WithinDepth(text));
}

nlohmann::json TryParseJson(std::string_view text) {
  return nlohmann::json::parse(WithinDepth(text), nullptr, /*allow_exceptions=*/false);
}

nlohmann::ordered_json TryParseOrderedJson(std::string_view text) {
  return nlohmann::ordered_json::parse(WithinDepth(text), nullptr, /*allow_exceptions=*/false);
}

}  // namespace cgrun
