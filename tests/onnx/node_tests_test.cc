// Every file of ONNX's node tests is read, and written as the same bytes. Where the origin of the
// messages is forgotten, all fields come back as well.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/onnx/read.h"
#include "src/onnx/tensor_bytes.h"
#include "src/onnx/write.h"
#include "tests/onnx/walk.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

constexpr char kMissing[] =
    "CGRUN_SHARED_DATA names no folder with onnx-node-tests.tar.xz, or xz cannot read it";

// The bytes of $CGRUN_SHARED_DATA/onnx-node-tests.tar.xz without its compression; "" without it.
// It has 11,000 files, which a busy disk would take long to write.
std::string NodeTestsTar() {
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
std::map<std::string, ByteSpan> FilesIn(const std::string& tar) {
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

template <class M>
std::string WrittenAnew(M message) {
  Forget(&message);
  return WriteMessage(message);
}

// Returns whether the message, written anew, has the bytes that it was read from.
template <class M>
bool CheckRoundTrip(const M& message, ByteSpan bytes, const std::string& path) {
  EXPECT_TRUE(WriteMessage(message) == TextOf(bytes)) << path;
  EXPECT_EQ(UnknownFields(message), 0u) << path;
  const std::string anew = WrittenAnew(message);
  const M again = ReadMessage<M>(AsSpan(anew), path);
  EXPECT_TRUE(WrittenAnew(again) == anew) << path;
  return anew == TextOf(bytes);
}

// Counts of what was checked.
struct Counts {
  int models = 0, values = 0, elements = 0, same = 0;
};

void CheckElements(const Tensor& tensor, const std::string& path, Counts* counts) {
  if (tensor.data_type == DataType::kString) return;
  const TensorBytes bytes = Bytes(tensor, path);
  EXPECT_EQ(static_cast<int64_t>(bytes.bytes().size()), ByteSize(tensor, path)) << path;
  ++counts->elements;
}

template <class M>
void CheckValue(const std::string& path, ByteSpan bytes, Counts* counts) {
  const M message = ReadMessage<M>(bytes, path);
  counts->same += CheckRoundTrip(message, bytes, path);
  if constexpr (std::is_same_v<M, Tensor>) CheckElements(message, path, counts);
}

// A file is named after its place among the inputs or outputs: input_0.pb.
void CheckData(const std::string& path, ByteSpan bytes, const Graph& graph, Counts* counts) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::vector<ValueInfo>& values = name.starts_with("input") ? graph.inputs : graph.outputs;
  const size_t index = std::stoul(name.substr(name.find('_') + 1));
  ASSERT_LT(index, values.size()) << path;
  ++counts->values;
  const Box<Type>& type = values[index].type;
  if (type && type->sequence_type) return CheckValue<Sequence>(path, bytes, counts);
  if (type && type->optional_type) return CheckValue<Optional>(path, bytes, counts);
  CheckValue<Tensor>(path, bytes, counts);
}

TEST(NodeTestsTest, AllAreWrittenAsTheyWereRead) {
  const std::string tar = NodeTestsTar();
  if (tar.empty()) GTEST_SKIP() << kMissing;
  const std::map<std::string, ByteSpan> files = FilesIn(tar);
  Counts counts;
  for (const auto& [path, bytes] : files) {
    if (!path.ends_with("/model.onnx")) continue;
    const Model model = ReadMessage<Model>(bytes, path);
    ++counts.models;
    counts.same += CheckRoundTrip(model, bytes, path);
    for (const Tensor& tensor : model.graph->initializers) CheckElements(tensor, path, &counts);
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (auto file = files.lower_bound(folder); file != files.end(); ++file) {
      if (!file->first.starts_with(folder)) break;
      if (file->first.ends_with(".pb")) CheckData(file->first, file->second, *model.graph, &counts);
    }
  }
  std::printf("%d models, %d values, the elements of %d tensors; %d the same when written anew\n",
              counts.models, counts.values, counts.elements, counts.same);
  EXPECT_GE(counts.models, 1000);
  EXPECT_GE(counts.values, 3000);
  EXPECT_GE(counts.elements, 3000);
  EXPECT_GE(counts.same, 3000);
}

}  // namespace
}  // namespace cgrun::onnx
