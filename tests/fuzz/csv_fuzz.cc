// Tables of comma-separated text with a label by name, gaps filled with means, and integers.
#include "src/data/dataset.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

bool TryTable(const std::string& path, const std::string& missing, const std::string& label,
              DType dtype) {
  DataOptions options;
  options.values = {{"file", {path, {}}}, {"missing", {missing, {}}}, {"label", {label, {}}}};
  options.fields = {{"features", DType::kF32, Shape{2}}, {"label", dtype, Shape()}};
  options.memory_limit = 1 << 20;
  Diagnostics diagnostics;
  const auto dataset = OpenDataset({"csv", {}}, options, diagnostics);
  diagnostics.ToString();
  return dataset != nullptr;
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
          Gzip(table)};
}

}  // namespace cgrun
