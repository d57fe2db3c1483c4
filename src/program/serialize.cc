// A .cgb file has a header (magic, version, checksum, size), then the image as CBOR.
#include "src/program/serialize.h"

#include <cstring>
#include <functional>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/base/shell_word.h"
#include "src/io/atomic_file.h"
#include "src/io/checksum.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/program/image_cbor.h"

namespace cgrun {
namespace {

constexpr char kMagic[8] = {'C', 'G', 'R', 'U', 'N', 'B', '\r', '\n'};
constexpr uint32_t kVersion = 4;
constexpr size_t kHeaderBytes = sizeof(kMagic) + 4 + 4 + 8;

template <class T>
void Append(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

template <class T>
T Take(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// Says how to get a good program in place of `file`, whose name may be that of something else.
std::string CompileHelp(const std::string& file) {
  const bool named_so = file.ends_with(".cgb");
  return "compile it again: `cgrun compile MODEL -o " + (named_so ? ShellWord(file) : "M.cgb") +
         "`";
}

// Checks all of a file's first bytes but the checksum. `payload_bytes`: as many as follow them.
void CheckHeader(std::string_view bytes, uint64_t payload_bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    throw UserError("this is no compiled program");
  }
  const uint32_t version = Take<uint32_t>(bytes, 8);
  if (version != kVersion) {
    throw UserError("compiled for format " + std::to_string(version) + ", not " +
                    std::to_string(kVersion));
  }
  const auto declared = Take<uint64_t>(bytes, 16);
  if (payload_bytes < declared) throw UserError("the file is truncated");
  if (payload_bytes > declared) {
    throw UserError("the file is longer than it declares, by " +
                    CountText(static_cast<int64_t>(payload_bytes - declared), "byte"));
  }
}

// Returns the image of a CBOR behind a header that is sound.
ProgramImage ImageBehind(std::string_view header, const std::string& payload) {
  if (Crc32(std::as_bytes(std::span(payload))) != Take<uint32_t>(header, 12)) {
    throw UserError("the checksum does not match");
  }
  return ImageFromCbor(payload);
}

// Runs `read` for a file, which its errors name.
ProgramImage NamingFile(const std::string& file, const std::function<ProgramImage()>& read) {
  try {
    return read();
  } catch (const UserError& error) {
    throw InputError(file + ": " + error.what(),
                     error.help().empty() ? CompileHelp(file) : error.help());
  }
}

}  // namespace

std::string SerializeImage(const ProgramImage& image) {
  const std::vector<uint8_t> payload = ImageToCbor(image);
  std::string out(kMagic, sizeof(kMagic));
  Append<uint32_t>(out, kVersion);
  Append<uint32_t>(out, Crc32(std::as_bytes(std::span(payload))));
  Append<uint64_t>(out, payload.size());
  out.append(payload.begin(), payload.end());
  return out;
}

ProgramImage DeserializeImage(const std::string& bytes, const std::string& file) {
  return NamingFile(file, [&] {
    const std::string_view header = std::string_view(bytes).substr(0, kHeaderBytes);
    CheckHeader(header, bytes.size() - header.size());
    return ImageBehind(header, bytes.substr(kHeaderBytes));
  });
}

void SaveImage(const ProgramImage& image, const std::string& path) {
  const std::string bytes = SerializeImage(image);
  WriteFileAtomically(path, std::as_bytes(std::span(bytes)));
}

ProgramImage LoadImage(const std::string& path) {
  FileReader reader(path, FileReader::Gzip::kNever);
  std::string header(kHeaderBytes, '\0'), payload;
  header.resize(reader.ReadSome(std::as_writable_bytes(std::span(header))));
  const int64_t left = reader.max_bytes() - std::ssize(header);
  return NamingFile(path, [&] {
    CheckHeader(header, static_cast<uint64_t>(left));  // before memory is taken
    const std::string fault = RoomFault(left, "the program");
    if (!fault.empty()) throw UserError(fault, kRoomHelp);
    payload.resize(static_cast<size_t>(left));
    reader.Read(std::as_writable_bytes(std::span(payload)), "the program");
    reader.ExpectEnd();
    return ImageBehind(header, payload);
  });
}

}  // namespace cgrun
