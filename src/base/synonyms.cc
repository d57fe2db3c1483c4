#include "src/base/synonyms.h"

#include <algorithm>
#include <cctype>

#include "src/base/diagnostics.h"

namespace cgrun {

std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

std::string OurName(std::string_view name, std::span<const std::string> known,
                    std::span<const Synonym> table) {
  const std::string plain = PlainName(name);
  for (const std::string& candidate : known) {
    if (PlainName(candidate) == plain) return candidate;
  }
  for (const Synonym& synonym : table) {
    const bool here = std::ranges::find(known, synonym.ours) != known.end();
    if (synonym.theirs == plain && here) return std::string(synonym.ours);
  }
  return "";
}

std::string MeantName(std::string_view name, std::span<const std::string> known,
                      std::span<const Synonym> table) {
  const std::string ours = OurName(name, known, table);
  return ours.empty() ? NearestName(name, known) : ours;
}

std::string SuggestSynonym(std::string_view name, std::span<const std::string> known,
                           std::span<const Synonym> table) {
  const std::string ours = OurName(name, known, table);
  return ours.empty() ? SuggestName(name, known) : "write '" + ours + "'";
}

}  // namespace cgrun
