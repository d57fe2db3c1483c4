#include "src/kernels/cpu/own_kernels.h"

#include <map>
#include <vector>

#include "src/kernels/cpu/kernels.h"

namespace cgrun::cpu {
namespace {

std::map<OpId, std::vector<KernelDef>> AllKernels() {
  std::map<OpId, std::vector<KernelDef>> kernels;
#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_IF_##on_cpu(kernels[OpId::name] = cpu::name();)
#include "src/ir/op_list.inc"
#undef CGRUN_OP
  return kernels;
}

}  // namespace

std::span<const KernelDef> OwnKernels(OpId op) {
  static const std::map<OpId, std::vector<KernelDef>> kernels = AllKernels();
  const auto it = kernels.find(op);
  return it == kernels.end() ? std::span<const KernelDef>() : it->second;
}

const KernelDef* ElementwiseKernel(const NodeSignature& node) {
  for (const KernelDef& kernel : OwnKernels(node.op)) {
    const bool by_itself = kernel.workspace_bytes == nullptr && kernel.choose == nullptr;
    if (!kernel.elementwise || kernel.counts_elements || !by_itself) continue;
    if (kernel.reads_others || node.outputs.size() != 1) continue;
    if (kernel.supports == nullptr || kernel.supports(node)) return &kernel;
  }
  return nullptr;
}

}  // namespace cgrun::cpu
