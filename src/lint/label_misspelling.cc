// Names that are rare: nearly the same as others, or more than there are classes.
#include "src/lint/label_misspelling.h"

#include <algorithm>
#include <functional>
#include <iterator>
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

// " If they are classes of their own, a.yaml:9:5 is to have `units: 4`".
std::string NeededText(const LabelUse& use, const std::string& are_classes, int64_t classes) {
  if (use.key.empty()) return "";
  return " If " + are_classes + " of its own, " + use.maker.ToString() + " is to have `" + use.key +
         ": " + std::to_string(classes) + "`";
}

void ReportMisspelling(const Misspelling& found, const Dataset& dataset, size_t field,
                       const LabelUse& use, const LabelCensus& census, Diagnostics& diagnostics) {
  const std::span<const std::string> names = dataset.ClassNames(field);
  const SamplePlace place = dataset.PlaceOf(field, census.FirstOf(found.label));
  diagnostics.Error(place.mark,
                    RareText(place, census.CountOf(found.label), names[found.label]) +
                        "; with it there are " + std::to_string(names.size()) + " classes, but " +
                        use.op + " has " + std::to_string(use.classes),
                    "did you mean '" + names[found.meant] + "', the label of " +
                        CountText(census.CountOf(found.meant), "sample") + "?" +
                        NeededText(use, "it is a class", std::ssize(names)));
}

// Names of which there are more than classes: the `kept` that most samples have, and the others.
struct RankedLabels {
  std::vector<size_t> kept, rare;
};

// Nothing in `rare` where one of them is not rare beside all that are kept.
RankedLabels RankLabels(size_t names, const LabelUse& use, const LabelCensus& census) {
  RankedLabels ranked;
  for (size_t label = 0; label < names; ++label) {
    if (census.CountOf(label) > 0) ranked.kept.push_back(label);
  }
  if (use.classes < 1 || std::ssize(ranked.kept) <= use.classes) return ranked;
  std::ranges::stable_sort(ranked.kept, std::ranges::greater(),
                           [&](size_t label) { return census.CountOf(label); });
  const auto rare = ranked.kept.begin() + use.classes;
  const int64_t least = census.CountOf(*std::prev(rare));
  if (!IsRareBeside(census.CountOf(*rare), least)) return ranked;
  ranked.rare.assign(rare, ranked.kept.end());
  ranked.kept.erase(rare, ranked.kept.end());
  return ranked;
}

// "'no' (103 samples), 'yes' (95 samples), 'nein' (1 sample, line 17), …".
std::string RankedText(const RankedLabels& ranked, const Dataset& dataset, size_t field,
                       const LabelCensus& census) {
  constexpr size_t kMostShown = 5;  // of each kind
  const std::span<const std::string> names = dataset.ClassNames(field);
  std::string text;
  for (const std::vector<size_t>* labels : {&ranked.kept, &ranked.rare}) {
    for (size_t i = 0; i < std::min(kMostShown, labels->size()); ++i) {
      const size_t label = (*labels)[i];
      const SamplePlace place = dataset.PlaceOf(field, census.FirstOf(label));
      const std::string where = place.own         ? "'" + place.file + "'"
                                : place.in_file() ? "line " + std::to_string(place.mark.line)
                                                  : "sample " + std::to_string(place.sample);
      text += (text.empty() ? "'" : ", '") + names[label] + "' (" +
              CountText(census.CountOf(label), "sample") +
              (labels == &ranked.rare ? ", " + where + ")" : ")");
    }
    if (labels->size() > kMostShown) text += ", …";
  }
  return text;
}

// Where the names that are rare are more than those that seem misspelt. Whether there are such.
bool ReportRareLabels(const Dataset& dataset, size_t field, const LabelUse& use,
                      const LabelCensus& census, const std::vector<Misspelling>& misspelt,
                      Diagnostics& diagnostics) {
  const std::span<const std::string> names = dataset.ClassNames(field);
  const RankedLabels ranked = RankLabels(names.size(), use, census);
  if (ranked.rare.empty()) return false;
  std::string help;
  constexpr size_t kMostTold = 3;
  for (const auto& [label, meant] :
       std::span(misspelt).first(std::min(kMostTold, misspelt.size()))) {
    help += "'" + names[label] + "' seems to be '" + names[meant] + "'; ";
  }
  const size_t first =
      *std::ranges::min_element(ranked.rare, {}, [&](size_t i) { return census.FirstOf(i); });
  const SamplePlace place = dataset.PlaceOf(field, census.FirstOf(first));
  diagnostics.Error(
      place.mark,
      (place.in_file() || place.own ? "" : "'" + place.file + "': ") +
          std::to_string(ranked.kept.size() + ranked.rare.size()) + " labels are found, " +
          RankedText(ranked, dataset, field, census) + ", but " + use.op + " has " +
          CountText(use.classes, "class", "classes"),
      help + "check those that are rare." + NeededText(use, "each is a class", std::ssize(names)));
  return true;
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
  if (classes - std::ssize(found) > use.classes) {
    return ReportRareLabels(dataset, field, use, census, found, diagnostics);
  }
  for (const Misspelling& one : found) {
    ReportMisspelling(one, dataset, field, use, census, diagnostics);
  }
  return true;
}

}  // namespace cgrun
