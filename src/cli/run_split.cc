// The run folder's model.yaml has every setting of the run as it was.
#include "src/cli/run_split.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "src/cli/assigned_keys.h"
#include "src/cli/console.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// The samples of the training data are divided by these settings.
struct Division {
  int64_t seed = 0;
  std::optional<double> valid, test;
  bool in_order = false;  // the last samples are taken away, whatever the seed

  static Division Of(const ModelSpec& model) {
    const auto part = [](const std::optional<DataSpec>& spec) {
      return spec && spec->split ? std::optional(spec->split->value) : std::nullopt;
    };
    Division division;
    if (model.train) division.seed = model.train->seed.value;
    if (model.data) division.valid = part(model.data->valid);
    if (model.data) division.test = part(model.data->test);
    division.in_order = !model.update.empty();
    return division;
  }

  // Returns whether `split` has the same samples by both. `valid` is taken first where chance
  // chooses, and `test` where the last samples are taken.
  bool TakesTheSame(const Division& other, const std::string& split) const {
    if (in_order != other.in_order || (!in_order && seed != other.seed)) return false;
    const bool same_test = test == other.test, same_valid = valid == other.valid;
    return split == "valid" ? same_valid && (same_test || !in_order)
                            : same_test && (same_valid || in_order);
  }

  // "seed 5 and data.valid.split 0.3"
  std::string TextOf(const std::string& split) const {
    const auto& part = split == "valid" ? valid : test;
    const std::string of_part =
        part ? fmt::format("data.{}.split {:g}", split, *part) : "no data." + split + ".split";
    return in_order ? of_part : fmt::format("seed {} and {}", seed, of_part);
  }
};

std::string FormatOf(const ModelSpec& model) {
  const bool named = model.data && model.data->train && model.data->train->format;
  return named ? model.data->train->format->value : "";
}

}  // namespace

std::optional<ModelSpec> ModelOfRun(const fs::path& folder) {
  std::error_code error;
  const fs::path model = folder / "model.yaml";
  if (!fs::exists(model, error) || !fs::exists(folder / "run.json", error)) return std::nullopt;
  Diagnostics ignored;  // the weights may do without it
  return LoadModelFile(model.string(), {}, ignored);
}

void TakeSplitOfRun(const ModelFlags& flags, const std::string& weights, const std::string& split,
                    ModelSpec& model) {
  const fs::path folder = fs::path(weights).parent_path();
  const std::optional<ModelSpec> run = ModelOfRun(folder);
  if (!run || FormatOf(*run) != FormatOf(model) || !model.data) return;
  const Division before = Division::Of(*run);
  const std::vector<std::string> set = AssignmentsOf(flags);
  std::vector<std::string> taken;
  if (model.train && model.train->seed.value != before.seed && !Sets(set, "train.seed")) {
    model.train->seed.value = before.seed;
    taken.push_back(fmt::format("seed {}", before.seed));
  }
  const auto take_part = [&](const std::string& name, std::optional<DataSpec>& spec,
                             const std::optional<double>& part) {
    if (!part || Sets(set, "data." + name) || (spec && spec->format)) return;
    if (!spec) spec = DataSpec{{}, {}, {}, model.data->mark};
    if (spec->split && spec->split->value == *part) return;
    spec->split = Marked<double>{*part, spec->mark};
    taken.push_back(fmt::format("data.{}.split {:g}", name, *part));
  };
  take_part("valid", model.data->valid, before.valid);
  take_part("test", model.data->test, before.test);
  const std::string of_run = folder.empty() ? "." : folder.string();
  if (!taken.empty()) {
    Tell(fmt::format("taken from the run {}: {}", of_run, fmt::join(taken, ", ")));
  }

  const Division now = Division::Of(model);
  const bool is_part = (split == "valid" && now.valid) || (split == "test" && now.test);
  if (!is_part || now.TakesTheSame(before, split)) return;
  Diagnostics diagnostics;
  diagnostics.Warning({},
                      "'" + split + "' may hold samples that the run " + of_run +
                          " learned from: it was started with " + before.TextOf(split) +
                          ", this is chosen by " + now.TextOf(split),
                      "without `--seed` and `--set` of these, `cgrun eval` takes those of the run");
  PrintDiagnostics(diagnostics);
}

}  // namespace cgrun
