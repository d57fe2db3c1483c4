// Computes gather, slice by slice, and its gradient, entry by entry: the indices are sorted by
// counting first.
#include "src/ops/gather.h"

#include <algorithm>
#include <utility>

#include "src/kernels/reference/axis_walk.h"
#include "src/kernels/reference/indices.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct GatherParameters {
  AxisLines lines;  // of x
  int64_t count = 0;
  IndexReader read = nullptr;
  uint64_t nothing = 0;

  int64_t Place(const std::byte* index, int64_t n) const {
    return PlaceOn(read(index, n), lines.size);
  }
};

template <class Bits>
struct Gather {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GatherParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    const auto* index = Data<const std::byte>(context, i, 1);
    Bits* y = Data<Bits>(context, i, 2);
    for (int64_t outer = 0; outer < p.lines.outer; ++outer, x += p.lines.size * p.lines.inner) {
      for (int64_t n = 0; n < p.count; ++n, y += p.lines.inner) {
        const int64_t place = p.Place(index, n);
        if (place < 0) {
          std::fill_n(y, p.lines.inner, static_cast<Bits>(p.nothing));
        } else {
          std::copy_n(x + place * p.lines.inner, p.lines.inner, y);
        }
      }
    }
  }
};

// Afterwards the indices that are e are order[end[e − 1]] to order[end[e]], ascending.
void SortByPlace(const GatherParameters& p, const std::byte* index, int64_t* end, int64_t* order) {
  std::fill_n(end, p.lines.size, 0);
  for (int64_t n = 0; n < p.count; ++n) {
    if (const int64_t place = p.Place(index, n); place >= 0) ++end[place];
  }
  int64_t before = 0;
  for (int64_t e = 0; e < p.lines.size; ++e) before += std::exchange(end[e], before);
  for (int64_t n = 0; n < p.count; ++n) {
    if (const int64_t place = p.Place(index, n); place >= 0) order[end[place]++] = n;
  }
}

template <class T>
struct GatherGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GatherParameters*>(i.parameters);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    int64_t* end = Data<int64_t>(context, i, 3);
    int64_t* order = end + p.lines.size;
    SortByPlace(p, Data<const std::byte>(context, i, 0), end, order);
    for (int64_t outer = 0; outer < p.lines.outer; ++outer, dy += p.count * p.lines.inner) {
      int64_t first = 0;
      for (int64_t e = 0; e < p.lines.size; first = end[e++]) {
        for (int64_t inner = 0; inner < p.lines.inner; ++inner) {
          double sum = 0;
          for (int64_t n = first; n < end[e]; ++n) {
            sum += LoadF64(dy[order[n] * p.lines.inner + inner]);
          }
          *dx++ = StoreF64<T>(sum);
        }
      }
    }
  }
};

PreparedKernel PrepareGather(const KernelRequest& request) {
  const TensorType &x = request.node.inputs[0], &index = request.node.inputs[1];
  const int64_t axis = request.node.attributes.As<GatherAttributes>().axis;
  return PreparedKernel::Of(ForBytes<Gather>(SizeOf(x.dtype)),
                            GatherParameters{LinesOf(x.shape, axis), index.shape.Elements(),
                                             IndexReaderOf(index.dtype), BitsOfNothing(x.dtype)});
}

PreparedKernel PrepareGatherGrad(const KernelRequest& request) {
  const TensorType &index = request.node.inputs[0], &dx = request.node.outputs[0];
  const int64_t axis = request.node.attributes.As<GatherGradAttributes>().axis;
  return PreparedKernel::Of(ForFloat<GatherGrad>(dx.dtype),
                            GatherParameters{LinesOf(dx.shape, axis), index.shape.Elements(),
                                             IndexReaderOf(index.dtype), 0});
}

// It holds where the indices of each place end, and the indices by place.
int64_t GatherGradWorkspaceBytes(const NodeSignature& node, int) {
  const int64_t axis = node.attributes.As<GatherGradAttributes>().axis;
  const int64_t places = LinesOf(node.outputs[0].shape, axis).size;
  return (places + node.inputs[0].shape.Elements()) * static_cast<int64_t>(sizeof(int64_t));
}

}  // namespace

KernelDef gather() { return {.name = "reference.gather", .prepare = PrepareGather}; }

KernelDef gather_grad() {
  return {.name = "reference.gather_grad",
          .supports = FirstOutputIsFloat,
          .workspace_bytes = GatherGradWorkspaceBytes,
          .prepare = PrepareGatherGrad};
}

}  // namespace cgrun::reference
