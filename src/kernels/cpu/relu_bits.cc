// Computes relu_bits, and the gradient of relu from these bits. A byte has the bits of eight
// elements along an axis, which for images is the channels. If a tensor is plain, a vector of each
// of eight planes gives a vector of bytes. If channels lie side by side, in blocks or last, eight
// in a row give a byte. The bits are always plain, so that the two nodes need not agree on a
// layout.
#include "src/ops/relu_bits.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/relu_bits.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <cstring>

#include "src/kernels/axis_groups.h"
#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// Planes that become bytes, eight by eight: `size` planes of `length` elements, `count` times.
struct Planes {
  int64_t count = 0, size = 0, length = 0;
  int threads = 1;

  int64_t bytes() const { return BytesOfBits(size); }
};

// The planes of which row `row` of all bytes has the bits.
struct RowOfBytes {
  int64_t first;   // the offset of the first one's elements
  int64_t planes;  // up to eight

  RowOfBytes(const Planes& p, int64_t row)
      : first((row / p.bytes() * p.size + row % p.bytes() * kBitsOfByte) * p.length),
        planes(std::min(kBitsOfByte, p.size - row % p.bytes() * kBitsOfByte)) {}
};

// The sum of 2^k over those of vectors k that are positive.
template <class D, class Plane>
HWY_INLINE hn::Vec<D> Weigh(D d, int64_t planes, const Plane& plane) {
  hn::Vec<D> sum = hn::Zero(d);
  for (int64_t k = 0; k < planes; ++k) {
    const auto weight = hn::Set(d, static_cast<hn::TFromD<D>>(1 << k));
    sum = hn::Add(sum, hn::IfThenElseZero(hn::Gt(plane(k), hn::Zero(d)), weight));
  }
  return sum;
}

template <class T>
void PackPlanes(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Planes*>(i.parameters);
  const T* y = Data<const T>(context, i, 0);
  uint8_t* bits = Data<uint8_t>(context, i, 1);
  Split(p.threads, p.count * p.bytes(), 1, [&, y, bits](int64_t begin, int64_t end) {
    const TagOf<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t row = begin; row < end; ++row) {
      const RowOfBytes at(p, row);
      const T* from = y + at.first;
      uint8_t* to = bits + row * p.length;
      int64_t e = 0;
      for (; e + lanes <= p.length; e += lanes) {
        const auto plane = [&](int64_t k) { return LoadLanes(d, from + k * p.length + e); };
        StoreLanes(d, Weigh(d, at.planes, plane), to + e);
      }
      if (e == p.length) continue;
      const int64_t rest = p.length - e;
      const auto plane = [&](int64_t k) { return LoadFirst(d, from + k * p.length + e, rest); };
      StoreFirst(d, Weigh(d, at.planes, plane), to + e, rest);
    }
  });
}

// A byte in each lane.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadBytes(D /*d*/, const uint8_t* from) {
  const hn::Rebind<int32_t, D> d32;
  const auto bytes = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<uint8_t, D>(), from));
  if constexpr (sizeof(hn::TFromD<D>) == 4) return bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 8) return hn::PromoteTo(hn::RebindToSigned<D>(), bytes);
}

// `values` where bit `k` of the bytes is 1, else 0.
template <class D>
HWY_INLINE hn::Vec<D> Chosen(D d, hn::Vec<hn::RebindToSigned<D>> bytes, int64_t k,
                             hn::Vec<D> values) {
  const hn::RebindToSigned<D> di;
  const auto bit = hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(1 << k));
  return hn::IfThenElseZero(hn::RebindMask(d, hn::TestBit(bytes, bit)), values);
}

template <class T>
void GradOfPlanes(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Planes*>(i.parameters);
  const uint8_t* bits = Data<const uint8_t>(context, i, 0);
  const T* dy = Data<const T>(context, i, 1);
  T* dx = Data<T>(context, i, 2);
  Split(p.threads, p.count * p.bytes(), 1, [&, bits, dy, dx](int64_t begin, int64_t end) {
    const TagOf<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t row = begin; row < end; ++row) {
      const RowOfBytes at(p, row);
      const uint8_t* bytes = bits + row * p.length;
      int64_t e = 0;
      for (; e + lanes <= p.length; e += lanes) {
        const auto of_bytes = LoadBytes(d, bytes + e);
        for (int64_t k = 0; k < at.planes; ++k) {
          const int64_t to = at.first + k * p.length + e;
          StoreExact(d, Chosen(d, of_bytes, k, LoadLanes(d, dy + to)), dx + to);
        }
      }
      for (; e < p.length; ++e) {
        for (int64_t k = 0; k < at.planes; ++k) {
          const int64_t to = at.first + k * p.length + e;
          dx[to] = (bytes[e] >> k & 1) != 0 ? dy[to] : T(0);
        }
      }
    }
  });
}

