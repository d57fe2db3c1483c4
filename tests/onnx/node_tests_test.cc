// Every file of ONNX's node tests is read, and written as the same bytes. If the origin of the
// messages is forgotten, all fields come back as well.
#include "tests/onnx/node_tests.h"

#include <gtest/gtest.h>

#include <cstdio>
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
