// NumPy arrays, one file an input of the model; the first axis counts the samples. Elements become
// the input's number type where none is changed by it (floats may be rounded to smaller ones).
// Files are read in chunks, so that nothing but the result takes memory.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/base/float16.h"
#include "src/data/dataset.h"
#include "src/data/declared_length.h"
#include "src/data/npy_samples.h"
#include "src/data/options.h"
#include "src/data/tensor_dataset.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"
#include "src/io/npy_file.h"

namespace cgrun {
namespace {

constexpr size_t kChunkElements = 8192;

using Half = Float16;

// Converts one element; false where the type cannot hold it.
template <class From, class To>
bool Convert(From from, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    *to = from;
    return true;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return Convert(static_cast<float>(from), to);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    float value = 0.0f;
    if (!Convert(from, &value)) return false;
    *to = To(value);
    const auto rounded = static_cast<float>(*to);
    if constexpr (std::is_integral_v<From>) return rounded == value;
    return std::isfinite(rounded) || !std::isfinite(value);
  } else if constexpr (std::is_floating_point_v<To>) {
    *to = static_cast<To>(from);
    if constexpr (std::is_floating_point_v<From>) {
      return std::isfinite(*to) || !std::isfinite(from);
    } else {
      return static_cast<__int128>(*to) == static_cast<__int128>(from);
    }
  } else if constexpr (std::is_floating_point_v<From>) {
    // The bound above is a power of two, so that both are exact.
    const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const auto value = static_cast<double>(from);
    if (!(value >= static_cast<double>(std::numeric_limits<To>::min()) && value < limit)) {
      return false;
    }
    *to = static_cast<To>(value);
    return static_cast<double>(*to) == value;
  } else {
    *to = static_cast<To>(from);
    return static_cast<__int128>(*to) == static_cast<__int128>(from);
  }
}

// Says how the elements of a file are read.
struct ElementType {
  std::string_view name;  // NumPy's, without the order of bytes
  int64_t bytes;
  // Converts `count` elements at `from` to `dtype`, to `out`; the index of the first that cannot
  // be, or `count`.
  size_t (*convert)(const std::byte* from, bool big, size_t count, DType dtype, std::byte* out);
  std::string (*text)(const std::byte* from, bool big);
};

template <class T>
T Load(const std::byte* from, bool big) {
  return big ? LoadBig<T>(from) : LoadLittle<T>(from);
}

template <class From, class To>
size_t ConvertAll(const std::byte* from, bool big, size_t count, std::byte* out) {
  for (size_t i = 0; i < count; ++i) {
    To value{};
    if (!Convert(Load<From>(from + i * sizeof(From), big), &value)) return i;
    std::memcpy(out + i * sizeof(To), &value, sizeof(To));
  }
  return count;
}

template <class From>
size_t ConvertTo(const std::byte* from, bool big, size_t count, DType dtype, std::byte* out) {
  switch (dtype) {
    case DType::kF64:
      return ConvertAll<From, double>(from, big, count, out);
    case DType::kF32:
      return ConvertAll<From, float>(from, big, count, out);
    case DType::kBF16:
      return ConvertAll<From, BFloat16>(from, big, count, out);
    case DType::kF16:
      return ConvertAll<From, Half>(from, big, count, out);
    case DType::kI64:
      return ConvertAll<From, int64_t>(from, big, count, out);
    case DType::kI32:
      return ConvertAll<From, int32_t>(from, big, count, out);
    case DType::kU8:
      return ConvertAll<From, uint8_t>(from, big, count, out);
    case DType::kBool:
      return ConvertAll<From, bool>(from, big, count, out);
    case DType::kI8:
      return ConvertAll<From, int8_t>(from, big, count, out);
    case DType::kI16:
      return ConvertAll<From, int16_t>(from, big, count, out);
    case DType::kU16:
      return ConvertAll<From, uint16_t>(from, big, count, out);
    case DType::kU32:
      return ConvertAll<From, uint32_t>(from, big, count, out);
    case DType::kU64:
      return ConvertAll<From, uint64_t>(from, big, count, out);
  }
  return 0;
}

template <class From>
std::string TextOf(const std::byte* from, bool big) {
  const From value = Load<From>(from, big);
  if constexpr (std::is_integral_v<From>) {
    return std::to_string(value);
  } else {
    double number = 0.0;
    Convert(value, &number);
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", number);
    return text;
  }
}

template <class From>
constexpr ElementType Type(std::string_view name) {
  return {name, sizeof(From), ConvertTo<From>, TextOf<From>};
}

// bool is one of uint8 here: any byte that is not 0 or 1 is refused by its conversion.
constexpr ElementType kTypes[] = {Type<double>("f8"),   Type<float>("f4"),    Type<Half>("f2"),
                                  Type<BFloat16>("V2"), Type<int64_t>("i8"),  Type<int32_t>("i4"),
                                  Type<int16_t>("i2"),  Type<int8_t>("i1"),   Type<uint64_t>("u8"),
                                  Type<uint32_t>("u4"), Type<uint16_t>("u2"), Type<uint8_t>("u1"),
                                  Type<uint8_t>("b1")};

const ElementType& FindType(const std::string& path, const std::string& descriptor) {
  for (const ElementType& type : kTypes) {
    const bool known_order = !descriptor.empty() && (descriptor[0] == '<' || descriptor[0] == '>' ||
                                                     descriptor[0] == '|' || descriptor[0] == '=');
    if (known_order && std::string_view(descriptor).substr(1) == type.name) return type;
  }
  const bool texts = descriptor.size() > 2 && (descriptor[1] == 'U' || descriptor[1] == 'S');
  if (texts) {
    ThrowFileError(
        path, ": elements of type '" + descriptor + "' are texts",
        "of labels, `names, y = numpy.unique(y, return_inverse=True)` makes integers from "
        "0, in the order of `names`; save y.astype('int32')");
  }
  ThrowFileError(path, ": elements of type '" + descriptor + "' are not supported",
                 "known: floats (f8, f4, f2, V2 for bf16), integers (i1 to i8, u1 to u8), b1; "
                 "`array.astype('float32')` converts");
}

// Returns the bytes of the elements. The file must be as long as the header declares.
int64_t CheckLength(const FileReader& reader, const NpyHeader& header, const ElementType& type) {
  if (header.sizes.empty()) {
    ThrowFileError(reader.path(), "is a single number, without an axis of samples");
  }
  const std::string declared =
      Shape::Of(header.sizes).ToString() + " elements of '" + header.descriptor + "'";
  return CheckDeclaredLength(reader, declared, CheckedElements(header.sizes), type.bytes);
}

// Finds the places of a file's elements: in order, or with the first axis fastest.
class Placer {
 public:
  Placer(const std::vector<int64_t>& sizes, bool fortran_order)
      : sizes_(sizes), strides_(RowMajorStrides(Shape::Of(sizes))), index_(sizes.size(), 0) {
    in_order_ = !fortran_order || sizes.size() == 1;
  }

