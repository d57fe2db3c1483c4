// Attention is made of products of queries and keys, masks, a softmax and a product with values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"
#include "src/onnx/number_types.h"

namespace cgrun {
namespace {

// These are the inputs of the node.
enum { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

// Computes on tensors [N, heads, places, numbers]. Several heads of queries may share one of keys.
class AttentionWriter {
 public:
  explicit AttentionWriter(NodeContext& node) : node_(node), write_(node) {
    if (node.Has(kPastKey) != node.Has(kPastValue)) {
      node.Fail("has only one of past_key and past_value");
    }
    if (node.Has(kPastKey) && node.Has(kLengths)) {
      node.Fail("has a past as well as nonpad_kv_seqlen");
    }
    is_packed_ = node.ShapeOf(kQuery).rank() == 3;
    query_ = Heads(kQuery, "q_num_heads");
    const NetworkValue key = Heads(kKey, "kv_num_heads"), value = Heads(kValue, "kv_num_heads");
    key_ = WithPast(kPastKey, key);
    value_ = WithPast(kPastValue, value);
    past_ = write_.ShapeOf(key_)[2].size - write_.ShapeOf(key)[2].size;
    CheckShapes();
  }

  void Run() {
    const int64_t shown = node_.Int("qk_matmul_output_mode", 0);
    if (shown < 0 || shown > 3) node_.FailAttribute("qk_matmul_output_mode", "is not known");
    const NetworkValue products = Products(), capped = Capped(products);
    const std::optional<NetworkValue> bias = Bias();
    const NetworkValue biased = bias ? write_.Part("add", {capped, *bias}) : capped;
    NetworkValue shares = Shares(biased);
    if (bias && may_hide_all_) shares = WithoutHidden(shares, *bias);
    SetOutput(1, key_);
    SetOutput(2, value_);
    SetOutput(3, std::vector{products, capped, biased, shares}[static_cast<size_t>(shown)]);
    Finish(shares);
  }

 private:
  // Takes input `i`, whose last axis has all heads side by side where there are three axes.
  NetworkValue Heads(int i, const char* attribute) {
    const Shape shape = node_.ShapeOf(i);
    const int64_t heads = node_.Int(attribute, 0);
    if (shape.rank() != (is_packed_ ? 3 : 4)) {
      node_.Fail("its input " + std::to_string(i) + " is " + shape.ToString() +
                 ", and all three must have four axes, or all three");
    }
    if (!is_packed_) return node_.Value(i);
    if (heads < 1 || shape[2].size % heads != 0) {
      node_.FailAttribute(attribute, "does not fit " + shape.ToString());
    }
    const Dim numbers(shape[2].size / heads);
    const NetworkValue apart =
        write_.Reshaped(node_.Value(i), {shape[0], shape[1], Dim(heads), numbers});
    return write_.Transposed(apart, {0, 2, 1, 3});
  }

  NetworkValue WithPast(int past, const NetworkValue& x) {
    if (!node_.Has(past)) return x;
    return write_.Part("concat", {node_.Value(past), x}, {KeyOf("axis", int64_t{2})});
  }

  void CheckShapes() {
    const Shape query = write_.ShapeOf(query_), key = write_.ShapeOf(key_);
    const Shape value = write_.ShapeOf(value_);
    for (int axis = 1; axis < 4; ++axis) {
      if (query[axis].batch || key[axis].batch) node_.Fail("attends along the batch axis");
    }
    if (key[1] != value[1] || key[2] != value[2] || query[3] != key[3]) {
      node_.Fail("its queries " + query.ToString() + ", keys " + key.ToString() + " and values " +
                 value.ToString() + " do not fit each other");
    }
    if (key[1].size < 1 || query[1].size % key[1].size != 0) {
      node_.Fail("its " + std::to_string(query[1].size) + " heads of queries cannot share " +
                 std::to_string(key[1].size) + " heads of keys");
    }
  }

  int64_t heads() const { return write_.ShapeOf(query_)[1].size; }
  int64_t key_heads() const { return write_.ShapeOf(key_)[1].size; }
  int64_t queries() const { return write_.ShapeOf(query_)[2].size; }
  int64_t keys() const { return write_.ShapeOf(key_)[2].size; }

