// IDX, the format of MNIST (LeCun): images and labels in two files, plain or compressed by gzip.
// A file is 0, 0, element type, rank, the sizes as 32-bit big-endian words, the elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "src/data/classes.h"
#include "src/data/dataset.h"
#include "src/data/declared_length.h"
#include "src/data/options.h"
#include "src/data/tensor_dataset.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int kMostAxes = 8;

struct IdxType {
  int code;
  std::string_view name;
  int64_t bytes;  // of one element in the file
  DType dtype;    // in memory: what we have no type for is widened
  bool integer;
};

constexpr IdxType kTypes[] = {
    {0x08, "uint8", 1, DType::kU8, true},     {0x09, "int8", 1, DType::kI32, true},
    {0x0B, "int16", 2, DType::kI32, true},    {0x0C, "int32", 4, DType::kI32, true},
    {0x0D, "float32", 4, DType::kF32, false}, {0x0E, "float64", 8, DType::kF64, false}};

struct IdxHeader {
  IdxType type;
  std::vector<int64_t> sizes;  // samples first
};

std::string SizesText(const std::vector<int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, " x "));
}

std::string HexText(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

IdxType ParseType(const std::string& path, int code) {
  for (const IdxType& type : kTypes) {
    if (type.code == code) return type;
  }
  const std::byte byte{static_cast<unsigned char>(code)};
  ThrowFileError(path, "has elements of the unknown IDX type " + HexText({&byte, 1}),
                 "known: 08 uint8, 09 int8, 0b int16, 0c int32, 0d float32, 0e float64");
}

// Returns help for a file that is no IDX file, as far as its name tells what it was to be; else "".
std::string HelpWithOther(const FileReader& reader) {
  if (reader.compressed()) {
    return "its gzip data is whole so far, and of something else: fetch the images or labels again";
  }
  if (!reader.path().ends_with(".gz")) return "";
  return "its name says gzip, and gzip data begins with 1f 8b: a page that says why there was no "
         "file may have been fetched in its place; fetch it again, `gzip -t` says whether it is "
         "whole";
}

IdxHeader ReadHeader(FileReader& reader) {
  std::array<std::byte, 4> magic = {};
  const size_t size = reader.ReadSome(magic);
  if (size < 4 || magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    ThrowFileError(reader.path(),
                   "is not an IDX file: it begins with '" + HexText(std::span(magic).first(size)) +
                       "', expected 00 00, the element type and the number of dimensions",
                   HelpWithOther(reader));
  }
  IdxHeader header{ParseType(reader.path(), std::to_integer<int>(magic[2])), {}};
  const int axes = std::to_integer<int>(magic[3]);
  if (axes < 1 || axes > kMostAxes) {
    ThrowFileError(reader.path(), "has " + std::to_string(axes) + " dimensions, expected 1 to " +
                                      std::to_string(kMostAxes));
  }
  for (int axis = 0; axis < axes; ++axis) {
    std::array<std::byte, 4> word;
    reader.Read(word, "its header");
    header.sizes.push_back(LoadBig<uint32_t>(word.data()));
  }
  return header;
}

// Returns the bytes of the elements in the file. The file must be as long as the header declares.
int64_t CheckLength(const FileReader& reader, const IdxHeader& header) {
  const std::string declared =
      SizesText(header.sizes) + " elements of " + std::string(header.type.name);
  return CheckDeclaredLength(reader, declared, CheckedElements(header.sizes), header.type.bytes);
}

// Widens signed or unsigned elements, which lie at the end of `bytes`, to int32 in place: a value
// never lands on one that was not read yet.
template <class T>
void WidenInPlace(std::span<std::byte> bytes) {
  const size_t count = bytes.size() / sizeof(int32_t);
  const std::byte* narrow = bytes.data() + count * (sizeof(int32_t) - sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<int32_t>(LoadBig<T>(narrow + i * sizeof(T)));
    std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
  }
}

void SwapInPlace(std::span<std::byte> bytes, size_t width) {
  for (; !bytes.empty(); bytes = bytes.subspan(width)) std::ranges::reverse(bytes.first(width));
}

void Decode(const IdxType& type, DType dtype, std::span<std::byte> bytes) {
  if (type.bytes < SizeOf(dtype)) {
    if (type.code == 0x08) WidenInPlace<uint8_t>(bytes);
    if (type.code == 0x09) WidenInPlace<int8_t>(bytes);
    if (type.code == 0x0B) WidenInPlace<int16_t>(bytes);
  } else if (type.bytes > 1) {
    SwapInPlace(bytes, static_cast<size_t>(type.bytes));
  }
}

// Reads floats, in chunks, so that nothing but the result takes memory.
template <class From, class To>
void ConvertFloats(FileReader& reader, const IdxHeader& header, std::span<std::byte> out) {
  constexpr size_t kChunk = 8192;
  std::vector<std::byte> chunk(kChunk * sizeof(From));
  const size_t elements = out.size() / sizeof(To);
  for (size_t done = 0; done < elements;) {
    const size_t count = std::min(kChunk, elements - done);
    reader.Read(std::span(chunk).first(count * sizeof(From)), "its elements");
    for (size_t i = 0; i < count; ++i, ++done) {
      const From from = LoadBig<From>(chunk.data() + i * sizeof(From));
      const To to = static_cast<To>(from);
      std::memcpy(out.data() + done * sizeof(To), &to, sizeof(To));
      if (std::isfinite(to) || !std::isfinite(from)) continue;
      const std::string_view wanted = Name(sizeof(To) == 4 ? DType::kF32 : DType::kF64);
      char text[32];
      std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(from));
      ThrowFileError(reader.path(),
                     ": element " + std::to_string(done) + " is " + text + ", which no " +
                         std::string(wanted) + " can hold",
                     "the input's number type is " + std::string(wanted) + ", the file's " +
                         std::string(header.type.name));
    }
  }
}

