// Asks the device for the kernels of a product.
#include "src/lint/bf16_speed.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/ops/linear.h"

namespace cgrun {
namespace {

NodeSignature Product() {
  constexpr int64_t kSize = 64;
  const TensorType matrix{DType::kBF16, Shape{kSize, kSize}};
  LinearAttributes attributes;
  attributes.units = kSize;
  attributes.bias = false;
  return {OpId::linear, Attributes::Of(attributes), {matrix, matrix}, {matrix}, {}};
}

}  // namespace

bool MultipliesBF16(const KernelLibrary& library) {
  const std::vector<KernelOption> options = library.Options(Product(), RunSetting());
  return !std::ranges::all_of(options, &KernelOption::widens);
}

void WarnOfSlowBF16(const ModelSpec& model, const KernelLibrary& library,
                    Diagnostics& diagnostics) {
  if (!model.train || model.train->precision.value != "bf16" || MultipliesBF16(library)) return;
  diagnostics.Warning(
      model.train->precision.mark,
      "device '" + std::string(library.name()) +
          "' has no kernels here that multiply bf16: those of f32 run on copies, "
          "so that steps are probably slower than in f32",
      "`--precision f32`, or a device that multiplies bf16: cpu on a processor with "
      "AMX or AVX512_BF16, or cuda; `cgrun bench` says what each takes");
}

}  // namespace cgrun
