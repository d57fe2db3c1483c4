// Constants are the values of an ONNX graph that are known before the model runs.
#ifndef CGRUN_IMPORT_CONSTANT_H_
#define CGRUN_IMPORT_CONSTANT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/host_tensor.h"
#include "src/base/shape.h"
#include "src/onnx/model.h"
#include "src/onnx/number_types.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// An initialiser, the tensor of a node Constant, or what was folded.
struct Constant {
  onnx::DataType type = onnx::DataType::kUndefined;
  std::vector<int64_t> dims;
  std::string name;                        // in the file; "" of what was folded
  const onnx::Tensor* tensor = nullptr;    // its elements lie in the file, in the order of `dims`
  std::optional<std::vector<Dim>> folded;  // or else these: sizes may depend on the batch
  std::shared_ptr<const onnx::Tensor> owned = nullptr;  // `tensor`, where no file has it
};

// Returns a tensor as a constant. InputError where its dimensions and its data disagree.
Constant ConstantOf(const onnx::Tensor& tensor, const onnx::OnnxFile& file);
// Returns a constant that owns its elements.
Constant ConstantOf(HostTensor tensor);

// The elements of a constant, copied; nothing where cgrun does not have the type, and for sizes
// that depend on the batch.
std::optional<HostTensor> HostOf(const Constant& constant, onnx::OnnxFile& file);

// The product of `dims`, which ConstantOf() has checked.
int64_t ElementsOf(const Constant& constant);

// The integers of a constant of integers or truth values, as dimensions that may depend on the
// batch. Returns nothing for other types, and above the budget of folding, 64 KiB.
std::optional<std::vector<Dim>> SizesOf(const Constant& constant, onnx::OnnxFile& file);

// The same where none depends on the batch.
std::optional<std::vector<int64_t>> IntegersOf(const Constant& constant, onnx::OnnxFile& file);

// The number of a constant of one element.
std::optional<double> NumberOf(const Constant& constant, onnx::OnnxFile& file);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_CONSTANT_H_
