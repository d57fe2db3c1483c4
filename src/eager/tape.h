// Tape: what eager execution must know of a graph before it runs it, call by call: the order, who
// shares bytes with whom, and how often each tensor will be read. MakeTape() is the entry point.
#ifndef CGRUN_EAGER_TAPE_H_
#define CGRUN_EAGER_TAPE_H_

#include <cstdint>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

using TensorId = Id<struct TensorTag>;

// Bytes that live and die together: those of a value and of all views of it.
struct TapeTensor {
  ValueId value;  // the one that the others show
  int64_t bytes = 0;
  int32_t references = 0;  // reads by calls, and holds: by outputs, by the user, by the model
  bool of_model = false;   // a state, or a constant: there before the step, and after it
  bool changes = false;    // a state that the step gives a new value
};

// One operator, as the user of an eager framework would call it.
struct TapeCall {
  NodeId node;
  bool view = false;  // shows its input under another shape: nothing runs
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // Outputs that are written over an input where nothing else wants that input any more.
  std::vector<InPlacePair> in_place;
};

// At the end of the step, `state` is what `next` has become.
struct TapeUpdate {
  TensorId state;
  TensorId next;
  bool copies = false;  // `next` stays with somebody else, so that the state gets a copy
};

struct Tape {
  std::vector<TapeCall> calls;
  IdVector<TensorId, TapeTensor> tensors;
  IdVector<ValueId, TensorId> tensor_of;  // invalid for what is never computed
  std::vector<TapeUpdate> updates;
  std::vector<TensorId> held;  // after the step, by outputs and by the user: a line a hold
};

// The order in which a program that is written path by path calls its operators: a path's forward
// part, its backward part, its updates, then the next path.
std::vector<NodeId> ProgramOrder(const Graph& graph);

// `graph` has kernels; the user holds on to the values of `keep`. Backward operators whose results
// nothing reads are left out: no autograd would run them.
Tape MakeTape(const Graph& graph, const std::vector<ValueId>& keep = {});

}  // namespace cgrun

#endif  // CGRUN_EAGER_TAPE_H_
