#include "src/search/ensemble_model.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "src/model/model_file.h"
#include "src/model/values.h"
#include "src/run/checkpoint.h"
#include "src/search/member_names.h"

namespace cgrun {
namespace {

// Smaller probabilities count as this one, so that every logarithm is a number. It is above the
// least normal number of f32.
constexpr char kLeastProbability[] = "1.0e-37";

constexpr char kEnsemblePath[] = "ensemble";

TreeNode Word(std::string text) { return TreeNode::Scalar(std::move(text)); }

TreeNode Words(const std::vector<std::string>& texts) {
  std::vector<TreeNode> items;
  for (const std::string& text : texts) items.push_back(Word(text));
  return TreeNode::Sequence(std::move(items));
}

// `name: {op: …, in: …, …}`
TreeNode Item(const std::string& name, const std::string& op, const std::vector<std::string>& in,
              std::vector<TreeEntry> attributes = {}) {
  std::vector<TreeEntry> use = {{"op", {}, Word(op)},
                                {"in", {}, in.size() == 1 ? Word(in[0]) : Words(in)}};
  std::ranges::move(attributes, std::back_inserter(use));
  return TreeNode::Map({{name, {}, TreeNode::Map(std::move(use))}});
}

const TreeNode* Section(const ModelSpec& model, std::string_view key) {
  const TreeEntry* const entry = model.tree.Find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

// Puts the keys of all maps into the order of the alphabet.
TreeNode InOrder(TreeNode node) {
  for (TreeEntry& entry : node.entries) entry.value = InOrder(std::move(entry.value));
  for (TreeNode& item : node.items) item = InOrder(std::move(item));
  std::ranges::sort(node.entries, {}, &TreeEntry::key);
  return node;
}

bool AreAlike(const ModelSpec& a, const ModelSpec& b, std::string_view key) {
  const TreeNode *of_a = Section(a, key), *of_b = Section(b, key);
  if (of_a == nullptr || of_b == nullptr) return of_a == of_b;
  return InOrder(*of_a) == InOrder(*of_b);
}

// ---- what a model gives

// Returns whether an operator reads the value first, and inputs or numbers beside it.
bool Judges(const ModelSpec& model, const OpSpec& op, const std::string& value) {
  if (op.in.size() < 2 || op.in[0].value != value) return false;
  return std::all_of(op.in.begin() + 1, op.in.end(), [&](const MarkedText& other) {
    return ParseReal(other.value) || std::ranges::count(NamesOf(model.inputs), other.value) > 0;
  });
}

Averaged AveragedBy(const OpSpec& loss) {
  if (loss.target.value == "softmax_cross_entropy") return Averaged::kProbabilities;
  if (loss.target.value != "binary_cross_entropy") return Averaged::kValues;
  const bool of_probabilities = std::ranges::any_of(loss.attributes, [](const Attribute& one) {
    return one.key == "from_logits" && one.value.scalar == "false";
  });
  return of_probabilities ? Averaged::kValues : Averaged::kYesNo;
}

// Puts `name` in the place of the first operand.
TreeNode Reading(TreeNode use, const std::string& name) {
  TreeEntry* const in = use.Find("in");
  if (in != nullptr && !in->value.items.empty()) in->value.items[0] = Word(name);
  return use;
}

void AddLabels(const OpSpec& op, std::vector<std::string>& labels) {
  for (size_t i = 1; i < op.in.size(); ++i) {
    const std::string& label = op.in[i].value;
    if (!ParseReal(label) && std::ranges::count(labels, label) == 0) labels.push_back(label);
  }
}

// Returns the path that alone has a loss, or null.
const PathSpec* LossPath(const ModelSpec& model) {
  const PathSpec* found = nullptr;
  for (const PathSpec& path : model.paths) {
    if (path.losses.empty()) continue;
    if (found != nullptr) return nullptr;
    found = &path;
  }
  return found;
}

// "logits" of "classify.stage[0].logits".
std::string LastPart(const std::string& value) { return value.substr(value.rfind('.') + 1); }

// Reads the loss and the metrics. Returns the reason why the model cannot be a member, or "".
std::string ReadOutput(const ModelSpec& model, const std::string& metric, MemberOutput& output) {
  const PathSpec* const path = LossPath(model);
  if (path == nullptr) return "not one path alone has a loss";
  if (path->losses.size() > 1) return "it has several losses";
  const OpSpec& loss = path->losses[0].op;
  output.path = path->name.value;
  if (loss.in.empty() || !Judges(model, loss, loss.in[0].value)) {
    return "its loss does not read one prediction, and inputs beside it";
  }
  output.averaged = AveragedBy(loss);
  output.value = loss.in[0].value;
  output.name = LastPart(output.value);
  if (!IsIdentifier(output.name)) output.name = "prediction";
  const TreeNode& tree = model.tree.Find("paths")->value.Find(output.path)->value;
  const TreeNode& loss_tree = tree.Find("loss")->value;
  output.loss = Reading(loss_tree.IsSequence() ? loss_tree.items[0] : loss_tree, output.name);
  AddLabels(loss, output.labels);
  output.metrics = TreeNode::Map({});
  for (const MetricSpec& one : path->metrics) {
    if (!Judges(model, one.op, output.value)) continue;
    const std::string& name = one.name.value;
    const TreeNode use = Reading(tree.Find("metrics")->value.Find(name)->value, output.name);
    output.metrics.entries.push_back({name, {}, use});
    AddLabels(one.op, output.labels);
  }
  const std::string plain = PlainMetric(output, metric);
  if (plain == "loss" || output.metrics.Find(plain) != nullptr) return "";
  return "its '" + plain + "' does not judge what its loss judges";
}

std::string LossOf(const MemberModel& member) {
  const TreeEntry* const op = member.output.loss.Find("op");
  return op == nullptr ? "" : op->value.scalar;
}

bool SplitsBySeed(const ModelSpec& model) {
  const auto is_split = [](const std::optional<DataSpec>& set) { return set && set->split; };
  return model.data && (is_split(model.data->valid) || is_split(model.data->test));
}

// ---- the operators of an ensemble's own path

// Names that nothing else in the path has.
class OwnNames {
 public:
  explicit OwnNames(const MemberModel& first) : taken_(NamesOf(first.model.inputs)) {
    taken_.push_back(first.output.name);
  }
  std::string Of(std::string base) const {
    while (std::ranges::count(taken_, base) > 0) base += '_';
    return base;
  }

 private:
  std::vector<std::string> taken_;
};

// Adds the operators of a weighted mean: each value times a ratio, and the sum of all.
void AddMean(std::span<const PickedMember> members, const std::vector<std::string>& values,
             const std::string& mean, const OwnNames& names, std::vector<TreeNode>& ops) {
  if (members.size() == 1) return ops.push_back(Item(mean, "identity", {values[0]}));
  int64_t picks = 0;
  for (const PickedMember& picked : members) picks += picked.picks;
  std::string sum;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string trial = std::to_string(members[i].member->trial);
    const std::string share = names.Of(mean + "_share" + trial);
    const std::string ratio = std::to_string(members[i].picks) + "/" + std::to_string(picks);
    ops.push_back(Item(share, "mul", {values[i], ratio}));
    const std::string before = std::exchange(sum, share);
    if (i == 0) continue;
    sum = i + 1 == members.size() ? mean : names.Of(mean + "_sum" + trial);
    ops.push_back(Item(sum, "add", {before, share}));
  }
}

// Adds an operator for each member, whose input is a value of the member, and their mean.
class MeanAdder {
 public:
  MeanAdder(std::span<const PickedMember> members, const OwnNames& names,
            std::vector<TreeNode>& ops)
      : members_(members), names_(names), ops_(ops) {}

