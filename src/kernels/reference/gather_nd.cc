// Computes gather_nd and scatter_nd, block by block.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/scatter.h"
#include "src/kernels/strided.h"
#include "src/ops/gather.h"

namespace cgrun::reference {
namespace {

struct TuplesParameters {
  int64_t batches = 1;
  int64_t tuples = 1;                   // of a batch
  int64_t stretch = 1;                  // elements of x of a batch
  int64_t block = 1;                    // elements of a block
  std::vector<int64_t> sizes, strides;  // of the axes of x that a tuple names
  IndexReader read = nullptr;
  uint64_t nothing = 0;
  int64_t bytes = 0;  // of x
  WriteMode mode = WriteMode::kReplace;

  // The offset of the block that tuple `n` names, from the first element of its batch, or −1.
  int64_t OffsetOf(const std::byte* index, int64_t n) const {
    const auto count = static_cast<int64_t>(sizes.size());
    int64_t offset = 0;
    for (int64_t k = 0; k < count; ++k) {
      const auto axis = static_cast<size_t>(k);
      const int64_t place = PlaceOn(read(index, n * count + k), sizes[axis]);
      if (place < 0) return -1;
      offset += place * strides[axis];
    }
    return offset;
  }

  // Calls f(n, offset) for each tuple, with the offset of its block in x, or −1.
  template <class F>
  void ForEachTuple(const std::byte* index, F f) const {
    for (int64_t n = 0; n < batches * tuples; ++n) {
      const int64_t offset = OffsetOf(index, n);
      f(n, offset < 0 ? -1 : offset + n / tuples * stretch);
    }
  }
};

template <class Bits>
struct GatherBlocks {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const TuplesParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 2);
    p.ForEachTuple(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      Bits* to = y + n * p.block;
      if (offset < 0) {
        std::fill_n(to, p.block, static_cast<Bits>(p.nothing));
      } else {
        std::copy_n(x + offset, p.block, to);
      }
    });
  }
};

template <class Bits>
struct MoveBlocks {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const TuplesParameters*>(i.parameters);
    const Bits* updates = Data<const Bits>(context, i, 2);
    Bits* y = Data<Bits>(context, i, 3);
    CopyInput(context, i, p.bytes);
    p.ForEachTuple(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      if (offset >= 0) std::copy_n(updates + n * p.block, p.block, y + offset);
    });
  }
};

template <class T>
struct JoinBlocks {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const TuplesParameters*>(i.parameters);
    const T* updates = Data<const T>(context, i, 2);
    T* y = Data<T>(context, i, 3);
    CopyInput(context, i, p.bytes);
    p.ForEachTuple(Data<const std::byte>(context, i, 1), [&](int64_t n, int64_t offset) {
      for (int64_t e = 0; offset >= 0 && e < p.block; ++e) {
        y[offset + e] = Written(p.mode, y[offset + e], updates[n * p.block + e]);
      }
    });
  }
};

TuplesParameters PackTuples(const NodeSignature& node, int64_t batch_dims) {
  const TensorType &x = node.inputs[0], &index = node.inputs[1];
  const int64_t tuple = index.shape[index.shape.rank() - 1].size;
  const std::vector<int64_t> strides = RowMajorStrides(x.shape);
  TuplesParameters p;
  for (int64_t axis = 0; axis < batch_dims; ++axis) {
    p.batches *= x.shape[static_cast<int>(axis)].size;
  }
  p.stretch = x.shape.Elements() / p.batches;
  p.block = p.stretch;
  for (int64_t axis = batch_dims; axis < batch_dims + tuple; ++axis) {
    p.sizes.push_back(x.shape[static_cast<int>(axis)].size);
    p.strides.push_back(strides[static_cast<size_t>(axis)]);
    p.block /= p.sizes.back();
  }
  p.tuples = index.shape.Elements() / p.batches / tuple;
  p.read = IndexReaderOf(index.dtype);
  p.nothing = BitsOfNothing(x.dtype);
  p.bytes = ByteSize(x);
  return p;
}

PreparedKernel PrepareGatherNd(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& a = node.attributes.As<GatherNdAttributes>();
  TuplesParameters p = PackTuples(node, a.batch_dims);
  if (a.zero_outside) p.nothing = 0;
  return PreparedKernel::Of(ForBytes<GatherBlocks>(SizeOf(node.inputs[0].dtype)), std::move(p));
}

bool SupportsScatterNd(const NodeSignature& node) {
  return CanWrite(node, node.attributes.As<ScatterNdAttributes>().reduction);
}

PreparedKernel PrepareScatterNd(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& a = node.attributes.As<ScatterNdAttributes>();
  TuplesParameters p = PackTuples(node, a.batch_dims);
  p.mode = WriteModeOf(a.reduction);
  return PreparedKernel::Of(ForWriting<MoveBlocks, JoinBlocks>(node.inputs[0].dtype, a.reduction),
                            std::move(p));
}

}  // namespace

KernelDef gather_nd() { return {.name = "reference.gather_nd", .prepare = PrepareGatherNd}; }

KernelDef scatter_nd() {
  return {
      .name = "reference.scatter_nd", .supports = SupportsScatterNd, .prepare = PrepareScatterNd};
}

}  // namespace cgrun::reference
