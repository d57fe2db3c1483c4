// The format knows these keys and values, and this version does not carry them out. They are errors
// in a model file (see CheckSupported), and are marked so in docs/reference/keys.md.
#ifndef CGRUN_FRONTEND_SUPPORTED_H_
#define CGRUN_FRONTEND_SUPPORTED_H_

#include <span>
#include <string_view>

namespace cgrun {

// The key stands in a table of FormatReference().
struct UnsupportedKey {
  std::string_view place;  // of the map: "train.clip"
  std::string_view key;
  std::string_view values = "";  // these alone are not carried out ("f16"); "": any value
  std::string_view fine = "";    // but this one is
  std::string_view help = "take it out; nothing in a model file is ignored in silence";
};

std::span<const UnsupportedKey> UnsupportedKeys();

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_SUPPORTED_H_
