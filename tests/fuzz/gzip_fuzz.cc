// Streams of gzip, of one member and of several: whole files, and the same in small parts.
// Both ways must give the same bytes.
#include <algorithm>

#include "src/base/check.h"
#include "src/io/endian.h"
#include "src/io/read_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr int64_t kLimit = 1 << 20;
constexpr size_t kPart = 7;  // bytes of a read

std::vector<std::byte> ReadInParts(const std::string& path) {
  FileReader reader(path);
  std::vector<std::byte> bytes;
  for (size_t got = kPart; got == kPart;) {
    const size_t size = bytes.size();
    bytes.resize(size + kPart);
    got = reader.ReadSome(std::span(bytes).subspan(size));
    bytes.resize(size + got);
  }
  CGRUN_CHECK(reader.position() == static_cast<int64_t>(bytes.size()));
  CGRUN_CHECK(reader.position() <= reader.max_bytes());
  reader.ExpectEnd();
  return bytes;
}

bool TryFile(const std::string& path) {
  try {
    const std::vector<std::byte> bytes = ReadFile(path, kLimit);
    CGRUN_CHECK(static_cast<int64_t>(bytes.size()) <= kLimit);
    CGRUN_CHECK(ReadInParts(path) == bytes);
    return true;
  } catch (const UserError& error) {
    CheckError(error, path);
    return false;
  }
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) { accepted = TryFile(path); });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const std::string text = "what is said once, is said once, is said twice";
  return {Gzip(text), Gzip(text) + Gzip("and more"), Gzip(""), Gzip(std::string(100'000, 'a')),
          Gzip(text) + std::string(700, '\0')};
}

}  // namespace cgrun
