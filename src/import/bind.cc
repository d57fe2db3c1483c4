// Reads the types of the inputs.
#include "src/import/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/diagnostics.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

class Binder {
 public:
  Binder(const onnx::OnnxFile& file, const ImportOptions& options)
      : file_(file), options_(options) {
    for (const onnx::Tensor& tensor : file.model().graph->initializers) given_.insert(tensor.name);
    for (const auto& [name, tensor] : options.constants) given_.insert(name);
  }

  Binding Run() {
    for (const onnx::ValueInfo& input : file_.model().graph->inputs) {
      if (!given_.contains(input.name)) Bind(input);
    }
    if (binding_.inputs.empty()) Fail("has no input that is fed");
    CheckNames();
    if (!unbound_.empty()) {
      Fail(fmt::format("has dimensions without a size: {}", fmt::join(unbound_, ", ")),
           fmt::format("give each a size: `{}`", fmt::join(flags_, " ")));
    }
    return std::move(binding_);
  }

 private:
  [[noreturn]] void Fail(const std::string& what, const std::string& help = "") const {
    throw InputError("'" + file_.path() + "' " + what, help);
  }
  [[noreturn]] void FailInput(const onnx::ValueInfo& input, const std::string& what,
                              const std::string& help = "") const {
    throw InputError("'" + file_.path() + "': input '" + onnx::Shown(input.name) + "' " + what,
                     help);
  }

  void Bind(const onnx::ValueInfo& input) {
    if (!input.type || !input.type->tensor_type) FailInput(input, "is no tensor");
    const onnx::TensorType& type = *input.type->tensor_type;
    const std::optional<DType> dtype = DTypeOfOnnx(type.elem_type);
    if (!dtype) {
      FailInput(input, "is " + onnx::NameOf(type.elem_type) + ", which is not supported",
                "supported are float, double, int64, int32, uint8 and bool");
    }
    if (!type.shape) FailInput(input, "has no shape");
    const std::vector<onnx::Dimension>& dims = type.shape->dims;
    if (dims.empty()) FailInput(input, "has no axis, so it has no batch dimension");
    BindBatch(input, dims[0]);
    std::vector<Dim> bound = {kBatchDim};
    for (size_t axis = 1; axis < dims.size(); ++axis) {
      bound.push_back(SizeOf(input, dims[axis], axis));
    }
    std::vector<int64_t> sizes;
    for (size_t axis = 1; axis < bound.size(); ++axis) sizes.push_back(bound[axis].size);
    if (!CheckedElements(sizes)) FailInput(input, "is too large");
    binding_.inputs.push_back({input.name, {*dtype, Shape(bound)}});
  }

  void BindBatch(const onnx::ValueInfo& input, const onnx::Dimension& dim) {
    if (dim.dim_value && *dim.dim_value > 0) {
      if (binding_.batch && *binding_.batch != *dim.dim_value) {
        FailInput(input,
                  fmt::format("has {} samples by its first dimension, and an input before it has "
                              "{}",
                              *dim.dim_value, *binding_.batch),
                  "the first dimension of each input is the batch");
      }
      if (!binding_.batch) Note("the batch is the first dimension", input);
      binding_.batch = *dim.dim_value;
      return;
    }
    const std::string name = dim.dim_param.value_or("");
    if (name.empty()) return;
    if (batch_name_.empty()) Note("the batch is '" + onnx::Shown(name) + "'", input);
    if (!batch_name_.empty() && name != batch_name_) {
      FailInput(input,
                "has the batch dimension '" + onnx::Shown(name) + "', and an input before it '" +
                    onnx::Shown(batch_name_) + "'",
                "the first dimension of each input is the batch");
    }
    batch_name_ = name;
  }

  void Note(const std::string& what, const onnx::ValueInfo& input) {
    binding_.lines.push_back(what + " of '" + onnx::Shown(input.name) + "'");
  }

  Dim SizeOf(const onnx::ValueInfo& input, const onnx::Dimension& dim, size_t axis) {
    if (dim.dim_value) {
      if (*dim.dim_value < 1) {
        FailInput(input, fmt::format("has {} elements along axis {}", *dim.dim_value, axis));
      }
      return Dim(*dim.dim_value);
    }
    const bool is_named = dim.dim_param && !dim.dim_param->empty();
    const std::string name = is_named ? *dim.dim_param : input.name + "." + std::to_string(axis);
    if (name == batch_name_) FailInput(input, "has the batch in two axes");
    known_.insert(name);
    const auto given = options_.dims.find(name);
    if (given != options_.dims.end()) {
      const std::string line = fmt::format("'{}' is {}", onnx::Shown(name), given->second);
      if (std::ranges::find(binding_.lines, line) == binding_.lines.end()) {
        binding_.lines.push_back(line);
      }
      return Dim(given->second);
    }
    if (told_.insert(name).second) {
      unbound_.push_back("'" + onnx::Shown(name) + "'");
      flags_.push_back("--dim " + onnx::Shown(name) + "=N");
    }
    return Dim(1);
  }

  void CheckNames() const {
    for (const auto& [name, size] : options_.dims) {
      if (known_.contains(name)) continue;
      if (name == batch_name_) {
        Fail("has '" + onnx::Shown(name) + "' as its batch dimension, which stays open",
             "`--batch` of other commands sets it");
      }
      Fail("has no dimension '" + onnx::Shown(name) + "'",
           SuggestName(name, std::vector<std::string>(known_.begin(), known_.end())));
    }
  }

  const onnx::OnnxFile& file_;
  const ImportOptions& options_;
  std::set<std::string, std::less<>> given_;  // inputs with a value
  Binding binding_;
  std::string batch_name_;
  std::set<std::string> known_, told_;
  std::vector<std::string> unbound_, flags_;
};

}  // namespace

Binding BindInputs(const onnx::OnnxFile& file, const ImportOptions& options) {
  return Binder(file, options).Run();
}

}  // namespace cgrun
