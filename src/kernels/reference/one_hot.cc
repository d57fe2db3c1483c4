// Computes one_hot, row by row.
#include "src/ops/one_hot.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct OneHotParameters {
  int64_t rows = 0;
  int64_t classes = 0;
  double on = 1;
  double off = 0;
};

template <class Index, class T>
struct OneHot {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const OneHotParameters*>(i.parameters);
    const Index* index = Data<const Index>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const T on = StoreF64<T>(p.on), off = StoreF64<T>(p.off);
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t c = 0; c < p.classes; ++c) {
        y[row * p.classes + c] = c == static_cast<int64_t>(index[row]) ? on : off;
      }
    }
  }
};

PreparedKernel PrepareOneHot(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<OneHotAttributes>();
  const DType to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(request.node.inputs[0].dtype, [&]<class Index>(Index*) {
    return ForEach(to, []<class T>(T*) -> KernelFunction {
      if constexpr (std::is_integral_v<Index> && kIsFloat<T>) return &OneHot<Index, T>::Run;
      return nullptr;
    });
  });
  return PreparedKernel::Of(
      run, OneHotParameters{request.node.inputs[0].shape.Elements(), attributes.classes,
                            attributes.on_value, attributes.off_value});
}

}  // namespace

KernelDef one_hot() {
  return {.name = "reference.one_hot", .supports = FirstOutputIsFloat, .prepare = PrepareOneHot};
}

}  // namespace cgrun::reference
