// What is imported of ONNX's node tests gives their outputs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/read.h"
#include "tests/import/imported_model.h"
#include "tests/io/test_files.h"
#include "tests/onnx/node_tests.h"

namespace cgrun {
namespace {

constexpr double kRelative = 1e-3, kAbsolute = 1e-5;

struct Counts {
  int passed = 0, failed = 0;
  std::map<std::string, int> left_out;  // by the reason
};

// The tensor of a file "input_0.pb"; nothing for other kinds of values and for types that cgrun
// does not have.
std::optional<onnx::Tensor> ReadTensor(onnx::ByteSpan bytes, const std::string& path) {
  try {
    onnx::Tensor tensor = onnx::ReadMessage<onnx::Tensor>(bytes, path);
    if (DTypeOfOnnx(tensor.data_type)) return tensor;
  } catch (const UserError&) {
  }
  return std::nullopt;
}

HostTensor ToHost(const onnx::Tensor& tensor, const std::string& path) {
  HostTensor host(*DTypeOfOnnx(tensor.data_type), Shape::Of(tensor.dims));
  const onnx::TensorBytes bytes = onnx::Bytes(tensor, path);
  std::ranges::copy(bytes.bytes(), host.bytes().begin());
  return host;
}

// "" where the two agree.
std::string Difference(const HostTensor& got, const HostTensor& wanted) {
  if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape()) {
    return fmt::format("{}{} instead of {}{}", Name(got.dtype()), got.shape().ToString(),
                       Name(wanted.dtype()), wanted.shape().ToString());
  }
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double a = got.At(i), b = wanted.At(i);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::abs(a - b) <= kAbsolute + kRelative * std::abs(b))) {
      return fmt::format("element {} is {} instead of {}", i, a, b);
    }
  }
  return "";
}

// One test: a model, with inputs and outputs by their place.
class NodeTest {
 public:
  NodeTest(const std::map<std::string, onnx::ByteSpan>& files, const std::string& folder)
      : files_(files), folder_(folder), path_(scratch_.path() + "/model.onnx") {
    const std::string model(onnx::TextOf(files.at(folder + "/model.onnx")));
    std::ofstream(path_, std::ios::binary) << model;
  }

  void Run(Counts* counts) {
    std::string reason;
    try {
      file_.emplace(path_);
      if (!ReadInputs()) return Leave("values of other kinds or types", counts);
      const std::optional<ImportedModel> model = Import(&reason);
      if (!model) return Leave(reason, counts);
      Compare(*model, counts);
    } catch (const UserError& error) {
      Leave(error.what(), counts);
    }
  }

  std::string op_type() const {
    const auto& nodes = file_->model().graph->nodes;
    return nodes.empty() ? "" : nodes.back().op_type;
  }

 private:
  void Leave(std::string reason, Counts* counts) {
    for (const std::string& name : {"'" + path_ + "': ", "'" + path_ + "' "}) {
      if (reason.starts_with(name)) reason = reason.substr(name.size());
    }
    ++counts->left_out[reason];
  }

  const onnx::ByteSpan* Find(const std::string& name) const {
    const auto found = files_.find(folder_ + "/test_data_set_0/" + name);
    return found == files_.end() ? nullptr : &found->second;
  }