  std::vector<std::string> Predictions() const {
    std::vector<std::string> values;
    for (const PickedMember& picked : members_) {
      const MemberModel& member = *picked.member;
      const MemberNames names(member.model, member.prefix);
      values.push_back(names.Value(member.output.path, member.output.value));
    }
    return values;
  }
  std::vector<std::string> Apply(const std::string& op, const std::string& name,
                                 const std::vector<std::string>& values,
                                 const std::vector<TreeEntry>& attributes = {}) const {
    std::vector<std::string> outputs;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string trial = std::to_string(members_[i].member->trial);
      outputs.push_back(names_.Of(name + trial));
      ops_.push_back(Item(outputs.back(), op, {values[i]}, attributes));
    }
    return outputs;
  }
  void Mean(const std::vector<std::string>& values, const std::string& mean) const {
    AddMean(members_, values, mean, names_, ops_);
  }

 private:
  std::span<const PickedMember> members_;
  const OwnNames& names_;
  std::vector<TreeNode>& ops_;
};

void AddMeans(std::span<const PickedMember> members, std::vector<TreeNode>& ops) {
  const MemberModel& first = *members[0].member;
  const OwnNames names(first);
  const MeanAdder adder(members, names, ops);
  const std::vector<std::string> means = MeanNames(first), values = adder.Predictions();
  switch (first.output.averaged) {
    case Averaged::kValues:
      return adder.Mean(values, means[0]);
    case Averaged::kProbabilities:
      return adder.Mean(adder.Apply("softmax", "probabilities", values, {{"axis", {}, Word("1")}}),
                        means[0]);
    case Averaged::kYesNo:
      adder.Mean(adder.Apply("sigmoid", "yes", values), means[0]);
      adder.Mean(adder.Apply("sigmoid", "no", adder.Apply("neg", "negative", values)), means[1]);
  }
}

// Adds the logarithm of a mean of probabilities.
void AddLog(const std::string& mean, const std::string& log, const OwnNames& names,
            std::vector<TreeNode>& ops) {
  const std::string bounded = names.Of("bounded_" + mean);
  ops.push_back(Item(bounded, "clip", {mean}, {{"min", {}, Word(kLeastProbability)}}));
  ops.push_back(Item(log, "log", {bounded}));
}

// Adds what makes of the means a prediction of the members' form. The softmax of the logarithms of
// probabilities is these probabilities, and so is the sigmoid of ln p − ln (1 − p).
void AddPrediction(const MemberModel& first, std::vector<TreeNode>& ops) {
  const OwnNames names(first);
  const std::vector<std::string> means = MeanNames(first);
  const std::string& name = first.output.name;
  switch (first.output.averaged) {
    case Averaged::kValues:
      return ops.push_back(Item(name, "identity", {means[0]}));
    case Averaged::kProbabilities:
      return AddLog(means[0], name, names, ops);
    case Averaged::kYesNo: {
      const std::string yes = names.Of("log_yes"), no = names.Of("log_no");
      AddLog(means[0], yes, names, ops);
      AddLog(means[1], no, names, ops);
      ops.push_back(Item(name, "sub", {yes, no}));
    }
  }
}

TreeEntry OwnPath(std::vector<TreeNode> ops, const MemberOutput& output) {
  TreeNode path = TreeNode::Map({{"mode", {}, Word("forward")},
                                 {"ops", {}, TreeNode::Sequence(std::move(ops))},
                                 {"loss", {}, output.loss}});
  if (!output.metrics.entries.empty()) path.entries.push_back({"metrics", {}, output.metrics});
  return {kEnsemblePath, {}, std::move(path)};
}

TreeNode Settings(const ModelSpec& model, std::initializer_list<std::string_view> keys) {
  TreeNode settings = TreeNode::Map({});
  const TreeNode* const train = Section(model, "train");
  for (const std::string_view key : keys) {
    const TreeEntry* const found = train->Find(key);
    if (found != nullptr) settings.entries.push_back(*found);
  }
  return settings;
}

TreeNode Head(const char* name) {
  return TreeNode::Map({{"cgrun", {}, Word("1")}, {"model", {}, Word(name)}});
}

template <class Get>
void AddSection(const char* key, std::span<const PickedMember> members, const Get& get,
                TreeNode& tree, std::vector<TreeEntry> entries = {}) {
  std::vector<TreeEntry> all;
  for (const PickedMember& picked : members) {
    const MemberNames names(picked.member->model, picked.member->prefix);
    std::ranges::move(get(names), std::back_inserter(all));
  }
  std::ranges::move(entries, std::back_inserter(all));
  if (!all.empty()) tree.entries.push_back({key, {}, TreeNode::Map(std::move(all))});
}

}  // namespace

