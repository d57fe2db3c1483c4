// The table of reference kernels, a line an operator, and the Target that answers for them.
#include "src/kernels/reference/library.h"

#include <map>

#include "src/base/check.h"
#include "src/kernels/evaluate.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

class ReferenceLibrary final : public KernelLibrary {
 public:
  ReferenceLibrary() {
#define CGRUN_OP(name, cpu, cuda) Add(OpId::name, reference::name());
#include "src/ir/op_list.inc"
#undef CGRUN_OP
  }

  void Add(OpId op, KernelDef kernel) {
    CGRUN_CHECK(kernels_.emplace(op, kernel).second) << "two kernels for " << NameOf(op);
  }

  std::string_view name() const override { return "reference"; }

  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    std::vector<KernelOption> options;
    const auto found = kernels_.find(node.op);
    if (found == kernels_.end()) return {};  // a plug-in's operator, not made for this device
    AddOptions(found->second, node, setting, &options);
    return options;
  }

  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return EvaluateOnHost(*this, node, inputs);
  }

  PreparedKernel Prepare(std::string_view name, const KernelRequest& request) const override {
    const KernelDef& kernel = kernels_.at(request.node.op);
    CGRUN_CHECK(kernel.name == name) << name << " is not the kernel of this operator";
    return PrepareKernel(kernel, request);
  }

  std::string fingerprint() const override { return "reference 1"; }

  bool uses_threads() const override { return false; }  // plain loops

 private:
  std::map<OpId, KernelDef> kernels_;
};

ReferenceLibrary& MutableLibrary() {
  static ReferenceLibrary library;
  return library;
}

}  // namespace

const KernelLibrary& Library() { return MutableLibrary(); }

void AddKernel(OpId op, KernelDef kernel) { MutableLibrary().Add(op, kernel); }

}  // namespace cgrun::reference
