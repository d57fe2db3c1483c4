// identity; and parameter, reshape and flatten where they cannot be views: copies bytes of any
// number type.
#include <cstring>

#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/parallel.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  int64_t bytes = 0;
  int threads = 1;
};

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const std::byte* x = Data<const std::byte>(context, i, 0);
  std::byte* y = Data<std::byte>(context, i, 1);
  if (x == y) return;
  Split(p.threads, p.bytes, kGrain, [=](int64_t begin, int64_t end) {
    std::memcpy(y + begin, x + begin, static_cast<size_t>(end - begin));
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(&Run,
                            Parameters{ByteSize(request.node.inputs[0]), ThreadsFor(request)});
}

std::vector<KernelDef> Define(std::string_view name) {
  KernelDef def{.name = name, .prepare = Prepare};
  def.elementwise = true;
  return {def};
}

}  // namespace

std::vector<KernelDef> identity() { return Define("cpu.identity"); }
std::vector<KernelDef> flatten() { return Define("cpu.flatten"); }
std::vector<KernelDef> parameter() { return Define("cpu.parameter"); }
std::vector<KernelDef> reshape() { return Define("cpu.reshape"); }

}  // namespace cgrun::cpu
