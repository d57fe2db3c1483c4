// Division of uint64, of which int64 has the bits.
#include <string>

#include "src/import/item_writer.h"
#include "src/import/widen.h"

namespace cgrun {
namespace {

// A number of 2⁶² or 2⁶³, which f32 would round.
ItemWriter::Argument Exact(const char* number) {
  ItemWriter::Argument argument(0.0);
  argument.number = number;
  return argument;
}

ItemWriter::Argument Least() { return Exact("-9223372036854775808"); }
ItemWriter::Argument Quarter() { return Exact("4611686018427387904"); }

class UnsignedDivision {
 public:
  explicit UnsignedDivision(NodeContext& node) : write_(node) {}

  // a ÷ b, cut off; 0 for b = 0. Half of `a` is divided as a signed number, and the result doubled.
  // It may be 1 too small then. If b is 2⁶³ or more, the result is 0 or 1.
  NetworkValue Quotient(const NetworkValue& a, const NetworkValue& b) {
    const NetworkValue half = write_.Part("div", {Plain(a), 2.0});
    const NetworkValue rest = write_.Part("where", {IsLarge(a), Number(a, Quarter()), 0.0});
    const NetworkValue halved =
        write_.Part("mul", {write_.Part("div", {write_.Part("add", {half, rest}), b}), 2.0});
    const NetworkValue left = write_.Part("sub", {a, write_.Part("mul", {halved, b})});
    const NetworkValue one = write_.Part("where", {IsBelow(left, b), 0.0, One(b)});
    const NetworkValue quotient = write_.Part("add", {halved, one});
    const NetworkValue of_large = write_.Part("where", {IsBelow(a, b), 0.0, One(b)});
    return write_.Part("where", {IsLarge(b), of_large, quotient});
  }

  NetworkValue Remainder(const NetworkValue& a, const NetworkValue& b) {
    return write_.Part("sub", {a, write_.Part("mul", {Quotient(a, b), b})});
  }

 private:
  NetworkValue Compared(const ItemWriter::Argument& a, const ItemWriter::Argument& b,
                        const std::string& is) {
    return write_.Part("compare", {a, b}, {KeyOf("is", is)});
  }
  // Returns whether the number is 2⁶³ or more.
  NetworkValue IsLarge(const NetworkValue& x) { return Compared(x, 0.0, "less"); }
  // The number without the bit of 2⁶³.
  NetworkValue Plain(const NetworkValue& x) {
    return write_.Part("where", {IsLarge(x), write_.Part("add", {x, Least()}), x});
  }
  NetworkValue IsBelow(const NetworkValue& a, const NetworkValue& b) {
    return Compared(write_.Part("add", {a, Least()}), write_.Part("add", {b, Least()}), "less");
  }
  // 1, and 0 where b is 0.
  NetworkValue One(const NetworkValue& b) {
    return write_.Part("where",
                       {Compared(b, 0.0, "equal"), write_.Part("mul", {b, 0.0}), Number(b, 1.0)});
  }
  // Gives a number as int64, in the shape of `x`.
  NetworkValue Number(const NetworkValue& x, const ItemWriter::Argument& number) {
    return write_.Part("add", {write_.Part("mul", {x, 0.0}), number});
  }

  ItemWriter write_;
};

}  // namespace

NetworkValue UnsignedQuotient(NodeContext& node, const NetworkValue& a, const NetworkValue& b) {
  return UnsignedDivision(node).Quotient(a, b);
}

bool DividesUnsigned(NodeContext& node) {
  const std::string& op_type = node.node().op_type;
  if ((op_type != "Div" && op_type != "Mod") || node.TypeOf(0).dtype != DType::kU64) return false;
  ImportState& state = node.state();
  const NetworkValue a = CastValue(state, node.Value(0), DType::kI64);
  const NetworkValue b = CastValue(state, node.Value(1), DType::kI64);
  if (op_type == "Mod") node.Ignore("fmod");
  UnsignedDivision division(node);
  const NetworkValue y = op_type == "Div" ? division.Quotient(a, b) : division.Remainder(a, b);
  ItemWriter(node).Finish("cast", {y}, {KeyOf("to", std::string("uint64"))});
  return true;
}

}  // namespace cgrun
