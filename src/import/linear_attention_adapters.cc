// LinearAttention and CausalConvWithState carry a state from one call to the next.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

constexpr int64_t kMostTokens = 1024;

// These are the inputs of LinearAttention.
enum { kQueries, kTokenKeys, kTokenValues, kPastState, kDecay, kUpdateRate };

// Unrolls LinearAttention. Its state is [N, heads of keys, numbers of a key, numbers of a value].
class TokenWriter {
 public:
  explicit TokenWriter(NodeContext& node) : node_(node), write_(node) {
    const std::string rule = node.Text("update_rule", "gated_delta");
    is_gated_ = rule == "gated" || rule == "gated_delta";
    is_delta_ = rule == "delta" || rule == "gated_delta";
    if (!is_gated_ && !is_delta_ && rule != "linear") {
      node.FailAttribute("update_rule", "is '" + rule + "', which is not known");
    }
    if (is_gated_ != node.Has(kDecay) || is_delta_ != node.Has(kUpdateRate)) {
      node.Fail("its inputs do not fit the rule '" + rule + "'");
    }
    node.Ignore("chunk_size");
    ReadSizes();
    scale_ = node.Real("scale", 0);
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<float>(key_size_));
    if (node.Has(kPastState)) state_ = AsFloats(node.Value(kPastState), DType::kF32);
  }

  void Run() {
    for (int i : {kQueries, kTokenKeys, kTokenValues, kDecay, kUpdateRate}) {
      if (node_.Has(i)) inputs_[i] = AsFloats(node_.Value(i), DType::kF32);
    }
    std::vector<ItemWriter::Argument> rows;
    for (int64_t token = 0; token < tokens_; ++token) rows.push_back(Step(token));
    const DType dtype = node_.TypeOf(kQueries).dtype;
    const NetworkValue all =
        rows.size() == 1 ? rows[0].value : write_.Part("concat", rows, {KeyOf("axis", int64_t{1})});
    const DType of_state = node_.Has(kPastState) ? node_.TypeOf(kPastState).dtype : dtype;
    if (node_.node().outputs.size() > 1) node_.Set(1, {{}, AsFloats(*state_, of_state)});
    write_.Finish("mul", {AsFloats(all, dtype), scale_});
  }

 private:
  void ReadSizes() {
    const Shape query = node_.ShapeOf(kQueries), key = node_.ShapeOf(kTokenKeys);
    const Shape value = node_.ShapeOf(kTokenValues);
    if (query.rank() != 3 || key.rank() != 3 || value.rank() != 3) {
      node_.Fail("its queries, keys and values must have three axes");
    }
    if (query[1].batch || query[2].batch) node_.Fail("goes along the batch axis");
    batch_ = query[0];
    tokens_ = query[1].size;
    if (tokens_ < 1 || tokens_ > kMostTokens) node_.Fail("has no tokens, or more than 1,024");
    heads_ = node_.Int("kv_num_heads", 0);
    const int64_t queries = node_.Int("q_num_heads", 0);
    if (heads_ < 1 || queries < 1 || queries % heads_ != 0 || query[2].size % queries != 0 ||
        value[2].size % heads_ != 0) {
      node_.FailAttribute("kv_num_heads", "and q_num_heads do not fit the inputs");
    }
    group_ = queries / heads_;
    key_size_ = query[2].size / queries;
    value_size_ = value[2].size / heads_;
    if (key[2] != Dim(heads_ * key_size_)) {
      node_.Fail("its queries " + query.ToString() + " and keys " + key.ToString() +
                 " do not fit each other");
    }
  }

  // The state is computed in f32.
  NetworkValue AsFloats(const NetworkValue& x, DType dtype) {
    if (node_.TypeOf(x).dtype == dtype) return x;
    return write_.Part("cast", {x}, {KeyOf("to", std::string(Name(dtype)))});
  }

  // Takes what an input has for a token, as a matrix for each head.
  NetworkValue At(int i, int64_t token, int64_t heads, int64_t rows, int64_t columns) {
    NetworkValue x = inputs_[i];
    if (tokens_ > 1) {
      x = write_.Part(
          "slice", {x},
          {KeyOfList("axes", {1}), KeyOfList("starts", {token}), KeyOfList("ends", {token + 1})});
    }
    return write_.Reshaped(x, {batch_, Dim(heads), Dim(rows), Dim(columns)});
  }

  // Counts the numbers of the last axis that an input has for each of `count` heads.
  int64_t NumbersOfHead(int i, int64_t count) {
    const Shape shape = node_.ShapeOf(i);
    if (shape.rank() != 3 || shape[2].size % count != 0) {
      node_.Fail("its input " + std::to_string(i) + " is " + shape.ToString() +
                 ", which does not fit its heads");
    }
    return shape[2].size / count;
  }

  void Forget(int64_t token) {
    if (!is_gated_ || !state_) return;
    const NetworkValue decay = At(kDecay, token, heads_, NumbersOfHead(kDecay, heads_), 1);
    state_ = write_.Part("mul", {*state_, write_.Part("exp", {decay})});
  }

  // The value that is written: for the delta rules, a part of what the state has not yet.
  NetworkValue NewValue(int64_t token) {
    NetworkValue value = At(kTokenValues, token, heads_, 1, value_size_);
    if (!is_delta_) return value;
    if (state_) {
      const NetworkValue row = At(kTokenKeys, token, heads_, 1, key_size_);
      value = write_.Part("sub", {value, write_.Part("matmul", {row, *state_})});
    }
    const int64_t rates = node_.ShapeOf(kUpdateRate)[2].size == 1 ? 1 : heads_;
    NumbersOfHead(kUpdateRate, rates);
    return write_.Part("mul", {value, At(kUpdateRate, token, rates, 1, 1)});
  }

  // Returns the row [N, 1, numbers of all heads] of a token.
  NetworkValue Step(int64_t token) {
    Forget(token);
    const NetworkValue column = At(kTokenKeys, token, heads_, key_size_, 1);
    const NetworkValue written = write_.Part("mul", {column, NewValue(token)});
    state_ = state_ ? write_.Part("add", {*state_, written}) : written;
    const NetworkValue read =
        write_.Part("matmul", {At(kQueries, token, heads_, group_, key_size_), *state_});
    return write_.Reshaped(read, {batch_, Dim(1), Dim(heads_ * group_ * value_size_)});
  }

  NodeContext& node_;
  ItemWriter write_;
  bool is_gated_ = false, is_delta_ = false;
  Dim batch_{1};
  int64_t tokens_ = 0, heads_ = 0, group_ = 0, key_size_ = 0, value_size_ = 0;
  float scale_ = 0;
  NetworkValue inputs_[kUpdateRate + 1];
  std::optional<NetworkValue> state_;  // nothing while it is zeros
};

