// The texts of a column of features, and the ids that they stand for.
#ifndef CGRUN_DATA_CATEGORIES_H_
#define CGRUN_DATA_CATEGORIES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Categories have ids from 1, in the order of a list that is known or, sorted, those that a pass
// over the training data meets. 0 is a text that is none of them.
class Categories {
 public:
  static constexpr int32_t kUnknown = 0;
  static constexpr size_t kMost = 65536;

  Categories() = default;
  // A list that is known: Survey() and Settle() change nothing.
  explicit Categories(std::vector<std::string> names);

  // Returns whether a pass over the texts is to find them.
  bool surveys() const { return surveys_; }
  // Takes a text of that pass. False once there are more than kMost.
  bool Survey(std::string_view text);
  void Settle();

  int32_t Find(std::string_view text) const;
  // Id 1 comes first.
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool surveys_ = true;
  std::set<std::string, std::less<>> met_;
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> ids_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CATEGORIES_H_