  bool in_order() const { return in_order_; }
  // Returns the row-major position of the next element of the file.
  int64_t position() const { return position_; }
  const std::vector<int64_t>& index() const { return index_; }

  void Step() {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const size_t axis = in_order_ ? sizes_.size() - 1 - i : i;
      position_ += strides_[axis];
      if (++index_[axis] < sizes_[axis]) return;
      position_ -= strides_[axis] * sizes_[axis];
      index_[axis] = 0;
    }
  }

 private:
  const std::vector<int64_t>& sizes_;
  std::vector<int64_t> strides_, index_;
  int64_t position_ = 0;
  bool in_order_;
};

[[noreturn]] void ThrowElement(const std::string& path, const NpyHeader& header, int64_t number,
                               const std::string& value, DType dtype) {
  Placer placer(header.sizes, header.fortran_order);
  for (int64_t i = 0; i < number; ++i) placer.Step();
  ThrowFileError(path,
                 ": element " + Shape::Of(placer.index()).ToString() + " is " + value +
                     ", which no " + std::string(Name(dtype)) + " can hold",
                 "the input's number type is " + std::string(Name(dtype)) + ", the file's '" +
                     header.descriptor + "'");
}

// Reads the elements behind the header to `result`, as `dtype`.
void ReadElements(FileReader& reader, const NpyHeader& header, const ElementType& type, DType dtype,
                  std::span<std::byte> result) {
  const bool big = header.descriptor[0] == '>';
  const auto width = static_cast<size_t>(SizeOf(dtype));
  const size_t elements = result.size() / width;
  const auto source_width = static_cast<size_t>(type.bytes);
  Placer placer(header.sizes, header.fortran_order);
  std::vector<std::byte> chunk(kChunkElements * source_width), converted(kChunkElements * width);
  for (size_t done = 0; done < elements;) {
    const size_t count = std::min(kChunkElements, elements - done);
    reader.Read(std::span(chunk).first(count * source_width), "its elements");
    std::byte* in_place = result.data() + done * width;
    std::byte* out = placer.in_order() ? in_place : converted.data();
    const size_t bad = type.convert(chunk.data(), big, count, dtype, out);
    if (bad < count) {
      ThrowElement(reader.path(), header, static_cast<int64_t>(done + bad),
                   type.text(chunk.data() + bad * source_width, big), dtype);
    }
    for (size_t i = 0; i < count && !placer.in_order(); ++i, placer.Step()) {
      std::memcpy(result.data() + static_cast<size_t>(placer.position()) * width, out + i * width,
                  width);
    }
    done += count;
  }
  reader.ExpectEnd();
}