// Says which form the samples of one file are to have.
struct IdxWish {
  bool labels = false;                        // integers, as int32
  std::optional<DType> dtype = std::nullopt;  // of the input that takes them; of floats alone
};

DType TypeInMemory(const IdxType& type, const IdxWish& wish) {
  if (wish.labels) return DType::kI32;
  const bool converts = !type.integer && (wish.dtype == DType::kF32 || wish.dtype == DType::kF64);
  return converts ? *wish.dtype : type.dtype;
}

// All samples of one file.
struct IdxSamples {
  DType dtype = DType::kU8;
  std::vector<int64_t> sizes;  // samples first
  SampleStore store;

  std::vector<int64_t> of_sample() const { return {sizes.begin() + 1, sizes.end()}; }
};

// Writes the elements behind the header, of `bytes` bytes in the file, to `samples`.
void ReadElements(FileReader& reader, const IdxHeader& header, int64_t bytes, IdxSamples& samples) {
  const std::span<std::byte> out = samples.store.Writable();
  if (!header.type.integer && samples.dtype != header.type.dtype) {
    samples.dtype == DType::kF32 ? ConvertFloats<double, float>(reader, header, out)
                                 : ConvertFloats<float, double>(reader, header, out);
    return;
  }
  const std::span<std::byte> raw = out.last(static_cast<size_t>(bytes));
  const int64_t begin = reader.position();
  if (reader.ReadSome(raw) < raw.size()) {
    ThrowFileError(reader.path(), "declares " + SizesText(header.sizes) + " elements of " +
                                      std::string(header.type.name) + ", " + std::to_string(bytes) +
                                      " bytes, but has " +
                                      std::to_string(reader.position() - begin) +
                                      " after its header");
  }
  Decode(header.type, samples.dtype, out);
}

// The sizes that the header declares are compared with `room` before any memory is taken.
IdxSamples ReadIdx(const std::string& path, const IdxWish& wish, SampleRoom& room) {
  FileReader reader(path);
  const IdxHeader header = ReadHeader(reader);
  if (wish.labels && !header.type.integer) {
    ThrowFileError(path, "holds " + std::string(header.type.name) + ", but labels are integers");
  }
  const int64_t bytes = CheckLength(reader, header);
  IdxSamples samples{TypeInMemory(header.type, wish), header.sizes, {}};
  const std::string what =
      ": " + SizesText(header.sizes) + " elements of " + std::string(Name(samples.dtype)) + " take";
  const bool as_they_are = !reader.compressed() && samples.dtype == DType::kU8;
  samples.store = as_they_are ? room.TakeAsTheyAre(path, what, reader.position(), bytes)
                              : room.Take(path, what, CheckedByteSize(samples.dtype, header.sizes));
  if (!samples.store.needs_writing()) return samples;
  ReadElements(reader, header, bytes, samples);
  reader.ExpectEnd();
  return samples;
}

