// The table of formats, and OpenDataset(): which format it is, and whether its options are its own.
#include <algorithm>

#include "src/base/name_notes.h"
#include "src/data/dataset.h"
#include "src/data/options.h"

namespace cgrun {

#define DATA_FORMAT(name) extern const DataFormat k##name##Format;
#include "src/data/data_formats.inc"
#undef DATA_FORMAT

namespace {

constexpr const DataFormat* kFormats[] = {
#define DATA_FORMAT(name) &k##name##Format,
#include "src/data/data_formats.inc"
#undef DATA_FORMAT
};

constexpr Synonym kSynonyms[] = {
    {"path", "folder"},
    {"directory", "folder"},
    {"dir", "folder"},
    {"root", "folder"},
    {"path", "file"},
    {"filename", "file"},
    {"target", "label"},
    {"labelcolumn", "label"},
    {"targets", "labels"},
    {"sep", "delimiter"},
    {"usecols", "columns"},
    {"fillna", "missing"},
    {"fillvalue", "missing"},
    {"impute", "missing"},
    {"imputation", "missing"},
    {"separator", "delimiter"},
    {"featurecolumns", "columns"},
    {"numsamples", "samples"},
    {"numclasses", "classes"},
    {"classnames", "classes"},
    {"rootdir", "folder"},
    {"datadir", "folder"},
    {"rootfolder", "folder"},
    {"source", "folder"},
    {"source", "file"},
    {"mask", "masks"},
    {"maskfolder", "masks"},
    {"annotations", "masks"},
    {"seqlen", "length"},
    {"seqlength", "length"},
    {"sequencelength", "length"},
    {"maxlength", "length"},
    {"maxlen", "length"},
    {"truncation", "truncate"},
    {"vocab", "vocabulary"},
    {"vocabfile", "vocabulary"},
    {"vocabsize", "entries"},
    {"maxtokens", "entries"},
    {"numwords", "entries"},
    {"padid", "pad"},
    {"paddingidx", "pad"},
    {"tokenizer", "tokens"},
};

constexpr std::string_view kIsChanged =
    "samples are changed by operators of a path: `normalize`, `resize`, `random_crop`, "
    "`random_flip` and others (`cgrun ops`)";
constexpr std::string_view kOfTraining = "write `train: {batch: …, shuffle: …}`: how it is trained";
constexpr std::string_view kLoads =
    "leave it out: samples are read ahead by threads of the program";

constexpr std::string_view kIsMissing =
    "gaps are what is empty, `NA`, `NaN` or `?`, and nothing else; `missing` says what becomes of "
    "them: `mean`, `zero`, a number or `drop`";
constexpr std::string_view kIsStandardize =
    "`standardize: true` makes each column of features (x - mean) / deviation";

constexpr NameNote kNotes[] = {
    {"navalues", "missing", kIsMissing},
    {"nullvalues", "missing", kIsMissing},
    {"missingvalues", "missing", kIsMissing},
    {"normalize", "standardize", kIsStandardize},
    {"scale", "standardize", kIsStandardize},
    {"scaler", "standardize", kIsStandardize},
    {"transform", "", kIsChanged},
    {"transforms", "", kIsChanged},
    {"transformparam", "", kIsChanged},
    {"augment", "", kIsChanged},
    {"augmentation", "", kIsChanged},
    {"preprocess", "", kIsChanged},
    {"preprocessing", "", kIsChanged},
    {"normalize", "", kIsChanged},
    {"rescale", "", kIsChanged},
    {"scale", "", kIsChanged},
    {"mirror", "", kIsChanged},
    {"crop", "", kIsChanged},
    {"cropsize", "", kIsChanged},
    {"mean", "", kIsChanged},
    {"std", "", kIsChanged},
    {"batch", "", kOfTraining},
    {"batchsize", "", kOfTraining},
    {"shuffle", "", kOfTraining},
    {"numworkers", "", kLoads},
    {"workers", "", kLoads},
    {"pinmemory", "", kLoads},
    {"download", "", "scripts/datasets fetch data; docs/guide.md names them"},
    {"imagesize", "folder", "images get the size of their input: `image: {shape: [3, 64, 64]}`"},
    {"size", "folder", "images get the size of their input: `image: {shape: [3, 64, 64]}`"},
};

// Suggests what to write instead of an option, or says why nothing is to be written for it.
std::string HelpWithOption(std::string_view name, std::span<const std::string> known) {
  const std::string note = NoteOn(name, known, kNotes);
  return note.empty() ? SuggestSynonym(name, known, kSynonyms) : note;
}

// Formats have these other names, and so do well-known sets in one of the formats.
constexpr Synonym kOtherFormats[] = {
    {"imagefolder", "images"}, {"folder", "images"}, {"image", "images"},   {"mnist", "idx"},
    {"fashionmnist", "idx"},   {"cifar10", "cifar"}, {"cifar100", "cifar"}, {"table", "csv"},
    {"numpy", "npy"},          {"txt", "text"},
};

const DataFormat* FindFormat(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &DataFormat::name);
  return found == std::end(kFormats) ? nullptr : *found;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const DataFormat* format : kFormats) names.emplace_back(format->name);
  return names;
}