// Returns whether the elements lie in the file as they are wanted. A bool has to be looked at.
bool LieAsWanted(const FileReader& reader, const NpyHeader& header, const ElementType& type,
                 DType dtype) {
  constexpr std::pair<DType, std::string_view> kSame[] = {
      {DType::kF64, "f8"}, {DType::kF32, "f4"}, {DType::kF16, "f2"}, {DType::kBF16, "V2"},
      {DType::kI64, "i8"}, {DType::kI32, "i4"}, {DType::kI16, "i2"}, {DType::kI8, "i1"},
      {DType::kU64, "u8"}, {DType::kU32, "u4"}, {DType::kU16, "u2"}, {DType::kU8, "u1"}};
  const bool same = std::ranges::find(kSame, std::pair(dtype, type.name)) != std::end(kSame);
  const bool in_order = !header.fortran_order || header.sizes.size() == 1;
  return same && in_order && !reader.compressed() && header.descriptor[0] != '>';
}

}  // namespace

NpySamples ReadNpyAs(const std::string& path, DType dtype, SampleRoom& room) {
  FileReader reader(path);
  const NpyHeader header = ReadNpyHeader(reader);
  const ElementType& type = FindType(path, header.descriptor);
  const int64_t bytes = CheckLength(reader, header, type);
  const std::string what = ": " + Shape::Of(header.sizes).ToString() + " elements of " +
                           std::string(Name(dtype)) + " take";
  NpySamples samples{header.sizes,
                     LieAsWanted(reader, header, type, dtype)
                         ? room.TakeAsTheyAre(path, what, reader.position(), bytes)
                         : room.Take(path, what, CheckedByteSize(dtype, header.sizes))};
  if (!samples.store.needs_writing()) return samples;
  ReadElements(reader, header, type, dtype, samples.store.Writable());
  samples.store.Seal();
  return samples;
}

namespace {

std::string SamplesText(const FieldSamples& part) {
  return "'" + part.file + "' holds " + CountText(part.count(), "sample");
}

std::unique_ptr<Dataset> OpenNpy(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  std::vector<FieldSamples> parts;
  SampleRoom room(options);
  for (const DataField& field : options.fields) {
    const DataOption* option = FindOption(options, field.name);
    if (option == nullptr) {
      diagnostics.Error(
          options.mark, "input '" + field.name + "' has no file",
          "data of format 'npy' have a file for each input: `" + field.name + ": FILE.npy`");
      continue;
    }
    try {
      const std::string path = ResolvePath(options, *option);
      NpySamples samples = ReadNpyAs(path, field.dtype, room);
      const Shape shape = Shape::Of({samples.sizes.begin() + 1, samples.sizes.end()});
      parts.push_back(
          {{field.name, field.dtype, shape}, std::move(samples.store), path, option->mark});
    } catch (const UserError& error) {
      diagnostics.Error(option->mark, error.what(), error.help());
    }
  }
  for (const FieldSamples& part : parts) {
    if (part.count() == parts[0].count()) continue;
    diagnostics.Error(part.mark, SamplesText(part) + ", but " + SamplesText(parts[0]));
  }
  if (diagnostics.error_count() > errors || parts.empty()) return nullptr;
  return std::make_unique<TensorDataset>(std::move(parts), room.notes());
}

}  // namespace

extern const DataFormat kNpyFormat;
constinit const DataFormat kNpyFormat = {
    "npy",
    "arrays of NumPy, plain or compressed by gzip, whose first axis counts the samples",
    {},
    OpenNpy,
    "its file; each input has one. The elements become the input's number type"};

}  // namespace cgrun
