// Declares the kernels by oneDNN: convolution with its gradients and its transpose, products of
// bf16 matrices, and reorder.
#ifndef CGRUN_KERNELS_ONEDNN_CONV_H_
#define CGRUN_KERNELS_ONEDNN_CONV_H_

#include "src/kernels/kernel.h"

namespace cgrun::onednn {

KernelDef conv();
KernelDef fused_conv();      // with what post_operators.h knows behind it
KernelDef winograd();        // conv by Winograd's algorithm …
KernelDef fused_winograd();  // … and with what is behind it
KernelDef conv_input_grad();
KernelDef winograd_input_grad();
KernelDef conv_weight_grad();
KernelDef winograd_weight_grad();
KernelDef pointwise_input_grad();  // of a convolution of 1 × 1 in bf16, on tiles
KernelDef weight_products();       // conv_weight_grad in bf16, on tiles
KernelDef conv_transpose();
KernelDef linear();  // of bf16
KernelDef matmul();  // of two matrices of bf16
KernelDef reorder();

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_CONV_H_
