// Reads CIFAR-10 and CIFAR-100 in their binary layout (A. Krizhevsky, Learning Multiple Layers of
// Features from Tiny Images, 2009). A record holds one label, or in CIFAR-100 a coarse and a fine
// one, and then 32 × 32 pixels. All red ones come first, then green, then blue, each row by row.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "src/base/check.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/data/sample_store.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPixels = 3 * 32 * 32;

struct LabelByte {
  std::string_view kind;  // "fine "
  int classes;
};

// The option `classes` chooses one of these: the layout of the records, and the label that is the
// field.
struct CifarLayout {
  std::string_view name;
  std::array<LabelByte, 2> labels;
  int64_t label_count;
  int64_t used;
  std::string_view names_file;  // beside the samples in the archive: a name a line

  int64_t record() const { return label_count + kPixels; }
};

constexpr CifarLayout kLayouts[] = {
    {"CIFAR-10", {{{"", 10}, {}}}, 1, 0, "batches.meta.txt"},
    {"CIFAR-100", {{{"coarse ", 20}, {"fine ", 100}}}, 2, 0, "coarse_label_names.txt"},
    {"CIFAR-100", {{{"coarse ", 20}, {"fine ", 100}}}, 2, 1, "fine_label_names.txt"}};

int ClassesOf(const CifarLayout& layout) {
  return layout.labels[static_cast<size_t>(layout.used)].classes;
}

// One file.
struct Part {
  SampleStore records;
  int64_t samples = 0;
  std::string file;
  SourceMark mark;
};

// Computes the number of records in a file of `bytes` bytes.
int64_t CountRecords(const std::string& path, int64_t bytes, const CifarLayout& layout) {
  if (bytes == 0) ThrowFileError(path, "is empty");
  if (bytes % layout.record() == 0) return bytes / layout.record();
  std::string help = "it is cut off, or not the unpacked file of this format";
  for (const CifarLayout& other : kLayouts) {
    if (other.name == layout.name || bytes % other.record() != 0) continue;
    help = "its size is that of " + std::string(other.name) +
           "'s records: " + (ClassesOf(other) == 10 ? "`classes: 10`" : "`classes: 100` or 20");
    break;
  }
  ThrowFileError(path,
                 "has " + std::to_string(bytes) + " bytes, but " + std::string(layout.name) +
                     "'s records are of " + std::to_string(layout.record()) + ": " +
                     std::to_string(bytes % layout.record()) + " are left over",
                 help);
}

// Calls `act(sample, record)` for each record of a file.
template <class Act>
void ForEachRecord(const Part& part, const CifarLayout& layout, Act act) {
  int64_t sample = 0;
  ForEachPiece(part.records, layout.record(), [&](int64_t, std::span<const std::byte> piece) {
    const auto record = static_cast<size_t>(layout.record());
    for (; !piece.empty(); piece = piece.subspan(record)) act(sample++, piece.first(record));
  });
}

void CheckLabels(const Part& part, const CifarLayout& layout) {
  ForEachRecord(part, layout, [&](int64_t sample, std::span<const std::byte> record) {
    for (size_t i = 0; i < static_cast<size_t>(layout.label_count); ++i) {
      const LabelByte& label = layout.labels[i];
      const int value = std::to_integer<int>(record[i]);
      if (value < label.classes) continue;
      ThrowFileError(part.file,
                     ": sample " + std::to_string(sample) + " has the " + std::string(label.kind) +
                         "label " + std::to_string(value) + ", but " + std::string(layout.name) +
                         "'s are 0 to " + std::to_string(label.classes - 1),
                     "this is no file of " + std::string(layout.name) + ", or it is damaged");
    }
  });
}

Part ReadPart(const std::string& path, const SourceMark& mark, const CifarLayout& layout,
              SampleRoom& room) {
  FileReader reader(path, FileReader::Gzip::kNever);
  const int64_t bytes = reader.max_bytes();
  const int64_t samples = CountRecords(path, bytes, layout);
  const std::string what = ": its " + std::to_string(samples) + " samples take";
  Part part{room.TakeAsTheyAre(path, what, 0, bytes), samples, path, mark};
  if (part.records.needs_writing()) reader.Read(part.records.Writable(), "its samples");
  part.records.Seal();
  CheckLabels(part, layout);
  return part;
}