std::string PlainMetric(const MemberOutput& output, const std::string& metric) {
  const std::string qualifier = output.path + ".";
  return metric.starts_with(qualifier) ? metric.substr(qualifier.size()) : metric;
}

ReadMember ReadMemberModel(int64_t trial, const std::string& folder, const std::string& metric) {
  ReadMember read;
  Diagnostics diagnostics;
  auto model = LoadModelFile(folder + "/model.yaml", {}, diagnostics);
  if (!model) {
    read.reason = "its model cannot be read: " + diagnostics.Sorted().front().message;
  } else if (model->gan || model->paths.empty()) {
    read.reason = "it is an adversarial pair";
  } else if (!model->update.empty()) {
    read.reason = "it has recurrent state (`update`)";
  } else {
    read.member.trial = trial;
    read.member.prefix = PrefixOf(trial, ToYaml(model->tree));
    read.reason = ReadOutput(*model, metric, read.member.output);
    read.member.model = std::move(*model);
  }
  return read;
}

std::string ReasonAgainst(const MemberModel& member, const MemberModel& first) {
  const std::string trial = std::to_string(first.trial);
  for (const char* section : {"data", "inputs"}) {
    if (AreAlike(member.model, first.model, section)) continue;
    return "its '" + std::string(section) + "' differs from that of trial " + trial;
  }
  const TrainSpec &train = *member.model.train, &of_first = *first.model.train;
  if (SplitsBySeed(member.model) && train.seed.value != of_first.seed.value) {
    return "its seed sets other samples aside for `valid` than that of trial " + trial;
  }
  if (train.precision.value != of_first.precision.value) {
    return "its precision differs from that of trial " + trial;
  }
  if (member.output.averaged != first.output.averaged || LossOf(member) != LossOf(first)) {
    return "its loss is " + LossOf(member) + ", and that of trial " + trial + " is " +
           LossOf(first);
  }
  if (member.output.labels != first.output.labels) {
    return "its loss and metrics read other inputs than those of trial " + trial;
  }
  return "";
}

