// Folders, read and sorted; a list of labels, read and looked up.
#include "src/data/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "src/base/synonyms.h"
#include "src/data/cell_errors.h"
#include "src/data/classes.h"
#include "src/data/csv_reader.h"
#include "src/data/encoding.h"
#include "src/data/image_file.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// What lies in a folder, sorted by name; hidden files are left out.
struct FolderEntries {
  std::vector<std::string> folders, images, other_images;
};

std::optional<FolderEntries> ReadFolder(const std::string& folder, const SourceMark& mark,
                                        Diagnostics& diagnostics) {
  FolderEntries entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) continue;
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
  if (!entries.other_images.empty()) {
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

// The image that a list seems to mean by `name`: in another case, or without its ending; "" where
// there is none.
std::string MeantImage(const std::string& name, const std::vector<std::string>& images) {
  const std::string meant = OurName(name, images, {});
  if (!meant.empty()) return meant;
  const auto same_stem = std::ranges::find(
      images, name, [](const std::string& image) { return image.substr(0, image.rfind('.')); });
  return same_stem == images.end() ? "" : *same_stem;
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
    const std::optional<FolderEntries> root = ReadFolder(folder_, option_.mark, diagnostics_);
    if (!root) return {};
    if (known) known_ = *std::move(known);
    const DataOption* labels = FindOption(options_, "labels");
    if (labels != nullptr && labelled_) {
      ListByLabels(*labels, *root);
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

  // What to write where a folder that is taken for a class holds the classes itself.
  std::string TakesFoldersText(const std::string& name) const {
    return "it holds folders: `folder: " + option_.value +
           (option_.value.ends_with('/') ? "" : "/") + name + "` takes them for the classes";
  }

  // Those of the folder `folder` of the set, which ends in '/' or is "".
  void AddImages(const FolderEntries& entries, const std::string& folder, int32_t label) {
    for (const std::string& name : entries.images) {
      list_.images.push_back({PathOf(folder + name), label});
    }
  }

  // Those of a folder that is no class, which is told.
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

  // What to do about classes without a folder, and folders without a class.
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

  // Whether a class may have no image: one of the training data, in another set.
  bool MayBeEmpty() const {
    const bool of_other_data =
        options_.train != nullptr || FindOption(options_, "classes") == nullptr;
    return train_failed_ || (known_.fixed() && of_other_data);
  }

  // The order of the classes. False where what the folders hold is not to be looked at.
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

  // Of a class with images of its own.
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

  void ListByLabels(const DataOption& option, const FolderEntries& root) {
    const int errors = diagnostics_.error_count();
    LabelTexts labels(known_, options_.train == nullptr);
    CellErrors mistakes(diagnostics_, Severity::kError, "line");
    std::vector<std::string> texts;
    try {
      texts = ReadLabels(ResolvePath(options_, option), root, labels, mistakes);
    } catch (const UserError& error) {
      diagnostics_.Error(option.mark, error.what(), error.help());
    }
    mistakes.Report(std::ssize(texts));
    labels.Settle(diagnostics_);
    if (diagnostics_.error_count() > errors) return;
    list_.classes = labels.names();
    for (size_t i = 0; i < texts.size(); ++i) list_.images[i].label = *labels.Find(texts[i]);
  }

  // Lines of a name and a label; a first line whose name has no image's ending is a header. Returns
  // the labels of the images that it adds to the list.
  std::vector<std::string> ReadLabels(const std::string& path, const FolderEntries& root,
                                      LabelTexts& labels, CellErrors& mistakes) {
    constexpr size_t kName = 0, kLine = 2;  // in the order in which mistakes are told
    std::vector<std::string> texts;
    std::set<std::string, std::less<>> seen;
    CsvReader reader(path, ',', diagnostics_, /*can_choose=*/false);
    for (bool first = true; reader.Next(); first = false) {
      const std::span<const CsvField> fields = reader.fields();
      if (first && !HasEnding(Trimmed(fields[0].text), kImageEndings)) continue;
      if (fields.size() < 2) {
        mistakes.Add(
            kLine, "this line", [&] { return reader.mark(); },
            {"", " has no label", "a line is `NAME,LABEL`, separated by a comma", "short"});
        continue;
      }
      const std::string name(Trimmed(fields[0].text)), label(Trimmed(fields[1].text));
      const auto mark_of = [&] { return reader.MarkOf(fields[0]); };
      const bool is_there = std::ranges::binary_search(root.images, name);
      const bool is_new = is_there && seen.insert(name).second;
      if (!is_there) {
        mistakes.Add(kName, "'" + folder_ + "'", mark_of, NoImage(name, root));
      } else if (!is_new) {
        mistakes.Add(kName, "the image ", mark_of,
                     {QuotedText(name), QuotedText(name) + " has a label already", "", "twice"});
      }
      TakeLabel(label, reader, fields[1], labels, mistakes);
      if (!is_new) continue;
      list_.images.push_back({PathOf(name), 0, reader.line()});
      texts.push_back(label);
    }
    return texts;
  }

  // A line that names an image that is not there. What is meant is searched for the first of them;
  // the others are counted as the last of these.
  CellMistake NoImage(const std::string& name, const FolderEntries& root) {
    constexpr int kMostSearched = 20;
    const std::string what = " holds no image " + QuotedText(name);
    const bool search = searched_ < kMostSearched;
    const std::string meant = search ? MeantImage(name, root.images) : "";
    searched_ += search;
    if (search) is_near_ = !meant.empty();
    if (is_near_) {
      return {QuotedText(name) + (meant.empty() ? "" : " ('" + meant + "'?)"), what,
              "did you mean '" + meant + "'?", "near"};
    }
    if (!absent_help_) absent_help_ = HelpWithAbsent(name, root);  // of the first, which is shown
    return {QuotedText(name), what, *absent_help_, "absent"};
  }

  // Of an image that may lie in a folder within the folder, or whose name has that of the folder.
  std::string HelpWithAbsent(const std::string& name, const FolderEntries& root) const {
    const std::string alone = name.substr(name.rfind('/') + 1);
    if (alone != name && std::ranges::binary_search(root.images, alone)) {
      return "write '" + alone + "': the lines name files of the folder, without folders";
    }
    std::vector<std::string> places = {name};
    for (const std::string& folder : root.folders) places.push_back(folder + "/" + alone);
    for (const std::string& place : places) {
      std::error_code ignored;
      if (place.find('/') == place.npos || !fs::is_regular_file(PathOf(place), ignored)) continue;
      return "'" + PathOf(place) +
             "' is there: images of a list lie in the folder itself, not in folders within it; "
             "without `labels`, each of these is a class";
    }
    return "";
  }

  void TakeLabel(const std::string& label, const CsvReader& reader, const CsvField& field,
                 LabelTexts& labels, CellErrors& mistakes) {
    constexpr size_t kLabel = 1;
    const auto mark_of = [&] { return reader.MarkOf(field); };
    if (label.empty()) {
      mistakes.Add(kLabel, "the label", mark_of, {"", " is missing", "", "gap"});
    } else if (const std::optional<EncodingFault> fault = FindEncodingFault(label)) {
      const std::string quoted = QuotedText(label);
      mistakes.Add(kLabel, "the label ", mark_of,
                   {quoted, quoted + " " + fault->what, fault->help, "encoding"});
    } else if (!labels.surveys() && !labels.Find(label)) {
      mistakes.Add(kLabel, "", mark_of,
                   {QuotedText(label), labels.UnknownText(label), labels.HelpFor(label), "class"});
    } else {
      labels.Survey(
          label, [&] { return reader.MarkOf(field); }, diagnostics_);
    }
  }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const bool labelled_;
  const bool train_failed_;
  const DataOption& option_;
  const std::string folder_;
  ClassTable known_;
  ImageList list_;
  // Of lines of a list that name images that are not there.
  int searched_ = 0;
  bool is_near_ = false;
  std::optional<std::string> absent_help_;
};

}  // namespace

ImageList ListImages(const DataOptions& options, bool labelled, bool train_failed,
                     Diagnostics& diagnostics) {
  return ImageLister(options, labelled, train_failed, diagnostics).List();
}

std::string NamesText(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i > 0 ? ", '" : "'") + names[i] + "'";
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

void ReportOtherImages(const std::string& folder, const std::vector<std::string>& names,
                       const SourceMark& mark, Diagnostics& diagnostics) {
  diagnostics.Error(mark,
                    "'" + folder + "': " + NamesText(names) + (names.size() == 1 ? " is" : " are") +
                        " neither JPEG nor PNG",
                    "convert such images, or move them away");
}

}  // namespace cgrun
