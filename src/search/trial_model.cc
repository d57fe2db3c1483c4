#include "src/search/trial_model.h"

#include <utility>

#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr size_t kMostOpened = 2;

// All on which the data of a model depend.
std::string DataKey(const ModelSpec& model) {
  const TreeNode tree = ResolvedTree(model);
  std::string key;
  for (const char* part : {"data", "inputs", "update"}) {
    const TreeEntry* entry = tree.Find(part);
    if (entry != nullptr) key += std::string(part) + ":\n" + ToYaml(entry->value);
  }
  if (!model.train) return key;
  key += "\nseed " + std::to_string(model.train->seed.value);
  if (!model.update.empty()) key += "\nstreams " + std::to_string(model.train->batch.value.size);
  if (model.train->memory) key += "\nmemory " + std::to_string(model.train->memory->value);
  return key;
}

}  // namespace

std::vector<std::string> ModelFilesOf(const SearchSpec& search) {
  std::vector<std::string> files;
  for (const MarkedText& model : search.models) {
    files.push_back(ResolvePath(search.file_name, model.value));
  }
  return files;
}

std::optional<ModelSpec> ModelOf(const SearchSpec& search, const Space& space,
                                 const Configuration& settings,
                                 const std::vector<Assignment>& common, const TreeExpander& expand,
                                 Diagnostics& diagnostics) {
  const bool competes = search.models.size() > 1;
  const size_t model = competes ? settings[0]->choice : 0;
  std::vector<Assignment> assignments = common;
  for (size_t i = competes ? 1 : 0; i < settings.size(); ++i) {
    const MarkedText& path = space[i].path;
    if (settings[i]) assignments.push_back({path.value, space.ValueOf(i, *settings[i]), path.mark});
  }
  auto loaded = LoadAssignedModel(ModelFilesOf(search)[model], assignments, diagnostics, expand);
  if (!loaded || !loaded->data || !loaded->data->group_by) return loaded;
  diagnostics.Error(loaded->data->group_by->mark, "a search tries no model with 'group_by'",
                    "search on the rows of all groups, or of one: leave `group_by` out");
  return std::nullopt;
}

std::shared_ptr<const ModelData> SharedData::Open(const ModelSpec& model,
                                                  Diagnostics& diagnostics) {
  std::string key = DataKey(model);
  for (const Opened& opened : opened_) {
    if (opened.key == key) return opened.data;
  }
  if (opened_.size() == kMostOpened) opened_.erase(opened_.begin());  // before another takes memory
  auto data = std::make_shared<ModelData>(OpenModelData(model, diagnostics));
  if (diagnostics.has_errors()) return nullptr;
  opened_.push_back({std::move(key), data});
  return data;
}

}  // namespace cgrun
