// Exports operators of places: they find them, read at them and write to them.
#include "src/export/emitters.h"
#include "src/ops/arg_max.h"
#include "src/ops/cumsum.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/top_k.h"
#include "src/ops/trilu.h"

namespace cgrun {
namespace {

int64_t Counted(int64_t axis, const Shape& shape) { return *NormalizeAxis(axis, shape.rank()); }

void ArgExtremum(NodeEmitter& node, const Emitter& row) {
  const auto& a = node.attributes<ArgMaxAttributes>();
  NodeEmitter::AttributeList attributes = {IntOf("axis", Counted(a.axis, node.ShapeOf(0))),
                                           IntOf("keepdims", a.keep_dims ? 1 : 0)};
  if (a.last) {
    node.Need(12);
    attributes.push_back(IntOf("select_last_index", 1));
  }
  node.Set(node.Emit(row.onnx, {node.In(0)}, std::move(attributes), DType::kI64));
}

// The number of elements became an input in opset 10, and the choice of the least ones came in 11.
void TopK(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<TopKAttributes>();
  node.Need(a.smallest ? 11 : 10);
  NodeEmitter::AttributeList attributes = {IntOf("axis", Counted(a.axis, node.ShapeOf(0)))};
  if (a.smallest) attributes.push_back(IntOf("largest", 0));
  const DType dtype = node.In(0).dtype;
  const auto found = node.EmitAll("TopK", {node.In(0), node.Integers({a.k})}, std::move(attributes),
                                  {dtype, DType::kI64});
  node.Set(found[1]);
}

void Cumsum(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<CumsumAttributes>();
  const auto axis = static_cast<double>(Counted(a.axis, node.ShapeOf(0)));
  node.Set(
      node.Emit("CumSum", {node.In(0), node.Number(DType::kI64, axis)},
                {IntOf("exclusive", a.exclusive ? 1 : 0), IntOf("reverse", a.reverse ? 1 : 0)}));
}

void Trilu(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<TriluAttributes>();
  const auto diagonal = static_cast<double>(a.diagonal);
  node.Set(node.Emit("Trilu", {node.In(0), node.Number(DType::kI64, diagonal)},
                     {IntOf("upper", a.upper ? 1 : 0)}));
}

// ONNX has no indices of uint8.
OnnxValue IndicesOf(NodeEmitter& node) {
  const OnnxValue index = node.In(1);
  return index.dtype == DType::kU8 ? node.Cast(index, DType::kI64) : index;
}

void Gather(NodeEmitter& node, const Emitter&) {
  const int64_t axis = Counted(node.attributes<GatherAttributes>().axis, node.ShapeOf(0));
  node.Set(node.Emit("Gather", {node.In(0), IndicesOf(node)}, {IntOf("axis", axis)}));
}

void GatherElements(NodeEmitter& node, const Emitter&) {
  const int64_t axis = Counted(node.attributes<GatherElementsAttributes>().axis, node.ShapeOf(0));
  node.Set(node.Emit("GatherElements", {node.In(0), IndicesOf(node)}, {IntOf("axis", axis)}));
}

void GatherNd(NodeEmitter& node, const Emitter&) {
  const int64_t batch_dims = node.attributes<GatherNdAttributes>().batch_dims;
  NodeEmitter::AttributeList attributes;
  if (batch_dims != 0) {
    node.Need(12);
    attributes.push_back(IntOf("batch_dims", batch_dims));
  }
  const OnnxValue indices = node.Cast(node.In(1), DType::kI64);
  node.Set(node.Emit("GatherND", {node.In(0), indices}, std::move(attributes)));
}

// Sums and products came in opset 16, the others in 18.
NodeEmitter::AttributeList ReductionOf(NodeEmitter& node, const std::string& reduction) {
  if (reduction == "none") return {};
  node.Need(reduction == "add" || reduction == "mul" ? 16 : 18);
  return {TextOf("reduction", reduction)};
}

void ScatterElements(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ScatterElementsAttributes>();
  NodeEmitter::AttributeList attributes = ReductionOf(node, a.reduction);
  attributes.push_back(IntOf("axis", Counted(a.axis, node.ShapeOf(0))));
  node.Set(node.Emit("ScatterElements", {node.In(0), IndicesOf(node), node.In(2)},
                     std::move(attributes)));
}

void ScatterNd(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ScatterNdAttributes>();
  const OnnxValue indices = node.Cast(node.In(1), DType::kI64);
  node.Set(
      node.Emit("ScatterND", {node.In(0), indices, node.In(2)}, ReductionOf(node, a.reduction)));
}

constexpr Emitter kIndices[] = {
    {OpId::arg_max, ArgExtremum, "ArgMax", "axis keep_dims last"},
    {OpId::arg_min, ArgExtremum, "ArgMin", "axis keep_dims last"},
    {OpId::cumsum, Cumsum, "", "axis exclusive reverse"},
    {OpId::gather, Gather, "", "axis"},
    {OpId::gather_elements, GatherElements, "", "axis"},
    {OpId::gather_nd, GatherNd, "", "batch_dims"},
    {OpId::scatter_elements, ScatterElements, "", "axis reduction"},
    {OpId::scatter_nd, ScatterNd, "", "reduction"},
    {OpId::top_k, TopK, "", "k axis smallest"},
    {OpId::trilu, Trilu, "", "upper diagonal"},
};

}  // namespace

std::span<const Emitter> IndexEmitters() { return kIndices; }

}  // namespace cgrun
