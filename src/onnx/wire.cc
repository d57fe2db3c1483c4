// Numbers go through CodedInputStream and CodedOutputStream, tags through WireFormatLite.
#include "src/onnx/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "src/base/printable.h"

namespace cgrun::onnx {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr size_t kMostVarint = 10;  // bytes
constexpr size_t kSmall = 256;      // bytes that are copied instead of kept as a part of their own

static_assert(static_cast<int>(WireType::kVarint) == WireFormatLite::WIRETYPE_VARINT);
static_assert(static_cast<int>(WireType::kFixed64) == WireFormatLite::WIRETYPE_FIXED64);
static_assert(static_cast<int>(WireType::kBytes) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
static_assert(static_cast<int>(WireType::kFixed32) == WireFormatLite::WIRETYPE_FIXED32);

// Calls `read` with a stream of the next bytes of `rest`, and passes what it has read.
template <class Read>
bool ReadNumber(ByteSpan* rest, Read read) {
  const size_t room = std::min(rest->size(), kMostVarint);
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(rest->data()), static_cast<int>(room));
  if (!read(stream)) return false;
  *rest = rest->subspan(static_cast<size_t>(stream.CurrentPosition()));
  return true;
}

}  // namespace

void WireFault::Enter(std::string_view part) {
  // An index follows the name of the list without a dot.
  path = std::string(part) + (path.empty() ? "" : ".") + path;
}

std::string Shown(std::string_view text) {
  constexpr size_t kMostShown = 250;
  return PrintableText(text.substr(0, kMostShown)) + (text.size() > kMostShown ? "…" : "");
}

uint64_t WireReader::ReadVarint() {
  uint64_t value = 0;
  if (ReadNumber(&rest_, [&](auto& stream) { return stream.ReadVarint64(&value); })) return value;
  throw WireFault{rest_.data(), rest_.size() < kMostVarint
                                    ? "the message ends inside a number"
                                    : "a number has more than the ten bytes of 64 bits"};
}

uint32_t WireReader::ReadFixed32() {
  uint32_t value = 0;
  if (ReadNumber(&rest_, [&](auto& stream) { return stream.ReadLittleEndian32(&value); })) {
    return value;
  }
  throw WireFault{rest_.data(), "the message ends inside a number"};
}

uint64_t WireReader::ReadFixed64() {
  uint64_t value = 0;
  if (ReadNumber(&rest_, [&](auto& stream) { return stream.ReadLittleEndian64(&value); })) {
    return value;
  }
  throw WireFault{rest_.data(), "the message ends inside a number"};
}

Tag WireReader::ReadTag() {
  const std::byte* const at = rest_.data();
  const uint64_t value = ReadVarint();
  if (value > std::numeric_limits<uint32_t>::max()) {
    throw WireFault{at, "the number of a field has more than 29 bits"};
  }
  const auto tag = static_cast<uint32_t>(value);
  const int number = WireFormatLite::GetTagFieldNumber(tag);
  const int type = tag & WireFormatLite::kTagTypeMask;
  if (number == 0) throw WireFault{at, "a field has the number 0, which none has"};
  if (type == WireFormatLite::WIRETYPE_START_GROUP || type == WireFormatLite::WIRETYPE_END_GROUP) {
    throw WireFault{at,
                    "field " + std::to_string(number) + " is a group, which ONNX does not have"};
  }
  if (type > WireFormatLite::WIRETYPE_FIXED32) {
    throw WireFault{at, "field " + std::to_string(number) + " has the wire type " +
                            std::to_string(type) + ", which does not exist"};
  }
  return {number, static_cast<WireType>(type)};
}

ByteSpan WireReader::ReadBytes() {
  const std::byte* const at = rest_.data();
  const uint64_t size = ReadVarint();
  if (size > rest_.size()) {
    throw WireFault{at, "a length of " + std::to_string(size) + " bytes stands where " +
                            std::to_string(rest_.size()) + " are left"};
  }
  const ByteSpan bytes = rest_.first(static_cast<size_t>(size));
  rest_ = rest_.subspan(bytes.size());
  return bytes;
}

void WireReader::Skip(WireType type) {
  switch (type) {
    case WireType::kVarint:
      ReadVarint();
      break;
    case WireType::kFixed64:
      ReadFixed64();
      break;
    case WireType::kBytes:
      ReadBytes();
      break;
    case WireType::kFixed32:
      ReadFixed32();
      break;
  }
}

size_t CountVarints(ByteSpan bytes) {
  return static_cast<size_t>(std::ranges::count_if(
      bytes, [](std::byte byte) { return (byte & std::byte{0x80}) == std::byte{0}; }));
}

void WireWriter::PutSmall(ByteSpan bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  small_.append(text.rbegin(), text.rend());
  size_ += bytes.size();
}

void WireWriter::PutRaw(ByteSpan bytes) {
  if (bytes.size() < kSmall) return PutSmall(bytes);
  large_.push_back({small_.size(), bytes});
  size_ += bytes.size();
}

void WireWriter::PutVarint(uint64_t value) {
  uint8_t bytes[kMostVarint];
  const uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  PutSmall(std::as_bytes(std::span(bytes, static_cast<size_t>(end - bytes))));
}

void WireWriter::PutFixed32(uint32_t value) {
  uint8_t bytes[sizeof(value)];
  CodedOutputStream::WriteLittleEndian32ToArray(value, bytes);
  PutSmall(std::as_bytes(std::span(bytes)));
}

void WireWriter::PutFixed64(uint64_t value) {
  uint8_t bytes[sizeof(value)];
  CodedOutputStream::WriteLittleEndian64ToArray(value, bytes);
  PutSmall(std::as_bytes(std::span(bytes)));
}

void WireWriter::PutTag(int number, WireType type) {
  PutVarint(WireFormatLite::MakeTag(number,
                                    static_cast<WireFormatLite::WireType>(static_cast<int>(type))));
}

void WireWriter::PutHead(int number, size_t end) {
  PutVarint(size_ - end);
  PutTag(number, WireType::kBytes);
}

std::vector<ByteSpan> WireWriter::Finish() {
  std::reverse(small_.begin(), small_.end());
  const ByteSpan small = std::as_bytes(std::span(small_));
  std::vector<ByteSpan> parts;
  size_t end = small_.size();  // in the reversed text, of what is not in `parts` yet
  const auto put_small_down_to = [&](size_t begin) {
    if (begin < end) parts.push_back(small.subspan(small.size() - end, end - begin));
    end = begin;
  };
  for (auto part = large_.rbegin(); part != large_.rend(); ++part) {
    put_small_down_to(part->small_before);
    parts.push_back(part->bytes);
  }
  put_small_down_to(0);
  return parts;
}

}  // namespace cgrun::onnx
