// Computes relu_bits, and the gradient of relu from these bits. Each thread has a byte.
#include "src/kernels/axis_groups.h"
#include "src/kernels/cuda/divisor.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/relu_bits.h"

namespace cgrun::cuda {

// Says which elements a byte has: `count` of them from `first` on, `stride` apart.
struct BitsOfByte {
  int64_t first;
  int64_t stride;
  int64_t count;
};

// Says how elements lie that are packed along an axis.
struct PackedAxis {
  int64_t size = 0;  // elements along it
  int64_t all = 0;   // bytes
  Divisor stride;    // of elements, and of bytes
  Divisor bytes;     // along it

  explicit PackedAxis(const Shape& shape) {
    const AxisGroups groups = GroupsAlong(shape, BitsAxis(shape));
    size = groups.size;
    all = groups.count * BytesOfBits(size);
    stride = Divisor(groups.stride);
    bytes = Divisor(BytesOfBits(size));
  }

  __device__ BitsOfByte Of(int64_t b) const {
    const int64_t row = stride.Quotient(b), outer = bytes.Quotient(row);
    const int64_t begin = (row - outer * bytes.by()) * kBitsOfByte;
    const int64_t rest = size - begin;
    return {(outer * size + begin - row) * stride.by() + b, stride.by(),
            rest < kBitsOfByte ? rest : kBitsOfByte};
  }
};

template <class T>
struct ReluBitsBody {
  PackedAxis axis;
  const T* y;
  uint8_t* bits;
  __device__ void operator()(int64_t b) const {
    const BitsOfByte of = axis.Of(b);
    unsigned byte = 0;
    for (int k = 0; k < of.count; ++k) {
      byte |= static_cast<unsigned>(Load(y[of.first + k * of.stride]) > 0) << k;
    }
    bits[b] = static_cast<uint8_t>(byte);
  }
};

template <class T>
struct ReluBits {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& axis = *static_cast<const PackedAxis*>(i.parameters);
    ForEachElement(
        context, axis.all,
        ReluBitsBody<T>{axis, Data<const T>(context, i, 0), Data<uint8_t>(context, i, 1)});
  }
};

template <class T>
struct ReluGradByBitsBody {
  PackedAxis axis;
  const uint8_t* bits;
  const T* dy;
  T* dx;
  __device__ void operator()(int64_t b) const {
    const BitsOfByte of = axis.Of(b);
    const unsigned byte = bits[b];
    for (int k = 0; k < of.count; ++k) {
      const int64_t e = of.first + k * of.stride;
      dx[e] = (byte >> k & 1) != 0 ? dy[e] : T(0);
    }
  }
};

template <class T>
struct ReluGradByBits {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& axis = *static_cast<const PackedAxis*>(i.parameters);
    ForEachElement(context, axis.all,
                   ReluGradByBitsBody<T>{axis, Data<const uint8_t>(context, i, 0),
                                         Data<const T>(context, i, 1), Data<T>(context, i, 2)});
  }
};

static PreparedKernel PrepareReluBits(const KernelRequest& request) {
  const TensorType& y = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<ReluBits>(y.dtype), PackedAxis(y.shape));
}

static PreparedKernel PrepareReluGradByBits(const KernelRequest& request) {
  const TensorType& dx = request.node.outputs[0];
  return PreparedKernel::Of(ForFloat<ReluGradByBits>(dx.dtype), PackedAxis(dx.shape));
}

KernelDef relu_bits() {
  return {.name = "cuda.relu_bits", .supports = FirstInputIsFloat, .prepare = PrepareReluBits};
}
KernelDef relu_grad_by_bits() {
  return {.name = "cuda.relu_grad_by_bits",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareReluGradByBits};
}

}  // namespace cgrun::cuda