// Channels that lie side by side.
struct Rows {
  Blocks blocks;
  int64_t bytes = 0;  // at a position of an image, for all its channels
  int threads = 1;
};

// Calls work(offset, first, count) for each position of each block: the offset of its channels, and
// that of its `count` bytes, which are a plane apart.
template <class Work>
HWY_INLINE void ForPositions(const Rows& p, const Work& work) noexcept {
  Split(p.threads, p.blocks.planes() * p.blocks.plane, 1, [&](int64_t begin, int64_t end) {
    const auto [images, groups, plane, block] = p.blocks;
    for (int64_t at = begin; at < end;) {
      const int64_t of_all = at / plane, image = of_all / groups, group = of_all % groups;
      const int64_t byte = group * (block / kBitsOfByte);  // of several blocks each is whole bytes
      const int64_t count = std::min(BytesOfBits(block), p.bytes - byte);
      const int64_t bits = (image * p.bytes + byte - of_all) * plane;
      for (const int64_t last = std::min((of_all + 1) * plane, end); at < last; ++at) {
        work(at * block, bits + at, count);
      }
    }
  });
}

// The lanes that eight elements take, in one vector or several.
template <class T>
using TagOfEight = hn::CappedTag<hn::TFromD<TagOf<T>>, kBitsOfByte>;

template <class T>
HWY_INLINE uint8_t PackEight(const T* y) {
  const TagOfEight<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  uint32_t byte = 0;
  for (int64_t e = 0; e < kBitsOfByte; e += lanes) {
    uint8_t bits[8];  // as many as StoreMaskBits may write
    hn::StoreMaskBits(d, hn::Gt(LoadLanes(d, y + e), hn::Zero(d)), bits);
    byte |= static_cast<uint32_t>(bits[0]) << e;
  }
  return static_cast<uint8_t>(byte);
}

template <class T>
HWY_INLINE void GradOfEight(uint8_t byte, const T* dy, T* dx) {
  const TagOfEight<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t e = 0; e < kBitsOfByte; e += lanes) {
    const uint8_t bits[8] = {static_cast<uint8_t>(byte >> e)};  // as many as LoadMaskBits may read
    const auto positive = hn::LoadMaskBits(d, bits);
    StoreExact(d, hn::IfThenElseZero(positive, LoadLanes(d, dy + e)), dx + e);
  }
}

template <class T>
void PackRows(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Rows*>(i.parameters);
  const T* y = Data<const T>(context, i, 0);
  uint8_t* bits = Data<uint8_t>(context, i, 1);
  const int64_t whole = p.blocks.block / kBitsOfByte, rest = p.blocks.block % kBitsOfByte;
  ForPositions(p, [&, y, bits](int64_t offset, int64_t first, int64_t count) {
    const T* from = y + offset;
    uint8_t* to = bits + first;
    for (int64_t b = 0; b < std::min(whole, count); ++b) {
      to[b * p.blocks.plane] = PackEight(from + b * kBitsOfByte);
    }
    if (count <= whole) return;
    uint32_t byte = 0;
    for (int64_t k = 0; k < rest; ++k) {
      byte |= static_cast<uint32_t>(
                  static_cast<hn::TFromD<TagOf<T>>>(from[whole * kBitsOfByte + k]) > 0)
              << k;
    }
    to[whole * p.blocks.plane] = static_cast<uint8_t>(byte);
  });
}

