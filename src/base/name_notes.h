// Gives help for names of other programs for which cgrun has no name of its own.
#ifndef CGRUN_BASE_NAME_NOTES_H_
#define CGRUN_BASE_NAME_NOTES_H_

#include <span>
#include <string>
#include <string_view>

namespace cgrun {

struct NameNote {
  std::string_view theirs;  // a PlainName()
  std::string_view beside;  // a name that must be known in the same place; "": any place
  std::string_view help;
};

// The help of the first note on `name` in `table` that goes with the names `known`; "" where there
// is none.
std::string NoteOn(std::string_view name, std::span<const std::string> known,
                   std::span<const NameNote> table);

}  // namespace cgrun

#endif  // CGRUN_BASE_NAME_NOTES_H_
