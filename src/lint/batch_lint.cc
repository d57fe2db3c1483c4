// Checks the shapes of graphs with their batch bound.
#include "src/lint/batch_lint.h"

#include <algorithm>
#include <string>

#include "src/frontend/frontend.h"
#include "src/ir/batch_reach.h"
#include "src/ops/batch_norm.h"

namespace cgrun {
namespace {

// Values that are normalised together in a batch of so many samples.
int64_t ValuesOfChannel(const Shape& x, int64_t batch) {
  int64_t values = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != 1) values *= x[axis].batch ? x[axis].size * batch : x[axis].size;
  }
  return values;
}

bool HasSingleValues(const Graph& graph, const Node& node, int64_t batch) {
  return node.op == OpId::batch_norm && node.attributes.As<BatchNormAttributes>().training &&
         ValuesOfChannel(graph.values[node.inputs[0]].type.shape, batch) == 1;
}

}  // namespace

void WarnOfSingleValues(const ModelSpec& model, const Graph& training, int64_t samples,
                        Diagnostics& diagnostics) {
  if (!model.train || samples == 0) return;
  const int64_t batch = std::min(model.train->batch.value.size, samples), rest = samples % batch;
  for (const Node& node : training.nodes) {
    const bool always = HasSingleValues(training, node, batch);
    if (!always && (rest == 0 || !HasSingleValues(training, node, rest))) continue;
    diagnostics.Warning(
        node.mark,
        "'" + node.name + "' normalises a single value of each channel in " +
            (always ? "every batch" : "the last batch of an epoch, which has one sample") +
            ": its result does not depend on the input there",
        always ? "a batch of two samples or more has several values of each channel"
               : "another `batch` leaves no batch of one sample");
  }
}

bool HasRows(const Graph& graph, const Output& output) {
  const Shape& shape = graph.values[output.value].type.shape;
  return shape.rank() > 0 && shape[0] == kBatchDim;
}

bool IsWhole(const Graph& graph, const Output& output) {
  return !DependsOnBatch(graph, output.value);
}

std::string MissingRowsText(const Graph& graph, const Output& output) {
  const Value& value = graph.values[output.value];
  return (output.kind == OutputKind::kKept ? "the kept " : "the prediction ") + value.name +
         " is " + value.type.ToString() + ", without a row for each sample";
}

void WarnOfMissingRows(const ModelSpec& model, DType precision, Diagnostics& diagnostics) {
  Diagnostics ignored;  // the graphs of training and evaluation have reported them
  const auto graph = BuildForward(model, {EntryKind::kPredict, precision}, ignored);
  if (!graph) return;
  for (const Output& output : graph->outputs) {
    if (HasRows(*graph, output) || IsWhole(*graph, output)) continue;
    diagnostics.Warning(graph->values[output.value].mark,
                        MissingRowsText(*graph, output) + ": `cgrun predict` cannot use it",
                        "`out: NAME` of a path says what it predicts");
  }
}

}  // namespace cgrun
