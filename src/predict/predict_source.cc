// Files are looked at when they are named, and read when their samples are due.
#include "src/predict/predict_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "src/base/finite.h"
#include "src/data/image_file.h"
#include "src/data/npy_samples.h"
#include "src/data/text_number.h"
#include "src/device/device.h"
#include "src/io/file_error.h"
#include "src/io/npy_file.h"
#include "src/io/read_file.h"
#include "src/model_data/sample_shape.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArrays[] = {".npy"};

bool IsCalledImage(const std::string& path) { return HasEnding(path, kImageEndings); }

bool IsCalledSample(const std::string& path) {
  return IsCalledImage(path) || HasEnding(path, kArrays);
}

// Returns whether a file begins as a NumPy array does, or as gzip.
bool LooksLikeArray(const std::string& path) {
  char start[2] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  return BeginsAsNpy(path) || std::memcmp(start, "\x1f\x8b", 2) == 0 || HasEnding(path, kArrays);
}

// Says how an array of other sizes may be mended.
std::string ShapeHelp(const DataField& field, std::span<const int64_t> sizes) {
  const std::vector<int64_t> wanted = field.shape.Sizes();
  const size_t offset = sizes.size() == wanted.size() + 1 ? 1 : 0;
  const auto sample = sizes.subspan(std::min(offset, sizes.size()));
  if (const auto perm = FindTransposition(sample, wanted)) {
    const std::string order = HasChannelsLast(sample, wanted)
                                  ? "its channels come last, the model wants them first"
                                  : "it has these axes in another order";
    return order + ": in NumPy, `x.transpose(" + TranspositionText(*perm, offset == 1) + ")`";
  }
  std::vector<int64_t> batch = wanted;
  batch.insert(batch.begin(), 100);
  return "an array holds one sample, " + field.shape.ToString() + ", or several, such as " +
         Shape::Of(batch).ToString();
}

// Returns the form in which an input takes an image. Throws InputError where it takes none.
ImageTarget TargetOf(const DataField& field, const std::string& path, ImageFit fit) {
  const auto target = ImageTargetOf(field.shape, fit);
  if (!target || field.dtype != DType::kU8) {
    ThrowFileError(path,
                   ": no image can feed input '" + field.name + "', which is " + TypeText(field),
                   target ? "images are uint8: write `type: uint8`, and convert by `normalize` or "
                            "`cast`, or give it as .npy"
                          : "an image is [channels, height, width], of 1 or 3 channels; give other "
                            "samples as .npy");
  }
  return *target;
}

}  // namespace

PredictSource::PredictSource(const std::vector<std::string>& arguments,
                             std::vector<DataField> wanted, ImageFit fit, const TableReader& tables,
                             const std::vector<DataField>& whole)
    : fit_(fit), tables_(tables) {
  for (DataField& field : wanted) streams_.push_back({std::move(field), {}});
  std::vector<std::string> others = arguments;
  whole_ = TakeWholeInputs(whole, streams_.empty(), others);
  for (const std::string& argument : others) AddArgument(argument);
  if (streams_.empty()) return;
  if (streams_.size() > 1) CheckGiven();
  if (streams_.size() > 1) CheckCounts();
}

// The input that an argument is for, and its path.
PredictSource::Stream& PredictSource::StreamOf(const std::string& argument, std::string* path) {
  const size_t equals = argument.find('=');
  for (Stream& stream : streams_) {
    if (equals == std::string::npos || argument.substr(0, equals) != stream.field.name) continue;
    *path = argument.substr(equals + 1);
    return stream;
  }
  *path = argument;
  if (streams_.size() == 1) return streams_[0];
  std::string names;
  if (streams_.empty()) {
    throw InputError("'" + argument + "' does not say which input it is for",
                     "name it: `NAME=FILE.npy`; `cgrun summary` shows the inputs");
  }
  for (const Stream& stream : streams_) {
    names += (names.empty() ? "'" : ", '") + stream.field.name + "'";
  }
  if (tables_.of_model() && argument.find('=') == argument.npos) {
    throw InputError(
        "'" + argument + "' is no such file as this model takes: " + tables_.TakenText({}),
        "its inputs are " + names + "; arrays are given by name: " + ExampleByName());
  }
  throw InputError(
      "'" + argument + "' does not say which input it is for: the model reads " + names,
      "name them: " + ExampleByName());
}