// The file of one option; nothing after an error, which stands at the option.
std::optional<IdxSamples> ReadPart(const DataOptions& options, const DataOption& option,
                                   const IdxWish& wish, SampleRoom& room,
                                   Diagnostics& diagnostics) {
  try {
    return ReadIdx(ResolvePath(options, option), wish, room);
  } catch (const UserError& error) {
    diagnostics.Error(option.mark, error.what(), error.help());
    return std::nullopt;
  }
}

FieldSamples FieldOf(const std::string& name, IdxSamples samples, const DataOptions& options,
                     const DataOption& option) {
  const DataField field{name, samples.dtype, Shape::Of(samples.of_sample())};
  return {field, std::move(samples.store), ResolvePath(options, option), option.mark};
}

std::unique_ptr<Dataset> OpenIdx(const DataOptions& options, Diagnostics& diagnostics) {
  const DataOption& image_option = *FindOption(options, "images");
  const DataOption* label_option = FindOption(options, "labels");
  SampleRoom room(options);
  std::vector<FieldSamples> parts;
  std::vector<std::string> names = {"image"};
  if (label_option != nullptr) names.emplace_back("label");
  const DataField* wanted = WantedField(options, names, 0);
  const IdxWish of_images{.dtype = wanted == nullptr ? std::nullopt : std::optional(wanted->dtype)};
  std::optional<IdxSamples> images = ReadPart(options, image_option, of_images, room, diagnostics);
  if (label_option != nullptr) {
    std::optional<IdxSamples> labels =
        ReadPart(options, *label_option, {.labels = true}, room, diagnostics);
    if (!images || !labels) return nullptr;
    if (images->sizes.size() == 1 && labels->sizes.size() >= 3) {
      diagnostics.Error(label_option->mark,
                        "'labels' names a file of images, and 'images' one of labels",
                        "exchange the two");
      return nullptr;
    }
    const DataField* wanted_label = WantedField(options, names, 1);
    const std::vector<int64_t> of_label = labels->of_sample();
    if (wanted_label != nullptr && wanted_label->shape.Elements() == 1 && of_label.size() > 1) {
      diagnostics.Error(label_option->mark,
                        "'" + ResolvePath(options, *label_option) + "' holds " +
                            SizesText(of_label) + " numbers a sample, and input '" +
                            wanted_label->name + "' takes one",
                        "is this the file of the images? `labels` names that of the labels");
      return nullptr;
    }
    const int64_t image_count = images->sizes[0], label_count = labels->sizes[0];
    if (image_count != label_count) {
      diagnostics.Error(label_option->mark, "'" + ResolvePath(options, *label_option) + "' holds " +
                                                std::to_string(label_count) + " labels, but '" +
                                                ResolvePath(options, image_option) + "' holds " +
                                                std::to_string(image_count) + " images");
      return nullptr;
    }
    std::optional<ClassTable> classes = KnownClasses(options, "label", diagnostics);
    if (!classes) return nullptr;
    parts.push_back(FieldOf("label", *std::move(labels), options, *label_option));
    parts.back().classes = std::move(classes->names);
  }
  if (!images) return nullptr;
  parts.insert(parts.begin(), FieldOf("image", *std::move(images), options, image_option));
  return std::make_unique<TensorDataset>(std::move(parts), room.notes());
}

constexpr DataOptionSpec kIdxOptions[] = {
    {"images", true, "the file of the images, .idx or .gz; it becomes the field 'image'"},
    {"labels", false, "the file of the labels, of integers; it becomes the int32 field 'label'"},
    {"classes",
     false,
     "the names of the classes, for predictions to show: the first is label 0. Default: those of "
     "the training data",
     {.list = true}}};

}  // namespace

extern const DataFormat kIdxFormat;
constinit const DataFormat kIdxFormat = {
    .name = "idx",
    .doc = "images and labels in the format of MNIST, plain or compressed by gzip",
    .options = kIdxOptions,
    .open = OpenIdx,
    .label_option = "labels",
    .label_help = "`labels: FILE` in `data.train` names the file of the labels"};

}  // namespace cgrun
