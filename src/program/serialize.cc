// A .cgb file has a header (magic, version, checksum, size), then the image as CBOR.
#include "src/program/serialize.h"

#include <cstring>

#include "src/base/diagnostics.h"
#include "src/base/shell_word.h"
#include "src/io/atomic_file.h"
#include "src/io/checksum.h"
#include "src/io/read_file.h"
#include "src/program/image_cbor.h"

namespace cgrun {
namespace {

constexpr char kMagic[8] = {'C', 'G', 'R', 'U', 'N', 'B', '\r', '\n'};
constexpr uint32_t kVersion = 4;
constexpr size_t kHeaderBytes = sizeof(kMagic) + 4 + 4 + 8;
constexpr int64_t kLargestFile = int64_t{1} << 32;  // bytes

template <class T>
void Append(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

template <class T>
T Take(const std::string& bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// How to get a good program in place of `file`, whose name may be that of something else.
std::string CompileHelp(const std::string& file) {
  const bool named_so = file.ends_with(".cgb");
  return "compile it again: `cgrun compile MODEL -o " + (named_so ? ShellWord(file) : "M.cgb") +
         "`";
}

// The CBOR behind a header that is sound.
std::string PayloadOf(const std::string& bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    throw UserError("this is no compiled program");
  }
  const uint32_t version = Take<uint32_t>(bytes, 8);
  if (version != kVersion) {
    throw UserError("compiled for format " + std::to_string(version) + ", not " +
                    std::to_string(kVersion));
  }
  std::string payload = bytes.substr(kHeaderBytes);
  if (payload.size() != Take<uint64_t>(bytes, 16)) throw UserError("the file is truncated");
  if (Crc32(std::as_bytes(std::span(payload))) != Take<uint32_t>(bytes, 12)) {
    throw UserError("the checksum does not match");
  }
  return payload;
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
  const std::string help = CompileHelp(file);
  try {
    return ImageFromCbor(PayloadOf(bytes));
  } catch (const UserError& error) {
    throw InputError(file + ": " + error.what(), help);
  }
}

void SaveImage(const ProgramImage& image, const std::string& path) {
  const std::string bytes = SerializeImage(image);
  WriteFileAtomically(path, std::as_bytes(std::span(bytes)));
}

ProgramImage LoadImage(const std::string& path) {
  const std::vector<std::byte> bytes = ReadFile(path, kLargestFile);
  return DeserializeImage(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                          path);
}

}  // namespace cgrun
