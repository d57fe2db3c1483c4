// The helpers of tests that work on files.
#include "tests/io/test_files.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/random.h"

namespace cgrun {

TempFolder::TempFolder() {
  const char* root = std::getenv("TEST_TMPDIR");
  path_ = std::string(root != nullptr ? root : "/tmp") + "/cgrun-XXXXXX";
  CGRUN_CHECK(mkdtemp(path_.data()) != nullptr) << path_;
}

TempFolder::~TempFolder() { std::filesystem::remove_all(path_); }

std::vector<std::string> TempFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string TempFolder::Anonymous(std::string text) const {
  for (size_t at = text.find(path_); at != text.npos; at = text.find(path_)) {
    text.replace(at, path_.size(), "DIR");
  }
  return text;
}

void WriteBytes(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  CGRUN_CHECK(file.good()) << path;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  CGRUN_CHECK(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CGRUN_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Damage(std::string bytes, uint64_t seed) {
  constexpr std::string_view kExtremes[] = {{"\xFF\xFF\xFF\xFF", 4},
                                            {"\0\0\0\0", 4},
                                            {"\x7F\xFF\xFF\xFF", 4},
                                            {"\x80\0\0\0", 4},
                                            {"-1", 2},
                                            {"9223372036854775807", 19},
                                            {"[[[[", 4},
                                            {"\"\"", 2}};
  const std::array<uint32_t, 4> words = Philox(RandomKey(seed, "damage"), 0, 0);
  if (bytes.empty()) return bytes;
  const bool header = words[3] % 2 == 0;  // half of the damage near the front
  const size_t range = header ? std::min<size_t>(bytes.size(), 160) : bytes.size();
  const size_t at = words[1] % range;
  switch (words[0] % 7) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << words[2] % 8));
      break;
    case 1:
      bytes[at] = static_cast<char>(words[2]);
      break;
    case 2:
      bytes.insert(at, 1, static_cast<char>(words[2]));
      break;
    case 3:
      bytes.erase(at, 1 + words[2] % 8);
      break;
    case 4:
      bytes.resize(at);
      break;
    case 5:
      bytes.insert(at, bytes.substr(words[2] % bytes.size(), 64));
      break;
    default:
      const std::string_view extreme = kExtremes[words[2] % std::size(kExtremes)];
      bytes.replace(at, extreme.size(), extreme);
  }
  return bytes;
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
    return "no error";
  } catch (const UserError& error) {
    return error.what() + (error.help().empty() ? "" : "\nhelp: " + error.help());
  }
}

}  // namespace cgrun
