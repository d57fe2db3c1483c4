// Computes dropout. Four elements share a block of random bits.
#include "src/ops/dropout.h"

#include <algorithm>

#include "src/base/random.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct DropoutParameters {
  int64_t elements = 0;
  uint64_t key = 0;
  double rate = 0;
  double scale = 1;  // of what stays
  int output = 0;    // operand of y
};

template <class T>
struct Training {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const DropoutParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    T* y = Data<T>(context, i, p.output);
    const auto scale = static_cast<Compute<T>>(p.scale);
    for (int64_t first = 0; first < p.elements; first += 4) {
      const auto bits = Philox(p.key, step, static_cast<uint64_t>(first) / 4);
      const int64_t end = std::min(first + 4, p.elements);
      for (int64_t e = first; e < end; ++e) {
        const float uniform = UniformFloat(bits[static_cast<size_t>(e - first)]);
        const bool stays = static_cast<double>(uniform) >= p.rate;
        y[e] = stays ? Store<T>(Load(x[e]) * scale) : Store<T>(0);
      }
    }
  }
};

template <class T>
struct Evaluation {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const DropoutParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, p.output);
    for (int64_t e = 0; e < p.elements; ++e) y[e] = x[e];
  }
};

DropoutParameters PackDropout(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<DropoutAttributes>();
  DropoutParameters p;
  p.elements = node.outputs[0].shape.Elements();
  p.key = static_cast<uint64_t>(attributes.key);
  p.rate = attributes.rate;
  p.scale = 1 / (1 - attributes.rate);
  p.output = static_cast<int>(node.inputs.size());
  return p;
}

PreparedKernel PrepareDropout(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  const bool training = request.node.attributes.As<DropoutAttributes>().training;
  return PreparedKernel::Of(training ? ForFloat<Training>(dtype) : ForFloat<Evaluation>(dtype),
                            PackDropout(request.node));
}

}  // namespace

KernelDef dropout() {
  return {.name = "reference.dropout", .supports = FirstOutputIsFloat, .prepare = PrepareDropout};
}

}  // namespace cgrun::reference