void PredictSource::AddArgument(const std::string& argument) {
  std::string path;
  const bool feeds_all = streams_.size() > 1 && tables_.of_model() && tables_.Reads(argument) &&
                         argument.find('=') == argument.npos;
  if (feeds_all) return AddShared(argument);
  Stream& stream = StreamOf(argument, &path);
  std::error_code error;
  if (fs::is_directory(path, error)) return AddFolder(stream, path);
  if (fs::exists(path, error)) FileReader(path, FileReader::Gzip::kNever);  // refuses what is none
  AddFile(stream, path);
}

// Opens a table for the first time, and notes what is to be told of it.
int64_t PredictSource::CountRows(const std::string& path, const std::vector<DataField>& fields) {
  const PredictTable table = tables_.Open(path, fields, warnings_);
  for (std::string& note : table.rows->Notes()) {
    if (std::ranges::count(notes_, note) == 0) notes_.push_back(std::move(note));
  }
  return table.rows->size();
}

// A table whose fields feed all inputs.
void PredictSource::AddShared(const std::string& path) {
  File file{path};
  file.is_table = file.feeds_all = true;
  file.samples = CountRows(path, FieldsOf(streams_[0], file));
  for (Stream& stream : streams_) stream.files.push_back(file);
}

std::vector<DataField> PredictSource::FieldsOf(const Stream& stream, const File& file) const {
  std::vector<DataField> fields;
  for (const Stream& each : streams_) {
    if (file.feeds_all || &each == &stream) fields.push_back(each.field);
  }
  return fields;
}

void PredictSource::AddFolder(Stream& stream, const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden && entry->is_directory(ignored)) entry.disable_recursion_pending();
    // A link to nothing is a file that cannot be opened.
    const bool leads_nowhere = entry->is_symlink(ignored) && !entry->exists(ignored);
    if (hidden || (!entry->is_regular_file(ignored) && !leads_nowhere)) continue;
    const std::string path = entry->path().string();
    const bool is_table = tables_.of_model() && tables_.Reads(path);
    if (is_table || IsCalledSample(path)) found.push_back(path);
  }
  if (error) Note({folder, "cannot read the folder '" + folder + "': " + error.message(), ""});
  if (!error && found.empty()) {
    Note(
        {folder,
         "'" + folder + "' holds no samples: this model takes " + tables_.TakenText({stream.field}),
         "samples are files that end in .jpg, .jpeg, .png or .npy, here or in folders below; and "
         ".csv or .tsv for a model whose data are tables, .txt for one of texts"});
  }
  std::ranges::sort(found);
  for (const std::string& path : found) AddFile(stream, path);
}

void PredictSource::AddFile(Stream& stream, const std::string& path) {
  try {
    stream.files.push_back(Describe(stream.field, path));
  } catch (const TableError& error) {
    Note({path, error.what(), error.help(), error.errors()});
  } catch (const ImageError& error) {
    Note({path, "'" + path + "' " + error.what(), error.help()});
  } catch (const UserError& error) {
    Note({path, error.what(), error.help()});
  }
}