  bool ReadInputs() {
    const auto& inputs = file_->model().graph->inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const onnx::ByteSpan* bytes = Find(fmt::format("input_{}.pb", i));
      const bool is_tensor = inputs[i].type && inputs[i].type->tensor_type;
      const auto tensor = bytes && is_tensor ? ReadTensor(*bytes, path_) : std::nullopt;
      if (!tensor) return false;
      tensors_.emplace(inputs[i].name, *tensor);
    }
    return true;
  }

  // Returns the sizes of the named dimensions of the inputs.
  std::map<std::string, int64_t> DimsOfData() const {
    std::map<std::string, int64_t> sizes;
    for (const onnx::ValueInfo& input : file_->model().graph->inputs) {
      if (!input.type || !input.type->tensor_type || !input.type->tensor_type->shape) continue;
      const auto& dims = input.type->tensor_type->shape->dims;
      const onnx::Tensor& tensor = tensors_.at(input.name);
      for (size_t i = 0; i < dims.size() && i < tensor.dims.size(); ++i) {
        if (dims[i].dim_param) sizes[*dims[i].dim_param] = tensor.dims[i];
      }
    }
    return sizes;
  }

  // As the file is, or else with all inputs but the first as constants.
  std::optional<ImportedModel> Import(std::string* reason) {
    const auto& inputs = file_->model().graph->inputs;
    for (const auto& [frozen, sized] :
         {std::pair(false, false), std::pair(false, true), std::pair(true, true)}) {
      ImportOptions options;
      for (size_t i = 1; frozen && i < inputs.size(); ++i) {
        options.constants[inputs[i].name] = {"", ToHost(tensors_.at(inputs[i].name), path_)};
      }
      if (sized) options.dims = DimsOfData();
      try {
        ImportedModel model = ImportOnnx(*file_, options);
        for (const auto& [name, tensor] : tensors_) {
          if (!options.constants.contains(name)) feeds_.emplace(name, ToHost(tensor, path_));
        }
        return model;
      } catch (const UserError& error) {
        *reason = error.what();
      }
    }
    return std::nullopt;
  }

  // The samples of the first input that has some.
  int64_t BatchOf(const ImportedModel& model) const {
    for (const auto& [name, tensor] : feeds_) {
      if (model.has_batch && tensor.shape().rank() > 0) return tensor.shape()[0].size;
    }
    return 1;
  }

  void Compare(const ImportedModel& model, Counts* counts) {
    const std::vector<HostTensor> outputs = Predict(model, *file_, feeds_, BatchOf(model));
    std::string difference;
    for (size_t i = 0; i < outputs.size() && difference.empty(); ++i) {
      const onnx::ByteSpan* bytes = Find(fmt::format("output_{}.pb", i));
      ASSERT_NE(bytes, nullptr) << folder_;
      const auto wanted = ReadTensor(*bytes, path_);
      ASSERT_TRUE(wanted.has_value()) << folder_;
      difference = Difference(outputs[i], ToHost(*wanted, path_));
    }
    EXPECT_EQ(difference, "") << folder_ << "\n" << ToYaml(model.tree);
    ++(difference.empty() ? counts->passed : counts->failed);
  }

  const std::map<std::string, onnx::ByteSpan>& files_;
  std::string folder_;
  TempFolder scratch_;
  std::string path_;
  std::optional<onnx::OnnxFile> file_;
  std::map<std::string, onnx::Tensor> tensors_;
  std::map<std::string, HostTensor> feeds_;
};

void Print(const std::map<std::string, Counts>& by_operator) {
  int passed = 0, left_out = 0;
  for (const auto& [op, counts] : by_operator) {
    int left = 0;
    for (const auto& [reason, count] : counts.left_out) left += count;
    passed += counts.passed;
    left_out += left;
    if (counts.passed + counts.failed == 0) continue;
    std::printf("%-24s %3d passed %3d failed %3d left out\n", op.c_str(), counts.passed,
                counts.failed, left);
    for (const auto& [reason, count] : counts.left_out) {
      std::printf("    %3d: %.150s\n", count, reason.c_str());
    }
  }
  std::printf("%d of %d passed, %d left out\n", passed, passed + left_out, left_out);
}

TEST(NodeTestsImportTest, WhatIsImportedGivesTheOutputsOfTheTest) {
  const std::string tar = onnx::NodeTestsTar();
  if (tar.empty()) GTEST_SKIP() << onnx::kMissing;
  const std::map<std::string, onnx::ByteSpan> files = onnx::FilesIn(tar);
  std::map<std::string, Counts> by_operator;
  int passed = 0;
  for (const auto& [path, bytes] : files) {
    if (!path.starts_with("node/") || !path.ends_with("/model.onnx")) continue;
    NodeTest test(files, path.substr(0, path.rfind('/')));
    Counts counts;
    test.Run(&counts);
    passed += counts.passed;
    Counts& all = by_operator[test.op_type()];
    all.passed += counts.passed;
    all.failed += counts.failed;
    for (const auto& [reason, count] : counts.left_out) all.left_out[reason] += count;
  }
  Print(by_operator);
  EXPECT_GE(passed, 1151);
}

}  // namespace
}  // namespace cgrun
