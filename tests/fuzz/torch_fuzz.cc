// Files of PyTorch, archives and older ones: every tensor is read, and has the bytes of its shape.
#include <algorithm>

#include "src/base/check.h"
#include "src/torch/torch_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"
#include "tests/torch/torch_files.h"

namespace cgrun {
namespace {

// A stride of 0 lets few bytes stand for very many elements.
constexpr int64_t kMostElements = 1 << 20;

void ReadAll(torch::TorchFile& file) {
  for (const TensorSpec& tensor : file.tensors()) {
    if (tensor.shape.Elements() > kMostElements) {
      file.Skip();
      continue;
    }
    int64_t bytes = 0;
    file.ReadParts([&](std::span<const std::byte> part) { bytes += std::ssize(part); });
    CGRUN_CHECK(bytes == tensor.shape.Elements() * SizeOf(tensor.dtype));
  }
}

std::string Pairs(bool is_old) {
  using namespace torch;
  return Text("fc.weight") + Opcodes({}, is_old) + Text("fc.bias") +
         Opcodes({.sizes = {3, 1}, .strides = {2, 1}, .offset = 1}, is_old) + Text("epoch") +
         Int(3);
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    try {
      torch::TorchFile file(path);
      ReadAll(file);
      accepted = true;
    } catch (const UserError& error) {
      CheckError(error, path);
    }
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const TempFolder folder;
  const std::string floats = torch::Floats({0, 1, 2, 3, 4, 5});
  torch::WriteZip(folder / "m.pth", torch::ArchiveOf(Pairs(false), floats));
  return {ReadBytes(folder / "m.pth"), torch::OldFile(Pairs(true), {{"0", floats}})};
}

}  // namespace cgrun
