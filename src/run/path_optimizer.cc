#include "src/run/path_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "src/model/values.h"

namespace cgrun {
namespace {

// The key of the optimizer that `gan` gives to a path of its pair; nothing of other paths.
std::optional<std::string> KeyOfPair(const ModelSpec& model, const PathSpec& path) {
  const TreeEntry* gan = model.tree.Find("gan");
  if (gan == nullptr || path.mark.ToString() != gan->key_mark.ToString()) return std::nullopt;
  const std::string role = path.name.value == "generate" ? "generator" : "discriminator";
  const TreeEntry* optimizer = gan->value.Find("optimizer");
  const bool each = optimizer != nullptr && optimizer->value.Find(role) != nullptr;
  return "gan.optimizer" + (each ? "." + role : "");
}

// Returns whether an update divides by nothing else where the gradients of a parameter are all 0.
bool HasNoEpsilon(const OpSpec& optimizer) {
  return std::ranges::any_of(optimizer.attributes, [](const Attribute& attribute) {
    Diagnostics ignored;  // it was read before
    return attribute.key == "epsilon" && ReadReal(attribute.value, "epsilon", ignored) == 0.0;
  });
}

// Returns whether the features are columns of a table as they stand: one of years, say, makes
// gradients of another size than one of fractions.
bool HasRawColumns(const ModelSpec& model) {
  if (!model.data || !model.data->train) return false;
  const DataSpec& train = *model.data->train;
  return train.format && train.format->value == "csv" &&
         std::ranges::none_of(train.options, [](const Attribute& option) {
           return option.key == "standardize" && option.value.scalar == "true";
         });
}

// "gan.optimizer.lr=… or train.optimizer.lr=…"
std::string Assignments(const std::vector<std::string>& keys, const std::string& assignment) {
  const auto text = [&](const std::string& key) { return key + assignment; };
  return fmt::format("{}", fmt::join(keys | std::views::transform(text), " or "));
}

}  // namespace

std::optional<PathOptimizer> OptimizerOf(const ModelSpec& model, const PathSpec& path) {
  if (!path.backprop.value || path.losses.empty()) return std::nullopt;
  if (path.optimizer) {
    const std::string of_path = "paths." + path.name.value + ".optimizer";
    return PathOptimizer{&*path.optimizer, KeyOfPair(model, path).value_or(of_path)};
  }
  if (!model.train || !model.train->optimizer) return std::nullopt;
  return PathOptimizer{&*model.train->optimizer, "train.optimizer"};
}

std::string DivergenceHelp(const ModelSpec& model, const std::string& path) {
  std::vector<std::string> keys, without_epsilon;
  const auto add = [](const std::string& key, std::vector<std::string>& to) {
    if (std::ranges::find(to, key) == to.end()) to.push_back(key);
  };
  for (const PathSpec& spec : model.paths) {
    const auto optimizer = OptimizerOf(model, spec);
    if (!optimizer || (!path.empty() && path != spec.name.value)) continue;
    add(optimizer->key, keys);
    if (HasNoEpsilon(*optimizer->op)) add(optimizer->key, without_epsilon);
  }
  std::string help;
  if (!without_epsilon.empty()) {
    help = "without `epsilon` an update is 0/0 where gradients are 0: --set " +
           Assignments(without_epsilon, ".epsilon=1.0e-8") + "; ";
  }
  help += "a smaller learning rate often helps: --set " + Assignments(keys, ".lr=…");
  if (HasRawColumns(model)) {
    help += "; so do columns of about the same size: --set data.train.standardize=true";
  }
  return help;
}

}  // namespace cgrun