const SourceMark& KeyMark(const DataOption& option) {
  return option.key_mark.file ? option.key_mark : option.mark;
}

// Returns whether a format has an option for an input of that name.
bool CanHaveOption(const DataFormat& format, const DataOptions& options, std::string_view input) {
  if (format.field_option_doc.empty() || format.field_option_of.empty()) {
    return !format.field_option_doc.empty();
  }
  const DataOption* of = FindOption(options, format.field_option_of);
  const std::vector<DataOption> listed = of == nullptr ? std::vector<DataOption>() : ItemsOf(*of);
  return std::ranges::find(listed, input, &DataOption::value) != listed.end();
}

// The names of its options that a help can name: of inputs those that can have one.
std::vector<std::string> NamesToTell(const DataFormat& format, const DataOptions& options) {
  std::vector<std::string> names;
  for (const DataOptionSpec& spec : format.options) names.emplace_back(spec.name);
  for (const DataField& field : options.fields) {
    const bool known = std::ranges::find(names, field.name) != names.end();
    if (!known && CanHaveOption(format, options, field.name)) names.push_back(field.name);
  }
  return names;
}

// Returns the names of the format's options.
std::vector<std::string> NamesIn(const DataFormat& format, const DataOptions& options) {
  std::vector<std::string> names;
  for (const DataOptionSpec& spec : format.options) names.emplace_back(spec.name);
  if (!format.field_option_doc.empty()) {
    for (const DataField& field : options.fields) names.push_back(field.name);
  }
  return names;
}

void CheckRequired(const DataFormat& format, const DataOptions& options, Diagnostics& diagnostics) {
  for (const DataOptionSpec& spec : format.options) {
    const std::string name(spec.name);
    if (!spec.required || options.values.contains(name)) continue;
    diagnostics.Error(
        options.mark,
        "data of format '" + std::string(format.name) + "' need the option '" + name + "'",
        name + ": " + std::string(spec.doc));
  }
}

void CheckNames(const DataFormat& format, const DataOptions& options, Diagnostics& diagnostics) {
  const std::vector<std::string> names = NamesIn(format, options);
  for (const auto& [name, option] : options.values) {
    const auto spec = std::ranges::find(format.options, name, &DataOptionSpec::name);
    if (std::ranges::find(names, name) != names.end()) {
      const bool list = spec != format.options.end() ? spec->values.list : format.field_option_list;
      if (list || option.items.empty() || option.reported) continue;
      diagnostics.Error(option.mark, "'" + name + "' must be one value, not a list");
      continue;
    }
    if (options.may_have_more_fields && CanHaveOption(format, options, name)) continue;
    diagnostics.Error(
        KeyMark(option),
        "unknown option '" + name + "' for data of format '" + std::string(format.name) + "'",
        HelpWithOption(name, NamesToTell(format, options)));
  }
}

