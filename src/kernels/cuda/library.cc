// The table of CUDA kernels, a line an operator, and the Target that answers for them.
#include "src/kernels/cuda/library.h"

#include <cublas_v2.h>
#include <cudnn.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "src/base/check.h"
#include "src/kernels/cuda/evaluate.h"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/evaluate.h"

namespace cgrun::cuda {
namespace {

// An estimate of a GPU of the class of an H100, to weigh operators against each other and against
// transfers to the host's memory: not that of a certain GPU. Convolutions in f32 were seen at 22 to
// 29 TFLOP/s; by these numbers, the estimated time of recomputations was near the measured one
// (docs/benchmarks/gpu.md).
constexpr double kFlopsPerSecond = 2.5e13;  // in f32, and f64
constexpr double kTF32FlopsPerSecond = 1.5e14;
constexpr double kBF16FlopsPerSecond = 3e14;
constexpr double kBytesPerSecond = 2e12;
constexpr double kSecondsOfStart = 3e-6;

double FlopsPerSecond(const NodeSignature& node, bool tf32) {
  if (tf32) return kTF32FlopsPerSecond;
  const bool narrow = !node.inputs.empty() && node.inputs[0].dtype == DType::kBF16;
  return narrow ? kBF16FlopsPerSecond : kFlopsPerSecond;
}

// Estimates the time by a roofline: the longer of computing and of moving the operands. The
// workspace does not count. It is large enough for any GPU, and most of it is seldom touched.
double EstimateSeconds(const NodeSignature& node, bool tf32) {
  const auto bytes = static_cast<double>(OperandBytes(node));
  const double flops = static_cast<double>(CostOf(node).flops);
  return std::max(flops / FlopsPerSecond(node, tf32), bytes / kBytesPerSecond) + kSecondsOfStart;
}

bool ComputesInF32(const NodeSignature& node) {
  const auto is_f32 = [](const TensorType& type) { return type.dtype == DType::kF32; };
  return std::ranges::all_of(node.inputs, is_f32) && std::ranges::all_of(node.outputs, is_f32);
}

std::string NameInTF32(std::string_view kernel) { return std::string(kernel) + "_tf32"; }

class CudaLibrary final : public KernelLibrary {
 public:
  CudaLibrary() {
#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_IF_##on_cuda(kernels_[OpId::name] = cuda::name();)
#include "src/ir/op_list.inc"
#undef CGRUN_OP
    for (const auto& [op, kernel] : kernels_) {
      if (kernel.tf32) in_tf32_.insert(NameInTF32(kernel.name));
    }
  }

  std::string_view name() const override { return "cuda"; }

  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    std::vector<KernelOption> options;
    const auto it = kernels_.find(node.op);
    if (it == kernels_.end()) return {};
    RunSetting own = setting;
    own.tf32 = setting.tf32 && it->second.tf32 && ComputesInF32(node);
    AddOptions(it->second, node, own, &options);
    for (KernelOption& option : options) {
      if (own.tf32) option.kernel = NameInTF32(option.kernel);
      if (it->second.seconds == nullptr) option.seconds = EstimateSeconds(node, own.tf32);
      option.is_measured = true;  // else a plan has bytes move no faster than on a host
    }
    return options;
  }

  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return EvaluateOnGpu(*this, node, inputs);
  }

  PreparedKernel Prepare(std::string_view name, const KernelRequest& request) const override {
    const KernelDef& kernel = kernels_.at(request.node.op);
    KernelRequest own = request;
    own.tf32 = kernel.tf32 && name == NameInTF32(kernel.name);
    CGRUN_CHECK(own.tf32 || kernel.name == name) << name << " is not the kernel of this operator";
    return kernel.prepare(own);
  }

  KernelTraits TraitsOf(std::string_view kernel) const override {
    return {.tf32 = in_tf32_.contains(kernel)};
  }

  bool uses_threads() const override { return false; }  // of the host

  std::string fingerprint() const override {
    return "cuda 1, runtime " + std::to_string(CUDART_VERSION) + ", cuBLAS " +
           std::to_string(CUBLAS_VERSION) + ", cuDNN " + std::to_string(cudnnGetVersion());
  }

 private:
  std::map<OpId, KernelDef> kernels_;
  std::set<std::string, std::less<>> in_tf32_;  // names of kernels that round to TF32
};

}  // namespace

const KernelLibrary* Library() {
  static const CudaLibrary library;
  return &library;
}

}  // namespace cgrun::cuda