// The names of the classes, from the file that the archive has for them; none where it is not
// there, or is another one.
std::vector<std::string> ReadClassNames(const std::string& samples, const CifarLayout& layout) {
  constexpr int64_t kMostBytes = 1 << 16;
  const fs::path path = fs::path(samples).parent_path() / layout.names_file;
  std::vector<std::string> names;
  try {
    std::istringstream lines(ReadTextFile(path.string(), kMostBytes));
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) names.push_back(line);
    }
  } catch (const UserError&) {
    names.clear();
  }
  if (names.size() != static_cast<size_t>(ClassesOf(layout))) names.clear();
  return names;
}

class CifarDataset : public Dataset {
 public:
  CifarDataset(std::vector<Part> parts, const CifarLayout& layout, std::vector<std::string> notes)
      : parts_(std::move(parts)),
        notes_(std::move(notes)),
        layout_(layout),
        classes_(ReadClassNames(parts_[0].file, layout)),
        fields_{{"image", DType::kU8, Shape{3, 32, 32}}, {"label", DType::kI32, Shape()}} {
    for (const Part& part : parts_) {
      size_ += part.samples;
      ends_.push_back(size_);
    }
  }

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    CGRUN_CHECK(index >= 0 && index < size_) << "sample " << index;
    for (size_t i = 0; i < fields_.size(); ++i) ReadField(i, index, out[i]);
  }

  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override {
    const auto bytes = static_cast<size_t>(fields_[index].bytes());
    for (; !out.empty(); out = out.subspan(bytes), ++first) {
      const size_t part = PartOf(first);
      const int64_t record = InPart(part, first) * layout_.record();
      if (index == 0) {
        parts_[part].records.Read(record + layout_.label_count, out.first(bytes));
        continue;
      }
      std::byte label_byte;
      parts_[part].records.Read(record + layout_.used, {&label_byte, 1});
      const auto label = std::to_integer<int32_t>(label_byte);
      std::memcpy(out.data(), &label, sizeof(label));
    }
  }

  int64_t decoded_bytes() const override {
    int64_t bytes = 0;
    for (const Part& part : parts_) bytes += part.records.memory_bytes();
    return bytes;
  }
  int64_t streamable_bytes() const override { return decoded_bytes(); }
  bool AtHand(size_t /*index*/) const override { return true; }
  std::vector<std::string> Notes() const override { return notes_; }

  std::span<const std::string> ClassNames(size_t index) const override {
    return index == 1 ? std::span<const std::string>(classes_) : std::span<const std::string>();
  }

  SamplePlace PlaceOf(size_t /*index*/, int64_t sample,
                      std::optional<int64_t> /*value*/) const override {
    const size_t part = PartOf(sample);
    return {InPart(part, sample), parts_[part].file, parts_[part].mark};
  }

 private:
  size_t PartOf(int64_t sample) const {
    return static_cast<size_t>(std::ranges::upper_bound(ends_, sample) - ends_.begin());
  }
  int64_t InPart(size_t part, int64_t sample) const {
    return sample - ends_[part] + parts_[part].samples;
  }

  std::vector<Part> parts_;
  std::vector<std::string> notes_;
  std::vector<int64_t> ends_;  // a part: the samples up to its end
  int64_t size_ = 0;
  const CifarLayout& layout_;
  std::vector<std::string> classes_;
  std::vector<DataField> fields_;
};

struct NamedFile {
  std::string path;
  SourceMark mark;
};

// Returns whether a file of this name holds training samples, or test samples, as the archives call
// them.
bool BelongsTo(bool test, const std::string& name) {
  if (test) return name == "test_batch.bin" || name == "test.bin";
  return name == "train.bin" || (name.starts_with("data_batch") && name.ends_with(".bin"));
}

// Lists the files of a folder in the order of their names. The list is empty after an error.
std::vector<NamedFile> FilesIn(const std::string& folder, const SourceMark& mark, bool test,
                               Diagnostics& diagnostics) {
  std::vector<NamedFile> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (BelongsTo(test, name)) files.push_back({entry->path().string(), mark});
  }
  if (error) {
    diagnostics.Error(mark, "cannot read the folder '" + folder + "': " + error.message());
    return {};
  }
  if (files.empty()) {
    diagnostics.Error(mark,
                      "'" + folder + "' holds no " +
                          (test ? "test_batch.bin or test.bin" : "data_batch_*.bin or train.bin"),
                      "these are the names in the archives of the binary version; `files` takes "
                      "other ones");
  }
  std::ranges::sort(files, {}, &NamedFile::path);
  return files;
}