  // Puts the queries of all heads that share one of keys into one matrix.
  NetworkValue Grouped(const NetworkValue& x) {
    const Shape shape = write_.ShapeOf(x);
    return write_.Reshaped(
        x, {shape[0], Dim(key_heads()), Dim(heads() / key_heads() * queries()), shape[3]});
  }
  NetworkValue Ungrouped(const NetworkValue& x) {
    const Shape shape = write_.ShapeOf(x);
    return write_.Reshaped(x, {shape[0], Dim(heads()), Dim(queries()), shape[3]});
  }

  NetworkValue Products() {
    const auto size = static_cast<float>(write_.ShapeOf(query_)[3].size);
    const float scale = node_.Real("scale", 1 / std::sqrt(size));
    const NetworkValue scaled = write_.Part("mul", {query_, scale});
    return Ungrouped(write_.Part("matmul", {Grouped(scaled), key_}, {KeyOf("transpose_b", true)}));
  }

  NetworkValue Capped(const NetworkValue& scores) {
    const float cap = node_.Real("softcap", 0);
    if (!(cap > 0)) return scores;
    const NetworkValue part = write_.Part("tanh", {write_.Part("div", {scores, cap})});
    return write_.Part("mul", {part, cap});
  }

  // A model file has no infinite numbers, but its weights may be infinite.
  NetworkValue MinusInfinity() {
    if (!minus_infinity_) {
      HostTensor tensor(node_.TypeOf(query_).dtype, Shape{});
      tensor.Set(0, -std::numeric_limits<double>::infinity());
      minus_infinity_ = node_.EmitParameter(ConstantOf(std::move(tensor)), "hidden");
    }
    return *minus_infinity_;
  }

  // A mask may end before the keys. Visible() hides the others.
  NetworkValue Mask() {
    NetworkValue mask = node_.Value(kMask);
    if (node_.TypeOf(mask).dtype == DType::kBool) {
      mask = write_.Part("where", {mask, 0.0, MinusInfinity()});
    }
    const Shape shape = write_.ShapeOf(mask);
    const int last = shape.rank() - 1;
    if (last < 0 || shape[last].batch || shape[last].size > keys()) {
      node_.Fail("its mask " + shape.ToString() + " does not fit " + std::to_string(keys()) +
                 " keys");
    }
    masked_keys_ = shape[last].size;
    if (masked_keys_ == keys()) return mask;
    return write_.Part("pad", {mask},
                       {KeyOfList("axes", {last}), KeyOfList("before", {0}),
                        KeyOfList("after", {keys() - masked_keys_})});
  }

  // The number of keys that a sample has, as it goes with scores.
  NetworkValue Lengths() {
    const Shape shape = node_.ShapeOf(kLengths);
    if (shape.rank() != 1) node_.Fail("its nonpad_kv_seqlen is " + shape.ToString());
    return write_.Reshaped(node_.Value(kLengths), {shape[0], Dim(1), Dim(1), Dim(1)});
  }

  // The place of each query among the keys. With lengths, the last query has the last key.
  NetworkValue QueryPlaces(const std::optional<NetworkValue>& lengths) {
    const NetworkValue column =
        write_.Reshaped(EmitPlaces(node_, queries()), {Dim(queries()), Dim(1)});
    if (!lengths) return past_ == 0 ? column : Moved(column, past_);
    return write_.Part("add", {*lengths, Moved(column, -queries())});
  }

  // Says which keys a query may see by their places; nothing where that is all of them.
  std::optional<NetworkValue> Visible() {
    const int64_t furthest = queries() + keys();
    const bool is_causal = node_.Int("is_causal", 0) != 0;
    const int64_t left = std::min(node_.Int("left_window_size", -1), furthest);
    const int64_t right = std::min(node_.Int("right_window_size", -1), furthest);
    const bool has_end = is_causal || right >= 0;
    const bool is_short = node_.Has(kMask) && masked_keys_ < keys();
    if (!has_end && left < 0 && !node_.Has(kLengths) && !is_short) return std::nullopt;
    std::optional<NetworkValue> lengths, visible;
    const NetworkValue key = EmitPlaces(node_, keys());
    const auto add = [&](const char* is, const ItemWriter::Argument& bound) {
      const NetworkValue fits =
          write_.Part("compare", {key, bound}, {KeyOf("is", std::string(is))});
      visible = visible ? write_.Part("logical_and", {*visible, fits}) : fits;
    };
    if (is_short) add("less", static_cast<double>(masked_keys_));
    if (node_.Has(kLengths)) add("less", *(lengths = Lengths()));
    may_hide_all_ |= lengths || left >= 0;
    if (!has_end && left < 0) return visible;
    const NetworkValue query = QueryPlaces(lengths);
    if (has_end) add("less_or_equal", is_causal ? query : Moved(query, right));
    if (left >= 0) add("greater_or_equal", Moved(query, -left));
    return visible;
  }
  NetworkValue Moved(const NetworkValue& places, int64_t by) {
    return write_.Part("add", {places, static_cast<double>(by)});
  }

