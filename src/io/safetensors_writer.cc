// Writing safetensors: the header's text without a JSON library, so that nothing is allocated.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/printable.h"
#include "src/io/endian.h"
#include "src/io/safetensors.h"
#include "src/io/safetensors_checksum.h"
#include "src/io/safetensors_dtype.h"

namespace cgrun {
namespace {

constexpr size_t kHeaderAlignment = 8;
constexpr size_t kLengthBytes = 8;  // of the header's length, in front of it
// No text of the metadata has this: its quotes are escaped.
constexpr std::string_view kBeforeChecksum = "\"cgrun:checksum\":\"";

void CheckUtf8(std::string_view text) {
  if (FindNoUtf8(text) == text.npos) return;
  throw UserError("a name or text for a safetensors file is not UTF-8: '" + std::string(text) +
                  "'");
}

void AppendJsonText(std::string_view text, std::string* out) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  constexpr char kHex[] = "0123456789abcdef";
  *out += '"';
  for (char c : text) {
    const size_t escape = kEscaped.find(c);
    const unsigned char code = static_cast<unsigned char>(c);
    if (escape != kEscaped.npos) {
      *out += '\\';
      *out += kLetters[escape];
    } else if (code < 0x20) {
      *out += "\\u00";
      *out += kHex[code >> 4];
      *out += kHex[code & 15];
    } else {
      *out += c;
    }
  }
  *out += '"';
}

// "__metadata__":{"key":"value",…}
void AppendMetadata(const SafetensorsMetadata& metadata, std::string* out) {
  AppendJsonText(kSafetensorsMetadataKey, out);
  *out += ":{";
  bool first = true;
  for (const auto& [key, value] : metadata) {
    if (!first) *out += ',';
    first = false;
    CheckUtf8(key);
    CheckUtf8(value);
    AppendJsonText(key, out);
    *out += ':';
    AppendJsonText(value, out);
  }
  *out += '}';
}

size_t TypeRank(DType dtype) {
  size_t rank = 0;
  while (kSafetensorsTypes[rank].first != dtype) ++rank;
  return rank;
}

int64_t Bytes(const TensorSpec& spec) { return spec.shape.Elements() * SizeOf(spec.dtype); }

// "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}
void AppendEntry(const TensorSpec& spec, int64_t begin, std::string* out) {
  AppendJsonText(spec.name, out);
  *out += ":{\"dtype\":\"";
  *out += kSafetensorsTypes[TypeRank(spec.dtype)].second;
  *out += "\",\"shape\":[";
  const std::vector<int64_t> sizes = spec.shape.Sizes();
  *out += fmt::format("{}],\"data_offsets\":[{},{}]}}", fmt::join(sizes, ","), begin,
                      begin + Bytes(spec));
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::vector<TensorSpec> specs, size_t metadata_room)
    : specs_(std::move(specs)), order_(specs_.size()) {
  std::set<std::string_view> names = {kSafetensorsMetadataKey};
  for (const TensorSpec& spec : specs_) {
    CGRUN_CHECK(names.insert(spec.name).second) << "two tensors are named " << spec.name;
    CheckUtf8(spec.name);
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    const size_t rank_a = TypeRank(specs_[a].dtype), rank_b = TypeRank(specs_[b].dtype);
    return rank_a != rank_b ? rank_a < rank_b : specs_[a].name < specs_[b].name;
  });
  int64_t begin = 0;
  for (size_t i : order_) {
    if (!entries_.empty()) entries_ += ',';
    AppendEntry(specs_[i], begin, &entries_);
    begin += Bytes(specs_[i]);
  }
  header_.reserve(entries_.size() + metadata_room + 64);
}

void SafetensorsWriter::Begin(std::string_view path, const SafetensorsMetadata& metadata) {
  header_ = '{';
  if (!metadata.empty()) AppendMetadata(metadata, &header_);
  if (!metadata.empty() && !entries_.empty()) header_ += ',';
  header_ += entries_;
  header_ += '}';
  header_.append((kHeaderAlignment - header_.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  std::array<std::byte, kLengthBytes> length;
  StoreLittle<uint64_t>(header_.size(), length.data());
  file_.Open(path);
  file_.Write(length);
  file_.Write(header_);
}

void SafetensorsWriter::Add(size_t index, std::span<const std::byte> bytes) {
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == Bytes(specs_[index])) << specs_[index].name;
  file_.Write(bytes);
}

void SafetensorsWriter::Write(std::string_view path,
                              std::span<const std::span<const std::byte>> data,
                              const SafetensorsMetadata& metadata) {
  CGRUN_CHECK(data.size() == specs_.size());
  Begin(path, metadata);
  for (size_t i : order_) Add(i, data[i]);
  file_.Commit();
}

// The header comes before the tensors, so that its checksum is set when all of them are written.
void SafetensorsWriter::WriteWithChecksum(std::string_view path, TensorSource& source,
                                          const SafetensorsMetadata& metadata) {
  Begin(path, metadata);
  SafetensorsChecksum checksum(metadata);
  for (size_t i : order_) {
    const std::span<const std::byte> bytes = source.BytesOf(i);
    checksum.AddTensor(specs_[i]);
    checksum.AddBytes(bytes);
    Add(i, bytes);
  }
  const auto text = checksum.Text();
  const std::string_view digits = text.data();
  const size_t key = header_.find(kBeforeChecksum), begin = key + kBeforeChecksum.size();
  CGRUN_CHECK(key != header_.npos && header_[begin + digits.size()] == '"') << "no room for it";
  file_.Rewrite(static_cast<int64_t>(kLengthBytes + begin), digits);
  file_.Commit();
}

}  // namespace cgrun
