// Tables of comma-separated text with a label by name, gaps filled with means, and integers.
// An accepted table keeps the memory limit and gives its first samples and the last one.
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

bool TryTable(const std::string& path, const std::string& missing, const std::string& label,
              DType dtype) {
  return TryDataset("csv", {{"file", path}, {"missing", missing}, {"label", label}},
                    {{"features", DType::kF32, Shape{2}}, {"label", dtype, Shape()}}) != nullptr;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    accepted |= TryTable(path, "mean", "y", DType::kI32);
    accepted |= TryTable(path, "error", "-1", DType::kF32);
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const std::string table = "a,b,y\n1,2.5,\"x\ny\"\"\"\n-3,,z\n1e5,NA,z\n";
  return {table,
          "\xEF\xBB\xBF"
          "a,b,y\r\n1,2,3\r\n4,5,6",
          "sep=;\r\na;b;y\r\n1;2;3\r\n4;5;6\r\n",
          "|1x3 Cross validator\na,b,y\n1,2,3\n4,5,6\n",
          "a,b,y\r1,2,3\r4,5,6\r",
          "a\x1B[31m,b\x07,y\n1,2,3\n4,5,6\n",
          Gzip(table)};
}

}  // namespace cgrun
