// NumPy arrays of several types and orders, into an input of uint8 and one of f32.
// An accepted array keeps the memory limit and gives its first samples and the last one.
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

bool TryArray(const std::string& path, DType dtype) {
  return TryDataset("npy", {{"x", path}}, {{"x", dtype, Shape{2}}}) != nullptr;
}

std::string Npy(const std::string& descriptor, const std::string& fortran, std::string_view bytes) {
  std::string header =
      "{'descr': '" + descriptor + "', 'fortran_order': " + fortran + ", 'shape': (3, 2), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + std::string(bytes);
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    accepted = TryArray(path, DType::kU8) | TryArray(path, DType::kF32);
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const std::string bytes("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  const std::string array = Npy(">i2", "True", bytes);
  constexpr std::string_view kSizes = "(3, 2), }  ";
  std::string longs = array;  // as Python 2 writes them
  longs.replace(longs.find(kSizes), kSizes.size(), "(3L, 2L), }");
  return {array, longs, Npy("<f2", "False", bytes), Npy("|i1", "False", bytes.substr(6)),
          Gzip(array)};
}

}  // namespace cgrun
