// Computes relu_bits, and the gradient of relu from these bits.
#include "src/ops/relu_bits.h"

#include "src/kernels/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

// Element `e` of a group is bit e mod 8 of byte `ByteOf(group, e)`.
struct ReluBitsParameters {
  AxisGroups groups;  // along the packed axis
  AxisGroups bytes;   // of the bits along it

  explicit ReluBitsParameters(const Shape& shape) : groups(GroupsAlong(shape, BitsAxis(shape))) {
    bytes = groups;
    bytes.size = BytesOfBits(groups.size);
  }
  int64_t ByteOf(int64_t group, int64_t e) const {
    return bytes.First(group) + e / kBitsOfByte * bytes.stride;
  }
};

template <class T>
struct PackReluBits {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ReluBitsParameters*>(i.parameters);
    const T* y = Data<const T>(context, i, 0);
    uint8_t* bits = Data<uint8_t>(context, i, 1);
    for (int64_t g = 0; g < p.groups.count; ++g) {
      for (int64_t e = 0; e < p.groups.size; ++e) {
        uint8_t& byte = bits[p.ByteOf(g, e)];
        if (e % kBitsOfByte == 0) byte = 0;
        const bool positive = Load(y[p.groups.First(g) + e * p.groups.stride]) > 0;
        byte = static_cast<uint8_t>(byte | positive << e % kBitsOfByte);
      }
    }
  }
};

template <class T>
struct ReluBitsGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ReluBitsParameters*>(i.parameters);
    const uint8_t* bits = Data<const uint8_t>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    for (int64_t g = 0; g < p.groups.count; ++g) {
      for (int64_t e = 0; e < p.groups.size; ++e) {
        const int64_t at = p.groups.First(g) + e * p.groups.stride;
        const bool positive = (bits[p.ByteOf(g, e)] >> e % kBitsOfByte & 1) != 0;
        dx[at] = positive ? dy[at] : Store<T>(0);
      }
    }
  }
};

PreparedKernel PreparePack(const KernelRequest& request) {
  const TensorType& y = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<PackReluBits>(y.dtype), ReluBitsParameters(y.shape));
}

PreparedKernel PrepareReluBitsGrad(const KernelRequest& request) {
  const TensorType& dx = request.node.outputs[0];
  return PreparedKernel::Of(ForFloat<ReluBitsGrad>(dx.dtype), ReluBitsParameters(dx.shape));
}

}  // namespace

KernelDef relu_bits() {
  return {.name = "reference.relu_bits", .supports = FirstInputIsFloat, .prepare = PreparePack};
}

KernelDef relu_grad_by_bits() {
  return {.name = "reference.relu_grad_by_bits",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareReluBitsGrad};
}

}  // namespace cgrun::reference
