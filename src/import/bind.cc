// Reads the types of the inputs.
#include "src/import/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/diagnostics.h"
#include "src/base/tensor_text.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

// Some exporters call every dimension that they do not know '?', so it says nothing.
bool IsAnonymous(const std::string& name) { return name.empty() || name == "?"; }

class Binder {
 public:
  Binder(const onnx::OnnxFile& file, const ImportOptions& options, BatchAxis batch)
      : file_(file), options_(options), batch_(batch) {
    for (const onnx::Tensor& tensor : file.model().graph->initializers) given_.insert(tensor.name);
    for (const auto& [name, tensor] : options.constants) given_.insert(name);
  }

  BoundInputs Run() {
    for (const onnx::ValueInfo& input : file_.model().graph->inputs) {
      if (options_.constants.contains(input.name)) {
        BindConstant(input);
      } else if (!given_.contains(input.name)) {
        Bind(input);
      }
    }
    if (binding_.inputs.empty()) Fail("has no input that is fed");
    CheckNames();
    if (!unbound_.empty()) {
      throw UnboundDimensions(
          "'" + file_.path() + "' " +
              fmt::format("has dimensions without a size: {}", fmt::join(unbound_, ", ")),
          fmt::format("give each a size: `{}`", fmt::join(flags_, " ")), names_);
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

  DType DTypeOf(const onnx::ValueInfo& input) const {
    if (!input.type || !input.type->tensor_type) FailInput(input, "is no tensor");
    const onnx::TensorType& type = *input.type->tensor_type;
    const std::optional<DType> dtype = DTypeOfOnnx(type.elem_type);
    if (dtype) return *dtype;
    FailInput(input, "is " + onnx::NameOf(type.elem_type) + ", which is not supported",
              "supported are floats of 16, 32 and 64 bits, integers of 8 to 64 bits, and bool");
  }

  void Bind(const onnx::ValueInfo& input) {
    const DType dtype = DTypeOf(input);
    const onnx::TensorType& type = *input.type->tensor_type;
    if (!type.shape) FailInput(input, "has no shape");
    const std::vector<onnx::Dimension>& dims = type.shape->dims;
    const bool has_batch = batch_ == BatchAxis::kFirst && !dims.empty();
    if (has_batch) BindBatch(input, dims[0]);
    std::vector<int64_t> sizes;
    for (size_t axis = has_batch ? 1 : 0; axis < dims.size(); ++axis) {
      sizes.push_back(SizeOf(input, dims[axis], axis));
    }
    if (!CheckedElements(sizes)) FailInput(input, "is too large");
    std::vector<Dim> bound(sizes.begin(), sizes.end());
    if (has_batch) bound.insert(bound.begin(), kBatchDim);
    binding_.inputs.push_back({input.name, {dtype, Shape(bound)}, has_batch});
  }

  // An input that `--const` gives a value.
  void BindConstant(const onnx::ValueInfo& input) {
    const GivenConstant& given = options_.constants.at(input.name);
    const DType dtype = DTypeOf(input);
    std::optional<HostTensor> value =
        given.tensor ? ConvertTensor(*given.tensor, dtype) : ParseTensor(given.text, dtype);
    if (!value) {
      FailInput(input,
                "is " + std::string(Name(dtype)) + ", and `--const` gives it " +
                    (given.tensor ? "other numbers" : "'" + onnx::Shown(given.text) + "'"),
                "write a number, a list such as `[1, 2]`, or the name of an .npy file");
    }
    CheckSizes(input, value->shape());
    binding_.lines.push_back("'" + onnx::Shown(input.name) + "' is constant");
    Constant constant = ConstantOf(*std::move(value));
    constant.name = input.name;
    binding_.constants.emplace(input.name, std::move(constant));
  }

  // The sizes that the file declares must be those of the value.
  void CheckSizes(const onnx::ValueInfo& input, const Shape& shape) const {
    const onnx::TensorType& type = *input.type->tensor_type;
    if (!type.shape) return;
    const std::vector<onnx::Dimension>& dims = type.shape->dims;
    bool fits = static_cast<int>(dims.size()) == shape.rank();
    for (int axis = 0; fits && axis < shape.rank(); ++axis) {
      const onnx::Dimension& dim = dims[static_cast<size_t>(axis)];
      fits = !dim.dim_value || *dim.dim_value < 1 || *dim.dim_value == shape[axis].size;
    }
    if (fits) return;
    FailInput(input, "has " + std::to_string(dims.size()) + " axes, and `--const` gives it " +
                         shape.ToString());
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
    if (IsAnonymous(name)) return;
    if (options_.dims.contains(name)) FailInput(input, "has a batch to which `--dim` gives a size");
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

  int64_t SizeOf(const onnx::ValueInfo& input, const onnx::Dimension& dim, size_t axis) {
    // Some exporters write -1 for a size that is open.
    if (dim.dim_value && *dim.dim_value >= 0) {
      if (*dim.dim_value == 0) FailInput(input, fmt::format("has 0 elements along axis {}", axis));
      return *dim.dim_value;
    }
    const std::string own = dim.dim_param.value_or("");
    const std::string by_axis = input.name + "." + std::to_string(axis);
    // One `--dim ?=48` may stand for all that are called so.
    if (!own.empty()) known_.insert(own);
    const bool is_named = !IsAnonymous(own) || options_.dims.contains(own);
    const std::string name = is_named && !options_.dims.contains(by_axis) ? own : by_axis;
    if (!batch_name_.empty() && name == batch_name_) FailInput(input, "has the batch in two axes");
    known_.insert(name);
    const auto given = options_.dims.find(name);
    if (given != options_.dims.end()) {
      const std::string line = fmt::format("'{}' is {}", onnx::Shown(name), given->second);
      if (std::ranges::find(binding_.lines, line) == binding_.lines.end()) {
        binding_.lines.push_back(line);
      }
      return given->second;
    }
    if (told_.insert(name).second) {
      names_.push_back(name);
      unbound_.push_back("'" + onnx::Shown(name) + "'");
      flags_.push_back("--dim " + onnx::Shown(name) + "=N");
    }
    return 1;
  }

  void CheckNames() const {
    std::vector<std::string> inputs;
    for (const onnx::ValueInfo& input : file_.model().graph->inputs) inputs.push_back(input.name);
    for (const auto& [name, constant] : options_.constants) {
      if (binding_.constants.contains(name)) continue;
      Fail("has no input '" + onnx::Shown(name) + "' for `--const`", SuggestName(name, inputs));
    }
    for (const auto& [name, size] : options_.dims) {
      if (known_.contains(name)) continue;
      Fail("has no dimension '" + onnx::Shown(name) + "'",
           SuggestName(name, std::vector<std::string>(known_.begin(), known_.end())));
    }
  }

  const onnx::OnnxFile& file_;
  const ImportOptions& options_;
  BatchAxis batch_;
  std::set<std::string, std::less<>> given_;  // inputs with a value
  BoundInputs binding_;
  std::string batch_name_;
  std::set<std::string> known_, told_;
  std::vector<std::string> names_, unbound_, flags_;
};

}  // namespace

BoundInputs BindInputs(const onnx::OnnxFile& file, const ImportOptions& options, BatchAxis batch) {
  return Binder(file, options, batch).Run();
}

}  // namespace cgrun
