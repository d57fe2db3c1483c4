// JSON from and to text: the one way in which this program reads and writes it.
#ifndef CGRUN_BASE_JSON_TEXT_H_
#define CGRUN_BASE_JSON_TEXT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cgrun {

// Names from files may hold any bytes. Bytes that are no UTF-8 become U+FFFD. Each control
// character is escaped, even those that JSON would take as they are (U+007F to U+009F), so that no
// terminal acts on the text. `indent` is that of a level; -1: all in one line.
std::string JsonText(const nlohmann::json& json, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

// Returns how many bytes a parsed text takes, about and at most. It does not parse it.
int64_t JsonMemory(std::string_view text);

// nlohmann's parser, which each file that calls it would compile anew. Throws
// nlohmann::json::parse_error.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);
// The same without exceptions: what is no JSON is_discarded().
nlohmann::json TryParseJson(std::string_view text);
nlohmann::ordered_json TryParseOrderedJson(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_BASE_JSON_TEXT_H_
