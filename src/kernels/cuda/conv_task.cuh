// Describes a convolution to the libraries that run it.
#ifndef CGRUN_KERNELS_CUDA_CONV_TASK_CUH_
#define CGRUN_KERNELS_CUDA_CONV_TASK_CUH_

#include <algorithm>
#include <climits>

#include "src/base/dtype.h"
#include "src/kernels/conv_sizes.h"

namespace cgrun::cuda {

// Says which of a convolution's three tensors is made of the other two.
enum class ConvResult { kOutput, kInput, kWeight };

// Describes a convolution from x to y. A bias may be added to y.
struct ConvTask {
  ConvResult result = ConvResult::kOutput;
  ConvSizes sizes;
  DType dtype = DType::kF32;
  bool bias = false;
  int64_t workspace_bytes = 0;  // from a multiple of kLibraryAlignment
  bool tf32 = false;            // of f32, whose factors may be rounded to TF32

  int64_t input_elements() const { return sizes.images * sizes.groups * sizes.group_input(); }
  int64_t output_elements() const { return sizes.images * sizes.groups * sizes.group_output(); }
  int64_t weight_elements() const { return sizes.groups * sizes.group_weight(); }
  // The libraries count elements in 32 bits.
  bool FitsInt() const {
    return std::max({input_elements(), output_elements(), weight_elements()}) <= INT_MAX;
  }
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CONV_TASK_CUH_
