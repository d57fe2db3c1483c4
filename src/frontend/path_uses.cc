// PathUses: the sequence written out.
#include "src/frontend/path_uses.h"

#include <algorithm>
#include <map>

namespace cgrun {

std::string PathUse::Label() const {
  return is_last() ? path->name.value : path->name.value + "[" + std::to_string(repetition) + "]";
}

std::vector<PathUse> PathUses(const ModelSpec& model, EntryKind kind) {
  std::vector<const PathSpec*> runs;
  if (kind == EntryKind::kTrain && model.train && !model.train->sequence.empty()) {
    for (const StepSpec& step : model.train->sequence) {
      const auto path = std::ranges::find_if(
          model.paths, [&](const PathSpec& spec) { return spec.name.value == step.path.value; });
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

}  // namespace cgrun
