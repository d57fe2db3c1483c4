// Computes one_hot, embedding and the gradient of embedding, which adds up the rows of an entry in
// the order of their ids.
#include <limits>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/embedding.h"
#include "src/ops/one_hot.h"

namespace cgrun::cuda {

// Kernel<Index, T>::Run for the types of input 0 and output 0.
template <template <class, class> class Kernel>
static KernelFunction ForIndexAndFloat(const NodeSignature& node) {
  return ForEach(node.inputs[0].dtype, [&]<class Index>(Index*) {
    return ForEach(node.outputs[0].dtype, []<class T>(T*) -> KernelFunction {
      if constexpr (std::is_integral_v<Index> && kIsFloat<T>) return &Kernel<Index, T>::Run;
      return nullptr;
    });
  });
}

struct OneHotParameters {
  int64_t rows = 0;
  int64_t classes = 0;
  double on = 1;
  double off = 0;
};

template <class Index, class T>
struct OneHotBody {
  OneHotParameters p;
  const Index* index;
  T* y;
  __device__ void operator()(int64_t e) const {
    const bool hot = e % p.classes == static_cast<int64_t>(index[e / p.classes]);
    y[e] = StoreF64<T>(hot ? p.on : p.off);
  }
};

template <class Index, class T>
struct OneHot {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const OneHotParameters*>(i.parameters);
    ForEachElement(
        context, p.rows * p.classes,
        OneHotBody<Index, T>{p, Data<const Index>(context, i, 0), Data<T>(context, i, 1)});
  }
};

static PreparedKernel PrepareOneHot(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<OneHotAttributes>();
  return PreparedKernel::Of(
      ForIndexAndFloat<OneHot>(request.node),
      OneHotParameters{request.node.inputs[0].shape.Elements(), attributes.classes,
                       attributes.on_value, attributes.off_value});
}

struct EmbeddingParameters {
  int64_t ids = 0;
  int64_t entries = 0;
  int64_t units = 0;
};

template <class Id, class T>
struct EmbeddingBody {
  EmbeddingParameters p;
  const Id* ids;
  const T* weight;
  T* y;
  __device__ void operator()(int64_t e) const {
    const auto id = static_cast<int64_t>(ids[e / p.units]);
    const bool known = id >= 0 && id < p.entries;
    y[e] = known ? weight[id * p.units + e % p.units]
                 : Store<T>(std::numeric_limits<Compute<T>>::quiet_NaN());
  }
};

template <class Id, class T>
struct Embedding {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EmbeddingParameters*>(i.parameters);
    ForEachElement(context, p.ids * p.units,
                   EmbeddingBody<Id, T>{p, Data<const Id>(context, i, 0),
                                        Data<const T>(context, i, 1), Data<T>(context, i, 2)});
  }
};

// Each unit of each entry looks through all ids. This suits vocabularies of thousands, not of
// millions.
template <class Id, class T>
struct EmbeddingGradBody {
  EmbeddingParameters p;
  const Id* ids;
  const T* dy;
  T* dweight;
  __device__ void operator()(int64_t e) const {
    const int64_t entry = e / p.units, unit = e % p.units;
    double sum = 0;
    for (int64_t n = 0; n < p.ids; ++n) {
      if (static_cast<int64_t>(ids[n]) == entry) sum += LoadF64(dy[n * p.units + unit]);
    }
    dweight[e] = StoreF64<T>(sum);
  }
};

template <class Id, class T>
struct EmbeddingGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EmbeddingParameters*>(i.parameters);
    ForEachElement(context, p.entries * p.units,
                   EmbeddingGradBody<Id, T>{p, Data<const Id>(context, i, 0),
                                            Data<const T>(context, i, 1), Data<T>(context, i, 2)});
  }
};

template <template <class, class> class Kernel>
static PreparedKernel PrepareEmbedding(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<EmbeddingAttributes>();
  return PreparedKernel::Of(ForIndexAndFloat<Kernel>(request.node),
                            EmbeddingParameters{request.node.inputs[0].shape.Elements(),
                                                attributes.entries, attributes.units});
}

KernelDef one_hot() {
  return {.name = "cuda.one_hot", .supports = FirstOutputIsFloat, .prepare = PrepareOneHot};
}
KernelDef embedding() {
  return {.name = "cuda.embedding",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareEmbedding<Embedding>};
}
KernelDef embedding_grad() {
  return {.name = "cuda.embedding_grad",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareEmbedding<EmbeddingGrad>};
}

}  // namespace cgrun::cuda
