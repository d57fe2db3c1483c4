// Finds the batch dimension of a graph, and binds the others.
#ifndef CGRUN_IMPORT_BIND_H_
#define CGRUN_IMPORT_BIND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/import/import.h"
#include "src/ir/tensor_type.h"

namespace cgrun {

struct BoundInput {
  std::string name;  // in the file
  TensorType type;   // with the batch in front
};

struct Binding {
  std::vector<BoundInput> inputs;  // that are fed
  std::optional<int64_t> batch;    // that the file has
  std::vector<std::string> lines;  // what was bound
};

// The first dimension of every input is the batch. One InputError lists all dimensions that have
// neither a size nor a value in `options`.
Binding BindInputs(const onnx::OnnxFile& file, const ImportOptions& options);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_BIND_H_
