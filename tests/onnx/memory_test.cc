// A large model takes memory for its metadata alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/write.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kWeights = 200 * kMiB;

// A model with one tensor of zeros; the file has a hole in their place.
void WriteSparseModel(const std::string& path, const std::string& tensor_head, int field,
                      int64_t bytes) {
  // The lengths of graph and tensor are known from what they hold.
  const auto head = [](int number, uint64_t size) {
    return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(size);
  };
  const auto size = static_cast<uint64_t>(bytes);
  const std::string elements = head(field, size);
  const uint64_t tensor_size = tensor_head.size() + elements.size() + size;
  const std::string tensor = head(5, tensor_size) + tensor_head + elements;
  const std::string start = Number(1, 8) + head(7, tensor.size() + size) + tensor;
  WriteBytes(path, start);
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(start.size()) + bytes), 0);
}

int64_t AnonymousNow() { return ReadProcessMemory().anonymous; }

class MemoryTest : public testing::Test {
 protected:
  // Reads the elements of the first initializer, and returns how much memory the model takes then.
  int64_t Growth(const std::string& path, size_t elements_bytes) {
    const int64_t before = AnonymousNow();
    OnnxFile file(path);
    const TensorBytes bytes = file.Bytes(file.model().graph->initializers.at(0));
    EXPECT_EQ(bytes.bytes().size(), elements_bytes);
    EXPECT_FALSE(bytes.decoded());
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes.bytes().size(); i += 4096)
      sum += static_cast<uint8_t>(bytes.bytes()[i]);
    EXPECT_EQ(sum, 0u);
    return AnonymousNow() - before;
  }

  TempFolder folder_;
};

TEST_F(MemoryTest, WeightsAreMapped) {
  if (AnonymousNow() == 0) GTEST_SKIP() << "the system does not tell the memory of a process";
  const std::string head = TensorHead("w", DataType::kFloat, {kWeights / 4});
  WriteSparseModel(folder_ / "raw", head, 9, kWeights);
  WriteSparseModel(folder_ / "floats", head, 4, kWeights);
  WriteBytes(folder_ / "external",
             ModelOf(Bytes(5, ExternalTensor({{"location", "w"}}, {kWeights}))));
  WriteBytes(folder_ / "w", "");
  ASSERT_EQ(truncate((folder_ / "w").c_str(), kWeights), 0);
  for (const char* name : {"raw", "floats", "external"}) {
    EXPECT_LT(Growth(folder_ / name, kWeights), 4 * kMiB) << name;
  }
}

TEST_F(MemoryTest, WeightsAreNotCopiedWhenAChangedModelIsWritten) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "the sanitizer has its own operator new";
  WriteSparseModel(folder_ / "x", TensorHead("w", DataType::kFloat, {kWeights / 4}), 9, kWeights);
  OnnxFile file(folder_ / "x");
  file.model().graph->initializers.at(0).name = "weights";
  ForgetPeak();
  const int64_t before = AnonymousNow();
  WriteModel(folder_ / "y", file.model());
  EXPECT_LT(PeakAnonymousBytes() - before, 8 * kMiB);
  const OnnxFile again(folder_ / "y");
  EXPECT_EQ(again.model().graph->initializers.at(0).name, "weights");
  EXPECT_EQ(again.model().graph->initializers.at(0).raw_data->size(), size_t{kWeights});
}

// protobuf itself stops at 2 GiB. The file is a hole, and its pages are not looked at.
TEST_F(MemoryTest, AFileOfOverTwoGiBIsRead) {
  constexpr int64_t kLarge = int64_t{5} << 30;
  WriteSparseModel(folder_ / "x", TensorHead("w", DataType::kUint8, {kLarge}), 9, kLarge);
  OnnxFile file(folder_ / "x");
  const Tensor& tensor = file.model().graph->initializers.at(0);
  EXPECT_EQ(file.Bytes(tensor).bytes().size(), size_t{kLarge});
  EXPECT_LT(AnonymousNow(), 200 * kMiB);
}

}  // namespace
}  // namespace cgrun::onnx
