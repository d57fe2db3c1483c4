// The table of oneDNN's kernels, a line each.
#include "src/kernels/onednn/kernels.h"

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {

bool IsBuilt() { return true; }

std::string Version() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch) + ", instruction set " +
         std::to_string(static_cast<int>(dnnl::get_effective_cpu_isa()));
}

std::vector<Entry> Kernels() {
  return {{OpId::conv, conv()},
          {OpId::fused, fused_conv()},
          {OpId::conv_input_grad, conv_input_grad()},
          {OpId::conv_weight_grad, conv_weight_grad()},
          {OpId::reorder, reorder()}};
}

}  // namespace cgrun::onednn
