// The archive of ONNX's node tests.
#ifndef CGRUN_TESTS_ONNX_NODE_TESTS_H_
#define CGRUN_TESTS_ONNX_NODE_TESTS_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/model.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {

inline constexpr char kMissing[] =
    "CGRUN_SHARED_DATA names no folder with onnx-node-tests.tar.xz, or xz cannot read it";

// The bytes of $CGRUN_SHARED_DATA/onnx-node-tests.tar.xz without its compression; "" without it.
// It has 11,000 files, which a busy disk would take long to write.
inline std::string NodeTestsTar() {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) return "";
  const std::string archive = std::string(data) + "/onnx-node-tests.tar.xz";
  if (!std::filesystem::exists(archive)) return "";
  std::FILE* const pipe = popen(("xz --decompress --stdout '" + archive + "'").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string bytes;
  std::vector<char> block(size_t{1} << 20);
  for (size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    bytes.append(block.data(), got);
  }
  return pclose(pipe) == 0 ? bytes : "";
}

// The files of an archive by their names. A name of a hundred bytes or more stands in a block of
// its own, of type L.
inline std::map<std::string, ByteSpan> FilesIn(const std::string& tar) {
  constexpr size_t kBlock = 512, kNameBytes = 100, kSizeAt = 124, kSizeBytes = 12, kTypeAt = 156;
  std::string long_name;
  std::map<std::string, ByteSpan> files;
  for (size_t at = 0; at + kBlock <= tar.size();) {
    const std::string short_name(tar.data() + at, strnlen(tar.data() + at, kNameBytes));
    const bool is_name = tar[at + kTypeAt] == 'L';
    const std::string octal = tar.substr(at + kSizeAt, kSizeBytes);
    const size_t size = std::strtoull(octal.c_str(), nullptr, 8);
    at += kBlock;
    if (is_name) {
      long_name.assign(tar, at, size - 1);
    } else {
      const std::string name = std::exchange(long_name, "");
      if (size > 0) files[name.empty() ? short_name : name] = AsSpan(tar).subspan(at, size);
    }
    at += (size + kBlock - 1) / kBlock * kBlock;
  }
  return files;
}

}  // namespace cgrun::onnx

#endif  // CGRUN_TESTS_ONNX_NODE_TESTS_H_
