// Names are looked up among the files of the folder, labels among the classes.
#include "src/data/label_list.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "src/base/synonyms.h"
#include "src/data/cell_errors.h"
#include "src/data/csv_reader.h"
#include "src/data/encoding.h"
#include "src/data/header_words.h"
#include "src/data/image_file.h"
#include "src/data/image_folder.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Converts a name to small letters and removes an image's ending and the zeros before numbers:
// "im9" of "IM009.PNG".
std::string PlainImageName(std::string_view name) {
  if (HasEnding(name, kImageEndings)) name = name.substr(0, name.rfind('.'));
  std::string plain;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || !IsDigit(name[i - 1]);
    if (begins && IsDigit(name[i])) {
      while (i + 1 < name.size() && name[i] == '0' && IsDigit(name[i + 1])) ++i;
    }
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return plain;
}

std::string DigitsOf(std::string_view name) {
  std::string digits;
  std::ranges::copy_if(name, std::back_inserter(digits), IsDigit);
  return digits;
}

// The delimiter that cuts the first line in two or more: a comma where that does.
char FindDelimiter(const std::string& path) {
  for (const char delimiter : {',', ';', '\t'}) {
    Diagnostics ignored;
    CsvReader reader(path, delimiter, ignored);
    if (reader.Next() && reader.fields().size() > 1) return delimiter;
  }
  return ',';
}

class LabelListReader {
 public:
  LabelListReader(const DataOptions& options, const DataOption& option, const ListedFolder& folder,
                  const ClassTable& known, Diagnostics& diagnostics)
      : option_(option),
        path_(ResolvePath(options, option)),
        folder_(folder),
        diagnostics_(diagnostics),
        labels_(known, options.train == nullptr),
        mistakes_(diagnostics, Severity::kError, "line") {}

  ImageList Read() {
    const int errors = diagnostics_.error_count();
    try {
      list_.delimiter = FindDelimiter(path_);
      ReadLines();
    } catch (const UserError& error) {
      diagnostics_.Error(option_.mark, error.what(), error.help());
    }
    mistakes_.Report(std::ssize(texts_));
    labels_.Settle(diagnostics_);
    if (diagnostics_.error_count() > errors) return std::move(list_);
    list_.classes = labels_.names();
    for (size_t i = 0; i < texts_.size(); ++i) list_.images[i].label = *labels_.Find(texts_[i]);
    NoteUnnamed();
    return std::move(list_);
  }

 private:
  // Mistakes are reported in this order.
  static constexpr size_t kName = 0, kLabel = 1, kLine = 2;
  static constexpr char kOtherDelimiters[] = " |:";

  std::string PathOf(const std::string& name) const {
    return folder_.path + (folder_.path.ends_with('/') ? "" : "/") + name;
  }

  void ReadLines() {
    CsvReader reader(path_, list_.delimiter, diagnostics_, /*can_choose=*/false);
    for (bool first = true; reader.Next(); first = false) {
      if (first && HasMore(reader.fields())) WarnOfColumns(reader);
      if (first && IsHeader(reader)) continue;
      TakeLine(reader);
    }
  }

  static bool IsHeader(const CsvReader& reader) {
    const std::string_view text = Trimmed(reader.fields()[0].text);
    const bool alone = reader.fields().size() == 1;  // no delimiter cuts the line
    const std::string_view name =
        alone ? text.substr(0, text.find_first_of(kOtherDelimiters)) : text;
    return !HasEnding(name, kImageEndings) && !HasEnding(name, kOtherImages);
  }

  // Further columns than two; a delimiter at the end of the line makes none.
  static bool HasMore(std::span<const CsvField> fields) {
    return fields.size() > 2 && std::ranges::any_of(fields.subspan(2), [](const CsvField& field) {
             return !Trimmed(field.text).empty();
           });
  }

  void TakeLine(const CsvReader& reader) {
    const std::span<const CsvField> fields = reader.fields();
    if (fields.size() < 2) {
      mistakes_.Add(kLine, "this line", [&] { return reader.mark(); },
                    {"", " has no label", "a line is `NAME,LABEL`, separated by a comma", "short"});
      return;
    }
    const std::string name(Trimmed(fields[0].text)), label(Trimmed(fields[1].text));
    const auto mark_of = [&] { return reader.MarkOf(fields[0]); };
    const bool is_there = std::ranges::binary_search(folder_.images, name);
    const bool is_new = is_there && seen_.insert(name).second;
    if (!is_there) {
      mistakes_.Add(kName, "'" + folder_.path + "'", mark_of, NoImage(name, fields));
    } else if (!is_new) {
      mistakes_.Add(kName, "the image ", mark_of,
                    {QuotedText(name), QuotedText(name) + " has a label already", "", "twice"});
    }
    TakeLabel(label, reader, fields[1]);
    if (!is_new) return;
    list_.images.push_back({PathOf(name), 0, reader.line()});
    texts_.push_back(label);
  }

  // Says which columns are read, and which are not.
  void WarnOfColumns(const CsvReader& reader) {
    const std::span<const CsvField> fields = reader.fields();
    const bool named = IsHeader(reader);
    const auto column = [&](size_t i) {
      return named ? QuotedText(Trimmed(fields[i].text)) : std::to_string(i + 1);
    };
    std::string others;
    for (size_t i = 2; i < std::min<size_t>(fields.size(), 7); ++i) {
      others += (i > 2 ? ", " : "") + column(i);
    }
    if (fields.size() > 7) others += ", …";
    diagnostics_.Warning(
        reader.mark(),
        "this list has " + std::to_string(fields.size()) + " columns: " + column(0) +
            " is taken for the images, " + column(1) + " for their labels, and " + others +
            (fields.size() == 3 ? " is" : " are") + " not read",
        "a line is `NAME,LABEL`; samples of another set stand in a list of their own");
  }

