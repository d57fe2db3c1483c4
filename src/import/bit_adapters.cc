// Imports operators on the bits of integers.
#include <string>
#include <utility>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"
#include "src/import/widen.h"

namespace cgrun {
namespace {

// 1, 2, 4, … as int64, and 0 for every other index. The last one is negative, as int64 has it.
NetworkValue PowersOfTwo(NodeContext& node, const NetworkValue& exponents) {
  constexpr int64_t kBits = 64;
  HostTensor table(DType::kI64, Shape{kBits});
  for (int64_t i = 0; i < kBits; ++i) {
    table.data<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(uint64_t{1} << i);
  }
  return ItemWriter(node).Part(
      "gather", {node.EmitParameter(ConstantOf(std::move(table)), "powers"), exponents});
}

void FinishAs(NodeContext& node, const NetworkValue& x, DType dtype) {
  ItemWriter(node).Finish("cast", {x}, {KeyOf("to", std::string(Name(dtype)))});
}

// Multiplies or divides by powers of two. Bits beyond the type are lost.
void BitShift(NodeContext& node, const Adapter&) {
  const std::string direction = node.Text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    node.FailAttribute("direction", "must be LEFT or RIGHT");
  }
  const DType dtype = node.TypeOf(0).dtype;
  const NetworkValue x = CastValue(node.state(), node.Value(0), DType::kI64);
  const NetworkValue powers =
      PowersOfTwo(node, CastValue(node.state(), node.Value(1), DType::kI64));
  if (direction == "RIGHT" && dtype == DType::kU64) {
    return FinishAs(node, UnsignedQuotient(node, x, powers), dtype);
  }
  FinishAs(node, ItemWriter(node).Part(direction == "LEFT" ? "mul" : "div", {x, powers}), dtype);
}

// Integers of one size are cast without a change of their bits.
void BitCast(NodeContext& node, const Adapter&) {
  const DType from = node.TypeOf(0).dtype;
  const auto type = static_cast<onnx::DataType>(node.Int("to", 0));
  const std::optional<DType> to = DTypeOfOnnx(type);
  if (to == from) return node.Set(node.Value(0));
  if (!to || IsFloat(*to) || IsFloat(from) || *to == DType::kBool || SizeOf(*to) != SizeOf(from)) {
    node.Fail("makes " + onnx::NameOf(type) + " of " + std::string(Name(from)) +
              ", and only integers of one size are supported");
  }
  FinishAs(node, node.Value(0), *to);
}

constexpr Adapter kBits[] = {
    {"BitCast", BitCast},
    {"BitShift", BitShift, "", 2},
};

}  // namespace

std::span<const Adapter> BitAdapters() { return kBits; }

}  // namespace cgrun
