// ONNX models: read with all elements, also external ones, which the folder of the input does not
// have. An accepted file is written as the same bytes. A changed one comes back with the change,
// and nothing else is lost: written once more, it has the same bytes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "src/base/check.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/read.h"
#include "src/onnx/write.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun {
namespace {

constexpr size_t kMostSeeds = 300;  // node tests of the corpus

void TryElements(onnx::OnnxFile& file, const onnx::Tensor& tensor) {
  try {
    const onnx::TensorBytes bytes = file.Bytes(tensor);
    CGRUN_CHECK(bytes.bytes().size() == static_cast<size_t>(onnx::ByteSize(tensor, file.path())));
  } catch (const UserError& error) {
    CGRUN_CHECK(std::string_view(error.what()).find("/proc/self/fd") != std::string_view::npos);
  }
}

void TryGraph(onnx::OnnxFile& file, const onnx::Graph& graph) {
  for (const onnx::Tensor& tensor : graph.initializers) TryElements(file, tensor);
  for (const onnx::Node& node : graph.nodes) {
    for (const onnx::Attribute& attribute : node.attributes) {
      if (attribute.t) TryElements(file, *attribute.t);
      if (attribute.g) TryGraph(file, *attribute.g);
    }
  }
}

// Changes every part that has a name.
void CheckChanges(onnx::Model model, const std::string& path) {
  model.producer_name += "x";
  onnx::Graph& graph = *model.graph;
  if (!graph.nodes.empty()) graph.nodes.back().name += "x";
  if (!graph.inputs.empty()) graph.inputs.front().name += "x";
  const std::string changed = onnx::WriteMessage(model);
  const auto again = onnx::ReadMessage<onnx::Model>(onnx::AsSpan(changed), path);
  CGRUN_CHECK(again.producer_name == model.producer_name);
  CGRUN_CHECK(again.graph->nodes.size() == graph.nodes.size());
  CGRUN_CHECK(again.graph->initializers.size() == graph.initializers.size());
  CGRUN_CHECK(onnx::WriteMessage(again) == changed);
  CGRUN_CHECK(onnx::WriteMessage(model) == changed);
}

std::string Convolution() {
  using namespace onnx;
  const std::string attributes =
      Bytes(5, Bytes(1, "pads") + Number(8, 1) + Number(8, 1) + Number(20, 7)) +
      Bytes(5, Bytes(1, "alpha") + Float(2, 0.5f) + Number(20, 1));
  const std::string node = Bytes(1, "x") + Bytes(1, "w") + Bytes(2, "y") + Bytes(3, "conv1") +
                           Bytes(4, "Conv") + attributes;
  const std::string shape = Bytes(1, Number(1, 3)) + Bytes(1, Bytes(2, "N"));
  const std::string value = Bytes(1, "x") + Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, shape)));
  return ModelOf(
      Bytes(1, node) + Bytes(2, "g") +
      Bytes(5, TensorHead("w", DataType::kFloat, {1, 2}) + Bytes(9, std::string(8, 'f'))) +
      Bytes(5, TensorHead("i", DataType::kInt64, {2}) + Bytes(7, Varint(300) + Varint(1))) +
      Bytes(5, TensorHead("q", DataType::kInt4, {3}) + Bytes(5, Varint(0x21) + Varint(3))) +
      Bytes(11, value) + Bytes(99, "later"));
}

std::string Subgraphs() {
  using namespace onnx;
  std::string graph = Bytes(2, "innermost");
  for (int i = 0; i < 15; ++i) {
    graph = Bytes(1, Bytes(4, "If") + Bytes(5, Bytes(1, "then_branch") + Bytes(6, graph)));
  }
  return ModelOf(graph);
}

std::string ExternalData() {
  using namespace onnx;
  return ModelOf(
      Bytes(5, ExternalTensor(
                   {{"location", "w.bin"}, {"offset", "0"}, {"length", "4"}, {"checksum", "x"}})));
}

// Small node tests, where $CGRUN_NODE_TESTS names the folder of the unpacked archive.
void AddNodeTests(std::vector<std::string>* inputs) {
  const char* folder = std::getenv("CGRUN_NODE_TESTS");
  if (folder == nullptr) return;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx" && entry.file_size() < 2000)
      paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  const size_t step = paths.size() / kMostSeeds + 1;
  for (size_t i = 0; i < paths.size(); i += step) inputs->push_back(ReadBytes(paths[i].string()));
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  std::optional<onnx::OnnxFile> file;
  WithFile(input, [&](const std::string& path) {
    try {
      file.emplace(path);
    } catch (const UserError& error) {
      CheckError(error, path);
      return;
    }
    CGRUN_CHECK(onnx::WriteMessage(file->model()) == TextOf(input));
    TryGraph(*file, *file->model().graph);
    CheckChanges(file->model(), path);
  });
  return file.has_value();
}

std::vector<std::string> GoodInputs() {
  std::vector<std::string> inputs = {Convolution(), Subgraphs(), ExternalData()};
  AddNodeTests(&inputs);
  return inputs;
}

std::vector<std::string> RefusedInputs() {
  using namespace onnx;
  return {ModelOf(Bytes(1, Bytes(3, "n") + Bytes(5, Bytes(1, "a") + Bytes(2, "wrong type")))),
          ModelOf(Bytes(2, "g")) + Bytes(7, ""),
          ModelOf(Bytes(11, Bytes(2, Bytes(1, "") + Bytes(4, "")))), Number(1, 8)};
}

}  // namespace cgrun