// Describes a file whose name is neither that of a table nor that of an array. Throws InputError
// where it is no image, or where the model takes none.
PredictSource::File PredictSource::DescribeImage(const DataField& field,
                                                 const std::string& path) const {
  const std::string takes = "this model takes " + tables_.TakenText({field});
  const std::string help =
      tables_.of_text() ? "for example `cgrun predict MODEL letter.txt`"
                        : "for example `cgrun predict MODEL rows.csv`, a row a sample; the columns "
                          "of its labels may be missing";
  if (tables_.of_model() && IsCalledImage(path)) {
    ThrowFileError(path, "is an image, but " + takes, help);
  }
  std::optional<ImageInfo> image;
  try {
    image = ReadImageInfo(path);
  } catch (const ImageError&) {
    if (IsCalledSample(path)) throw;
    ThrowFileError(path, "is no image, table or array by its name: " + takes);
  }
  if (tables_.of_model()) ThrowFileError(path, "is an image, but " + takes, help);
  const ImageTarget target = TargetOf(field, path, fit_);
  File file{path};
  file.bytes = ImageScratchBytes(*image, target) + target.bytes();
  return file;
}

PredictSource::File PredictSource::Describe(const DataField& field, const std::string& path) {
  if (tables_.Reads(path)) {
    File file{path, false, CountRows(path, {field}), true};
    file.bytes = file.samples * field.bytes() + FileReader(path).max_bytes();
    return file;
  }
  if (!LooksLikeArray(path)) return DescribeImage(field, path);
  FileReader reader(path);
  const std::vector<int64_t> sizes = ReadNpyHeader(reader).sizes;
  const std::vector<int64_t> wanted = field.shape.Sizes();
  constexpr int64_t kMostElements = int64_t{1} << 40;  // missing ones are reported when read
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (!__builtin_mul_overflow(elements, size, &elements) && elements <= kMostElements) continue;
    ThrowFileError(path, "declares more elements than it can hold");
  }
  const bool is_batch = !sizes.empty() && ShapesAgree(std::span(sizes).subspan(1), wanted);
  if (is_batch && sizes[0] == 0) {
    ThrowFileError(path, "holds no samples", "the first axis of an array counts its samples");
  }
  File file{path, true};
  file.bytes = elements * SizeOf(field.dtype);
  if (is_batch) file.samples = sizes[0];
  if (is_batch || (!sizes.empty() && ShapesAgree(sizes, wanted))) return file;
  ThrowFileError(path,
                 "holds " + Shape::Of(sizes).ToString() + ", but input '" + field.name + "' is " +
                     TypeText(field),
                 ShapeHelp(field, sizes));
}

void PredictSource::Note(FileProblem problem) {
  problems_.push_back(problem);
  if (streams_.size() == 1) return;
  if (problem.errors) throw TableError(problem.message, problem.help, *problem.errors);
  throw InputError(problem.message, problem.help);
}

int64_t PredictSource::samples() const {
  int64_t samples = 0;
  if (streams_.empty()) return 1;
  for (const File& file : streams_[0].files) samples += file.samples;
  return samples;
}

int64_t PredictSource::reading_bytes() const {
  int64_t bytes = 0;
  for (const Stream& stream : streams_) {
    int64_t most = 0;
    for (const File& file : stream.files) most = std::max(most, file.bytes);
    bytes += most;
  }
  return bytes;
}

std::vector<std::string> PredictSource::files() const {
  std::vector<std::string> paths;
  for (const Stream& stream : streams_) {
    for (const File& file : stream.files) paths.push_back(file.path);
  }
  for (const WholeInput& input : whole_) {
    if (input.is_file) paths.push_back(input.source);
  }
  return paths;
}

// "`left=FILE.npy right=FILE.npy`"
std::string PredictSource::ExampleByName() const {
  std::string example;
  for (const Stream& stream : streams_) {
    example += (example.empty() ? "`" : " ") + stream.field.name + "=FILE.npy";
  }
  return example + "`";
}

void PredictSource::CheckGiven() const {
  for (const Stream& stream : streams_) {
    if (!stream.files.empty()) continue;
    throw InputError("no file is given for input '" + stream.field.name + "'",
                     "each input takes one: " + ExampleByName());
  }
}

