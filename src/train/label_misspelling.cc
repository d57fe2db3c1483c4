// Names that are rare, and nearly the same as others.
#include "src/train/label_misspelling.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace cgrun {
namespace {

// How many samples have each of the first labels, and which has it first.
class LabelCensus final : public IntegerVisitor {
 public:
  explicit LabelCensus(size_t labels) : counts_(labels), first_(labels) {}

  void Visit(int64_t value, int64_t sample) override {
    if (value < 0 || value >= std::ssize(counts_)) return;
    const auto label = static_cast<size_t>(value);
    if (counts_[label]++ == 0) first_[label] = sample;
  }

  int64_t CountOf(size_t label) const { return counts_[label]; }
  int64_t FirstOf(size_t label) const { return first_[label]; }

 private:
  std::vector<int64_t> counts_, first_;
};

// A class that seems to be another one's name, misspelt.
struct Misspelling {
  size_t label = 0;
  size_t meant = 0;
};

// Names that are rare, and nearly the same as one that is not.
std::vector<Misspelling> FindMisspellings(const std::vector<std::string>& names,
                                          const LabelCensus& census) {
  constexpr int64_t kRare = 10;  // times as often the other stands, if the rare one is not alone
  std::vector<Misspelling> found;
  for (size_t label = 0; label < names.size(); ++label) {
    const int64_t count = census.CountOf(label);
    if (count == 0) continue;
    std::vector<std::string> others;
    for (size_t other = 0; other < names.size(); ++other) {
      if (census.CountOf(other) >= (count == 1 ? 2 : kRare * count)) others.push_back(names[other]);
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
