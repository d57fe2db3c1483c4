// Names that become labels: which number each name has, by the option `classes`, by the training
// data, or sorted.
#ifndef CGRUN_DATA_CLASSES_H_
#define CGRUN_DATA_CLASSES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// Names by label. `origin` says in messages where they come from; empty for those of the data
// themselves.
struct ClassTable {
  std::vector<std::string> names;
  std::string origin;

  bool fixed() const { return !origin.empty(); }
};

// What is known before the data are read: the names of the option `classes`, or else those that
// field `field` of the training set has; none where neither knows any. Nothing after an error.
std::optional<ClassTable> KnownClasses(const DataOptions& options, std::string_view field,
                                       Diagnostics& diagnostics);

// Labels by name.
std::map<std::string, int32_t, std::less<>> LabelsOf(const ClassTable& classes);

}  // namespace cgrun

#endif  // CGRUN_DATA_CLASSES_H_
