// The table of formats, and OpenDataset(): which format it is, and whether its options are its own.
#include <algorithm>

#include "src/base/name_notes.h"
#include "src/data/dataset.h"

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
    {"separator", "delimiter"},
    {"featurecolumns", "columns"},
    {"numsamples", "samples"},
    {"numclasses", "classes"},
    {"classnames", "classes"},
    {"rootdir", "folder"},
    {"datadir", "folder"},
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

constexpr NameNote kNotes[] = {
    {"transform", "", kIsChanged},
    {"transforms", "", kIsChanged},
    {"augment", "", kIsChanged},
    {"augmentation", "", kIsChanged},
    {"preprocess", "", kIsChanged},
    {"preprocessing", "", kIsChanged},
    {"normalize", "", kIsChanged},
    {"rescale", "", kIsChanged},
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

// What to write instead of an option, or why nothing is to be written for it.
std::string HelpWithOption(std::string_view name, std::span<const std::string> known) {
  const std::string note = NoteOn(name, known, kNotes);
  return note.empty() ? SuggestSynonym(name, known, kSynonyms) : note;
}

// What else formats are called, and sets that are in one.
constexpr Synonym kOtherFormats[] = {
    {"imagefolder", "images"}, {"folder", "images"}, {"image", "images"},   {"mnist", "idx"},
    {"fashionmnist", "idx"},   {"cifar10", "cifar"}, {"cifar100", "cifar"}, {"table", "csv"},
    {"numpy", "npy"},          {"txt", "text"},
};

const DataFormat* FindFormat(const DataOption& name, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const DataFormat* format : kFormats) {
    if (format->name == name.value) return format;
    names.emplace_back(format->name);
  }
  diagnostics.Error(name.mark, "unknown data format '" + name.value + "'",
                    SuggestSynonym(name.value, names, kOtherFormats));
  return nullptr;
}

void CheckOptions(const DataFormat& format, const DataOptions& options, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const DataOptionSpec& spec : format.options) {
    names.emplace_back(spec.name);
    if (spec.required && !options.values.contains(names.back())) {
      diagnostics.Error(options.mark,
                        "data of format '" + std::string(format.name) + "' need the option '" +
                            names.back() + "'",
                        names.back() + ": " + std::string(spec.doc));
    }
  }
  if (!format.field_option_doc.empty()) {
    for (const DataField& field : options.fields) names.push_back(field.name);
  }
  for (const auto& [name, option] : options.values) {
    const auto spec = std::ranges::find(format.options, name, &DataOptionSpec::name);
    if (std::ranges::find(names, name) != names.end()) {
      const bool list = spec != format.options.end() ? spec->values.list : format.field_option_list;
      if (list || option.items.empty()) continue;
      diagnostics.Error(option.mark, "'" + name + "' must be one value, not a list");
      continue;
    }
    diagnostics.Error(
        option.key_mark.file ? option.key_mark : option.mark,
        "unknown option '" + name + "' for data of format '" + std::string(format.name) + "'",
        HelpWithOption(name, names));
  }
}

}  // namespace

std::span<const DataFormat* const> DataFormats() { return kFormats; }

std::span<const Synonym> DataOptionSynonyms() { return kSynonyms; }

const DataFormat* CheckDataset(const DataOption& format, const DataOptions& options,
                               Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const DataFormat* found = FindFormat(format, diagnostics);
  if (found == nullptr) return nullptr;
  CheckOptions(*found, options, diagnostics);
  return diagnostics.error_count() > errors ? nullptr : found;
}

std::unique_ptr<Dataset> OpenDataset(const DataOption& format, const DataOptions& options,
                                     Diagnostics& diagnostics) {
  const DataFormat* found = CheckDataset(format, options, diagnostics);
  return found == nullptr ? nullptr : found->open(options, diagnostics);
}

}  // namespace cgrun
