// Makes and runs the tiles of chains.
#include "src/kernels/cpu/chain_tiles.h"

#include <algorithm>
#include <utility>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/own_kernels.h"
#include "src/kernels/cpu/parallel.h"

namespace cgrun::cpu {
namespace {

constexpr int64_t kLine = 64;
constexpr double kBytesPerSecond = 4e9;  // as of other kernels, so that estimates can be compared

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

int64_t SlotBytes(const NodeSignature& node, int64_t tile) {
  int64_t most = 0;
  for (const NodeSignature& inner : SignaturesInBody(node)) {
    most = std::max(most, SizeOf(inner.outputs[0].dtype));
  }
  return (tile * most + kLine - 1) / kLine * kLine;
}

bool InStep(const TensorType& type, const Shape& shape) {
  return type.shape == shape || type.shape.Elements() == 1;
}

// Returns `node` for `count` elements of its tensors of `shape`, which is the shape of its result.
NodeSignature OfPart(NodeSignature node, const Shape& shape, int64_t count) {
  for (std::vector<TensorType>* types : {&node.inputs, &node.outputs}) {
    for (TensorType& type : *types) type.shape = type.shape == shape ? Shape{count} : Shape{1};
  }
  return node;
}

PreparedKernel PrepareForPart(const NodeSignature& inner, const Shape& shape, int64_t count) {
  const NodeSignature part = OfPart(inner, shape, count);
  KernelRequest request{part, {}, 1};
  request.operands.resize(part.inputs.size() + part.outputs.size());
  return ElementwiseKernel(inner)->prepare(request);
}

}  // namespace

void ChainTiles::Run(const RunContext& context, const Instruction& i, int part, int64_t begin,
                     int64_t count) const noexcept {
  const auto which = static_cast<size_t>(std::ranges::find(counts, count) - counts.begin());
  Operand slots = i.operands[workspace];
  slots.offset += part * thread_bytes;
  for (const Step& step : steps) {
    std::array<Operand, kMostOperands> operands;
    for (int k = 0; k < step.operand_count; ++k) {
      const Place& place = step.places[static_cast<size_t>(k)];
      Operand& operand = operands[static_cast<size_t>(k)];
      operand = place.source < 0 ? slots : i.operands[place.source];
      operand.offset +=
          place.source < 0 ? (-1 - place.source) * slot_bytes : begin * place.element_bytes;
    }
    const PreparedKernel& kernel = step.of_count[which];
    kernel.run(context,
               {kernel.run, operands.data(), kernel.parameters.get(), step.operand_count, i.node});
  }
}

int64_t ChainTiles::ResultOffset(int part) const {
  const Step& last = steps.back();
  const Place& place = last.places[static_cast<size_t>(last.operand_count - 1)];
  return part * thread_bytes + (-1 - place.source) * slot_bytes;
}

bool IsChain(const NodeSignature& node, size_t operators, const Shape& shape) {
  const auto in_step = [&](const TensorType& type) { return InStep(type, shape); };
  if (shape.Elements() == 0 || !std::ranges::all_of(node.inputs, in_step)) return false;
  std::vector<NodeSignature> body = SignaturesInBody(node);
  body.resize(operators);
  NodeSignature chain = node;
  chain.body.resize(operators);
  chain.outputs = body.back().outputs;
  if (!FaultOfFused(OfPart(chain, shape, shape.Elements())).empty()) return false;
  return std::ranges::all_of(body, [&](const NodeSignature& inner) {
    return inner.inputs.size() + inner.outputs.size() <= ChainTiles::kMostOperands &&
           inner.outputs.size() == 1 && inner.outputs[0].shape == shape &&
           ElementwiseKernel(inner) != nullptr;
  });
}

int64_t ChainThreadBytes(const NodeSignature& node, int64_t tile) {
  return AssignSlots(node).count * SlotBytes(node, tile);
}

ChainTiles MakeChainTiles(const NodeSignature& node, size_t operators, const Shape& shape,
                          std::vector<int64_t> counts) {
  const Slots slots = AssignSlots(node);
  ChainTiles tiles;
  tiles.counts = std::move(counts);
  tiles.slot_bytes = SlotBytes(node, tiles.counts[0]);
  tiles.thread_bytes = slots.count * tiles.slot_bytes;
  tiles.workspace = static_cast<int>(node.inputs.size()) + 1;
  const auto place = [&](int operand, const TensorType& type) -> ChainTiles::Place {
    if (operand < 0) return {-1 - slots.of_result[static_cast<size_t>(-1 - operand)], 0};
    return {operand, type.shape == shape ? SizeOf(type.dtype) : 0};
  };
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  for (size_t j = 0; j < operators; ++j) {
    const NodeSignature& inner = body[j];
    ChainTiles::Step step;
    for (const int64_t count : tiles.counts) {
      step.of_count.push_back(PrepareForPart(inner, shape, count));
    }
    for (size_t k = 0; k < inner.inputs.size(); ++k) {
      step.places[k] = place(node.body[j].operands[k], inner.inputs[k]);
    }
    const bool last = j + 1 == body.size();
    const int result = last ? tiles.workspace - 1 : -1 - slots.of_result[j];
    step.places[inner.inputs.size()] = {result, SizeOf(inner.outputs[0].dtype)};
    step.operand_count = static_cast<int>(inner.inputs.size()) + 1;
    tiles.steps.push_back(std::move(step));
  }
  return tiles;
}

double ChainSeconds(const NodeSignature& node, int threads) {
  return static_cast<double>(CostOf(node).flops) / (kElementsPerSecond * threads) +
         static_cast<double>(OperandBytes(node)) / kBytesPerSecond;
}

}  // namespace cgrun::cpu
