// Two trees of files, read and matched by name.
#include "src/data/mask_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

#include "src/data/image_file.h"
#include "src/data/image_folder.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// Maps a file's path in the folder without its ending to the whole path: "street/1" →
// "street/1.png".
using FilesByStem = std::map<std::string, std::string>;

class MaskLister {
 public:
  MaskLister(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        images_(*FindOption(options, "folder")),
        masks_(*FindOption(options, "masks")) {}

  std::vector<MaskedImage> List() {
    if (!CheckOptions()) return {};
    const std::optional<FilesByStem> images = ReadTree(images_, "images", FolderOf(masks_));
    const std::optional<FilesByStem> masks = ReadTree(masks_, "masks", FolderOf(images_));
    if (!images) return {};
    if (masks) CheckAllAreIn(*images, *masks, masks_, "masks of the images ");
    if (masks) CheckAllAreIn(*masks, *images, images_, "images of the masks ");
    std::vector<MaskedImage> pairs;
    for (const auto& [stem, name] : *images) {
      pairs.push_back({FolderOf(images_) + "/" + name, ""});
      if (!masks || !masks->contains(stem)) continue;
      pairs.back().mask = FolderOf(masks_) + "/" + masks->at(stem);
    }
    return pairs;
  }

 private:
  std::string FolderOf(const DataOption& option) const {
    std::string path = ResolvePath(options_, option);
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  }

  bool CheckOptions() {
    const int errors = diagnostics_.error_count();
    for (const char* name : {"labels", "classes"}) {
      const DataOption* option = FindOption(options_, name);
      if (option == nullptr) continue;
      diagnostics_.Error(option->key_mark.file ? option->key_mark : option->mark,
                         "'" + std::string(name) + "' says nothing beside 'masks'",
                         "the label of each pixel is the number in its mask: take out one of them");
    }
    std::error_code ignored;  // folders that are not there are reported where they are read
    if (fs::equivalent(FolderOf(images_), FolderOf(masks_), ignored)) {
      diagnostics_.Error(masks_.mark, "'masks' is the folder of the images itself",
                         "masks lie in a folder of their own");
    }
    return diagnostics_.error_count() == errors;
  }

  // All images of a folder and of the folders in it, those in `other` excepted. Links to folders
  // are not followed, so that there are no circles.
  std::optional<FilesByStem> ReadTree(const DataOption& option, const std::string& what,
                                      const std::string& other) {
    const std::string folder = FolderOf(option);
    std::vector<std::string> names, other_images;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().lexically_relative(folder).string();
      std::error_code ignored;  // a link to nothing is neither
      const bool hidden = entry->path().filename().string().starts_with('.');
      if (entry->is_directory(ignored)) {
        if (hidden || fs::equivalent(entry->path(), other, ignored)) {
          entry.disable_recursion_pending();
        }
      } else if (!hidden && entry->is_regular_file(ignored)) {
        if (HasEnding(name, kImageEndings)) names.push_back(name);
        if (HasEnding(name, kOtherImages)) other_images.push_back(name);
      }
    }
    if (error) {
      diagnostics_.Error(option.mark,
                         "cannot read the folder '" + folder + "': " + error.message());
      return std::nullopt;
    }
    std::ranges::sort(names);
    std::ranges::sort(other_images);
    if (!other_images.empty()) {
      ReportOtherImages(folder, other_images, option.mark, diagnostics_);
    } else if (names.empty()) {
      diagnostics_.Error(option.mark, "'" + folder + "' holds no " + what);
    }
    return names.empty() ? std::nullopt : ByStem(option, names);
  }

  std::optional<FilesByStem> ByStem(const DataOption& option,
                                    const std::vector<std::string>& names) {
    FilesByStem files;
    for (const std::string& name : names) {
      const auto [same, is_new] = files.emplace(name.substr(0, name.rfind('.')), name);
      if (is_new) continue;
      diagnostics_.Error(option.mark,
                         "'" + FolderOf(option) + "': '" + same->second + "' and '" + name +
                             "' have the same name",
                         "a mask belongs to the image of its name, endings apart");
      return std::nullopt;
    }
    return files;
  }

  // Checks that each of `files` has one of its name among `others`, the files of `option`.
  void CheckAllAreIn(const FilesByStem& files, const FilesByStem& others, const DataOption& option,
                     const std::string& what) {
    std::vector<std::string> missing;
    for (const auto& [stem, name] : files) {
      if (!others.contains(stem)) missing.push_back(name);
    }
    if (missing.empty()) return;
    diagnostics_.Error(
        option.mark, "'" + FolderOf(option) + "' holds no " + what + NamesText(missing),
        "a mask belongs to the image of its name, endings apart: '1.png' to '1.jpg'");
  }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const DataOption& images_;
  const DataOption& masks_;
};

}  // namespace

std::vector<MaskedImage> ListMaskedImages(const DataOptions& options, Diagnostics& diagnostics) {
  return MaskLister(options, diagnostics).List();
}

}  // namespace cgrun
