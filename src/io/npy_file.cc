// A .npy file has a header, which is a Python dictionary as text, and the elements after it.
#include "src/io/npy_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/file_kind.h"
#include "src/io/atomic_file.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the first element
constexpr size_t kGrowth = 21;     // digits that NumPy leaves for a larger first dimension
constexpr int64_t kMostHeaderBytes = 1 << 20;  // ours have 118
constexpr size_t kMostAxes = 64;               // as NumPy 2

constexpr std::pair<DType, std::string_view> kDescriptors[] = {
    {DType::kF64, "<f8"}, {DType::kF32, "<f4"}, {DType::kF16, "<f2"}, {DType::kBF16, "<V2"},
    {DType::kI64, "<i8"}, {DType::kI32, "<i4"}, {DType::kI16, "<i2"}, {DType::kI8, "|i1"},
    {DType::kU64, "<u8"}, {DType::kU32, "<u4"}, {DType::kU16, "<u2"}, {DType::kU8, "|u1"},
    {DType::kBool, "|b1"}};

// Parses the dictionary literal: three keys in any order, a string, a bool and a tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  // Returns nothing where the text is anything else.
  std::optional<NpyHeader> Parse() {
    bool seen[3] = {};
    bool ok = Take('{');
    while (ok && !Take('}')) ok = Entry(seen) && (Take(',') || Peek('}'));
    SkipSpace();
    if (!ok || !rest_.empty() || !seen[0] || !seen[1] || !seen[2]) return std::nullopt;
    return std::move(header_);
  }
  // The size that no integer of 64 bits holds, where Parse() met one; else "".
  std::string_view too_large() const { return too_large_; }

 private:
  bool Entry(bool (&seen)[3]) {
    std::string key;
    if (!Text(&key) || !Take(':')) return false;
    const size_t i = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
    if (i == 3 || std::exchange(seen[i], true)) return false;
    return i == 0 ? Text(&header_.descriptor) : i == 1 ? Bool() : Tuple();
  }

  bool Text(std::string* text) {
    SkipSpace();
    if (rest_.starts_with("u'") || rest_.starts_with("u\"")) rest_.remove_prefix(1);  // Python 2
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return false;
    *text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool Bool() {
    header_.fortran_order = TakeWord("True");
    return header_.fortran_order || TakeWord("False");
  }

  bool Tuple() {
    if (!Take('(')) return false;
    while (!Take(')')) {
      int64_t size = 0;
      SkipSpace();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error == std::errc::result_out_of_range) too_large_ = {rest_.data(), end};
      if (error != std::errc() || header_.sizes.size() == kMostAxes) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // as Python 2 writes a long integer
      header_.sizes.push_back(size);
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  bool Peek(char c) {
    SkipSpace();
    return !rest_.empty() && rest_[0] == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void SkipSpace() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_, too_large_;
  NpyHeader header_;
};

DType DTypeOfDescriptor(std::string_view path, std::string descriptor) {
  const std::string given = descriptor;
  if (descriptor == "|V2") descriptor = "<V2";
  for (const auto& [dtype, name] : kDescriptors) {
    const bool any_order = SizeOf(dtype) == 1 && descriptor.size() == 3;
    if (descriptor == name || (any_order && descriptor.substr(1) == name.substr(1))) return dtype;
  }
  ThrowFileError(path, ": elements of type '" + given + "' are not supported",
                 "known: <f8, <f4, <f2, <V2 (bf16), <i8, <i4, <i2, |i1, <u8, <u4, <u2, |u1, |b1");
}

// Row-major order of what was read column-major: the last axis varies slowest in `from`.
HostTensor Transposed(std::string_view path, const HostTensor& from, std::vector<int64_t> sizes) {
  HostTensor to = AllocateTensor(path, from.dtype(), sizes);
  const size_t item = static_cast<size_t>(SizeOf(from.dtype()));
  std::vector<int64_t> index(sizes.size(), 0), strides(sizes.size(), 1);
  for (size_t axis = 1; axis < sizes.size(); ++axis) {
    strides[axis] = strides[axis - 1] * sizes[axis - 1];
  }
  int64_t source = 0;
  for (int64_t i = 0; i < to.elements(); ++i) {
    std::memcpy(to.bytes().data() + static_cast<size_t>(i) * item,
                from.bytes().data() + static_cast<size_t>(source) * item, item);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      source -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
  return to;
}

std::string HeaderText(DType dtype, const Shape& shape) {
  std::string_view descriptor;
  for (const auto& [type, name] : kDescriptors) {
    if (type == dtype) descriptor = name;
  }
  std::string text =
      "{'descr': '" + std::string(descriptor) + "', 'fortran_order': False, 'shape': (";
  const std::vector<int64_t> sizes = shape.Sizes();
  text += fmt::format("{}{}), }}", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  if (!sizes.empty()) text.append(kGrowth - std::to_string(sizes[0]).size(), ' ');
  return text;
}

// The header as the file has it, padded to 64 bytes, or to `least`, a header's size of the same
// array with more rows.
std::string HeaderBytes(DType dtype, const Shape& shape, size_t least = 0) {
  std::string text = HeaderText(dtype, shape);
  size_t before = kMagic.size() + 2 + 2;
  const bool long_header = std::max(before + text.size() + kAlignment, least) > 0xFFFF;
  if (long_header) before += 2;
  text.append(kAlignment - (before + text.size() + 1) % kAlignment, ' ');
  if (before + text.size() + 1 < least) text.append(least - before - text.size() - 1, ' ');
  text += '\n';
  std::array<std::byte, 4> length;
  StoreLittle(static_cast<uint32_t>(text.size()), length.data());
  std::string header(kMagic);
  header += long_header ? std::string("\2\0", 2) : std::string("\1\0", 2);
  header.append(reinterpret_cast<const char*>(length.data()), long_header ? 4 : 2);
  return header + text;
}

Shape WithRows(const Shape& row, int64_t rows) {
  std::vector<Dim> dims = {rows};
  dims.insert(dims.end(), row.begin(), row.end());
  return Shape(dims);
}

}  // namespace

bool BeginsAsNpy(const std::string& path) {
  if (!SpecialKindOf(path).empty()) return false;  // to read it may wait for ever
  char start[kMagic.size()] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  return std::string_view(start, sizeof(start)) == kMagic;
}

NpyHeader ReadNpyHeader(FileReader& reader) {
  std::array<std::byte, 8> start = {};
  const size_t read = reader.ReadSome(start);
  if (read == 0) {
    ThrowFileError(reader.path(), "is empty", "`numpy.save(FILE, ARRAY)` writes an array to it");
  }
  if (read != start.size() || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    const bool is_archive = std::memcmp(start.data(), "PK\3\4", 4) == 0;
    ThrowFileError(reader.path(), "is not an .npy file: it does not begin with \\x93NUMPY",
                   is_archive ? "an .npz file holds several arrays: `numpy.save(FILE, "
                                "numpy.load(NPZ)[NAME])` makes a file of one"
                              : "");
  }
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3) {
    ThrowFileError(reader.path(), ": .npy version " + std::to_string(version) + " is not known");
  }
  std::array<std::byte, 4> length = {};
  reader.Read(std::span(length).first(version == 1 ? 2 : 4), "its header");
  const int64_t size = LoadLittle<uint32_t>(length.data());
  const int64_t left = std::max<int64_t>(0, reader.max_bytes() - reader.position());
  if (size > left) {
    ThrowFileError(reader.path(),
                   "declares a header of " + std::to_string(size) + " bytes, but has " +
                       (reader.compressed() ? "at most " : "") + std::to_string(left),
                   "the file is cut off");
  }
  if (size > kMostHeaderBytes) {
    ThrowFileError(reader.path(),
                   "declares a header of " + std::to_string(size) + " bytes, which no array needs");
  }
  std::string text(static_cast<size_t>(size), '\0');
  reader.Read(std::as_writable_bytes(std::span(text)), "its header");
  HeaderParser parser(text);
  std::optional<NpyHeader> header = parser.Parse();
  if (!parser.too_large().empty()) {
    constexpr size_t kMostShown = 40;
    const std::string size(parser.too_large().substr(0, kMostShown));
    const char* cut = parser.too_large().size() > kMostShown ? "…" : "";
    ThrowFileError(reader.path(), "declares a size of " + size + cut + ", which no array has",
                   "the file is damaged: save the array again");
  }
  if (!header) {
    ThrowFileError(
        reader.path(),
        ": the .npy header is not {'descr': TEXT, 'fortran_order': BOOL, 'shape': TUPLE}",
        "arrays of records are not supported");
  }
  for (const int64_t axis : header->sizes) {
    if (axis < 0) ThrowFileError(reader.path(), "declares a size of " + std::to_string(axis));
  }
  return *std::move(header);
}

HostTensor ReadNpy(const std::string& path, int64_t limit) {
  FileReader reader(path);
  NpyHeader header = ReadNpyHeader(reader);
  const DType dtype = DTypeOfDescriptor(path, header.descriptor);
  const std::optional<int64_t> bytes = CheckedByteSize(dtype, header.sizes);
  const int64_t left = reader.max_bytes() - reader.position();
  if (!bytes || *bytes > left) {
    ThrowFileError(path, "declares more elements than it can hold");
  }
  if (*bytes > limit) {
    ThrowFileError(path, "has " + std::to_string(*bytes) + " bytes of elements, over " +
                             std::to_string(limit) + ", the most that is expected here");
  }
  std::vector<int64_t> sizes = header.sizes;
  if (header.fortran_order) sizes = {sizes.rbegin(), sizes.rend()};
  HostTensor tensor = ReadTensor(reader, dtype, sizes, "its elements");
  reader.ExpectEnd();
  if (!header.fortran_order) return tensor;
  return Transposed(path, tensor, std::move(header.sizes));
}

void WriteNpy(std::string_view path, DType dtype, const Shape& shape,
              std::span<const std::byte> bytes) {
  CGRUN_CHECK(shape.Elements() * SizeOf(dtype) == static_cast<int64_t>(bytes.size()));
  AtomicFile file;
  file.Open(path);
  file.Write(HeaderBytes(dtype, shape));
  file.Write(bytes);
  file.Commit();
}

NpyWriter::NpyWriter(std::string_view path, DType dtype, const Shape& row, int64_t most)
    : dtype_(dtype), row_(row), most_(most) {
  const std::string header = HeaderBytes(dtype_, WithRows(row_, most_));
  header_bytes_ = header.size();
  file_.Open(path);
  file_.Write(header);
}

void NpyWriter::Add(std::span<const std::byte> row) {
  CGRUN_CHECK(row_.Elements() * SizeOf(dtype_) == static_cast<int64_t>(row.size()));
  CGRUN_CHECK(rows_ < most_) << "more rows than were announced";
  file_.Write(row);
  ++rows_;
}

void NpyWriter::Commit() {
  if (rows_ < most_) file_.Rewrite(0, HeaderBytes(dtype_, WithRows(row_, rows_), header_bytes_));
  file_.Commit();
}

void WriteNpy(std::string_view path, const HostTensor& tensor) {
  WriteNpy(path, tensor.dtype(), tensor.shape(), tensor.bytes());
}

}  // namespace cgrun