std::vector<std::string> MeanNames(const MemberModel& first) {
  const OwnNames names(first);
  if (first.output.averaged != Averaged::kYesNo) return {names.Of("mean")};
  return {names.Of("mean_yes"), names.Of("mean_no")};
}

TreeNode EnsembleTree(std::span<const PickedMember> members, EnsembleGraph graph) {
  const MemberModel& first = *members[0].member;
  TreeNode tree = Head("ensemble");
  for (const char* key : {"device", "data", "inputs"}) {
    const TreeNode* const section = Section(first.model, key);
    if (section != nullptr) tree.entries.push_back({key, {}, *section});
  }
  AddSection(
      "networks", members, [](const MemberNames& names) { return names.Networks(); }, tree);
  AddSection(
      "blocks", members, [](const MemberNames& names) { return names.Blocks(); }, tree);
  std::vector<TreeNode> ops;
  AddMeans(members, ops);
  if (graph == EnsembleGraph::kWhole) AddPrediction(first, ops);
  TreeEntry own = OwnPath(std::move(ops), first.output);
  if (graph == EnsembleGraph::kMeans) {
    own.value.entries.resize(2);
    own.value.entries.push_back({"out", {}, Words(MeanNames(first))});
  }
  AddSection("paths", members, [](const MemberNames& names) { return names.Paths(); }, tree, {own});
  TreeNode settings = Settings(first.model, {"batch", "precision", "seed"});
  tree.entries.push_back({"train", {}, std::move(settings)});
  if (graph == EnsembleGraph::kWhole) tree.entries.push_back({"weights", {}, Word(kBestFileName)});
  return tree;
}

TreeNode JudgeTree(const MemberModel& first, std::span<const Shape> shapes) {
  const bool is_double = first.model.train->precision.value == "f64";
  const std::vector<std::string> means = MeanNames(first);
  TreeNode inputs = TreeNode::Map({});
  for (size_t i = 0; i < means.size(); ++i) {
    std::vector<std::string> sizes;
    for (const int64_t size : shapes[i].Sizes()) sizes.push_back(std::to_string(size));
    inputs.entries.push_back({means[i],
                              {},
                              TreeNode::Map({{"type", {}, Word(is_double ? "f64" : "f32")},
                                             {"shape", {}, Words(sizes)}})});
  }
  for (const std::string& label : first.output.labels) {
    inputs.entries.push_back({label, {}, Section(first.model, "inputs")->Find(label)->value});
  }
  std::vector<TreeNode> ops;
  AddPrediction(first, ops);
  TreeNode tree = Head("judge");
  tree.entries.push_back({"inputs", {}, std::move(inputs)});
  tree.entries.push_back({"paths", {}, TreeNode::Map({OwnPath(std::move(ops), first.output)})});
  TreeNode settings = TreeNode::Map({{"precision", {}, Word(is_double ? "f64" : "f32")}});
  tree.entries.push_back({"train", {}, std::move(settings)});
  return tree;
}

std::string NameInMember(const MemberModel& member, const std::string& name) {
  return WithoutPrefix(name, member.prefix);
}

}  // namespace cgrun
