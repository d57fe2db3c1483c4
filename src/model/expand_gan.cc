// The two paths as trees, which are read as those of a file are.
#include "src/model/expand_gan.h"

#include <string>
#include <utility>
#include <vector>

#include "src/model/read_sections.h"

namespace cgrun {
namespace {

using Items = std::vector<TreeNode>;

// Trees whose values stand where the section does.
class Writer {
 public:
  explicit Writer(const GanSpec& gan) : gan_(gan) {}

  TreeNode Paths() const {
    return Map({{"discriminate", Discriminate()}, {"generate", Generate()}});
  }

 private:
  using Entries = std::vector<std::pair<std::string, TreeNode>>;

  TreeNode Text(std::string text) const { return TreeNode::Scalar(std::move(text), gan_.mark); }
  TreeNode Text(const MarkedText& text) const { return TreeNode::Scalar(text.value, text.mark); }
  TreeNode List(Items items) const { return TreeNode::Sequence(std::move(items), gan_.mark); }
  TreeNode Map(Entries entries) const {
    TreeNode map = TreeNode::Map({}, gan_.mark);
    for (auto& [key, value] : entries) map.entries.push_back({key, gan_.mark, std::move(value)});
    return map;
  }
  // NAME: {KEY: TARGET, in: INPUT}
  TreeNode Item(const std::string& name, const std::string& key, TreeNode target,
                TreeNode in) const {
    return Map({{name, Map({{key, std::move(target)}, {"in", std::move(in)}})}});
  }

  TreeNode Discriminate() const {
    Items ops = Samples();
    ops.push_back(Item("real_score", "network", Text(gan_.discriminator), Text(gan_.real)));
    ops.push_back(Item("fake_score", "network", Text(gan_.discriminator), Text("fake")));
    Items losses = DiscriminatorLosses();
    if (gan_.gradient_penalty) AddPenalty(ops, losses);
    Entries path = {{"trains", Text(gan_.discriminator)},
                    {"ops", List(std::move(ops))},
                    {"loss", List(std::move(losses))}};
    if (gan_.clip) path.push_back({"clip_weights", *gan_.clip});
    if (gan_.discriminator_optimizer) {
      path.push_back({"optimizer", *gan_.discriminator_optimizer});
    }
    return Map(std::move(path));
  }

  TreeNode Generate() const {
    Items ops = Samples();
    ops.push_back(Item("score", "network", Text(gan_.discriminator), Text("fake")));
    Entries path = {{"trains", Text(gan_.generator)},
                    {"ops", List(std::move(ops))},
                    {"loss", GeneratorLoss()},
                    {"out", Text("fake")}};
    if (gan_.generator_optimizer) path.push_back({"optimizer", *gan_.generator_optimizer});
    return Map(std::move(path));
  }

  Items Samples() const {
    return {Map({{"latent", gan_.latent}}),
            Item("fake", "network", Text(gan_.generator), Text("latent"))};
  }

  TreeNode Loss(const std::string& op, Items in, const std::string& weight = "") const {
    Entries loss = {{"op", Text(op)}, {"in", List(std::move(in))}};
    if (!weight.empty()) loss.push_back({"weight", Text(weight)});
    return Map(std::move(loss));
  }
  // Makes the loss of the scores of samples that should be taken for real (1) or fake (0).
  TreeNode LossTo(const std::string& score, const std::string& target) const {
    const bool squares = gan_.loss.value == "least_squares";
    return Loss(squares ? "squared_error" : "binary_cross_entropy", {Text(score), Text(target)},
                squares ? "0.5" : "");
  }

  bool IsWasserstein() const { return gan_.loss.value == "wasserstein"; }
  Items DiscriminatorLosses() const {
    if (!IsWasserstein()) return {LossTo("real_score", "1"), LossTo("fake_score", "0")};
    return {Loss("reduce_mean", {Text("fake_score")}),
            Loss("reduce_mean", {Text("real_score")}, "-1")};
  }
  TreeNode GeneratorLoss() const {
    return IsWasserstein() ? Loss("reduce_mean", {Text("score")}, "-1") : LossTo("score", "1");
  }

  // weight·(‖∂score/∂mixed‖ − 1)², the mean over the samples.
  void AddPenalty(Items& ops, Items& losses) const {
    const auto op = [&](const std::string& name, const std::string& which, Items in) {
      return Item(name, "op", Text(which), List(std::move(in)));
    };
    ops.push_back(op("mixed", "random_mix", {Text(gan_.real), Text("fake")}));
    ops.push_back(Item("mixed_score", "network", Text(gan_.discriminator), Text("mixed")));
    ops.push_back(Item("slope", "gradient", Text("mixed_score"), Text("mixed")));
    ops.push_back(op("flat_slope", "flatten", {Text("slope")}));
    ops.push_back(op("squares", "mul", {Text("flat_slope"), Text("flat_slope")}));
    TreeNode sum = Map({{"op", Text("reduce_sum")}, {"axes", List({Text("1")})}});
    ops.push_back(Map({{"square", std::move(sum)}}));
    ops.push_back(op("above_zero", "add", {Text("square"), Text("1.0e-12")}));
    ops.push_back(op("length", "sqrt", {Text("above_zero")}));
    TreeNode penalty = Loss("squared_error", {Text("length"), Text("1")});
    penalty.entries.push_back({"weight", gan_.mark, *gan_.gradient_penalty});
    losses.push_back(std::move(penalty));
  }

  const GanSpec& gan_;
};

// All other paths once, then the pair as often as `steps` says.
void AddSequence(ModelSpec& model, Diagnostics& diagnostics) {
  const GanSpec& gan = *model.gan;
  if (!model.train) return;
  if (!model.train->sequence.empty()) {
    if (!gan.has_steps) return;
    diagnostics.Error(gan.steps_mark, "'steps' and 'train.sequence' say the same twice",
                      "give one of the two");
    return;
  }
  if (!gan.has_steps) return;
  for (const PathSpec& path : model.paths) {
    const int64_t count = path.name.value == "discriminate" ? gan.discriminator_steps
                          : path.name.value == "generate"   ? gan.generator_steps
                                                            : 1;
    model.train->sequence.push_back({{path.name.value, gan.steps_mark}, count});
  }
}

}  // namespace

TreeNode GanPaths(const GanSpec& gan) { return Writer(gan).Paths(); }

void ExpandGan(ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.gan || !model.gan->complete) return;
  const MarkedText& real = model.gan->real;
  for (const char* name : {"latent", "fake", "real_score", "fake_score", "score"}) {
    if (real.value != name) continue;
    diagnostics.Error(real.mark, "'" + real.value + "' is what the pair calls a value of its own",
                      "with the path in front, `PATH." + real.value + "`, it is the other one");
  }
  const Reader reader{diagnostics};
  ReadPaths({"gan", model.gan->mark, GanPaths(*model.gan)}, model, reader);
  AddSequence(model, diagnostics);
}

}  // namespace cgrun
