// Records and the few fields of the protocol buffers that scalars need.
#include "src/io/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "src/base/diagnostics.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

constexpr size_t kHeaderBytes = 12, kFooterBytes = 4;  // length and its checksum; checksum of data

// These are wire types of protocol buffers.
enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AddVarint(uint64_t number, std::string& to) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
}

void AddKey(int field, Wire wire, std::string& to) {
  AddVarint(static_cast<uint64_t>(field) << 3 | wire, to);
}

template <class T>
void AddFixed(T number, std::string& to) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &number, sizeof(T));  // hosts of this program are little-endian
  to.append(bytes, sizeof(T));
}

void AddBytes(int field, std::string_view bytes, std::string& to) {
  AddKey(field, kBytes, to);
  AddVarint(bytes.size(), to);
  to += bytes;
}

// An Event has wall_time = 1 (double), step = 2, file_version = 3, summary = 5.
void BeginEvent(int64_t step, double wall_seconds, std::string& event) {
  event.clear();
  AddKey(1, kFixed64, event);
  AddFixed(wall_seconds, event);
  AddKey(2, kVarint, event);
  AddVarint(static_cast<uint64_t>(step), event);
}

void FrameRecord(std::string_view data, std::string& record) {
  record.clear();
  AddFixed(static_cast<uint64_t>(data.size()), record);
  AddFixed(MaskedCrc32c(record), record);
  record += data;
  AddFixed(MaskedCrc32c(data), record);
}

// The step of an event that this class has written: the second field.
int64_t StepOf(std::string_view event) {
  uint64_t step = 0;
  int shift = 0;
  for (size_t i = 10; i < event.size() && shift < 64; ++i, shift += 7) {
    const auto byte = static_cast<uint8_t>(event[i]);
    step |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return static_cast<int64_t>(step);
}

// The bytes of a file that hold whole records of steps up to `step`.
size_t KeptSize(std::string_view file, int64_t step) {
  size_t kept = 0;
  while (file.size() - kept >= kHeaderBytes + kFooterBytes) {
    uint64_t size = 0;
    std::memcpy(&size, file.data() + kept, sizeof(size));
    const size_t room = file.size() - kept - kHeaderBytes - kFooterBytes;
    if (size > room) break;
    const std::string_view event = file.substr(kept + kHeaderBytes, size);
    uint32_t checksum = 0;
    std::memcpy(&checksum, event.data() + size, sizeof(checksum));
    if (checksum != MaskedCrc32c(event) || StepOf(event) > step) break;
    kept += kHeaderBytes + size + kFooterBytes;
  }
  return kept;
}

[[noreturn]] void Fail(const std::string& path) { ThrowSystemError("write", path, errno); }

size_t KeptSizeOf(const std::string& path, int64_t step) {
  struct stat info = {};
  if (step == 0 || stat(path.c_str(), &info) != 0) return 0;
  return KeptSize(ReadTextFile(path), step);
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = 0xFFFFFFFF;
  for (char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return std::rotr(~crc, 15) + 0xA282EAD8;
}

EventFileWriter::EventFileWriter(std::string path, int64_t step, size_t record_room)
    : path_(std::move(path)) {
  event_.reserve(record_room);
  value_.reserve(record_room);
  record_.reserve(record_room + kHeaderBytes + kFooterBytes);
  const size_t kept = KeptSizeOf(path_, step);
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(kept)) != 0) Fail(path_);
  if (kept > 0) return;
  BeginEvent(0, 0, event_);
  AddBytes(3, "brain.Event:2", event_);
  End();
}

EventFileWriter::~EventFileWriter() {
  if (fd_ >= 0) close(fd_);
}

void EventFileWriter::Begin(int64_t step, double wall_seconds) {
  BeginEvent(step, wall_seconds, event_);
  value_.clear();
}

// Summary: value = 1, a message of tag = 1 and simple_value = 2 (float). The summary is put
// together in value_, with one length more for each scalar.
void EventFileWriter::Add(std::string_view tag, double value) {
  AddKey(1, kBytes, value_);
  const size_t size = 1 + (tag.size() < 0x80 ? 1 : 2) + tag.size() + 1 + sizeof(float);
  AddVarint(size, value_);
  AddBytes(1, tag, value_);
  AddKey(2, kFixed32, value_);
  AddFixed(static_cast<float>(value), value_);
}

void EventFileWriter::End() {
  if (!value_.empty()) AddBytes(5, value_, event_);
  FrameRecord(event_, record_);
  for (size_t done = 0; done < record_.size();) {
    const ssize_t written = write(fd_, record_.data() + done, record_.size() - done);
    if (written < 0 && errno != EINTR) Fail(path_);
    if (written > 0) done += static_cast<size_t>(written);
  }
}

}  // namespace cgrun
