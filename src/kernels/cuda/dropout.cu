// Computes dropout, which keeps the same elements as on the host, to the bit. A thread has four
// elements, which share a block of random bits.
#include "src/base/random.h"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/dropout.h"

namespace cgrun::cuda {

struct DropoutParameters {
  int64_t elements = 0;
  uint64_t key = 0;
  double rate = 0;
  double scale = 1;  // of what stays
  int output = 0;    // operand of y
};

template <class T>
struct DropoutBody {
  int64_t elements;
  uint64_t key;
  double rate;
  Compute<T> scale;
  const T* x;
  const int64_t* step;
  T* y;
  __device__ void operator()(int64_t block) const {
    const auto bits = Philox(key, static_cast<uint64_t>(*step), static_cast<uint64_t>(block));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int64_t e = block * 4 + k;
      if (e >= elements) break;
      const bool stays = static_cast<double>(UniformFloat(bits[static_cast<size_t>(k)])) >= rate;
      y[e] = stays ? Store<T>(Load(x[e]) * scale) : Store<T>(0);
    }
  }
};

template <class T>
struct DropoutTraining {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const DropoutParameters*>(i.parameters);
    ForEachElement(context, (p.elements + 3) / 4,
                   DropoutBody<T>{p.elements, p.key, p.rate, static_cast<Compute<T>>(p.scale),
                                  Data<const T>(context, i, 0), Data<const int64_t>(context, i, 1),
                                  Data<T>(context, i, p.output)});
  }
};

template <class T>
struct DropoutEvaluation {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const DropoutParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, p.output);
    if (x == y) return;
    cudaMemcpyAsync(y, x, static_cast<size_t>(p.elements) * sizeof(T), cudaMemcpyDeviceToDevice,
                    StreamOf(context));
  }
};

static PreparedKernel PrepareDropout(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<DropoutAttributes>();
  DropoutParameters p;
  p.elements = node.outputs[0].shape.Elements();
  p.key = static_cast<uint64_t>(attributes.key);
  p.rate = attributes.rate;
  p.scale = 1 / (1 - attributes.rate);
  p.output = static_cast<int>(node.inputs.size());
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(
      attributes.training ? ForFloat<DropoutTraining>(dtype) : ForFloat<DropoutEvaluation>(dtype),
      p);
}

KernelDef dropout() {
  return {.name = "cuda.dropout", .supports = FirstOutputIsFloat, .prepare = PrepareDropout};
}

}  // namespace cgrun::cuda
