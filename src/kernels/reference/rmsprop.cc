// Computes rmsprop, element by element, in the parameter's type. Each element is read before it is
// written.
#include "src/kernels/optimizers.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

using kernels::RmspropParameters;

template <class T, bool kIsCentered, bool kHasMomentum>
struct Rmsprop {
  using C = Compute<T>;
  using Operands = kernels::RmspropOperands<kIsCentered, kHasMomentum>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RmspropParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const kernels::RmspropRule<C, kIsCentered, kHasMomentum> rule(
        p, *Data<const double>(context, i, 2));
    const T* square = Data<const T>(context, i, 3);
    const T* mean = kIsCentered ? Data<const T>(context, i, Operands::kMean) : nullptr;
    const T* buffer = kHasMomentum ? Data<const T>(context, i, Operands::kBuffer) : nullptr;
    T* next = Data<T>(context, i, Operands::kNext);
    T* next_square = Data<T>(context, i, Operands::kNextSquare);
    T* next_mean = kIsCentered ? Data<T>(context, i, Operands::kNextMean) : nullptr;
    T* next_buffer = kHasMomentum ? Data<T>(context, i, Operands::kNextBuffer) : nullptr;
    for (int64_t e = 0; e < p.elements; ++e) {
      C v = Load(square[e]), m = 0, b = 0;
      if constexpr (kIsCentered) m = Load(mean[e]);
      if constexpr (kHasMomentum) b = Load(buffer[e]);
      next[e] = Store<T>(rule.Next(Load(parameter[e]), Load(gradient[e]), v, m, b));
      next_square[e] = Store<T>(v);
      if constexpr (kIsCentered) next_mean[e] = Store<T>(m);
      if constexpr (kHasMomentum) next_buffer[e] = Store<T>(b);
    }
  }
};

template <class T>
using Plain = Rmsprop<T, false, false>;
template <class T>
using WithMomentum = Rmsprop<T, false, true>;
template <class T>
using Centered = Rmsprop<T, true, false>;
template <class T>
using CenteredWithMomentum = Rmsprop<T, true, true>;

KernelFunction ChooseRmsprop(const RmspropAttributes& attributes, DType dtype) {
  if (attributes.centered) {
    return attributes.momentum != 0 ? ForFloat<CenteredWithMomentum>(dtype)
                                    : ForFloat<Centered>(dtype);
  }
  return attributes.momentum != 0 ? ForFloat<WithMomentum>(dtype) : ForFloat<Plain>(dtype);
}

PreparedKernel PrepareRmsprop(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RmspropAttributes>();
  return PreparedKernel::Of(ChooseRmsprop(a, request.node.inputs[0].dtype),
                            RmspropParameters(request));
}

}  // namespace

KernelDef rmsprop() {
  return {.name = "reference.rmsprop", .supports = FirstInputIsFloat, .prepare = PrepareRmsprop};
}

}  // namespace cgrun::reference
