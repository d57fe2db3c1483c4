#include "tests/kernels/own_kernels.h"

#include <hwy/targets.h>

#include <cstdlib>

#include "src/base/check.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

// Set before the libraries of kernels choose.
const std::string kTarget = [] {
  const char* name = std::getenv("CGRUN_TEST_TARGET");
  const std::string target = name == nullptr ? "" : name;
  if (target == "AVX2") hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  if (target == "SSE4") hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL | HWY_AVX2);
  return target;
}();

}  // namespace

const std::string& TestTarget() { return kTarget; }

std::optional<KernelOption> OwnOption(const KernelLibrary& library, const NodeSignature& node,
                                      int threads, const std::vector<Layout>& layouts) {
  for (const KernelOption& option : library.Options(node, {threads, layouts})) {
    if (option.kernel.starts_with("cpu.")) return option;
  }
  return std::nullopt;
}

std::vector<HostTensor> OwnOutputs(const NodeSignature& node, const std::vector<HostTensor>& inputs,
                                   int threads) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const auto option = OwnOption(library, node, threads);
  CGRUN_CHECK(option.has_value()) << "no kernel of our own for " << NameOf(node.op);
  OptionRun run = RunOption(library, node, *option, inputs, threads);
  CGRUN_CHECK(run.fault.empty()) << run.fault;
  return std::move(run.outputs);
}

std::vector<HostTensor> OwnOutputsAlone(const NodeSignature& node,
                                        const std::vector<HostTensor>& inputs, int thread_team) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  for (const KernelOption& option :
       library.Options(node, {.threads = 1, .thread_team = thread_team})) {
    if (!option.kernel.starts_with("cpu.")) continue;
    OptionRun run = RunOption(library, node, option, inputs, 1, {}, thread_team);
    CGRUN_CHECK(run.fault.empty()) << run.fault;
    return std::move(run.outputs);
  }
  CGRUN_CHECK(false) << "no kernel of our own for " << NameOf(node.op) << " alone";
  return {};
}

}  // namespace cgrun
