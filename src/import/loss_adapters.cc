// Losses of classes, which exported training graphs have.
#include <limits>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// The weighted losses of each label, and how they are reduced.
class LabelLoss {
 public:
  explicit LabelLoss(NodeContext& node) : node_(node), write_(node), labels_(node.Value(1)) {
    constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
    reduction_ = node.Text("reduction", "mean");
    if (reduction_ != "none" && reduction_ != "sum" && reduction_ != "mean") {
      node.FailAttribute("reduction", "is '" + reduction_ + "', which is not known");
    }
    const int64_t ignored = node.Int("ignore_index", kNone);
    ignores_ = ignored != kNone;
    if (!ignores_) return;
    counts_ = write_.Part("compare", {labels_, static_cast<double>(ignored)},
                          {KeyOf("is", std::string("not_equal"))});
    labels_ = write_.Part("where", {counts_, labels_, 0.0});
  }

  // `scores` are the logarithms of probabilities, along axis 1.
  void Finish(const NetworkValue& scores) {
    const Shape shape = write_.ShapeOf(labels_);
    std::vector<Dim> dims(shape.begin(), shape.end());
    dims.insert(dims.begin() + 1, Dim(1));
    const NetworkValue picked = write_.Part(
        "gather_elements", {scores, write_.Reshaped(labels_, dims)}, {KeyOf("axis", int64_t{1})});
    const NetworkValue losses =
        write_.Part("neg", {write_.Reshaped(picked, {shape.begin(), shape.end()})});
    if (!node_.Has(2) && !ignores_) return Reduce(losses);
    const NetworkValue weights = Weights(node_.TypeOf(scores).dtype);
    if (reduction_ == "none") return write_.Finish("mul", {losses, weights});
    const NetworkValue weighted = write_.Part("mul", {losses, weights});
    if (reduction_ == "sum") return Reduce(weighted);
    const NetworkValue sum = write_.Part("reduce_sum", {weighted}, AllAxes());
    write_.Finish("div", {sum, write_.Part("reduce_sum", {weights}, AllAxes())});
  }
  ItemWriter& write() { return write_; }

 private:
  // A weight for each label, 0 for one that does not count.
  NetworkValue Weights(DType dtype) {
    if (!node_.Has(2))
      return write_.Part("cast", {counts_}, {KeyOf("to", std::string(Name(dtype)))});
    const NetworkValue weights = write_.Part("gather", {node_.Value(2), labels_});
    return ignores_ ? write_.Part("where", {counts_, weights, 0.0}) : weights;
  }

  ItemWriter::Keys AllAxes() {
    const Shape& shape = write_.ShapeOf(labels_);
    if (!shape.IsBound()) node_.Fail("reduces the batch axis", "`reduction` none is supported");
    return {KeyOfList("axes", AxesFrom(0, shape.rank()))};
  }

  void Reduce(const NetworkValue& losses) {
    if (reduction_ == "none") return node_.Set(losses);
    write_.Finish(reduction_ == "sum" ? "reduce_sum" : "reduce_mean", {losses}, AllAxes());
  }

  NodeContext& node_;
  ItemWriter write_;
  NetworkValue labels_, counts_;
  std::string reduction_;
  bool ignores_ = false;
};

void CheckScores(NodeContext& node) {
  const int rank = node.ShapeOf(0).rank();
  if (rank >= 2 && node.ShapeOf(1).rank() == rank - 1) return;
  node.Fail("its scores " + node.ShapeOf(0).ToString() + " and labels " +
            node.ShapeOf(1).ToString() + " do not fit each other");
}

void NegativeLogLikelihood(NodeContext& node, const Adapter&) {
  CheckScores(node);
  LabelLoss(node).Finish(node.Value(0));
}

void SoftmaxCrossEntropy(NodeContext& node, const Adapter&) {
  CheckScores(node);
  LabelLoss loss(node);
  ItemWriter::Keys keys;
  if (node.ShapeOf(0).rank() > 2) keys.push_back(KeyOf("axis", int64_t{1}));
  const NetworkValue scores = loss.write().Part("log_softmax", {node.Value(0)}, std::move(keys));
  loss.Finish(scores);
  if (node.node().outputs.size() > 1) node.Set(1, {{}, scores});
}

constexpr Adapter kLosses[] = {
    {"NegativeLogLikelihoodLoss", NegativeLogLikelihood, "", 3},
    {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropy, "", 3},
};

}  // namespace

std::span<const Adapter> LossAdapters() { return kLosses; }

}  // namespace cgrun
