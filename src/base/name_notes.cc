#include "src/base/name_notes.h"

#include <algorithm>

#include "src/base/synonyms.h"

namespace cgrun {

std::string NoteOn(std::string_view name, std::span<const std::string> known,
                   std::span<const NameNote> table) {
  const std::string plain = PlainName(name);
  for (const NameNote& note : table) {
    const bool here = note.beside.empty() || std::ranges::find(known, note.beside) != known.end();
    if (note.theirs == plain && here) return std::string(note.help);
  }
  return "";
}

}  // namespace cgrun
