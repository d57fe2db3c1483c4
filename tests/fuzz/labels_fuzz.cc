// The list of an image folder's labels: a name and a label a line.
// An accepted list names no more images than the folder has.
#include "src/base/check.h"
#include "tests/data/test_images.h"
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// The folder holds three images.
const std::string& Folder() {
  static const TempFolder folder;
  static const bool filled = [] {
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      WriteBytes(folder / name, EncodePng(TestImage::Noise(2, 2, 3)));
    }
    return true;
  }();
  CGRUN_CHECK(filled);
  return folder.path();
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    const auto dataset =
        TryDataset("images", {{"folder", Folder()}, {"labels", path}},
                   {{"image", DType::kU8, Shape{3, 2, 2}}, {"label", DType::kI32, Shape()}});
    accepted = dataset != nullptr;
    CGRUN_CHECK(!accepted || dataset->size() <= 3) << dataset->size();
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  return {"name,label\na.png,cat\nb.png,\"dog, large\"\nc.png,cat\n", "a.png,1\r\nb.png, 0\r\n",
          Gzip("c.png,7\na.png,3\n")};
}

}  // namespace cgrun
