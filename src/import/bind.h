// Finds the batch dimension of a graph, and binds the others.
#ifndef CGRUN_IMPORT_BIND_H_
#define CGRUN_IMPORT_BIND_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/import/constant.h"
#include "src/import/import.h"
#include "src/ir/tensor_type.h"

namespace cgrun {

struct BoundInput {
  std::string name;  // in the file
  TensorType type;
  bool batch = true;  // it has one, in front
};

struct BoundInputs {
  std::vector<BoundInput> inputs;             // that are fed
  std::map<std::string, Constant> constants;  // the inputs that `--const` gives, by name
  std::optional<int64_t> batch;               // that the file has
  std::vector<std::string> lines;             // say what was bound
};

// Says whether the first dimension of inputs is the batch. Inputs without a dimension have none.
enum class BatchAxis { kFirst, kNone };

// Reports dimensions that have neither a size nor a value in the options.
class UnboundDimensions : public InputError {
 public:
  UnboundDimensions(const std::string& what, const std::string& help,
                    std::vector<std::string> names)
      : InputError(what, help), names(std::move(names)) {}

  std::vector<std::string> names;
};

// One UnboundDimensions lists all that need a size; InputError for other faults of inputs and of
// the options.
BoundInputs BindInputs(const onnx::OnnxFile& file, const ImportOptions& options, BatchAxis batch);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_BIND_H_
