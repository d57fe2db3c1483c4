// PathUses writes the sequence out.
#include "src/frontend/path_uses.h"

#include <algorithm>
#include <map>

namespace cgrun {

std::string PathUse::Label() const {
  return is_last() ? path->name.value : path->name.value + "[" + std::to_string(repetition) + "]";
}

namespace {

// The path that an item of the sequence names; the end where there is none.
auto Find(const StepSpec& step, const ModelSpec& model) {
  return std::ranges::find_if(
      model.paths, [&](const PathSpec& path) { return path.name.value == step.path.value; });
}

}  // namespace

std::vector<PathUse> PathUses(const ModelSpec& model, EntryKind kind) {
  std::vector<const PathSpec*> runs;
  if (kind == EntryKind::kTrain && model.train && !model.train->sequence.empty()) {
    for (const StepSpec& step : model.train->sequence) {
      const auto path = Find(step, model);
      if (path != model.paths.end()) {  // CheckModel() reports what is not there
        runs.insert(runs.end(), static_cast<size_t>(step.count), &*path);
      }
    }
  } else {
    for (const PathSpec& path : model.paths) runs.push_back(&path);
  }
  std::vector<PathUse> uses;
  std::map<const PathSpec*, int64_t> first;
  for (const PathSpec* path : runs) {
    const auto index = static_cast<int64_t>(uses.size());
    const auto before = std::ranges::count(runs.begin(), runs.begin() + index, path);
    uses.push_back(
        {path, before, std::ranges::count(runs, path), first.emplace(path, index).first->second});
  }
  return uses;
}

std::vector<PathUse> LeftOutPaths(const ModelSpec& model, const std::vector<PathUse>& uses) {
  std::vector<PathUse> left_out;
  for (const PathSpec& path : model.paths) {
    if (std::ranges::find(uses, &path, &PathUse::path) != uses.end()) continue;
    left_out.push_back({&path, 0, 1, std::ssize(uses) + std::ssize(left_out)});
  }
  return left_out;
}

bool SequenceNamesNoPath(const ModelSpec& model) {
  return model.train && std::ranges::any_of(model.train->sequence, [&](const StepSpec& step) {
           return Find(step, model) == model.paths.end();
         });
}

}  // namespace cgrun
