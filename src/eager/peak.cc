// A step with sizes in place of memory.
#include "src/eager/peak.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/eager/tape.h"

namespace cgrun {
namespace {

// Counts from the bytes of the model: above them where a step has more, below where one of its
// states has gone.
class Rehearsal {
 public:
  Rehearsal(const Graph& graph, int64_t alignment)
      : graph_(graph), alignment_(alignment), tape_(MakeTape(graph)) {
    tensors_.resize(tape_.tensors.size());
  }

  int64_t Run() {
    for (TensorId id : tape_.tensors.ids()) {
      const TapeTensor& tensor = tape_.tensors[id];
      tensors_[id] = {tensor.of_model, tensor.references};
      const bool fed = !tensor.of_model && !graph_.values[tensor.value].producer.valid();
      if (fed && tensor.references > 0) Take(id);
    }
    for (const TapeCall& call : tape_.calls) Execute(call);
    for (const TapeUpdate& update : tape_.updates) {
      if (update.copies) Add(Rounded(tape_.tensors[update.next].bytes));
    }
    return peak_;
  }

 private:
  struct Tensor {
    bool there = false;
    int32_t references = 0;
  };

  int64_t Rounded(int64_t bytes) const {
    return (std::max<int64_t>(bytes, 1) + alignment_ - 1) / alignment_ * alignment_;
  }
  void Add(int64_t bytes) {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  void Take(TensorId id) {
    tensors_[id].there = true;
    Add(Rounded(tape_.tensors[id].bytes));
  }
  void Release(TensorId id) {
    if (--tensors_[id].references <= 0) GiveBack(id);
  }
  void GiveBack(TensorId id) {
    if (tensors_[id].there) live_ -= Rounded(tape_.tensors[id].bytes);
    tensors_[id].there = false;
  }

  void Execute(const TapeCall& call) {
    if (call.view) return Release(call.inputs[0]);
    for (size_t o = 0; o < call.outputs.size(); ++o) {
      const TensorId id = call.outputs[o];
      tensors_[id].references = tape_.tensors[id].references;
      if (TakeOver(call, static_cast<int>(o))) {
        tensors_[id].there = true;
      } else {
        Take(id);
      }
    }
    const int64_t workspace = graph_.nodes[call.node].kernel->workspace_bytes;
    if (workspace > 0) {
      Add(Rounded(workspace));
      live_ -= Rounded(workspace);
    }
    for (TensorId id : call.inputs) Release(id);
    for (TensorId id : call.outputs) {
      if (tensors_[id].references == 0) GiveBack(id);
    }
  }

  bool TakeOver(const TapeCall& call, int output) {
    for (const InPlacePair& pair : call.in_place) {
      if (pair.output != output) continue;
      const TensorId id = call.inputs[static_cast<size_t>(pair.input)];
      const int32_t by_model = tape_.tensors[id].changes ? 1 : 0;
      if (!tensors_[id].there || tensors_[id].references != 1 + by_model) continue;
      tensors_[id].there = false;
      return true;
    }
    return false;
  }

  const Graph& graph_;
  int64_t alignment_;
  Tape tape_;
  IdVector<TensorId, Tensor> tensors_;
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

// Counts each state once by its name, and each constant once by its name and value.
int64_t ModelBytes(std::span<const Graph* const> entries, int64_t alignment) {
  std::set<std::string> states;
  std::map<std::string, std::vector<const HostTensor*>> constants;
  int64_t bytes = 0;
  for (const Graph* graph : entries) {
    for (ValueId id : graph->values.ids()) {
      const Value& value = graph->values[id];
      bool is_new = IsState(value.role) && states.insert(value.name).second;
      if (value.role == Role::kConstant) {
        const HostTensor& tensor = graph->constants.at(id);
        std::vector<const HostTensor*>& known = constants[value.name];
        is_new = std::none_of(known.begin(), known.end(),
                              [&](const HostTensor* other) { return *other == tensor; });
        if (is_new) known.push_back(&tensor);
      }
      const int64_t size = std::max<int64_t>(1, graph->BytesOf(id));
      if (is_new) bytes += (size + alignment - 1) / alignment * alignment;
    }
  }
  return bytes;
}

}  // namespace

int64_t EagerPeakBytes(std::span<const Graph* const> entries, int64_t alignment) {
  int64_t most = 0;
  for (const Graph* graph : entries) most = std::max(most, Rehearsal(*graph, alignment).Run());
  return ModelBytes(entries, alignment) + most;
}

}  // namespace cgrun
