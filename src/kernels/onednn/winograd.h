// Convolutions of 3 × 3 elements by Winograd's algorithm, F(4 × 4, 3 × 3): tiles of 6 × 6 elements
// are transformed, multiplied and transformed back, which takes a quarter of the multiplications
// and more memory. Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016
// (arXiv 1509.09308). Its sums differ from those of the definition in their rounding: by 1e-6 of
// what they are, as measured on up to 512 channels.
#ifndef CGRUN_KERNELS_ONEDNN_WINOGRAD_H_
#define CGRUN_KERNELS_ONEDNN_WINOGRAD_H_

#include <algorithm>

#include "src/ir/signature.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {

// Returns whether a convolution or a gradient of one is of the kind that the algorithm is for.
template <class ConvLike>
bool IsForWinograd(DType dtype, const ConvLike& conv) {
  const auto all = [](const IntList& sizes, int64_t wanted) {
    return std::ranges::all_of(sizes, [wanted](int64_t size) { return size == wanted; });
  };
  return dtype == DType::kF32 && conv.groups == 1 && all(conv.kernel, 3) && all(conv.stride, 1) &&
         all(conv.dilation, 1);
}

// Estimates the time of the convolution from images `x` to images `y`, or of its gradients.
// `direct` is how long one thread takes by the definition.
double WinogradSeconds(const Shape& x, const Shape& y, double direct, int threads);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_WINOGRAD_H_
