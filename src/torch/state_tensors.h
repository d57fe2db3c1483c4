// The tensors of a pickled state: dicts of dicts become names with dots.
#ifndef CGRUN_TORCH_STATE_TENSORS_H_
#define CGRUN_TORCH_STATE_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/torch/pickle.h"

namespace cgrun::torch {

struct Storage {
  std::string key;
  DType dtype = DType::kF32;
  int64_t elements = 0;
};

struct StateTensor {
  std::string name;  // "layer1.0.conv1.weight"
  Storage storage;
  int64_t offset = 0;                   // in elements, of the first one
  std::vector<int64_t> sizes, strides;  // as many; strides in elements
};

// The tensors in the order of the pickle. Values that are no tensors have no place in the list.
// InputError for a tensor that lies outside of its storage, for a type of numbers that we do not
// have, and for a name that stands twice.
std::vector<StateTensor> TensorsOf(const Pickle& pickle, const std::string& path);

// All storages that the pickle names, in no order; one of several with a key. The errors of
// TensorsOf().
std::vector<Storage> StoragesOf(const Pickle& pickle, const std::string& path);

}  // namespace cgrun::torch

#endif  // CGRUN_TORCH_STATE_TENSORS_H_
