// Names of ONNX as names that a model file can have.
#ifndef CGRUN_IMPORT_VALUE_NAMES_H_
#define CGRUN_IMPORT_VALUE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cgrun {

// "layer1_0_conv1_Conv" of "/layer1/layer1.0/conv1/Conv": letters, digits and `_`.
std::string CleanName(std::string_view name);

class ValueNames {
 public:
  // The cleaned name, with a count where it is taken; now it is taken.
  std::string Take(std::string_view wish);
  // Now a name is taken as it stands.
  void Reserve(std::string_view name) { taken_.emplace(name); }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // count of each name that was taken
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_VALUE_NAMES_H_