constexpr std::string_view kParts[] = {"train", "test"};

// The files that the options name. None after an error.
std::vector<NamedFile> FilesOf(const DataOptions& options, Diagnostics& diagnostics) {
  const DataOption* folder = FindOption(options, "folder");
  const DataOption* files = FindOption(options, "files");
  const DataOption* part = FindOption(options, "part");
  const int errors = diagnostics.error_count();
  if ((folder == nullptr) == (files == nullptr)) {
    diagnostics.Error(folder ? files->mark : options.mark,
                      folder ? "data of format 'cifar' have either 'folder' or 'files'"
                             : "data of format 'cifar' need the option 'folder' or 'files'",
                      "for example `folder: ../datasets/cifar10`");
  }
  if (part != nullptr && std::ranges::find(kParts, part->value) == std::end(kParts)) {
    diagnostics.Error(part->mark, "option 'part' is '" + part->value +
                                      "', but must be 'train' "
                                      "or 'test'");
  } else if (part != nullptr && folder == nullptr) {
    diagnostics.Error(part->mark, "option 'part' chooses files of a folder, and there is none");
  }
  if (diagnostics.error_count() > errors) return {};
  if (folder != nullptr) {
    const bool test = part != nullptr && part->value == "test";
    return FilesIn(ResolvePath(options, *folder), folder->mark, test, diagnostics);
  }
  if (files->items.empty()) return {{ResolvePath(options, *files), files->mark}};
  std::vector<NamedFile> named;
  for (const DataOption& item : files->items) {
    named.push_back({ResolvePath(options, item), item.mark});
  }
  return named;
}

// Returns null where there is none.
const CifarLayout* FindLayout(const DataOption& classes) {
  const auto* found = std::ranges::find_if(kLayouts, [&](const CifarLayout& layout) {
    return classes.value == std::to_string(ClassesOf(layout));
  });
  return found == std::end(kLayouts) ? nullptr : found;
}

void CheckClasses(const DataOption& classes, Diagnostics& diagnostics) {
  if (FindLayout(classes) != nullptr) return;
  ReportOption(classes, "option 'classes' is '" + classes.value + "', but must be 10, 20 or 100",
               "10 are those of CIFAR-10; 100 are the fine ones of CIFAR-100, 20 its coarse ones",
               diagnostics);
}

// Returns null after an error.
const CifarLayout* LayoutOf(const DataOptions& options, Diagnostics& diagnostics) {
  const DataOption* classes = FindOption(options, "classes");
  if (classes == nullptr) return &kLayouts[0];
  CheckClasses(*classes, diagnostics);
  return FindLayout(*classes);
}

std::unique_ptr<Dataset> OpenCifar(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const CifarLayout* layout = LayoutOf(options, diagnostics);
  const std::vector<NamedFile> files = FilesOf(options, diagnostics);
  if (diagnostics.error_count() > errors) return nullptr;
  std::vector<Part> parts;
  SampleRoom room(options);
  for (const NamedFile& file : files) {
    try {
      parts.push_back(ReadPart(file.path, file.mark, *layout, room));
    } catch (const UserError& error) {
      diagnostics.Error(file.mark, error.what(), error.help());
    }
  }
  if (diagnostics.error_count() > errors) return nullptr;
  return std::make_unique<CifarDataset>(std::move(parts), *layout, room.notes());
}

constexpr DataOptionSpec kCifarOptions[] = {
    {"folder", false,
     "the folder of the files, named as in the archives; either this or `files` is required"},
    {"part",
     false,
     "which files of the folder: `train` (data_batch_*.bin, train.bin) or `test` (test_batch.bin, "
     "test.bin); default train",
     {.choices = kParts}},
    {"files", false, "a file, or a list of files, in their order", {.list = true}},
    {"classes",
     false,
     "10: of CIFAR-10; 100: the fine ones of CIFAR-100; 20: its coarse ones; default 10",
     {.integer = true, .check = CheckClasses}}};

}  // namespace

extern const DataFormat kCifarFormat;
constinit const DataFormat kCifarFormat = {
    "cifar",
    "CIFAR-10 and CIFAR-100 in their binary version; the fields are 'image', uint8[3, 32, 32], and "
    "'label', int32",
    kCifarOptions, OpenCifar};

}  // namespace cgrun
