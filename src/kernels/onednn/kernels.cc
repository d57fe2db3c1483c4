// The table of oneDNN's kernels, a line each.
#include "src/kernels/onednn/kernels.h"

#include <utility>

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {

namespace {

// The name that ONEDNN_MAX_CPU_ISA knows an instruction set by.
std::string NameOf(dnnl::cpu_isa isa) {
  using Isa = dnnl::cpu_isa;
  constexpr std::pair<Isa, const char*> kNames[] = {
      {Isa::all, "ALL"},
      {Isa::sse41, "SSE41"},
      {Isa::avx, "AVX"},
      {Isa::avx2, "AVX2"},
      {Isa::avx2_vnni, "AVX2_VNNI"},
      {Isa::avx512_mic, "AVX512_MIC"},
      {Isa::avx512_mic_4ops, "AVX512_MIC_4OPS"},
      {Isa::avx512_core, "AVX512_CORE"},
      {Isa::avx512_core_vnni, "AVX512_CORE_VNNI"},
      {Isa::avx512_core_bf16, "AVX512_CORE_BF16"},
      {Isa::avx512_core_amx, "AVX512_CORE_AMX"},
  };
  for (const auto& [value, name] : kNames) {
    if (value == isa) return name;
  }
  return "instruction set " + std::to_string(static_cast<int>(isa));
}

}  // namespace

bool IsBuilt() { return true; }

std::string Version() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch) + ", " + NameOf(dnnl::get_effective_cpu_isa());
}

std::vector<Entry> Kernels() {
  return {{OpId::conv, conv()},
          {OpId::conv, winograd()},
          {OpId::fused, fused_conv()},
          {OpId::fused, fused_winograd()},
          {OpId::conv_input_grad, conv_input_grad()},
          {OpId::conv_input_grad, winograd_input_grad()},
          {OpId::conv_input_grad, pointwise_input_grad()},
          {OpId::conv_weight_grad, conv_weight_grad()},
          {OpId::conv_weight_grad, winograd_weight_grad()},
          {OpId::conv_weight_grad, weight_products()},
          {OpId::conv_transpose, conv_transpose()},
          {OpId::linear, linear()},
          {OpId::matmul, matmul()},
          {OpId::reorder, reorder()}};
}

}  // namespace cgrun::onednn