void LinearAttention(NodeContext& node, const Adapter&) { TokenWriter(node).Run(); }

// Puts what came before the input of a CausalConvWithState in front of it.
NetworkValue WithPastInput(NodeContext& node, ItemWriter& write, int64_t before) {
  const NetworkValue x = node.Value(0);
  if (node.Has(3)) return write.Part("concat", {node.Value(3), x}, {KeyOf("axis", int64_t{2})});
  if (before == 0) return x;
  return write.Part(
      "pad", {x}, {KeyOfList("axes", {2}), KeyOfList("before", {before}), KeyOfList("after", {0})});
}

// Each channel has a filter of its own, which ends at the place of its result.
NetworkValue ChannelsFiltered(NodeContext& node, ItemWriter& write, const NetworkValue& padded) {
  const Constant& weight = node.ConstantInput(1);
  const Shape shape = write.ShapeOf(padded);
  const NetworkValue image = write.Reshaped(padded, {shape[0], shape[1], Dim(1), shape[2]});
  ItemWriter::Keys keys = {KeyOf("filters", weight.dims[0]),
                           KeyOfList("kernel", {1, weight.dims[2]}),
                           KeyOf("groups", weight.dims[0])};
  std::vector<Weight> weights = {{"weight", weight}};
  if (node.Has(2)) weights.push_back({"bias", node.ConstantInput(2)});
  if (!node.Has(2)) keys.push_back(KeyOf("bias", false));
  return node.Emit("conv", {{image, ""}}, std::move(keys), std::move(weights), "conv");
}

void CausalConvWithState(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const std::string activation = node.Text("activation", "none");
  const bool is_silu = activation == "silu" || activation == "swish";
  if (!is_silu && activation != "none") {
    node.FailAttribute("activation", "is '" + activation + "', which is not known");
  }
  const Shape shape = node.ShapeOf(0);
  const std::vector<int64_t>& filters = node.ConstantInput(1).dims;
  if (shape.rank() != 3 || filters.size() != 3 || shape[1] != Dim(filters[0]) || filters[1] != 1) {
    node.Fail("reads " + shape.ToString() + ", which does not fit its filters");
  }
  const NetworkValue padded = WithPastInput(node, write, filters[2] - 1);
  const int64_t length = write.ShapeOf(padded)[2].size;
  if (node.node().outputs.size() > 1 && filters[2] > 1) {
    node.Set(1, {{},
                 write.Part("slice", {padded},
                            {KeyOfList("axes", {2}), KeyOfList("starts", {length - filters[2] + 1}),
                             KeyOfList("ends", {length})})});
  }
  const NetworkValue y = ChannelsFiltered(node, write, padded);
  const std::vector<Dim> dims(shape.begin(), shape.end());
  if (!is_silu) return node.Set(node.EmitReshape(y, dims));
  const NetworkValue rows = write.Reshaped(y, dims);
  write.Finish("mul", {rows, write.Part("sigmoid", {rows})});
}

constexpr Adapter kStateful[] = {
    {"CausalConvWithState", CausalConvWithState, "", 4},
    {"LinearAttention", LinearAttention, "", 6},
};

}  // namespace

std::span<const Adapter> StatefulAdapters() { return kStateful; }

}  // namespace cgrun