  // Describes a line that names an image that is not there. Only for the first few such lines, a
  // similar name is searched. Later lines count as the last of these.
  CellMistake NoImage(const std::string& name, std::span<const CsvField> fields) {
    constexpr int kMostSearched = 20;
    const std::string what = " holds no image " + QuotedText(name);
    if (std::ranges::binary_search(folder_.other_images, name)) {
      return {QuotedText(name), ": the image " + QuotedText(name) + " is neither JPEG nor PNG",
              "convert such images, or leave them out of the list", "kind"};
    }
    const bool search = searched_ < kMostSearched;
    const std::string meant = search ? MeantImage(name, folder_.images) : "";
    searched_ += search;
    if (search) is_near_ = !meant.empty();
    if (is_near_) {
      return {QuotedText(name) + (meant.empty() ? "" : " ('" + meant + "'?)"), what,
              "did you mean '" + meant + "'?", "near"};
    }
    if (!absent_help_) absent_help_ = HelpWithAbsent(name, fields);  // of the first, which is shown
    return {QuotedText(name), what, *absent_help_, "absent"};
  }

  // Returns help for an absent image. It may lie in a folder within the folder, its name may
  // include the folder's, or it may stand in another column.
  std::string HelpWithAbsent(const std::string& name, std::span<const CsvField> fields) const {
    const std::string alone = name.substr(name.rfind('/') + 1);
    if (alone != name && std::ranges::binary_search(folder_.images, alone)) {
      return "write '" + alone + "': the lines name files of the folder, without folders";
    }
    for (size_t i = 1; i < fields.size(); ++i) {
      const std::string other(Trimmed(fields[i].text));
      if (!std::ranges::binary_search(folder_.images, other)) continue;
      return "column " + std::to_string(i + 1) + " names images: a line is `NAME,LABEL`";
    }
    std::vector<std::string> places = {name};
    for (const std::string& folder : folder_.folders) places.push_back(folder + "/" + alone);
    for (const std::string& place : places) {
      std::error_code ignored;
      if (place.find('/') == place.npos || !fs::is_regular_file(PathOf(place), ignored)) continue;
      return "'" + PathOf(place) +
             "' is there: images of a list lie in the folder itself, not in folders within it; "
             "without `labels`, each of these is a class";
    }
    return "";
  }

  void TakeLabel(const std::string& label, const CsvReader& reader, const CsvField& field) {
    const auto mark_of = [&] { return reader.MarkOf(field); };
    if (label.empty()) {
      mistakes_.Add(kLabel, "the label", mark_of, {"", " is missing", "", "gap"});
    } else if (const std::optional<EncodingFault> fault = FindEncodingFault(label)) {
      const std::string quoted = QuotedText(label);
      mistakes_.Add(kLabel, "the label ", mark_of,
                    {quoted, quoted + " " + fault->what, fault->help, "encoding"});
    } else if (!labels_.surveys() && !labels_.Find(label)) {
      mistakes_.Add(
          kLabel, "", mark_of,
          {QuotedText(label), labels_.UnknownText(label), labels_.HelpFor(label), "class"});
    } else {
      labels_.Survey(label, mark_of, diagnostics_);
    }
  }

  // Images of the folder that no line names.
  void NoteUnnamed() {
    if (seen_.empty() || seen_.size() == folder_.images.size()) return;
    std::vector<std::string> unnamed;
    std::ranges::copy_if(folder_.images, std::back_inserter(unnamed),
                         [&](const std::string& name) { return !seen_.contains(name); });
    const bool one = unnamed.size() == 1;
    list_.notes.push_back("'" + folder_.path + "': " + std::to_string(unnamed.size()) + " of its " +
                          CountText(std::ssize(folder_.images), "image") + (one ? " is" : " are") +
                          " left out, which '" + path_ + "' does not name: " + NamesText(unnamed));
  }

  const DataOption& option_;
  const std::string path_;
  const ListedFolder& folder_;
  Diagnostics& diagnostics_;
  LabelTexts labels_;
  CellErrors mistakes_;
  ImageList list_;
  std::vector<std::string> texts_;  // labels, by image of list_
  std::set<std::string, std::less<>> seen_;
  // These describe the lines that name absent images.
  int searched_ = 0;
  bool is_near_ = false;
  std::optional<std::string> absent_help_;
};

}  // namespace

std::string MeantImage(const std::string& name, const std::vector<std::string>& images) {
  const std::string meant = OurName(name, images, {});
  if (!meant.empty()) return meant;
  const std::string plain = PlainImageName(name), digits = DigitsOf(plain);
  std::vector<std::string> same, near, near_plain;
  for (const std::string& image : images) {
    const std::string other = PlainImageName(image);
    if (other == plain) same.push_back(image);
    if (DigitsOf(other) != digits) continue;  // another number is another image
    near.push_back(image);
    near_plain.push_back(other);
  }
  if (!same.empty()) return same.size() == 1 ? same[0] : "";
  const std::string nearest = NearestName(plain, near_plain);
  if (nearest.empty()) return "";
  return near[static_cast<size_t>(std::ranges::find(near_plain, nearest) - near_plain.begin())];
}

ImageList ReadLabelList(const DataOptions& options, const DataOption& labels,
                        const ListedFolder& folder, const ClassTable& known,
                        Diagnostics& diagnostics) {
  return LabelListReader(options, labels, folder, known, diagnostics).Read();
}

}  // namespace cgrun
