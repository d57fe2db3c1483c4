// Named tensors in a file, read one after the other, whatever its format is.
#ifndef CGRUN_IO_TENSOR_FILE_H_
#define CGRUN_IO_TENSOR_FILE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/shape.h"

namespace cgrun {

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;  // bound
};

// Every call may throw UserError, which names the file and the fault. At most as many of the calls
// that pass to the next tensor as there are tensors.
class TensorFile {
 public:
  virtual ~TensorFile() = default;

  // In the order in which they are read.
  virtual const std::vector<TensorSpec>& tensors() const = 0;

  virtual void Skip() = 0;
  // Reads the next tensor, row by row, into `plain`, which has its bytes.
  virtual void ReadTo(std::span<std::byte> plain) = 0;
  // Passes the bytes of the next tensor to `take`, in parts of whole elements, 16 KiB at most.
  virtual void ReadParts(const std::function<void(std::span<const std::byte> part)>& take) = 0;
};

}  // namespace cgrun

#endif  // CGRUN_IO_TENSOR_FILE_H_
