// A compressed file can hold at most what its length allows.
#include "src/data/declared_length.h"

#include <vector>

#include "src/io/file_error.h"

namespace cgrun {

int64_t CheckDeclaredLength(const FileReader& reader, const std::string& declared,
                            std::optional<int64_t> elements, int64_t element_bytes) {
  int64_t bytes = 0;
  if (elements == 0) {
    ThrowFileError(reader.path(), "holds no samples (" + declared + ")",
                   "there must be one at least: look at what was saved to this file");
  }
  if (!elements || __builtin_mul_overflow(*elements, element_bytes, &bytes)) {
    ThrowFileError(reader.path(), "declares " + declared + ", more than a file can hold");
  }
  const int64_t left = reader.max_bytes() - reader.position();
  if (bytes > left || (bytes < left && !reader.compressed())) {
    ThrowFileError(reader.path(), "declares " + declared + ", " + std::to_string(bytes) +
                                      " bytes, but has " + (reader.compressed() ? "at most " : "") +
                                      std::to_string(left) + " after its header");
  }
  return bytes;
}

int64_t CountBytes(const std::string& path, int64_t limit) {
  FileReader reader(path);
  if (!reader.compressed()) return reader.max_bytes();
  std::vector<std::byte> block(size_t{1} << 16);
  while (reader.position() <= limit && reader.ReadSome(block) > 0) {
  }
  return reader.position();
}

}  // namespace cgrun
