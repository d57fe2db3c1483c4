// Lines of words with a label by name, of ids, and of bytes; and vocabularies.
// An accepted file keeps the memory limit and gives its first samples and the last one.
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

bool TryLines(std::map<std::string, std::string> options, const std::string& second, Shape shape) {
  options["length"] = "4";
  return TryDataset("lines", options,
                    {{"text", DType::kI32, Shape{4}}, {second, DType::kI32, std::move(shape)}}) !=
         nullptr;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    accepted |= TryLines({{"file", path}, {"label", "first"}, {"truncate", "true"}}, "label", {});
    accepted |= TryLines({{"file", path}, {"tokens", "ids"}}, "next", {4});
    accepted |= TryLines({{"file", path}, {"tokens", "bytes"}, {"truncate", "true"}}, "next", {4});
    accepted |= TryLines({{"file", path}, {"vocabulary", path}, {"entries", "5"}}, "next", {4});
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const std::string text = "ham\tsee you at six\nspam\twin a prize now \xC3\xA9\r\n";
  return {text, Gzip(text), "1 2 3 4\n-7\n\n0 2147483647\n", "\xEF\xBB\xBFone\ntwo\nthree\n",
          "one\rtwo\rthree\r"};
}

}  // namespace cgrun
