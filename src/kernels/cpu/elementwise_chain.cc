// The inner program of a chain is its operators' own kernels, prepared for a tile: some KiB of each
// operand go through all of them before the next tile does. What passes between two operators lies
// in the workspace of a thread, which is small enough for the first-level cache, and never gets to
// memory. The bits are those of the kernels one by one.
#include "src/kernels/cpu/elementwise_chain.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/own_kernels.h"
#include "src/kernels/cpu/parallel.h"

namespace cgrun::cpu {
namespace {

constexpr int64_t kMostElements = 2048;  // of a tile: 8 KiB of f32
constexpr size_t kMostOperands = 4;      // of an operator: where and its like have them
constexpr int64_t kLine = 64;
constexpr double kBytesPerSecond = 4e9;  // as of other kernels, so that estimates can be compared

// Where an operand of an inner operator lies: operand `source` ≥ 0 of the node, or slot −1 − source
// of the thread's workspace, each step of an element further; 0 for one element that all share.
struct Place {
  int source = 0;
  int64_t element_bytes = 0;
};

struct Step {
  PreparedKernel of_tile, of_rest;  // the last tile may be shorter
  std::array<Place, kMostOperands> places;
  int operand_count = 0;
};

struct Parameters {
  std::vector<Step> steps;
  int64_t elements = 0;
  int64_t tile = 0;  // elements
  int64_t slot_bytes = 0;
  int64_t thread_bytes = 0;  // of the workspace
  int workspace = 0;         // the operand
  int threads = 1;
};

// The slots in which results wait for their last reader: −1 for the last one, which is the node's.
struct Slots {
  std::vector<int> of_result;
  int count = 0;
};

Slots AssignSlots(const NodeSignature& node) {
  const auto size = static_cast<int>(node.body.size());
  std::vector<int> last_reader(node.body.size(), 0);
  for (int j = 0; j < size; ++j) {
    for (const int operand : node.body[static_cast<size_t>(j)].operands) {
      if (operand < 0) last_reader[static_cast<size_t>(-1 - operand)] = j;
    }
  }
  Slots slots{std::vector<int>(node.body.size(), -1), 0};
  std::vector<int> free_after;  // of each slot: the reader behind which it is free
  for (int j = 0; j + 1 < size; ++j) {
    const auto it = std::ranges::find_if(free_after, [j](int reader) { return reader < j; });
    slots.of_result[static_cast<size_t>(j)] = static_cast<int>(it - free_after.begin());
    if (it == free_after.end()) {
      free_after.push_back(last_reader[static_cast<size_t>(j)]);
    } else {
      *it = last_reader[static_cast<size_t>(j)];
    }
  }
  slots.count = static_cast<int>(free_after.size());
  return slots;
}

// All threads, where the operators by themselves would go through enough bytes for them.
int ThreadsOf(const NodeSignature& node, int threads) {
  int64_t bytes = 0;
  for (const NodeSignature& inner : SignaturesInBody(node)) bytes += OperandBytes(inner);
  return bytes < LeastParallelBytes(Work::kMoves) ? 1 : threads;
}

// No more than a thread has to do, in whole grains.
int64_t TileOf(const NodeSignature& node, int threads) {
  const int64_t share = (node.outputs[0].shape.Elements() + threads - 1) / threads;
  return std::min(kMostElements, (share + kGrain - 1) / kGrain * kGrain);
}

int64_t SlotBytes(const NodeSignature& node, int64_t tile) {
  int64_t most = 0;
  for (const NodeSignature& inner : SignaturesInBody(node)) {
    most = std::max(most, SizeOf(inner.outputs[0].dtype));
  }
  return (tile * most + kLine - 1) / kLine * kLine;
}

int64_t WorkspaceBytes(const NodeSignature& node, int most_threads) {
  const int threads = ThreadsOf(node, most_threads);
  return AssignSlots(node).count * SlotBytes(node, TileOf(node, threads)) * threads;
}

bool InStep(const TensorType& type, const Shape& shape) {
  return type.shape == shape || type.shape.Elements() == 1;
}

// `node` for `count` elements of tensors of `shape`, its result's.
NodeSignature OfPart(NodeSignature node, const Shape& shape, int64_t count) {
  for (std::vector<TensorType>* types : {&node.inputs, &node.outputs}) {
    for (TensorType& type : *types) type.shape = type.shape == shape ? Shape{count} : Shape{1};
  }
  return node;
}

// Whether all operators mean the same where the tensors are vectors: none minds its axes.
bool Supports(const NodeSignature& node) {
  if (node.body.size() < 2 || node.outputs.size() != 1) return false;
  const Shape& shape = node.outputs[0].shape;
  const auto in_step = [&](const TensorType& type) { return InStep(type, shape); };
  if (shape.Elements() == 0 || !std::ranges::all_of(node.inputs, in_step)) return false;
  if (!FaultOfFused(OfPart(node, shape, shape.Elements())).empty()) return false;
  return std::ranges::all_of(SignaturesInBody(node), [&](const NodeSignature& inner) {
    return inner.inputs.size() + inner.outputs.size() <= kMostOperands &&
           inner.outputs.size() == 1 && inner.outputs[0].shape == shape &&
           ElementwiseKernel(inner) != nullptr;
  });
}

double Seconds(const NodeSignature& node, int threads) {
  return static_cast<double>(CostOf(node).flops) / (kElementsPerSecond * threads) +
         static_cast<double>(OperandBytes(node)) / kBytesPerSecond;
}

PreparedKernel PrepareForPart(const NodeSignature& inner, const Shape& shape, int64_t count) {
  const NodeSignature part = OfPart(inner, shape, count);
  KernelRequest request{part, {}, 1};
  request.operands.resize(part.inputs.size() + part.outputs.size());
  return ElementwiseKernel(inner)->prepare(request);
}

void RunTile(const Parameters& p, const RunContext& context, const Instruction& i, int part,
             int64_t begin, int64_t count) noexcept {
  Operand slots = i.operands[p.workspace];
  slots.offset += part * p.thread_bytes;
  for (const Step& step : p.steps) {
    std::array<Operand, kMostOperands> operands;
    for (int k = 0; k < step.operand_count; ++k) {
      const Place& place = step.places[static_cast<size_t>(k)];
      Operand& operand = operands[static_cast<size_t>(k)];
      operand = place.source < 0 ? slots : i.operands[place.source];
      operand.offset +=
          place.source < 0 ? (-1 - place.source) * p.slot_bytes : begin * place.element_bytes;
    }
    const PreparedKernel& kernel = count == p.tile ? step.of_tile : step.of_rest;
    kernel.run(context,
               {kernel.run, operands.data(), kernel.parameters.get(), step.operand_count, i.node});
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  SplitParts(p.threads, p.elements, p.tile, [&](int part, int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += p.tile) {
      RunTile(p, context, i, part, at, std::min(p.tile, end - at));
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& shape = node.outputs[0].shape;
  const Slots slots = AssignSlots(node);
  Parameters p;
  p.elements = shape.Elements();
  p.threads = ThreadsOf(node, request.threads);
  p.tile = TileOf(node, p.threads);
  p.slot_bytes = SlotBytes(node, p.tile);
  p.thread_bytes = slots.count * p.slot_bytes;
  p.workspace = static_cast<int>(node.inputs.size()) + 1;
  const int64_t rest = p.elements % p.tile;
  const auto place = [&](int operand, const TensorType& type) -> Place {
    if (operand < 0) return {-1 - slots.of_result[static_cast<size_t>(-1 - operand)], 0};
    return {operand, type.shape == shape ? SizeOf(type.dtype) : 0};
  };
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  for (size_t j = 0; j < body.size(); ++j) {
    const NodeSignature& inner = body[j];
    Step step;
    if (p.elements >= p.tile) step.of_tile = PrepareForPart(inner, shape, p.tile);
    if (rest > 0) step.of_rest = PrepareForPart(inner, shape, rest);
    for (size_t k = 0; k < inner.inputs.size(); ++k) {
      step.places[k] = place(node.body[j].operands[k], inner.inputs[k]);
    }
    const bool last = j + 1 == body.size();
    const int result = last ? p.workspace - 1 : -1 - slots.of_result[j];
    step.places[inner.inputs.size()] = {result, SizeOf(inner.outputs[0].dtype)};
    step.operand_count = static_cast<int>(inner.inputs.size()) + 1;
    p.steps.push_back(std::move(step));
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

}  // namespace

KernelDef elementwise_chain() {
  return {.name = "cpu.elementwise_chain",
          .supports = Supports,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .elementwise = true,
          .seconds = Seconds};
}

}  // namespace cgrun::cpu