void PredictSource::CheckCounts() const {
  std::vector<std::string> counts;
  bool same = true;
  for (const Stream& stream : streams_) {
    int64_t samples = 0;
    for (const File& file : stream.files) samples += file.samples;
    same = same && samples == this->samples();
    counts.push_back(fmt::format("'{}' {}", stream.field.name, samples));
  }
  if (same) return;
  throw InputError(
      fmt::format("the inputs have different numbers of samples: {}", fmt::join(counts, ", ")),
      "each sample has one part for each input");
}

bool PredictSource::Next(std::span<const std::span<std::byte>> out, SampleOrigin* origin) {
  if (streams_.empty()) {
    if (std::exchange(is_over_, true)) return false;
    origin->file = whole_.empty() ? "" : whole_[0].source;
    return true;
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    SampleOrigin other;
    if (!NextOf(streams_[i], out[i], i == 0 ? origin : &other)) return false;
    const DataField& field = streams_[i].field;
    if (!origin->not_finite_input.empty() || AllFinite(field.dtype, out[i])) continue;
    origin->not_finite_input = field.name;
  }
  return true;
}

// Passes over files that cannot be read.
bool PredictSource::NextOf(Stream& stream, std::span<std::byte> out, SampleOrigin* origin) {
  while (stream.file < stream.files.size()) {
    const File& file = stream.files[stream.file];
    if (stream.sample == file.samples) {
      ++stream.file;
      stream.sample = 0;
      continue;
    }
    try {
      Load(stream, file, out);
    } catch (const UserError& error) {
      ++stream.file;
      stream.sample = 0;
      Note({file.path, error.what(), error.help()});
      continue;
    }
    origin->file = file.path;
    origin->index.reset();
    if (file.samples > 1) origin->index = stream.sample;
    origin->given.reset();
    if (file.is_table) origin->given = stream.table.rows->Given(stream.sample);
    ++stream.sample;
    return true;
  }
  return false;
}

void PredictSource::Load(Stream& stream, const File& file, std::span<std::byte> out) {
  if (file.is_table) return LoadRow(stream, file, out);
  if (file.is_array) {
    if (stream.sample == 0) {
      SampleRoom room(MemoryLeft{FreeHostMemory()});
      stream.array = SampleStore();  // before the next one is taken
      stream.array = ReadNpyAs(file.path, stream.field.dtype, room).store;
    }
    const int64_t from = stream.sample * std::ssize(out);
    if (from + std::ssize(out) > stream.array.bytes()) {
      ThrowFileError(file.path, "has changed while it was read");
    }
    stream.array.Read(from, out);
    return;
  }
  const HostTensor image =
      LoadImage(file.path, TargetOf(stream.field, file.path, fit_), {FreeHostMemory()});
  std::memcpy(out.data(), image.bytes().data(), out.size());
}

void PredictSource::LoadRow(Stream& stream, const File& file, std::span<std::byte> out) {
  if (stream.sample == 0) {
    if (!file.feeds_all || file.path != shared_path_) {
      Diagnostics told;  // when the file was looked at
      shared_table_ = tables_.Open(file.path, FieldsOf(stream, file), told);
      shared_path_ = file.feeds_all ? file.path : "";
    }
    stream.table = shared_table_;
    stream.row.clear();
    for (const DataField& field : stream.table.rows->fields()) {
      stream.row.emplace_back(static_cast<size_t>(field.bytes()));
    }
  }
  if (stream.sample >= stream.table.rows->size()) {
    ThrowFileError(file.path, "has changed while it was read");
  }
  const std::vector<std::span<std::byte>> row(stream.row.begin(), stream.row.end());
  stream.table.rows->Read(stream.sample, row);
  const auto place = file.feeds_all ? static_cast<size_t>(&stream - streams_.data()) : size_t{0};
  std::ranges::copy(stream.row[stream.table.fields[place]], out.begin());
}

}  // namespace cgrun
