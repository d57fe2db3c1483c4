#include "src/groups/group_models.h"

#include <filesystem>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/shell_word.h"
#include "src/groups/group_journal.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// The file of the weights that a folder has: the best ones first.
std::string WeightsIn(const std::string& folder) {
  std::error_code error;
  for (const char* name : {kBestGroupWeights, kGroupWeights}) {
    const std::string file = folder + "/" + name;
    if (fs::exists(file, error)) return file;
  }
  throw InputError(
      "'" + folder + "' has no weights of groups: there is no " + std::string(kGroupWeights),
      "a run by groups writes it at its end");
}

void CheckHasEnded(const std::string& folder) {
  if (!GroupJournal::IsIn(folder)) return;
  throw InputError("the run in '" + folder + "' has not ended: not all of its groups have a model",
                   "`cgrun train --resume " + ShellWord(folder) + "` goes on with it");
}

}  // namespace

GroupModels OpenGroupModels(const std::string& file_or_folder) {
  std::error_code error;
  const fs::path path(file_or_folder);
  const bool is_file = fs::is_regular_file(path, error);
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string folder = is_file ? parent : file_or_folder;
  CheckHasEnded(folder);
  GroupIndex index = ReadGroupIndex(folder);
  const std::string file = is_file ? file_or_folder : WeightsIn(folder);
  GroupBank bank = GroupBank::Load(file, std::ssize(index.entries));
  return {folder, file, std::move(index), std::move(bank)};
}

}  // namespace cgrun
