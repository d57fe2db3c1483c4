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

// A gradient that becomes an output of kind kKept: what a loss gives to `value`, before it is added
// up, clipped or averaged over processes. Of a path that a step repeats, its last run's.
struct KeptGradient {
  ValueId value;
  std::string name;  // of the output
  SourceMark mark;   // where the user asks for it
  // Whose loss. "": of the one path that gives the value a gradient; of a parameter that is
  // trained, of the one that trains it. Where there are several, they are an error, or without
  // diagnostics the first is taken.
  std::string path = {};
};

struct AutodiffOptions {
  int processes = 1;  // more than one: gradients are summed over them and averaged
  // Gradients are added up in optimizer state, over the batches of a step: OpId::accumulate.
  bool accumulates = false;
  bool updates = true;  // else they are only added up: every batch of a step but its last
  // Bounds on the gradients of a path, before the optimizer; 0: none.
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

// For every backprop path with a loss, in order: gradients of the loss, their sum over the batches
// of a step where they are accumulated, their all-reduce where there are several processes, their
// clipping, and one optimizer node a parameter, with its state and update edges.
// A later path reads the parameters that an earlier one has changed; where its loss depends on
// values that were computed with a parameter before it changed, the gradients with respect to the
// parameter before and after are added. A parameter of Path::trains that gets no gradient stays as
// it is: a warning at its operator, where there are `diagnostics`, names what stops the gradient.
Graph Differentiate(Graph forward, const AutodiffOptions& options = {},
                    Diagnostics* diagnostics = nullptr);

// The int64 scalar that counts steps, or updates, from 0; added as a placeholder if the graph has
// none.
ValueId StepCounter(Builder& builder, std::string_view name = kStepCounter);

}  // namespace cgrun

#endif  // CGRUN_AUTODIFF_AUTODIFF_H_