// Checks values that are no lists. Formats check the same, and more, where they open the data.
void CheckValues(const DataFormat& format, const DataOptions& options, Diagnostics& diagnostics) {
  for (const DataOptionSpec& spec : format.options) {
    const DataOption* option = FindOption(options, spec.name);
    if (option == nullptr || option->reported || !option->items.empty()) continue;
    if (spec.values.check != nullptr) {
      spec.values.check(*option, diagnostics);
    } else if (spec.values.integer) {
      IntegerOption(options, spec.name, spec.values, 0, diagnostics);
    } else if (!spec.values.choices.empty()) {
      ChoiceOption(options, spec.name, spec.values.choices, 0, diagnostics);
    }
  }
}

// "write `folder` or `file`, as the format wants" where others call several options so; else as
// HelpWithOption(); "" where nothing is near.
std::string HelpWithForeign(std::string_view name, std::span<const std::string> known) {
  std::string ours;
  int count = 0;
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.theirs != PlainName(name)) continue;
    ours += (count++ == 0 ? "`" : " or `") + std::string(synonym.ours) + "`";
  }
  if (count > 1) return "write " + ours + ", as the format wants";
  const std::string help = HelpWithOption(name, known);
  return help.starts_with("known: ") ? "" : help;
}

// For an unknown format that resembles no other, reports the options that no format has.
void CheckForeignOptions(const DataOptions& options, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const DataFormat* format : kFormats) {
    for (std::string& name : NamesIn(*format, options)) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(std::move(name));
    }
  }
  for (const auto& [name, option] : options.values) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string help = HelpWithForeign(name, known);
    diagnostics.Error(
        KeyMark(option), "no data format has an option '" + name + "'",
        help.empty() ? "docs/reference/data.md lists the options of each format" : help);
  }
}

// Checks options whose format is unknown as far as a guess allows. A guess requires no option.
void CheckGuess(const DataOption& format, const DataOptions& options, Diagnostics& diagnostics) {
  const std::vector<std::string> names = FormatNames();
  diagnostics.Error(format.mark, "unknown data format '" + format.value + "'",
                    SuggestSynonym(format.value, names, kOtherFormats));
  const DataFormat* meant = FindFormat(MeantName(format.value, names, kOtherFormats));
  if (meant == nullptr) return CheckForeignOptions(options, diagnostics);
  CheckNames(*meant, options, diagnostics);
  CheckValues(*meant, options, diagnostics);
}

// The format, whether or not its options are right; null where it is unknown.
const DataFormat* CheckFormat(const DataOption& format, const DataOptions& options,
                              Diagnostics& diagnostics) {
  const DataFormat* found = FindFormat(format.value);
  if (found == nullptr) {
    CheckGuess(format, options, diagnostics);
    return nullptr;
  }
  CheckRequired(*found, options, diagnostics);
  CheckNames(*found, options, diagnostics);
  return found;
}

}  // namespace

std::span<const DataFormat* const> DataFormats() { return kFormats; }

std::span<const Synonym> DataOptionSynonyms() { return kSynonyms; }

const DataFormat* CheckDataset(const DataOption& format, const DataOptions& options,
                               Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const DataFormat* found = CheckFormat(format, options, diagnostics);
  if (found != nullptr) CheckValues(*found, options, diagnostics);
  return diagnostics.error_count() > errors ? nullptr : found;
}

std::unique_ptr<Dataset> OpenDataset(const DataOption& format, const DataOptions& options,
                                     Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const DataFormat* found = CheckFormat(format, options, diagnostics);
  if (found == nullptr) return nullptr;
  if (diagnostics.error_count() == errors) return found->open(options, diagnostics);
  CheckValues(*found, options, diagnostics);
  return nullptr;
}

}  // namespace cgrun