// Elements that pad a block have no bits. Their gradient is zero.
template <class T>
void GradOfRows(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Rows*>(i.parameters);
  const uint8_t* bits = Data<const uint8_t>(context, i, 0);
  const T* dy = Data<const T>(context, i, 1);
  T* dx = Data<T>(context, i, 2);
  const int64_t whole = p.blocks.block / kBitsOfByte, rest = p.blocks.block % kBitsOfByte;
  ForPositions(p, [&, bits, dy, dx](int64_t offset, int64_t first, int64_t count) {
    const T* from = dy + offset;
    T* to = dx + offset;
    for (int64_t b = 0; b < whole; ++b) {
      const uint8_t byte = b < count ? bits[first + b * p.blocks.plane] : uint8_t{0};
      GradOfEight(byte, from + b * kBitsOfByte, to + b * kBitsOfByte);
    }
    if (rest == 0) return;
    const uint8_t byte = bits[first + whole * p.blocks.plane];
    for (int64_t k = 0; k < rest; ++k) {
      const int64_t e = whole * kBitsOfByte + k;
      to[e] = (byte >> k & 1) != 0 ? from[e] : T(0);
    }
  });
}

// The operands of relu_bits are y and bits. Those of the gradient are bits, dy and dx.
bool IsGrad(const NodeSignature& node) { return node.op == OpId::relu_grad_by_bits; }
const TensorType& Whole(const NodeSignature& node) { return node.inputs[IsGrad(node) ? 1 : 0]; }

bool Supports(const NodeSignature& node) {
  const DType dtype = Whole(node).dtype;
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
}

KernelFunction OfPlanes(const NodeSignature& node) {
  return ForFloat(Whole(node).dtype,
                  [&]<class T>(T*) { return IsGrad(node) ? &GradOfPlanes<T> : &PackPlanes<T>; });
}
KernelFunction OfRows(const NodeSignature& node) {
  return ForFloat(Whole(node).dtype,
                  [&]<class T>(T*) { return IsGrad(node) ? &GradOfRows<T> : &PackRows<T>; });
}

// Along the last axis elements lie side by side.
PreparedKernel Prepare(const KernelRequest& request) {
  const Shape& shape = Whole(request.node).shape;
  const AxisGroups groups = GroupsAlong(shape, BitsAxis(shape));
  const int64_t count = groups.count / groups.stride;
  const int threads = ThreadsFor(request);
  if (groups.stride == 1) {
    return PreparedKernel::Of(OfRows(request.node),
                              Rows{{count, 1, 1, groups.size}, BytesOfBits(groups.size), threads});
  }
  return PreparedKernel::Of(OfPlanes(request.node),
                            Planes{count, groups.size, groups.stride, threads});
}

PreparedKernel PrepareInBlocks(const KernelRequest& request) {
  const Shape& shape = Whole(request.node).shape;
  const Layout& layout = request.operands[IsGrad(request.node) ? 1 : 0].layout;
  return PreparedKernel::Of(
      OfRows(request.node),
      Rows{BlocksOf(shape, layout), BytesOfBits(shape[1].size), ThreadsFor(request)});
}

// The whole tensors as they come; the bits stay plain.
bool ChooseBlocks(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const size_t whole = IsGrad(node) ? 1 : 0;
  const Layout* layout = ComesInBlocks(node, setting, whole, 1);
  if (layout == nullptr) return false;
  if (!HasChannelsLast(*layout) && layout->blocks[0].size % kBitsOfByte != 0) return false;
  option->input_layouts[whole] = *layout;
  if (IsGrad(node)) option->output_layouts[0] = *layout;
  return true;
}

KernelDef Plain(std::string_view name) {
  return PerElement({.name = name, .supports = Supports, .prepare = Prepare});
}
KernelDef InBlocks(std::string_view name) {
  return PerElement(
      {.name = name, .supports = Supports, .prepare = PrepareInBlocks, .choose = ChooseBlocks});
}

KernelDef relu_bits() { return Plain("cpu.relu_bits"); }
KernelDef relu_bits_in_blocks() { return InBlocks("cpu.relu_bits.blocks"); }
KernelDef relu_grad_by_bits() { return Plain("cpu.relu_grad_by_bits"); }
KernelDef relu_grad_by_bits_in_blocks() { return InBlocks("cpu.relu_grad_by_bits.blocks"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(relu_bits_in_blocks)
CGRUN_CPU_KERNEL(relu_grad_by_bits_in_blocks)
CGRUN_CPU_KERNEL_AND(relu_bits, relu_bits_in_blocks)
CGRUN_CPU_KERNEL_AND(relu_grad_by_bits, relu_grad_by_bits_in_blocks)

}  // namespace cgrun::cpu
#endif
