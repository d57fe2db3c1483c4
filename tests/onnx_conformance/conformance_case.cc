// Tries the ways of importing a model, one after the other.
#include "tests/onnx_conformance/conformance_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/import/constant.h"
#include "src/onnx/read.h"
#include "src/onnx/tensor_bytes.h"
#include "tests/onnx_conformance/run_imported.h"

namespace cgrun {
namespace {

constexpr double kRelative = 1e-3, kAbsolute = 1e-5;

constexpr std::array<std::string_view, 11> kOutOfScope = {"If",
                                                          "Loop",
                                                          "Scan",
                                                          "NonZero",
                                                          "Unique",
                                                          "Compress",
                                                          "ImageDecoder",
                                                          "SequenceMap",
                                                          "NonMaxSuppression",
                                                          "OptionalGetElement",
                                                          "OptionalHasElement"};

bool IsTensorInScope(const onnx::ValueInfo& value) {
  if (!value.type || !value.type->tensor_type) return false;
  using onnx::DataType;
  const DataType type = value.type->tensor_type->elem_type;
  constexpr std::array kTypes = {DataType::kFloat,    DataType::kDouble, DataType::kFloat16,
                                 DataType::kBfloat16, DataType::kInt8,   DataType::kUint8,
                                 DataType::kInt32,    DataType::kInt64,  DataType::kBool};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

bool IsNodeInScope(const onnx::Node& node) {
  const bool is_standard = node.domain.empty() || node.domain == "ai.onnx";
  return is_standard && std::ranges::find(kOutOfScope, node.op_type) == kOutOfScope.end();
}

HostTensor ToHost(const onnx::Tensor& tensor, const std::string& path) {
  const onnx::TensorBytes bytes = onnx::Bytes(tensor, path);  // checks the sizes
  HostTensor host(*DTypeOfOnnx(tensor.data_type), Shape::Of(tensor.dims));
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

// Returns whether an input but the first has no elements: it can be a constant alone.
bool IsEmptyBehindFirst(const std::vector<onnx::ValueInfo>& declared,
                        const std::map<std::string, HostTensor>& inputs) {
  for (size_t i = 1; i < declared.size(); ++i) {
    const auto input = inputs.find(declared[i].name);
    if (input != inputs.end() && input->second.elements() == 0) return true;
  }
  return false;
}

// Errors without the path of the model, so that equal ones can be counted.
std::string WithoutPath(std::string text, const std::string& path) {
  for (const std::string& name : {"'" + path + "': ", "'" + path + "' "}) {
    if (text.starts_with(name)) text = text.substr(name.size());
  }
  return text;
}

}  // namespace

ConformanceCase::ConformanceCase(const std::string& model, ReadTestFile read)
    : file_(model), read_(std::move(read)) {}

ConformanceKind ConformanceCase::Kind() const {
  const onnx::Graph& graph = *file_.model().graph;
  ConformanceKind kind{graph.nodes.size() == 1 ? graph.nodes[0].op_type : "several operators",
                       true};
  kind.in_scope = std::ranges::all_of(graph.nodes, IsNodeInScope) &&
                  std::ranges::all_of(graph.inputs, IsTensorInScope) &&
                  std::ranges::all_of(graph.outputs, IsTensorInScope);
  return kind;
}

std::optional<ConformanceCase::Tensors> ConformanceCase::ReadValues(
    const std::string& set, const std::string& kind,
    const std::vector<onnx::ValueInfo>& values) const {
  Tensors tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string path = fmt::format("{}/{}_{}.pb", set, kind, i);
    const std::optional<std::string> bytes = read_(path);
    if (!bytes) return std::nullopt;
    try {
      const auto tensor = onnx::ReadMessage<onnx::Tensor>(std::as_bytes(std::span(*bytes)), path);
      if (!DTypeOfOnnx(tensor.data_type)) return std::nullopt;
      tensors.emplace(values[i].name, ToHost(tensor, path));
    } catch (const UserError&) {
      return std::nullopt;
    }
  }
  return tensors;
}

std::map<std::string, int64_t> ConformanceCase::SizesOf(const Tensors& inputs) const {
  std::map<std::string, int64_t> sizes;
  for (const onnx::ValueInfo& input : file_.model().graph->inputs) {
    if (!input.type || !input.type->tensor_type || !input.type->tensor_type->shape) continue;
    const auto& dims = input.type->tensor_type->shape->dims;
    const Shape& shape = inputs.at(input.name).shape();
    for (size_t i = 0; i < dims.size() && static_cast<int>(i) < shape.rank(); ++i) {
      if (dims[i].dim_param) sizes[*dims[i].dim_param] = shape[static_cast<int>(i)].size;
    }
  }
  return sizes;
}

std::optional<ImportedModel> ConformanceCase::Import(Tensors* inputs, std::string* reason) {
  const auto& declared = file_.model().graph->inputs;
  for (const auto& [freezes, sizes] :
       {std::pair(false, false), std::pair(false, true), std::pair(true, true)}) {
    if (!freezes && IsEmptyBehindFirst(declared, *inputs)) continue;
    ImportOptions options;
    if (sizes) options.dims = SizesOf(*inputs);
    for (size_t i = 1; freezes && i < declared.size(); ++i) {
      options.constants[declared[i].name] = {"", inputs->at(declared[i].name)};
    }
    try {
      ImportedModel model = ImportOnnx(file_, options);
      for (const auto& [name, constant] : options.constants) inputs->erase(name);
      return model;
    } catch (const UserError& error) {
      *reason = WithoutPath(error.what(), file_.path());
    }
  }
  return std::nullopt;
}

Outcome ConformanceCase::RunSet(const std::string& set) {
  const onnx::Graph& graph = *file_.model().graph;
  auto inputs = ReadValues(set, "input", graph.inputs);
  const auto wanted = ReadValues(set, "output", graph.outputs);
  if (!inputs || !wanted) return {Verdict::kLeftOut, "values of other kinds or types"};
  Outcome outcome;
  const std::optional<ImportedModel> model = Import(&*inputs, &outcome.reason);
  if (!model) return {Verdict::kLeftOut, outcome.reason};
  int64_t batch = 1;
  for (const auto& [name, tensor] : *inputs) {
    if (model->has_batch && tensor.shape().rank() > 0) batch = tensor.shape()[0].size;
  }
  if (batch == 0) return {Verdict::kLeftOut, "a batch without samples"};
  for (const Mode mode : {Mode::kGraph, Mode::kEager}) {
    const char* const name = mode == Mode::kGraph ? "graph mode" : "eager mode";
    try {
      const auto outputs = RunImported(*model, file_, *inputs, batch, mode);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string difference = Difference(outputs[i], wanted->at(graph.outputs[i].name));
        if (!difference.empty()) return {Verdict::kFailed, name + (": " + difference)};
      }
    } catch (const UserError& error) {
      return {Verdict::kFailed, name + std::string(": ") + error.what()};
    }
  }
  return {};
}

Outcome ConformanceCase::Run() {
  for (int i = 0;; ++i) {
    const std::string set = fmt::format("test_data_set_{}", i);
    if (!read_(set + "/output_0.pb")) {
      return i > 0 ? Outcome() : Outcome{Verdict::kLeftOut, "it has no data"};
    }
    const Outcome outcome = RunSet(set);
    if (outcome.verdict != Verdict::kPassed) return outcome;
  }
}

}  // namespace cgrun
