// Computes gather_elements and scatter_elements: a walk over the indices, each of which says where
// on its axis an element lies.
#include <utility>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/scatter.h"
#include "src/kernels/strided.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

struct ElementsParameters {
  StridedSpace<2> space;  // offsets in x without the indexed axis, and of the index
  int64_t size = 1;       // of the indexed axis of x
  int64_t stride = 1;
  IndexReader read = nullptr;
  uint64_t nothing = 0;
  int64_t bytes = 0;  // of x
  WriteMode mode = WriteMode::kReplace;

  // Calls f(n, offset) for each index, with the offset of its element in x, or −1.
  template <class F>
  void ForEachIndexed(const std::byte* index, F f) const {
    ForEachIndex(space, {0, 0}, [&](const auto& at) {
      const int64_t place = PlaceOn(read(index, at[1]), size);
      f(at[1], place < 0 ? -1 : at[0] + place * stride);
    });
  }
};

template <class Bits>
struct GatherElements {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ElementsParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 2);
    p.ForEachIndexed(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      y[n] = offset < 0 ? static_cast<Bits>(p.nothing) : x[offset];
    });
  }
};

template <class Bits>
struct MoveElements {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ElementsParameters*>(i.parameters);
    const Bits* updates = Data<const Bits>(context, i, 2);
    Bits* y = Data<Bits>(context, i, 3);
    CopyInput(context, i, p.bytes);
    p.ForEachIndexed(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      if (offset >= 0) y[offset] = updates[n];
    });
  }
};

template <class T>
struct JoinElements {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ElementsParameters*>(i.parameters);
    const T* updates = Data<const T>(context, i, 2);
    T* y = Data<T>(context, i, 3);
    CopyInput(context, i, p.bytes);
    p.ForEachIndexed(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      if (offset >= 0) y[offset] = Written(p.mode, y[offset], updates[n]);
    });
  }
};

ElementsParameters PackElements(const NodeSignature& node, int64_t wanted) {
  const TensorType &x = node.inputs[0], &index = node.inputs[1];
  const auto axis = static_cast<size_t>(*NormalizeAxis(wanted, x.shape.rank()));
  std::vector<int64_t> of_x = RowMajorStrides(x.shape);
  ElementsParameters p;
  p.size = x.shape[static_cast<int>(axis)].size;
  p.stride = std::exchange(of_x[axis], 0);
  p.space = MakeSpace<2>(index.shape.Sizes(), {of_x, RowMajorStrides(index.shape)});
  p.read = IndexReaderOf(index.dtype);
  p.nothing = BitsOfNothing(x.dtype);
  p.bytes = ByteSize(x);
  return p;
}

PreparedKernel PrepareGatherElements(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& a = node.attributes.As<GatherElementsAttributes>();
  ElementsParameters p = PackElements(node, a.axis);
  if (a.zero_outside) p.nothing = 0;
  return PreparedKernel::Of(ForBytes<GatherElements>(SizeOf(node.inputs[0].dtype)), std::move(p));
}

bool SupportsScatterElements(const NodeSignature& node) {
  return CanWrite(node, node.attributes.As<ScatterElementsAttributes>().reduction);
}

PreparedKernel PrepareScatterElements(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& a = node.attributes.As<ScatterElementsAttributes>();
  ElementsParameters p = PackElements(node, a.axis);
  p.mode = WriteModeOf(a.reduction);
  return PreparedKernel::Of(
      ForWriting<MoveElements, JoinElements>(node.inputs[0].dtype, a.reduction), std::move(p));
}

}  // namespace

KernelDef gather_elements() {
  return {.name = "reference.gather_elements", .prepare = PrepareGatherElements};
}

KernelDef scatter_elements() {
  return {.name = "reference.scatter_elements",
          .supports = SupportsScatterElements,
          .prepare = PrepareScatterElements};
}

}  // namespace cgrun::reference
