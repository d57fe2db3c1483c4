// Folders, read and sorted.
#include "src/data/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

#include "src/base/word_list.h"
#include "src/data/classes.h"
#include "src/data/image_file.h"
#include "src/data/label_list.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// Holds the entries of a folder, sorted by name. Hidden files are left out, and so are files that
// archives of macOS have beside the others: "__MACOSX/._cat.png".
struct FolderEntries {
  std::vector<std::string> folders, images, other_images;
};

// Images of other kinds are errors, but where a list says which images there are.
enum class OtherImages { kAreErrors, kAreListed };

std::optional<FolderEntries> ReadFolder(const std::string& folder, const SourceMark& mark,
                                        Diagnostics& diagnostics,
                                        OtherImages others = OtherImages::kAreErrors) {
  FolderEntries entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.') || name == "__MACOSX") continue;
    if (entry->is_directory(ignored)) entries.folders.push_back(name);
    // A link to nothing is an image that cannot be opened.
    const bool leads_nowhere = entry->is_symlink(ignored) && !entry->exists(ignored);
    if (!entry->is_regular_file(ignored) && !leads_nowhere) continue;
    if (HasEnding(name, kImageEndings)) entries.images.push_back(name);
    if (HasEnding(name, kOtherImages)) entries.other_images.push_back(name);
  }
  if (error) {
    diagnostics.Error(mark, "cannot read the folder '" + folder + "': " + error.message());
    return std::nullopt;
  }
  std::ranges::sort(entries.folders);
  std::ranges::sort(entries.images);
  std::ranges::sort(entries.other_images);
  if (!entries.other_images.empty() && others == OtherImages::kAreErrors) {
    ReportOtherImages(folder, entries.other_images, mark, diagnostics);
  }
  return entries;
}

bool HoldsImages(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && HasEnding(name, kImageEndings)) return true;
  }
  return false;
}

