// Convolution as products of matrices: the patches of one group of one image as a matrix.
#ifndef CGRUN_KERNELS_CPU_CONV_PATCHES_H_
#define CGRUN_KERNELS_CPU_CONV_PATCHES_H_

#include "src/kernels/conv_sizes.h"
#include "src/kernels/kernel.h"
#include "src/ops/conv.h"

namespace cgrun::cpu {

struct ConvPatches : ConvSizes {
  // Elements of the patches of one group of one image: [taps, output_plane].
  int64_t elements() const { return taps() * output_plane(); }
  // Returns whether the image itself is that matrix: a 1×1 kernel with nothing around it.
  bool IsImage() const;
  int64_t WorkspaceBytes(DType dtype) const { return IsImage() ? 0 : elements() * SizeOf(dtype); }
};

// `supports` of kernels on it: f32 or f64, no empty tensor, and sizes that OpenBLAS takes.
bool FitsBlas(const NodeSignature& node);
inline constexpr double kBlasConvFlopsPerSecond = 20e9;  // patches and products, one thread

// patches[(c, u, v)][output] ← what that output reads of `image` at (c, u, v); 0 on padding.
template <class T>
void GatherPatches(const ConvPatches& p, const T* image, T* patches) noexcept;

// The transposed operation: image ← Σ of the patches that read each element.
template <class T>
void ScatterPatches(const ConvPatches& p, const T* patches, T* image) noexcept;

// Goes from outputs back to images, all of them: patches ← weightᵀ·dy, scattered to dx. `workspace`
// has room for the patches of one group of one image. If these are the image, it is not used.
template <class T>
void MultiplyTransposed(const ConvPatches& p, const T* dy, const T* weight, T* dx,
                        T* workspace) noexcept;

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CONV_PATCHES_H_
