// Seconds of kernels as they were measured or estimated, and of bytes on their way.
#include "src/plan/cost_model.h"

#include <algorithm>
#include <map>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

constexpr double kBytesPerSecond = 20e9;
constexpr int64_t kCheapOperations = 16;  // for an element: batch_norm has 7, a pool its window

bool IsCheap(const NodeSignature& node) {
  int64_t elements = 0;
  for (const TensorType& type : node.outputs) {
    elements = std::max(elements, type.shape.Elements());
  }
  return CostOf(node).flops <= kCheapOperations * elements;
}

// `option` is a KernelOption or a KernelChoice for the node.
template <class Option>
double SecondsWith(const NodeSignature& node, const Option& option) {
  if (option.is_measured) return option.seconds;
  const double to_move = SecondsToMove(node);
  return IsCheap(node) ? to_move : std::max(to_move, option.seconds);
}

bool Begins(OpId op) { return op == OpId::swap_out || op == OpId::swap_in; }
bool Waits(OpId op) { return op == OpId::swap_out_wait || op == OpId::swap_in_wait; }

}  // namespace

double SecondsToMove(const NodeSignature& node) {
  int64_t bytes = 0;
  for (const TensorType& type : node.inputs) bytes += ByteSize(type);
  for (const TensorType& type : node.outputs) bytes += ByteSize(type);
  return static_cast<double>(bytes) / kBytesPerSecond;
}

double SecondsWithOption(const NodeSignature& node, const KernelOption& option) {
  return SecondsWith(node, option);
}

double SecondsOf(const Graph& graph, const Node& node) {
  const NodeSignature signature = SignatureOf(graph, node);
  return node.kernel ? SecondsWith(signature, *node.kernel) + node.kernel->slower_by
                     : SecondsWith(signature, KernelChoice());
}

double SecondsOfStep(const Graph& graph) {
  double seconds = 0;
  for (const Node& node : graph.nodes) {
    if (!IsTransfer(node.op)) seconds += SecondsOf(graph, node);
  }
  return seconds;
}

double SecondsForLess(const Graph& graph) {
  double seconds = 0;
  for (const Node& node : graph.nodes) {
    if (IsTransfer(node.op)) continue;
    if (node.recomputes.valid()) {
      seconds += SecondsOf(graph, node);
    } else if (node.kernel) {
      seconds += node.kernel->slower_by;
    }
  }
  return seconds;
}

ValueId FileOf(const Node& node) {
  switch (node.op) {
    case OpId::swap_out:
      return node.outputs[0];
    case OpId::swap_in_wait:
      return node.inputs[1];
    default:
      return node.inputs[0];
  }
}

double SecondsWaited(const Graph& graph, const Schedule& schedule) {
  double now = 0, file_is_free = 0, waited = 0;
  std::map<ValueId, double> arrives;  // of tensors in the file, the transfer that began last
  for (const ScheduleStep& step : schedule.steps) {
    const Node& node = graph.nodes[step.node];
    if (Begins(node.op)) {
      file_is_free = std::max(file_is_free, now) + SecondsOf(graph, node);
      arrives[FileOf(node)] = file_is_free;
    } else if (Waits(node.op)) {
      const double wait = std::max(arrives[FileOf(node)] - now, 0.0);
      now += wait;
      waited += wait;
    } else {
      now += SecondsOf(graph, node);
    }
  }
  return waited;
}

double ShareForLess(const Graph& graph) {
  const double for_less = SecondsForLess(graph);
  const double without = SecondsOfStep(graph) - for_less;
  return without > 0 ? for_less / without : 0;
}

}  // namespace cgrun
