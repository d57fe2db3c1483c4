// Lists operators with their inputs in a table.
#include "src/import/weight_slots.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace cgrun {
namespace {

struct WeightSlots {
  std::string_view op_type;
  std::array<int, 3> inputs;  // -1: none
};

constexpr WeightSlots kWeightSlots[] = {
    {"BiasGelu", {1, -1, -1}},
    {"FusedMatMul", {0, 1, -1}},
    {"Gather", {0, -1, -1}},
    {"Gemm", {0, 1, 2}},
    {"GroupNormalization", {1, 2, -1}},
    {"InstanceNormalization", {1, 2, -1}},
    {"LayerNormalization", {1, 2, -1}},
    {"MatMul", {0, 1, -1}},
    {"PRelu", {1, -1, -1}},
    {"RMSNormalization", {1, -1, -1}},
    {"SimplifiedLayerNormalization", {1, -1, -1}},
    {"SkipLayerNormalization", {2, 3, 4}},
    {"SkipSimplifiedLayerNormalization", {2, 3, -1}},
};

}  // namespace

bool IsWeightSlot(const onnx::Node& node, int i) {
  return std::ranges::any_of(kWeightSlots, [&](const WeightSlots& slots) {
    return slots.op_type == node.op_type &&
           std::ranges::find(slots.inputs, i) != slots.inputs.end();
  });
}

bool MakesWeights(const onnx::Node& node) {
  const std::initializer_list<std::string_view> recurrent = {"LSTM", "GRU", "RNN"};
  return std::ranges::find(recurrent, std::string_view(node.op_type)) != recurrent.end();
}

}  // namespace cgrun
