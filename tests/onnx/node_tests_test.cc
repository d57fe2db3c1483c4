// Every file of ONNX's node tests is read, and written as the same bytes. Where the origin of the
// messages is forgotten, all fields come back as well.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "src/onnx/message_reader.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/read.h"
#include "src/onnx/write.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

namespace fs = std::filesystem;

constexpr char kMissing[] =
    "CGRUN_SHARED_DATA names no folder with onnx-node-tests.tar.xz, or tar cannot read it";

// $CGRUN_SHARED_DATA/onnx-node-tests.tar.xz, unpacked into `folder`; false without it.
bool Unpack(const TempFolder& folder) {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) return false;
  const fs::path archive = fs::path(data) / "onnx-node-tests.tar.xz";
  if (!fs::exists(archive)) return false;
  const std::string command = "tar -xf '" + archive.string() + "' -C '" + folder.path() + "'";
  return std::system(command.c_str()) == 0;
}

// Takes the places of origin away, so that each message is written anew.
template <class T>
void Forget(T* value) {
  if constexpr (IsMessage<T>) {
    value->source = {};
    std::apply([&](const auto&... field) { (Forget(&(value->*field.member)), ...); }, kFields<T>);
  } else if constexpr (kIsBox<T>) {
    if (*value) Forget(&**value);
  } else if constexpr (kIsList<T>) {
    for (auto& item : *value) Forget(&item);
  }
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
void CheckValue(const fs::path& path, Counts* counts) {
  const MappedFile file(path.string());
  const M message = ReadMessage<M>(file.bytes(), path.string());
  counts->same += CheckRoundTrip(message, file.bytes(), path.string());
  if constexpr (std::is_same_v<M, Tensor>) CheckElements(message, path.string(), counts);
}

// A file is named after its place among the inputs or outputs: input_0.pb.
void CheckData(const fs::path& path, const std::vector<ValueInfo>& values, Counts* counts) {
  const std::string stem = path.stem().string();
  const size_t index = std::stoul(stem.substr(stem.find('_') + 1));
  ASSERT_LT(index, values.size()) << path;
  ++counts->values;
  const Box<Type>& type = values[index].type;
  if (type && type->sequence_type) return CheckValue<Sequence>(path, counts);
  if (type && type->optional_type) return CheckValue<Optional>(path, counts);
  CheckValue<Tensor>(path, counts);
}

TEST(NodeTestsTest, AllAreWrittenAsTheyWereRead) {
  const TempFolder folder;
  if (!Unpack(folder)) GTEST_SKIP() << kMissing;
  Counts counts;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() != ".onnx") continue;
    const OnnxFile file(entry.path().string());
    ++counts.models;
    const Model& model = file.model();
    counts.same += CheckRoundTrip(model, model.source, file.path());
    for (const Tensor& tensor : model.graph->initializers) {
      CheckElements(tensor, file.path(), &counts);
    }
    for (const fs::directory_entry& part :
         fs::recursive_directory_iterator(entry.path().parent_path())) {
      if (part.path().extension() != ".pb") continue;
      const bool input = part.path().filename().string().starts_with("input");
      CheckData(part.path(), input ? model.graph->inputs : model.graph->outputs, &counts);
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
