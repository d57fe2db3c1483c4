// Declares items of a model file, and makes their keys.
#ifndef CGRUN_IMPORT_ITEMS_H_
#define CGRUN_IMPORT_ITEMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/import/constant.h"
#include "src/ir/tensor_type.h"
#include "src/model/tree.h"

namespace cgrun {

// A tensor of the file of weights: `source`, which is changed while it is written.
struct Weight {
  std::string name;         // "weight"; in the file of weights "predict.conv1.weight"
  Constant source;          // of the same number of elements, or of one that `fills` it
  bool transposed = false;  // the two axes of `source`
  bool fills = false;
  double factor = 1;
  TensorType type = {};  // as cgrun has it
};

// Describes an item of `ops:`.
struct Item {
  std::string name;
  std::string op;
  std::vector<std::string> in;  // names and numbers
  std::vector<TreeEntry> keys;
  std::vector<Weight> weights;
};

TreeEntry KeyOf(std::string key, bool value);
TreeEntry KeyOf(std::string key, int64_t value);
TreeEntry KeyOf(std::string key, std::string value);
// One number of a list of equal ones.
TreeEntry KeyOfSides(std::string key, const std::vector<int64_t>& values);
TreeEntry KeyOfList(std::string key, const std::vector<int64_t>& values);
// A number as a model file has it: the shortest that is read as the same float.
std::string NumberText(float value);
std::string NumberText(double value);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ITEMS_H_
