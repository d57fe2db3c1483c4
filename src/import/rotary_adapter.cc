// RotaryEmbedding: pairs of numbers of each head are turned by angles that follow from positions.
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// Cuts and joins the last axis of tensors [N, positions, heads, numbers].
class HeadWriter {
 public:
  explicit HeadWriter(NodeContext& node) : write_(node) {}

  NetworkValue Cut(const NetworkValue& x, int64_t start, int64_t end, int64_t step = 1) {
    ItemWriter::Keys keys = {KeyOfList("axes", {3}), KeyOfList("starts", {start}),
                             KeyOfList("ends", {end})};
    if (step != 1) keys.push_back(KeyOfList("steps", {step}));
    return write_.Part("slice", {x}, std::move(keys));
  }
  NetworkValue Joined(const NetworkValue& a, const NetworkValue& b, int64_t axis) {
    return write_.Part("concat", {a, b}, {KeyOf("axis", axis)});
  }
  // a·b + sign·c·d
  NetworkValue Sum(const char* op, const NetworkValue& a, const NetworkValue& b,
                   const NetworkValue& c, const NetworkValue& d) {
    return write_.Part(op, {write_.Part("mul", {a, b}), write_.Part("mul", {c, d})});
  }
  ItemWriter& write() { return write_; }

 private:
  ItemWriter write_;
};

// The cosines or sines of each position, which go with all heads.
NetworkValue Angles(NodeContext& node, HeadWriter& heads, int i, int64_t pairs) {
  NetworkValue angles = node.Value(i);
  if (node.Has(3)) angles = heads.write().Part("gather", {angles, node.Value(3)});
  const Shape shape = heads.write().ShapeOf(angles);
  if (shape.rank() != 3 || shape[2] != Dim(pairs)) {
    node.Fail("its angles are " + shape.ToString() + ", and " + std::to_string(pairs) +
              " are wanted for each position");
  }
  return heads.write().Reshaped(angles, {shape[0], shape[1], Dim(1), shape[2]});
}

// Turns the first `turned` numbers of each head.
NetworkValue Turned(NodeContext& node, HeadWriter& heads, const NetworkValue& x, int64_t turned) {
  const int64_t pairs = turned / 2;
  const bool interleaved = node.Int("interleaved", 0) != 0;
  const NetworkValue cosines = Angles(node, heads, 1, pairs), sines = Angles(node, heads, 2, pairs);
  const NetworkValue a = interleaved ? heads.Cut(x, 0, turned, 2) : heads.Cut(x, 0, pairs);
  const NetworkValue b = interleaved ? heads.Cut(x, 1, turned, 2) : heads.Cut(x, pairs, turned);
  const NetworkValue real = heads.Sum("sub", cosines, a, sines, b);
  const NetworkValue imaginary = heads.Sum("add", sines, a, cosines, b);
  if (!interleaved) return heads.Joined(real, imaginary, 3);
  const Shape shape = heads.write().ShapeOf(real);
  std::vector<Dim> apart(shape.begin(), shape.end());
  apart.push_back(Dim(1));
  const NetworkValue joined = heads.Joined(heads.write().Reshaped(real, apart),
                                           heads.write().Reshaped(imaginary, apart), 4);
  return heads.write().Reshaped(joined, {shape[0], shape[1], shape[2], Dim(turned)});
}

void RotaryEmbedding(NodeContext& node, const Adapter&) {
  HeadWriter heads(node);
  const Shape shape = node.ShapeOf(0);
  const bool has_heads = shape.rank() == 4;
  if (!has_heads && shape.rank() != 3) node.Fail("reads " + shape.ToString());
  const int64_t count = has_heads ? shape[1].size : node.Int("num_heads", 0);
  if (has_heads) node.Ignore("num_heads");
  if (!has_heads && (count < 1 || shape[2].size % count != 0)) {
    node.FailAttribute("num_heads", "does not fit " + shape.ToString());
  }
  NetworkValue x = node.Value(0);
  if (has_heads) x = heads.write().Transposed(x, {0, 2, 1, 3});
  if (!has_heads) {
    const Dim numbers(shape[2].size / count);
    x = heads.write().Reshaped(x, {shape[0], shape[1], Dim(count), numbers});
  }
  const int64_t all = heads.write().ShapeOf(x)[3].size;
  const int64_t given = node.Int("rotary_embedding_dim", 0), turned = given == 0 ? all : given;
  if (turned < 2 || turned > all || turned % 2 != 0) {
    node.FailAttribute("rotary_embedding_dim", "does not fit heads of " + std::to_string(all));
  }
  NetworkValue y = Turned(node, heads, x, turned);
  if (turned < all) y = heads.Joined(y, heads.Cut(x, turned, all), 3);
  if (has_heads) return heads.write().Finish("transpose", {y}, {KeyOfList("perm", {0, 2, 1, 3})});
  node.Set(node.EmitReshape(y, {shape.begin(), shape.end()}));
}

constexpr Adapter kRotary[] = {{"RotaryEmbedding", RotaryEmbedding, "", 4}};

}  // namespace

std::span<const Adapter> RotaryAdapters() { return kRotary; }

}  // namespace cgrun
