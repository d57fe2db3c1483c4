// Lists the kernels of fused nodes: those of every file that has one for several operators.
#include "src/kernels/cpu/elementwise_chain.h"
#include "src/kernels/cpu/is_weight_product.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/linear_product.h"
#include "src/kernels/cpu/reduced_chain.h"
#include "src/kernels/cpu/tiled_conv.h"

namespace cgrun::cpu {

std::vector<KernelDef> fused() {
  std::vector<KernelDef> kernels = {elementwise_chain(), reduced_chain()};
  for (const auto& make :
       {activated_linear, activated_depthwise_conv, activated_direct_conv, tiled_fused_conv,
        tiled_conv_max_pool, tiled_unpooled_input_grad, tiled_unpooled_weight_grad, unpooled_sum,
        add_by_product, sgd_by_product, adam_by_product, adamw_by_product, rmsprop_by_product,
        adagrad_by_product}) {
    for (const KernelDef& kernel : make()) kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace cgrun::cpu
