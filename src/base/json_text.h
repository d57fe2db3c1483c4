// JSON as text: the one way in which this program writes it.
#ifndef CGRUN_BASE_JSON_TEXT_H_
#define CGRUN_BASE_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cgrun {

// Names from files may hold any bytes. What of them is no UTF-8 becomes U+FFFD, and each control
// character is escaped, those too that JSON would take as they are (U+007F to U+009F): no terminal
// acts on the text. `indent` is that of a level; -1: all in one line.
std::string JsonText(const nlohmann::json& json, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace cgrun

#endif  // CGRUN_BASE_JSON_TEXT_H_
