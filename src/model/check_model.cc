// Each rule between sections has one function here.
#include "src/model/check_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/model/key_synonyms.h"
#include "src/model/schema.h"

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

bool Contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of one scope: the second of two equal ones is an error.
class Scope {
 public:
  explicit Scope(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // `kind` is a noun with its article: "an input", "a path".
  void Add(const MarkedText& name, const std::string& kind) {
    const auto [first, is_new] = first_.emplace(name.value, std::make_pair(kind, name.mark));
    if (is_new) return;
    diagnostics_.Error(name.mark, "the name '" + name.value + "' is taken",
                       "it is " + first->second.first + " in " + PlaceText(first->second.second));
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string, std::pair<std::string, SourceMark>> first_;
};

void CheckHasPaths(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.tree.IsMap() || model.tree.Find("paths") || model.gan) return;
  SourceMark place = model.tree.mark;
  place.length = 1;
  diagnostics.Error(place, "the file needs 'paths'",
                    "paths: a map; what is computed, by name (or a `gan`)");
}

// Values of a path share a scope with the inputs; parameters are called by their network or path.
void CheckNames(const ModelSpec& model, Diagnostics& diagnostics) {
  for (const PathSpec& path : model.paths) {
    Scope values(diagnostics);
    for (const InputSpec& input : model.inputs) values.Add(input.name, "an input");
    std::set<std::string> outputs;  // two of one name are reported where the items are read
    for (const OpSpec& op : path.ops) {
      for (const MarkedText& name : OutputNames(op)) {
        if (op.target.value.empty() || !outputs.insert(name.value).second) continue;
        values.Add(name, "an output");
      }
    }
  }
  Scope owners(diagnostics);
  for (const NetworkSpec& network : model.networks) owners.Add(network.name, "a network");
  for (const PathSpec& path : model.paths) owners.Add(path.name, "a path");
}

// The names of a network or block: its inputs and its items. `out` is among them.
template <class Spec>
void CheckTemplateNames(const Spec& spec, const std::string& kind, Diagnostics& diagnostics) {
  Names known;
  std::map<std::string, SourceMark> inputs;
  for (const MarkedText& name : spec.in) inputs.emplace(name.value, name.mark);
  for (const MarkedText& name : spec.in) known.push_back(name.value);
  for (const OpSpec& op : spec.ops) {
    for (const MarkedText& name : OutputNames(op)) {
      known.push_back(name.value);
      if (op.target.value.empty()) continue;  // its name is a guess
      const auto input = inputs.find(name.value);
      if (input == inputs.end()) continue;
      diagnostics.Error(name.mark, "the name '" + name.value + "' is taken",
                        "it is an input of this " + kind + " in " + PlaceText(input->second));
    }
  }
  for (const MarkedText& name : spec.out) {
    if (Contains(known, name.value)) continue;
    diagnostics.Error(
        name.mark, "the " + kind + " '" + spec.name.value + "' has no output '" + name.value + "'",
        SuggestName(name.value, known));
  }
}

void CheckKnown(const MarkedText& name, const std::string& kind, const Names& known,
                Diagnostics& diagnostics) {
  if (name.value.empty() || Contains(known, name.value)) return;
  diagnostics.Error(name.mark, "there is no " + kind + " '" + name.value + "'",
                    SuggestName(name.value, known));
}

void CheckTrains(const ModelSpec& model, Diagnostics& diagnostics) {
  Names known = NamesOf(model.networks);
  for (const std::string& path : NamesOf(model.paths)) known.push_back(path);
  for (const PathSpec& path : model.paths) {
    for (const MarkedText& name : path.trains) {
      if (IsWordOfNetwork(path, name)) continue;
      CheckKnown(name, "network or path", known, diagnostics);
    }
  }
}

void CheckSequence(const ModelSpec& model, Diagnostics& diagnostics) {
  Names known = NamesOf(model.paths);
  Names seen;
  for (const StepSpec& step : model.train->sequence) {
    if (step.path.value.empty()) continue;  // reported
    CheckKnown(step.path, "path", known, diagnostics);
    const bool repeats = step.count > 1 || Contains(seen, step.path.value);
    seen.push_back(step.path.value);
    if (!repeats || model.train->accumulate.value == 1) continue;
    diagnostics.Error(step.path.mark,
                      "'" + step.path.value + "' runs several times in a step, and 'accumulate' " +
                          "makes one update of several batches",
                      "take one of the two: gradients of different weights do not add up");
  }
}

// `loss`, the metrics' names, and both qualified by the path.
Names MetricNames(const ModelSpec& model) {
  Names known = {"loss"};
  for (const PathSpec& path : model.paths) {
    for (const MetricSpec& metric : path.metrics) {
      if (!Contains(known, metric.name.value)) known.push_back(metric.name.value);
    }
  }
  for (const PathSpec& path : model.paths) {
    if (!path.losses.empty()) known.push_back(path.name.value + ".loss");
    for (const MetricSpec& metric : path.metrics) {
      known.push_back(path.name.value + "." + metric.name.value);
    }
  }
  return known;
}

void CheckMetrics(const ModelSpec& model, Diagnostics& diagnostics) {
  const Names known = MetricNames(model);
  const TrainSpec& train = *model.train;
  const auto check = [&](const MarkedText& name) {
    if (name.value.empty() || Contains(known, name.value)) return;
    diagnostics.Error(name.mark, "there is no metric '" + name.value + "'",
                      SuggestMetric(name.value, known));
  };
  if (train.early_stop) check(train.early_stop->metric);
  if (train.keep_best) check(*train.keep_best);
}

void CheckOptimizers(const ModelSpec& model, Diagnostics& diagnostics) {
  const TreeEntry* train = model.tree.Find("train");
  const TreeEntry* given = train == nullptr ? nullptr : train->value.Find("optimizer");
  if (train == nullptr || (given != nullptr && !given->value.IsNull())) return;
  for (const MapDoc& map : FormatReference()) {
    if (map.place == "train" && IsMeant(train->value, "optimizer", map.keys)) return;
  }
  for (const PathSpec& path : model.paths) {
    if (!path.backprop.value || path.optimizer) continue;
    diagnostics.Error(model.train->mark, "the path '" + path.name.value + "' has no optimizer",
                      "put `optimizer: {op: sgd, lr: …}` into 'train', or into the path");
  }
}

void CheckUpdates(const ModelSpec& model, Diagnostics& diagnostics) {
  Scope states(diagnostics);
  for (const StateUpdate& update : model.update) {
    CheckKnown(update.state, "input", NamesOf(model.inputs), diagnostics);
    states.Add(update.state, "updated already");
  }
  const bool goes_on = !model.update.empty() && model.train;
  if (!goes_on || !model.train->shuffle || !model.train->shuffle->value) return;
  diagnostics.Error(model.train->shuffle->mark,
                    "'shuffle' tears apart what '" + model.update.front().state.value +
                        "' goes on with from step to step",
                    "remove it: models with 'update' take their samples in order");
}

// Returns whether 'train' is there under another name, `Train:`, which is reported.
bool IsTrainMeant(const ModelSpec& model) {
  const TreeEntry* data = model.tree.Find("data");
  if (data == nullptr) return false;
  for (const MapDoc& map : FormatReference()) {
    if (map.place == "data" && IsMeant(data->value, "train", map.keys)) return true;
  }
  return false;
}

void CheckSplits(const ModelSpec& model, Diagnostics& diagnostics) {
  const DataSection& data = *model.data;
  double sum = 0;
  for (const auto* part : {&data.valid, &data.test}) {
    if (!*part || !(*part)->split) continue;
    const Marked<double>& split = *(*part)->split;
    sum += split.value;
    if (!data.train && IsTrainMeant(model)) continue;
    if (!data.train) {
      diagnostics.Error(split.mark, "there is no 'train' to split this from");
    } else if (sum >= 1) {
      diagnostics.Error(split.mark, "the splits leave nothing to train on",
                        "their sum must be below 1");
    }
  }
}

}  // namespace

bool IsWordOfNetwork(const PathSpec& path, const MarkedText& name) {
  return std::ranges::any_of(path.ops, [&](const OpSpec& op) {
    return op.kind == OpSpec::Kind::kNetwork && op.target.value == name.value &&
           op.target.mark.ToString() == name.mark.ToString();
  });
}

void CheckModel(const ModelSpec& model, Diagnostics& diagnostics) {
  CheckHasPaths(model, diagnostics);
  CheckNames(model, diagnostics);
  for (const NetworkSpec& n : model.networks) CheckTemplateNames(n, "network", diagnostics);
  for (const BlockSpec& b : model.blocks) CheckTemplateNames(b, "block", diagnostics);
  CheckTrains(model, diagnostics);
  CheckUpdates(model, diagnostics);
  if (model.data) CheckSplits(model, diagnostics);
  if (!model.train) return;
  CheckSequence(model, diagnostics);
  CheckMetrics(model, diagnostics);
  CheckOptimizers(model, diagnostics);
}

}  // namespace cgrun
