// Computes embedding, row by row, and its gradient, entry by entry: the ids are sorted by counting
// first.
#include "src/ops/embedding.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct EmbeddingParameters {
  int64_t ids = 0;
  int64_t entries = 0;
  int64_t units = 0;

  // The entry of an id, or −1.
  int64_t Entry(int64_t id) const { return id >= 0 && id < entries ? id : -1; }
};

template <class Id, class T>
struct Embedding {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EmbeddingParameters*>(i.parameters);
    const Id* ids = Data<const Id>(context, i, 0);
    const T* weight = Data<const T>(context, i, 1);
    T* y = Data<T>(context, i, 2);
    const T nan = Store<T>(std::numeric_limits<Compute<T>>::quiet_NaN());
    for (int64_t n = 0; n < p.ids; ++n, y += p.units) {
      const int64_t entry = p.Entry(static_cast<int64_t>(ids[n]));
      if (entry < 0) {
        std::fill_n(y, p.units, nan);
      } else {
        std::copy_n(weight + entry * p.units, p.units, y);
      }
    }
  }
};

// Afterwards the places of entry e in `ids` are order[end[e − 1]] to order[end[e]], ascending.
template <class Id>
void SortByEntry(const EmbeddingParameters& p, const Id* ids, int64_t* end, int64_t* order) {
  std::fill_n(end, p.entries, 0);
  for (int64_t n = 0; n < p.ids; ++n) {
    const int64_t entry = p.Entry(static_cast<int64_t>(ids[n]));
    if (entry >= 0) ++end[entry];
  }
  int64_t before = 0;
  for (int64_t e = 0; e < p.entries; ++e) before += std::exchange(end[e], before);
  for (int64_t n = 0; n < p.ids; ++n) {
    const int64_t entry = p.Entry(static_cast<int64_t>(ids[n]));
    if (entry >= 0) order[end[entry]++] = n;
  }
}

template <class Id, class T>
struct EmbeddingGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EmbeddingParameters*>(i.parameters);
    const T* dy = Data<const T>(context, i, 1);
    T* dweight = Data<T>(context, i, 2);
    int64_t* end = Data<int64_t>(context, i, 3);
    int64_t* order = end + p.entries;
    SortByEntry(p, Data<const Id>(context, i, 0), end, order);
    int64_t first = 0;
    for (int64_t e = 0; e < p.entries; first = end[e++]) {
      for (int64_t u = 0; u < p.units; ++u) {
        double sum = 0;
        for (int64_t n = first; n < end[e]; ++n) sum += LoadF64(dy[order[n] * p.units + u]);
        *dweight++ = StoreF64<T>(sum);
      }
    }
  }
};

template <template <class, class> class Kernel>
static PreparedKernel PrepareEmbedding(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<EmbeddingAttributes>();
  const DType dtype = node.outputs[0].dtype;
  const KernelFunction run = ForEach(node.inputs[0].dtype, [&]<class Id>(Id*) {
    return ForEach(dtype, []<class T>(T*) -> KernelFunction {
      if constexpr (std::is_integral_v<Id> && kIsFloat<T>) return &Kernel<Id, T>::Run;
      return nullptr;
    });
  });
  return PreparedKernel::Of(run, EmbeddingParameters{node.inputs[0].shape.Elements(),
                                                     attributes.entries, attributes.units});
}

// The workspace holds the end of each entry's ids, then the ids' places by entry.
int64_t EmbeddingWorkspaceBytes(const NodeSignature& node, int) {
  const int64_t entries = node.attributes.As<EmbeddingAttributes>().entries;
  return (entries + node.inputs[0].shape.Elements()) * static_cast<int64_t>(sizeof(int64_t));
}

}  // namespace

KernelDef embedding() {
  return {.name = "reference.embedding",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareEmbedding<Embedding>};
}

KernelDef embedding_grad() {
  return {.name = "reference.embedding_grad",
          .supports = FirstOutputIsFloat,
          .workspace_bytes = EmbeddingWorkspaceBytes,
          .prepare = PrepareEmbedding<EmbeddingGrad>};
}

}  // namespace cgrun::reference
