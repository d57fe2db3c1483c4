// The tables of kernels for CPUs, and the Target that answers for them.
#include "src/kernels/cpu/library.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "src/base/check.h"
#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/own_kernels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/vector_target.h"
#include "src/kernels/cpu/widened.h"
#include "src/kernels/evaluate.h"
#include "src/kernels/one_thread.h"
#include "src/kernels/onednn/kernels.h"
#include "src/kernels/reference/library.h"

namespace cgrun::cpu {
namespace {

// oneDNN splits any work over its thread team. For small work, a second thread is not worth waking.
bool IsForOneThread(const KernelDef& kernel, const NodeSignature& node, int threads) {
  return kernel.calls_onednn && OperandBytes(node) < LeastParallelBytes(Work::kMoves) &&
         RunsSingleThreaded(CostOf(node).flops / 2, threads);
}

// `setting`, a RunSetting or a KernelRequest, as the kernel takes it.
template <class Setting>
Setting OnOneThread(Setting setting) {
  setting.threads = 1;
  setting.thread_team = 0;
  return setting;
}

class CpuLibrary final : public KernelLibrary {
 public:
  CpuLibrary(std::string_view name, std::string_view libraries,
             std::vector<onednn::Entry> onednn_kernels)
      : name_(name),
        fingerprint_("cpu 1, " + VectorTarget() + ", " + BlasVersion() + std::string(libraries)) {
    for (onednn::Entry entry : onednn_kernels) {
      entry.kernel.by_team = AlwaysByTeam;  // each primitive is made for a thread team
      entry.kernel.calls_onednn = true;
      kernels_[entry.op].push_back(entry.kernel);
    }
    for (int op = 0; op < kBuiltinOpCount; ++op) Add(static_cast<OpId>(op));
    for (const auto& [op, kernels] : kernels_) {
      for (const KernelDef& kernel : kernels) {
        const KernelTraits traits = {kernel.calls_onednn, kernel.fewer_operations};
        traits_[std::string(kernel.name)] = traits_[WidenedName(kernel.name)] = traits;
      }
    }
  }

  std::string_view name() const override { return name_; }

  // Its own kernels come first, and for a node of bf16 those of f32 too, and then the reference
  // kernel. If there is a widened kernel, the reference kernel is left out. It converts number by
  // number, which no estimate knows.
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    std::vector<KernelOption> options;
    bool widened = false;
    if (const auto it = kernels_.find(node.op); it != kernels_.end()) {
      for (const KernelDef& kernel : it->second) {
        const size_t before = options.size();
        AddOwnOptions(kernel, node, setting, &options);
        if (options.size() > before) continue;
        AddWidenedOptions(*this, kernel, node, setting, &options);
        widened |= options.size() > before;
      }
    }
    if (widened) return options;
    for (KernelOption& option : reference::Library().Options(node, setting)) {
      options.push_back(std::move(option));
    }
    return options;
  }

  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return EvaluateOnHost(*this, node, inputs);
  }

  PreparedKernel Prepare(std::string_view name, const KernelRequest& request) const override {
    if (const auto it = kernels_.find(request.node.op); it != kernels_.end()) {
      for (const KernelDef& kernel : it->second) {
        if (kernel.name == name) return PrepareOwn(kernel, request);
        if (name == WidenedName(kernel.name)) return PrepareWidened(*this, kernel, request);
      }
    }
    return reference::Library().Prepare(name, request);
  }

  KernelTraits TraitsOf(std::string_view kernel) const override {
    const auto found = traits_.find(kernel);
    return found == traits_.end() ? KernelTraits() : found->second;
  }

  void WarmUp(int threads, bool streams) const override { WarmUpBlas(threads, streams); }

  std::string fingerprint() const override { return fingerprint_; }

 private:
  static void AddOwnOptions(const KernelDef& kernel, const NodeSignature& node,
                            const RunSetting& setting, std::vector<KernelOption>* options) {
    const int team = std::max(setting.threads, setting.thread_team);
    if (!IsForOneThread(kernel, node, team)) return AddOptions(kernel, node, setting, options);
    const OneThread one(true);
    AddOptions(kernel, node, OnOneThread(setting), options);
  }

  static PreparedKernel PrepareOwn(const KernelDef& kernel, const KernelRequest& request) {
    const int team = std::max(request.threads, request.thread_team);
    if (!IsForOneThread(kernel, request.node, team)) return PrepareKernel(kernel, request);
    const OneThread one(true);
    return PrepareKernel(kernel, OnOneThread(request));
  }

  void Add(OpId op) {
    for (const KernelDef& kernel : OwnKernels(op)) kernels_[op].push_back(kernel);
  }

  std::string_view name_;
  std::string fingerprint_;
  std::map<OpId, std::vector<KernelDef>> kernels_;
  std::map<std::string, KernelTraits, std::less<>> traits_;  // by the kernel's name
};

}  // namespace

bool HasLibrary() { return onednn::IsBuilt(); }

const KernelLibrary* Library() {
  if (!HasLibrary()) return nullptr;
  static const CpuLibrary library("cpu", ", " + onednn::Version(), onednn::Kernels());
  return &library;
}

const KernelLibrary& BlasLibrary() {
  static const CpuLibrary library("blas", "", {});
  return library;
}

}  // namespace cgrun::cpu
