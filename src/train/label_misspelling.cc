// Names that are rare, and nearly the same as others.
#include "src/train/label_misspelling.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "src/data/label_census.h"
#include "src/data/label_list.h"

namespace cgrun {
namespace {

// A class that seems to be another one's name, misspelt.
struct Misspelling {
  size_t label = 0;
  size_t meant = 0;
};

// Names that are rare, and nearly the same as one that is not.
std::vector<Misspelling> FindMisspellings(const std::vector<std::string>& names,
                                          const LabelCensus& census) {
  std::vector<Misspelling> found;
  for (size_t label = 0; label < names.size(); ++label) {
    std::vector<std::string> others;
    for (size_t other = 0; other < names.size(); ++other) {
      const bool is_rare = IsRareBeside(census.CountOf(label), census.CountOf(other));
      if (is_rare && HaveSameNumbers(names[other], names[label])) others.push_back(names[other]);
    }
    const auto meant = std::ranges::find(names, NearestName(names[label], others));
    if (meant == names.end()) continue;
    found.push_back({label, static_cast<size_t>(meant - names.begin())});
  }
  return found;
}

// "'photos': only sample 3 has the label 'catt'".
std::string RareText(const SamplePlace& place, int64_t count, const std::string& name) {
  if (place.own) {
    return "'" + place.file + "': only " + CountText(count, "sample") +
           (count == 1 ? " has" : " have") + " the label '" + name + "'";
  }
  const std::string sample = "sample " + std::to_string(place.sample);
  return (place.in_file() ? "" : "'" + place.file + "': ") + "only " +
         (count == 1 ? sample + " has"
                     : std::to_string(count) + " samples, first " + sample + ", have") +
         " the label '" + name + "'";
}

}  // namespace

bool ReportMisspellings(const Dataset& dataset, size_t field, const LabelUse& use,
                        Diagnostics& diagnostics) {
  constexpr int64_t kMostCompared = 1000;  // names, each with all others
  const std::span<const std::string> of_field = dataset.ClassNames(field);
  const std::vector<std::string> names(of_field.begin(), of_field.end());
  const int64_t classes = std::ssize(names);
  if (classes <= use.classes || classes > kMostCompared) return false;
  LabelCensus census(names.size());
  dataset.Visit(field, census);
  const std::vector<Misspelling> found = FindMisspellings(names, census);
  if (classes - std::ssize(found) > use.classes) return false;
  const std::string needed = use.key.empty() ? ""
                                             : " If it is a class of its own, " +
                                                   use.maker.ToString() + " is to have `" +
                                                   use.key + ": " + std::to_string(classes) + "`";
  for (const auto& [label, meant] : found) {
    const SamplePlace place = dataset.PlaceOf(field, census.FirstOf(label));
    diagnostics.Error(place.mark,
                      RareText(place, census.CountOf(label), names[label]) +
                          "; with it there are " + std::to_string(classes) + " classes, but " +
                          use.op + " has " + std::to_string(use.classes),
                      "did you mean '" + names[meant] + "', the label of " +
                          CountText(census.CountOf(meant), "sample") + "?" + needed);
  }
  return true;
}

}  // namespace cgrun