class ImageLister {
 public:
  ImageLister(const DataOptions& options, bool labelled, bool train_failed,
              Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        labelled_(labelled),
        train_failed_(train_failed),
        option_(*FindOption(options, "folder")),
        folder_(ResolvePath(options, option_)) {}

  ImageList List() {
    const int errors = diagnostics_.error_count();
    std::optional<ClassTable> known = KnownClasses(options_, "label", diagnostics_);
    const DataOption* labels = FindOption(options_, "labels");
    const bool listed = labels != nullptr && labelled_;
    const std::optional<FolderEntries> root =
        ReadFolder(folder_, option_.mark, diagnostics_,
                   listed ? OtherImages::kAreListed : OtherImages::kAreErrors);
    if (!root) return {};
    if (known) known_ = *std::move(known);
    if (listed) {
      list_ = ReadLabelList(options_, *labels,
                            {folder_, root->images, root->folders, root->other_images}, known_,
                            diagnostics_);
    } else if (labels != nullptr || (!labelled_ && root->folders.empty())) {
      AddImages(*root, "", 0);
    } else {
      ListClasses(*root);
    }
    if (diagnostics_.error_count() == errors && list_.images.empty()) ReportNothing(*root);
    if (!labelled_) list_.classes.clear();
    return std::move(list_);
  }

 private:
  std::string PathOf(const std::string& name) const {
    return folder_ + (folder_.ends_with('/') ? "" : "/") + name;
  }
  void Error(const std::string& what, const std::string& help = "") {
    diagnostics_.Error(option_.mark, "'" + folder_ + (what.starts_with(':') ? "'" : "' ") + what,
                       help);
  }

  // Suggests another folder where a folder that is taken for a class holds the classes itself.
  std::string TakesFoldersText(const std::string& name) const {
    return "it holds folders: `folder: " + option_.value +
           (option_.value.ends_with('/') ? "" : "/") + name + "` takes them for the classes";
  }

  // Adds the images of the folder `folder` of the set, which ends in '/' or is "".
  void AddImages(const FolderEntries& entries, const std::string& folder, int32_t label) {
    for (const std::string& name : entries.images) {
      list_.images.push_back({PathOf(folder + name), label});
    }
  }

  // Adds the images of a folder that is no class, which is reported elsewhere.
  void AddNoClass(const std::string& name) {
    const auto entries = ReadFolder(PathOf(name), option_.mark, diagnostics_);
    if (entries) AddImages(*entries, name + "/", 0);
  }

  void ReportNothing(const FolderEntries& root) {
    Error("holds no images", root.folders.empty()
                                 ? "images are files that end in .jpg, .jpeg or .png, in a folder "
                                   "for each class"
                                 : "");
  }

  void ListClasses(const FolderEntries& root) {
    if (labelled_ && !root.images.empty()) {
      Error((root.images.size() == 1 ? ": the image " : ": the images ") + NamesText(root.images) +
                (root.images.size() == 1 ? " lies" : " lie") +
                (root.folders.empty() ? " in no folder of a class" : " beside the class folders"),
            "the images of each class have a folder; or else `labels: FILE.csv` tells the label of "
            "each image");
      AddImages(root, "", 0);
      for (const std::string& name : root.folders) AddNoClass(name);
      return;
    }
    if (root.folders.empty() || !ChooseClasses(root.folders)) return;
    const auto labels = LabelsOf({list_.classes, ""});
    for (const std::string& name : root.folders) {
      const auto label = labels.find(name);
      if (label == labels.end()) {
        AddNoClass(name);
      } else {
        ListClass(name, label->second);
      }
    }
  }

  // Returns help for classes without a folder, and folders without a class.
  std::string HelpWithMissing(const std::vector<std::string>& missing,
                              const std::vector<std::string>& extra) const {
    for (const std::string& name : missing) {
      const std::string meant = NearestName(name, extra);
      if (!meant.empty()) return "if its folder '" + meant + "' is meant, call that '" + name + "'";
    }
    return MayBeEmpty() ? "put its images there; where there are none, an empty folder says so"
                        : "put its images there, or leave it out of `classes`";
  }
  std::string HelpWithExtra(const std::vector<std::string>& missing,
                            const std::vector<std::string>& extra) const {
    for (const std::string& name : extra) {
      const std::string meant = NearestName(name, missing);
      if (!meant.empty()) return "did you mean '" + meant + "'?";
    }
    return FindOption(options_, "classes") != nullptr
               ? "add it to `classes`, or move the folder away"
               : "a model tells the classes apart that it was trained with: train with such "
                 "images, "
                 "too, or move the folder away";
  }

  // Returns whether a class may have no image: one of the training data, in another set.
  bool MayBeEmpty() const {
    const bool of_other_data =
        options_.train != nullptr || FindOption(options_, "classes") == nullptr;
    return train_failed_ || (known_.fixed() && of_other_data);
  }

  // The order of the classes. Returns false where what the folders hold is not to be looked at.
  bool ChooseClasses(const std::vector<std::string>& folders) {
    if (labelled_ && known_.fixed()) {
      std::vector<std::string> wanted = known_.names, missing, extra;
      std::ranges::sort(wanted);
      std::ranges::set_difference(wanted, folders, std::back_inserter(missing));
      std::ranges::set_difference(folders, wanted, std::back_inserter(extra));
      const auto folder_of = [](const std::vector<std::string>& names) {
        return names.size() == 1 ? "folder " : "folders ";
      };
      if (!missing.empty()) {
        Error(std::string("has no ") + folder_of(missing) + NamesText(missing) +
                  ", but the classes " + known_.origin + " do",
              HelpWithMissing(missing, extra));
      }
      if (!extra.empty()) {
        Error(std::string(": the ") + folder_of(extra) + NamesText(extra) +
                  (extra.size() == 1 ? " is none" : " are none") + " of the classes " +
                  known_.origin,
              HelpWithExtra(missing, extra));
      }
      list_.classes = known_.names;
      return true;
    }
    list_.classes = folders;
    if (!labelled_ || train_failed_ || folders.size() > 1) return true;
    const auto inner = ReadFolder(PathOf(folders[0]), option_.mark, diagnostics_);
    if (!inner) return false;
    Error("has a single class, '" + folders[0] + "'",
          inner->folders.empty()
              ? "there is nothing to tell apart; `folder` names the folder of the class folders"
              : TakesFoldersText(folders[0]));
    return !inner->images.empty();
  }

  void ListClass(const std::string& name, int32_t label) {
    const auto entries = ReadFolder(PathOf(name), option_.mark, diagnostics_);
    if (!entries) return;
    const bool empty = entries->images.empty() && entries->other_images.empty();
    if (empty && !(entries->folders.empty() && MayBeEmpty())) {
      Error(": the class folder '" + name + "' holds no images",
            entries->folders.empty() ? "remove it, or put images into it" : TakesFoldersText(name));
    }
    AddImages(*entries, name + "/", label);
    if (!entries->images.empty()) WarnOfInnerFolders(name, entries->folders);
  }

  // Warns of folders within a class that has images of its own.
  void WarnOfInnerFolders(const std::string& name, const std::vector<std::string>& folders) {
    std::vector<std::string> left_out;
    std::ranges::copy_if(folders, std::back_inserter(left_out), [&](const std::string& folder) {
      return HoldsImages(PathOf(name + "/" + folder));
    });
    if (left_out.empty()) return;
    diagnostics_.Warning(option_.mark,
                         "'" + PathOf(name) + "': the images in its " +
                             (left_out.size() == 1 ? "folder " : "folders ") + NamesText(left_out) +
                             " are left out",
                         "the images of a class lie in its folder itself");
  }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const bool labelled_;
  const bool train_failed_;
  const DataOption& option_;
  const std::string folder_;
  ClassTable known_;
  ImageList list_;
};

}  // namespace

ImageList ListImages(const DataOptions& options, bool labelled, bool train_failed,
                     Diagnostics& diagnostics) {
  return ImageLister(options, labelled, train_failed, diagnostics).List();
}

std::string NamesText(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("'" + name + "'");
  return ListFirst(quoted, kShown);
}

void ReportOtherImages(const std::string& folder, const std::vector<std::string>& names,
                       const SourceMark& mark, Diagnostics& diagnostics) {
  diagnostics.Error(mark,
                    "'" + folder + "': " + NamesText(names) + (names.size() == 1 ? " is" : " are") +
                        " neither JPEG nor PNG",
                    "convert such images, or move them away");
}

}  // namespace cgrun
