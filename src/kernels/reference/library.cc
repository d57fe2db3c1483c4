// The table of reference kernels, a line an operator, and the Target that answers for them.
#include "src/kernels/reference/library.h"

#include "src/base/check.h"
#include "src/kernels/evaluate.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

class ReferenceLibrary final : public KernelLibrary {
 public:
  ReferenceLibrary() {
#define CGRUN_OP(name, cpu, cuda) kernels_.push_back(reference::name());
#include "src/ir/op_list.inc"
#undef CGRUN_OP
  }

  std::string_view name() const override { return "reference"; }

  std::vector<KernelOption> Options(const NodeSignature& node, int threads) const override {
    if (static_cast<size_t>(node.op) >= kernels_.size()) return {};
    const KernelDef& kernel = kernels_[static_cast<size_t>(node.op)];
    if (kernel.supports != nullptr && !kernel.supports(node)) return {};
    return {MakeOption(kernel, node, threads)};
  }

  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return EvaluateOnHost(*this, node, inputs);
  }

  PreparedKernel Prepare(std::string_view name, const KernelRequest& request) const override {
    const KernelDef& kernel = kernels_.at(static_cast<size_t>(request.node.op));
    CGRUN_CHECK(kernel.name == name) << name << " is not the kernel of this operator";
    return kernel.prepare(request);
  }

  std::string fingerprint() const override { return "reference 1"; }

 private:
  std::vector<KernelDef> kernels_;  // by operator id
};

}  // namespace

const KernelLibrary& Library() {
  static const ReferenceLibrary library;
  return library;
}

}  // namespace cgrun::reference
