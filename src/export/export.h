// Turns the graph of predictions into a model of ONNX: ExportOnnx() is the entry point, and
// WriteExported() writes the model with its weights.
#ifndef CGRUN_EXPORT_EXPORT_H_
#define CGRUN_EXPORT_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/export/weights_file.h"
#include "src/ir/graph.h"
#include "src/onnx/model.h"

namespace cgrun {

inline constexpr int64_t kLeastOpset = 7, kMostOpset = 27;

// Describes a state that goes on from step to step. The exported model has an input for what it
// was, and an output for what it becomes. Both are values of the graph.
struct ExportedState {
  ValueId state, next;
  std::string input, output;  // their names in the model
};

struct ExportOptions {
  int64_t opset = kLeastOpset;  // or a later one, where an operator needs it
  std::vector<ExportedState> states = {};
  std::string producer_version = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};  // of the model, by key
};

struct ExportedModel {
  onnx::Model model;
  std::vector<std::string> drawn;  // inputs that stand for random numbers
  int64_t opset() const { return model.opset_imports.at(0).version; }
};

// Marks the values that the outputs and the next states are computed from.
IdVector<ValueId, bool> ExportedValues(const Graph& graph, const ExportOptions& options);

// Exports what the outputs of `graph` depend on. The graph is a forward graph of predictions. Its
// batch becomes the dimension "batch", or a number where it is bound. Inputs, outputs and
// parameters keep their names. The opset is the lowest one that has all operators, but no less than
// the one of `options`; the IR version is the lowest one that goes with it.
//
// The elements of weights are views of `weights`, which outlives the result. An operator that ONNX
// cannot express is an error in `diagnostics`; then the result is empty.
std::optional<ExportedModel> ExportOnnx(const Graph& graph, WeightsFile& weights,
                                        const ExportOptions& options, Diagnostics& diagnostics);

// "M.onnx.data": where the weights of `path` lie if they are many.
std::string ExternalPathOf(const std::string& path);

// Returns the bytes of the weights.
int64_t WeightBytes(const onnx::Model& model);

// Writes the model to `path`, atomically. Weights of more than `inline_bytes` go to
// ExternalPathOf(path) first, each at a multiple of 64 bytes. No copy of them is made; `model`
// then says where they lie. UserError where a file cannot be written.
void WriteExported(onnx::Model& model, const std::string& path, int64_t inline_bytes);

}  // namespace cgrun

#endif  // CGRUN_EXPORT_EXPORT_H_
