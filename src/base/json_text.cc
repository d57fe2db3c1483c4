// nlohmann's text, and the escapes that it leaves out.
#include "src/base/json_text.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace cgrun {
namespace {

// DEL, and U+0080 to U+009F, which are a C2 and their own byte. They stand in texts alone.
std::string WithEscapes(std::string json) {
  constexpr char kHex[] = "0123456789abcdef";
  if (json.find('\xC2') == json.npos && json.find('\x7F') == json.npos) return json;
  std::string escaped;
  for (size_t i = 0; i < json.size(); ++i) {
    const bool wide =
        json[i] == '\xC2' && i + 1 < json.size() && static_cast<unsigned char>(json[i + 1]) < 0xA0;
    if (!wide && json[i] != '\x7F') {
      escaped += json[i];
      continue;
    }
    const auto code = static_cast<unsigned char>(json[wide ? ++i : i]);
    escaped += std::string("\\u00") + kHex[code >> 4] + kHex[code & 15];
  }
  return escaped;
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

}  // namespace cgrun
