// Reads compiled programs: a file as it is, and its payload behind a header with the right size and
// checksum, so that damage reaches the reader. A program that can be read is verified. If it is
// sound, it is run: nothing of it may reach beyond its arena.
#include "src/base/check.h"
#include "src/io/checksum.h"
#include "src/program/serialize.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

constexpr char kName[] = "m.cgb";
constexpr size_t kHeaderBytes = 24;
constexpr int64_t kMostArenaBytes = 16 << 20;  // that a program is run with

std::string WithHeader(const std::string& file) {
  static const std::string magic = SerializeImage(ProgramImage()).substr(0, 12);
  const std::string payload = file.size() < kHeaderBytes ? file : file.substr(kHeaderBytes);
  const uint32_t checksum = Crc32(std::as_bytes(std::span(payload)));
  const uint64_t size = payload.size();
  std::string header = magic;
  for (int i = 0; i < 4; ++i) header += static_cast<char>(checksum >> (8 * i));
  for (int i = 0; i < 8; ++i) header += static_cast<char>(size >> (8 * i));
  return header + payload;
}

bool IsSmall(const ProgramImage& image) {
  for (const int64_t bytes : image.arena_bytes) {
    if (bytes > kMostArenaBytes) return false;
  }
  return true;
}

// Returns whether the image is sound; one that is, is run.
bool Runs(const ProgramImage& image) {
  if (!IsSmall(image)) return VerifyImage(image).empty();
  try {
    TinyProgram program(image);
    for (size_t e = 0; e < image.entries.size(); ++e) program.Run(static_cast<int>(e), 1);
    for (size_t e = 0; e < image.entries.size(); ++e) program.RunInPart(static_cast<int>(e), 1);
    return true;
  } catch (const UserError& error) {
    CGRUN_CHECK(!std::string(error.what()).empty());
    return false;
  }
}

// Names and other strings of a program can hold any bytes.
ProgramImage ImageWithoutUtf8() {
  ProgramImage image = TinyImage("tiny_mlp");
  image.fingerprint = "threa\xFFs";
  image.entries[0].name = "tr\xC3in\x1B[31m";
  image.entries[0].instructions[0].name = "\xFF\xFE";
  image.states[0].name = "w\x80";
  return image;
}

// Can be read, but its operands lie beyond the arena.
ProgramImage UnsoundImage() {
  ProgramImage image = TinyImage("tiny_mlp");
  image.arena_bytes[static_cast<size_t>(ArenaKind::kDevice)] = 64;
  return image;
}

bool TryFile(const std::string& bytes) {
  ProgramImage image;
  try {
    image = DeserializeImage(bytes, kName);
  } catch (const UserError& error) {
    CheckError(error, kName);
    CGRUN_CHECK(!error.help().empty());
    return false;
  }
  const std::string written = SerializeImage(image);
  CGRUN_CHECK(SerializeImage(DeserializeImage(written, kName)) == written);
  Disassemble(image);
  return Runs(image);
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::string file = TextOf(input);
  return TryFile(file) | TryFile(WithHeader(file));
}

std::vector<std::string> GoodInputs() {
  return {SerializeImage(TinyImage("tiny_mlp")), SerializeImage(TinyImage("tiny_conv")),
          SerializeImage(FusedImage()),          SerializeImage(IncrementalImage()),
          SerializeImage(PartsImage()),          SerializeImage(ImageWithoutUtf8())};
}

std::vector<std::string> RefusedInputs() { return {SerializeImage(UnsoundImage())}; }

}  // namespace cgrun
