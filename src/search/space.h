// Space: the configurations that a search can try.
#ifndef CGRUN_SEARCH_SPACE_H_
#define CGRUN_SEARCH_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/search/search_spec.h"

namespace cgrun {

// The value of one parameter in one trial.
struct Setting {
  size_t choice = 0;  // index into SearchParameter::values
  double number = 0;  // of a range
  friend bool operator==(const Setting&, const Setting&) = default;
};

// A setting for each parameter of the space; nothing for one that does not count in this trial.
using Configuration = std::vector<std::optional<Setting>>;

class Space {
 public:
  // Grids beyond this are not counted.
  static constexpr int64_t kMostCounted = 100'000;

  // `parameters` outlive the space.
  explicit Space(const std::vector<SearchParameter>& parameters);

  size_t size() const { return parameters_.size(); }
  const SearchParameter& operator[](size_t parameter) const { return parameters_[parameter]; }

  // Returns whether the parameter counts, by the settings of those above it.
  bool IsActive(size_t parameter, const Configuration& settings) const;
  // The setting at `part` of the way from the first to the last one, 0 <= part < 1. Numbers of a
  // range without a step have four significant digits.
  Setting At(size_t parameter, double part) const;
  // The number of settings that a parameter can have; nothing for a range without a step.
  std::optional<int64_t> Levels(size_t parameter) const;
  // The value as the model file is to have it. A value of a range has the mark of the
  // parameter.
  TreeNode ValueOf(size_t parameter, const Setting& setting) const;
  // The value in one line, for tables.
  std::string TextOf(size_t parameter, const Setting& setting) const;
  // A text that two configurations share where they are equal.
  std::string KeyOf(const Configuration& settings) const;

  // All configurations; the last parameter changes first. Returns nothing if some parameter has no
  // number of levels, or if there are more than kMostCounted.
  std::optional<std::vector<Configuration>> Enumerate() const;

 private:
  Setting Level(size_t parameter, int64_t level) const;
  bool Enumerate(Configuration& settings, std::vector<Configuration>& all) const;

  const std::vector<SearchParameter>& parameters_;
  std::vector<std::vector<size_t>> conditions_;  // of each parameter: the one that each looks at
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_SPACE_H_
