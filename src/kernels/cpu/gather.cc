// Computes gather: threads share the slices, which lie together.
#include "src/ops/gather.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/reference/axis_walk.h"
#include "src/kernels/reference/indices.h"
#include "src/kernels/reference/number.h"

namespace cgrun::cpu {
namespace {

struct GatherParameters {
  reference::AxisLines lines;  // of x
  int64_t count = 0;           // of indices
  reference::IndexReader read = nullptr;
  uint64_t nothing = 0;
  int threads = 1;
};

template <class Bits>
struct Gather {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GatherParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    const auto* index = Data<const std::byte>(context, i, 1);
    Bits* y = Data<Bits>(context, i, 2);
    const auto bytes = static_cast<size_t>(p.lines.inner) * sizeof(Bits);
    Split(p.threads, p.lines.outer * p.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t slice = begin; slice < end; ++slice) {
        Bits* to = y + slice * p.lines.inner;
        const int64_t place = reference::PlaceOn(p.read(index, slice % p.count), p.lines.size);
        if (place < 0) {
          std::fill_n(to, p.lines.inner, static_cast<Bits>(p.nothing));
          continue;
        }
        const int64_t line = slice / p.count * p.lines.size + place;
        std::memcpy(to, x + line * p.lines.inner, bytes);
      }
    });
  }
};

// Much of x may not be read.
PreparedKernel PrepareGather(const KernelRequest& request) {
  const TensorType &x = request.node.inputs[0], &index = request.node.inputs[1];
  const int64_t axis = request.node.attributes.As<GatherAttributes>().axis;
  const int64_t moved = 2 * ByteSize(request.node.outputs[0]);
  const int threads = moved < LeastParallelBytes(Work::kMoves) ? 1 : request.threads;
  return PreparedKernel::Of(
      reference::ForBytes<Gather>(SizeOf(x.dtype)),
      GatherParameters{reference::LinesOf(x.shape, axis), index.shape.Elements(),
                       reference::IndexReaderOf(index.dtype), reference::BitsOfNothing(x.dtype),
                       threads});
}

}  // namespace

std::vector<KernelDef> gather() {
  return {PerElement({.name = "cpu.gather", .prepare = PrepareGather})};
}

}  // namespace cgrun::cpu
