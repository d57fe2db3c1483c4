// One error a folder, with what is known of where its files come from.
#include "src/model_data/missing_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "src/io/file_error.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// Says how to get a file below datasets/NAME, if a script fetches it; else what it may be called.
std::string HelpWithMissing(const fs::path& path, const std::string& model_file) {
  constexpr std::string_view kFetched[] = {"mnist", "fashion-mnist", "cifar10"};
  for (auto part = path.begin(); part != path.end(); ++part) {
    const auto next = std::next(part);
    if (*part != "datasets" || next == path.end()) continue;
    const std::string name = next->string();
    if (std::find(std::begin(kFetched), std::end(kFetched), name) != std::end(kFetched)) {
      return "`scripts/datasets/fetch-" + name + "` fetches this data";
    }
  }
  if (!model_file.ends_with(".cgb")) return MissingInModelHelp(path.string());
  const std::string help = MissingHelp(path.string(), "");
  return (help.empty() ? "" : help + "; ") +
         "paths in a compiled program start at its folder: it moves together with its data, or "
         "compile it there";
}

}  // namespace

std::string MissingFile::Text() const { return SystemErrorText("open", path, ENOENT); }

void ReportMissing(const std::vector<MissingFile>& files, const std::string& model_file,
                   Diagnostics& diagnostics) {
  std::map<fs::path, std::vector<const MissingFile*>> by_folder;
  std::set<std::string> known;
  for (const MissingFile& file : files) {
    if (!known.insert(file.path).second) continue;
    by_folder[fs::path(file.path).parent_path()].push_back(&file);
  }
  for (const auto& [folder, missing] : by_folder) {
    const size_t others = missing.size() - 1;
    diagnostics.Error(
        missing[0]->mark,
        missing[0]->Text() +
            (others > 0 ? ", and " + std::to_string(others) +
                              (others > 1 ? " others are" : " other is") + " missing in its folder"
                        : ""),
        HelpWithMissing(missing[0]->path, model_file));
  }
}

}  // namespace cgrun