  // Returns the numbers that are added to the scores. One of -inf hides a key.
  std::optional<NetworkValue> Bias() {
    std::optional<NetworkValue> mask;
    if (node_.Has(kMask)) mask = Mask();
    may_hide_all_ = mask.has_value();
    const std::optional<NetworkValue> visible = Visible();
    if (!visible) return mask;
    if (mask) return write_.Part("where", {*visible, *mask, MinusInfinity()});
    return write_.Part("where", {*visible, 0.0, MinusInfinity()});
  }

  NetworkValue CastTo(const NetworkValue& x, DType dtype) {
    if (node_.TypeOf(x).dtype == dtype) return x;
    return write_.Part("cast", {x}, {KeyOf("to", std::string(Name(dtype)))});
  }

  NetworkValue Shares(const NetworkValue& scores) {
    const DType dtype = node_.TypeOf(scores).dtype;
    const auto type = static_cast<onnx::DataType>(node_.Int("softmax_precision", 0));
    if (type == onnx::DataType::kUndefined) return write_.Part("softmax", {scores});
    const std::optional<DType> precision = DTypeOfOnnx(type);
    if (!precision || !IsFloat(*precision)) {
      node_.FailAttribute("softmax_precision",
                          "is " + onnx::NameOf(type) + ", which is not supported");
    }
    return CastTo(write_.Part("softmax", {CastTo(scores, *precision)}), dtype);
  }

  // A query that sees no key gets zeros.
  NetworkValue WithoutHidden(const NetworkValue& shares, const NetworkValue& bias) {
    const int64_t last = write_.ShapeOf(bias).rank() - 1;
    const NetworkValue best =
        write_.Part("reduce_max", {bias}, {KeyOfList("axes", {last}), KeyOf("keep_dims", true)});
    const NetworkValue is_hidden =
        write_.Part("compare", {best, MinusInfinity()}, {KeyOf("is", std::string("equal"))});
    return write_.Part("where", {is_hidden, 0.0, shares});
  }

  void SetOutput(int i, const NetworkValue& value) {
    if (node_.node().outputs.size() > static_cast<size_t>(i)) node_.Set(i, {{}, value});
  }

  void Finish(const NetworkValue& shares) {
    const bool is_grouped = heads() != key_heads();
    if (!is_packed_ && !is_grouped) return write_.Finish("matmul", {shares, value_});
    const NetworkValue product = write_.Part("matmul", {Grouped(shares), value_});
    const Shape shape = write_.ShapeOf(product);
    const Dim batch = shape[0], all(heads() * shape[3].size);
    if (!is_packed_) {
      return node_.Set(node_.EmitReshape(product, {batch, Dim(heads()), Dim(queries()), shape[3]}));
    }
    const NetworkValue turned = write_.Transposed(Ungrouped(product), {0, 2, 1, 3});
    node_.Set(node_.EmitReshape(turned, {batch, Dim(queries()), all}));
  }

  NodeContext& node_;
  ItemWriter write_;
  bool is_packed_ = false;
  NetworkValue query_, key_, value_;
  int64_t masked_keys_ = 0;    // those that the mask has
  int64_t past_ = 0;           // keys before those of the node
  bool may_hide_all_ = false;  // whether there may be a query that sees no key
  std::optional<NetworkValue> minus_infinity_;
};

void Attention(NodeContext& node, const Adapter&) { AttentionWriter(node).Run(); }

constexpr Adapter kAttention[] = {{"Attention", Attention, "", 7}};

}  // namespace

std::span<const Adapter> AttentionAdapters() { return kAttention; }

}  // namespace cgrun
