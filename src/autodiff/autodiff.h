// Autodiff: adds to a graph the backward nodes and the update nodes of its backprop paths. It comes
// before every pass; gradients are ordinary nodes.
#ifndef CGRUN_AUTODIFF_AUTODIFF_H_
#define CGRUN_AUTODIFF_AUTODIFF_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/builder.h"
#include "src/ir/graph.h"

namespace cgrun {

// A gradient that becomes an output of kind kKept. It is the gradient that a loss gives to `value`,
// before it is added up, clipped or averaged over processes. If a step repeats the path, the
// gradient is that of the last run.
struct KeptGradient {
  ValueId value;
  std::string name;  // of the output
  SourceMark mark;   // the place where the user asks for it
  // The path whose loss gives the gradient. If it is "", the one path that gives the value a
  // gradient is meant. For a trained parameter, "" means the one path that trains it. If there are
  // several such paths, that is an error. Without diagnostics, the first path is taken.
  std::string path = {};
};

struct AutodiffOptions {
  int processes = 1;  // more than one: gradients are summed over them and averaged
  // Gradients are added up in optimizer state, over the batches of a step: OpId::accumulate.
  bool accumulates = false;
  bool updates = true;  // else they are only added up: every batch of a step but its last
  // Bounds limit the gradients of a path before the optimizer reads them. 0 means that there is
  // none.
  double clip_norm = 0;   // of all of them together
  double clip_value = 0;  // of each element
  std::vector<KeptGradient> keep = {};
};

// Adds backward nodes for Σ seedᵢ·valueᵢ; `seeds` lists (value, gradient of its type). Returns the
// gradient of each value of `wrt` that the seeds depend on. Contributions to one value are added in
// the order of its uses. The nodes belong to `phase`: kForward where they are part of what is
// computed, a penalty on a slope say.
std::map<ValueId, ValueId> AddGradients(Builder& builder,
                                        const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                        const std::vector<ValueId>& wrt, PathId path,
                                        Phase phase = Phase::kBackward);

// Adds these nodes for every backprop path with a loss, in order:
//   the gradients of the loss;
//   their sum over the batches of a step, if they are accumulated;
//   their all-reduce, if there are several processes;
//   their clipping;
//   one optimizer node for each parameter, with its state and update edges.
// A later path reads the parameters that an earlier one has changed. Its loss may depend on values
// that were computed with a parameter before the change. Then the gradients with respect to the
// parameter before and after are added. A parameter of Path::trains that gets no gradient stays as
// it is. If there are `diagnostics`, a warning at its operator names what stops the gradient.
Graph Differentiate(Graph forward, const AutodiffOptions& options = {},
                    Diagnostics* diagnostics = nullptr);

// The int64 scalar that counts steps, or updates, from 0; added as a placeholder if the graph has
// none.
ValueId StepCounter(Builder& builder, std::string_view name = kStepCounter);

}  // namespace cgrun

#endif  // CGRUN_AUTODIFF_AUTODIFF_H_
