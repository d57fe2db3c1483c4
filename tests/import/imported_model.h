// Imports a model and computes what it predicts, node by node.
#ifndef CGRUN_TESTS_IMPORT_IMPORTED_MODEL_H_
#define CGRUN_TESTS_IMPORT_IMPORTED_MODEL_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/host_tensor.h"
#include "src/frontend/frontend.h"
#include "src/import/import.h"
#include "src/import/value_names.h"
#include "src/ir/graph.h"
#include "src/kernels/kernel.h"
#include "src/model/model_file.h"
#include "tests/support/interpreter.h"

namespace cgrun {

// The outputs of an imported model, in the order of the file, by the reference device. The model
// file is read from its text. `inputs` have the names of the ONNX file.
inline std::vector<HostTensor> Predict(const ImportedModel& imported, onnx::OnnxFile& file,
                                       const std::map<std::string, HostTensor>& inputs,
                                       int64_t batch) {
  Diagnostics diagnostics;
  const std::string text = ToYaml(imported.tree);
  const auto model = ParseModel({"imported.yaml", text}, {}, diagnostics);
  CGRUN_CHECK(model.has_value()) << diagnostics.ToString() << text;
  const FrontendOptions options{.kind = EntryKind::kPredict, .precision = PrecisionOf(*model)};
  const auto graph = BuildForward(*model, options, diagnostics);
  CGRUN_CHECK(graph.has_value()) << diagnostics.ToString() << text;
  const Graph bound = BindBatch(*graph, batch);
  std::map<ValueId, HostTensor> sources;
  for (const ValueId id : bound.values.ids()) {
    const Value& value = bound.values[id];
    const auto weight = std::ranges::find(imported.weights, value.name, &Weight::name);
    if (weight != imported.weights.end()) {
      HostTensor tensor(value.type.dtype, value.type.shape);
      const onnx::TensorBytes bytes = BytesOf(*weight, file);
      CGRUN_CHECK(bytes.bytes().size() == tensor.bytes().size()) << value.name;
      std::ranges::copy(bytes.bytes(), tensor.bytes().begin());
      sources.emplace(id, std::move(tensor));
    }
    for (const auto& [name, tensor] : inputs) {
      if (value.role == Role::kPlaceholder && CleanName(name) == value.name) {
        sources.emplace(id, tensor);
      }
    }
  }
  const auto values = Interpret(bound, *FindKernelLibrary("reference"), std::move(sources));
  std::vector<HostTensor> outputs;
  for (const Output& output : bound.outputs) outputs.push_back(values.at(output.value));
  return outputs;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_IMPORT_IMPORTED_MODEL_H_
