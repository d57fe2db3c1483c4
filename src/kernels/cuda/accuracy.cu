// Computes accuracy and top_k_accuracy: one block counts the labels before which few classes come.
#include <utility>

#include "src/kernels/cuda/device_table.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/loss_formulas.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"

namespace cgrun::cuda {

struct AccuracySizes {
  int64_t labels = 0;
  int64_t classes = 0;
  int64_t places = 1;  // labels of a sample; a class's logits of all of them stand in a row
  int64_t top_k = 1;
  bool counts_labels = false;
};

struct AccuracyParameters {
  AccuracySizes sizes;
  DeviceTable<int64_t> ignored;
};

template <class T, class Label>
struct AccuracyBody {
  AccuracySizes p;
  const int64_t* ignored;
  int64_t ignored_count;
  const T* logits;
  const Label* labels;
  int64_t* sums;

  __device__ bool Ignores(int64_t label) const {
    for (int64_t i = 0; i < ignored_count; ++i) {
      if (ignored[i] == label) return true;
    }
    return false;
  }

  __device__ void operator()(int64_t) const {
    int64_t correct = 0, counted = 0;
    for (int64_t l = threadIdx.x; l < p.labels; l += kThreadsPerBlock) {
      const auto label = static_cast<int64_t>(labels[l]);
      if (Ignores(label)) continue;
      ++counted;
      const T* of_place = logits + l / p.places * p.classes * p.places + l % p.places;
      correct += formulas::IsAmongFirst(of_place, p.places, p.classes, label, p.top_k);
    }
    // Counts are exact in f64.
    const double all_correct = JoinBlock(static_cast<double>(correct), JoinSum());
    const double all_counted = JoinBlock(static_cast<double>(counted), JoinSum());
    if (threadIdx.x != 0) return;
    sums[0] = static_cast<int64_t>(all_correct);
    if (p.counts_labels) sums[1] = static_cast<int64_t>(all_counted);
  }
};

template <class T, class Label>
struct Accuracy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AccuracyParameters*>(i.parameters);
    ForEachGroup(context, 1,
                 AccuracyBody<T, Label>{
                     p.sizes, p.ignored.data(), p.ignored.size(), Data<const T>(context, i, 0),
                     Data<const Label>(context, i, 1), Data<int64_t>(context, i, 2)});
  }
};

static PreparedKernel PrepareAccuracyFor(const KernelRequest& request, int64_t top_k,
                                         const IntList& ignored) {
  const Shape& logits = request.node.inputs[0].shape;
  const int64_t labels = request.node.inputs[1].shape.Elements();
  return PreparedKernel::Of(ForLogitsAndLabels<Accuracy>(request.node),
                            AccuracyParameters{{labels, logits[1].size, labels / logits[0].size,
                                                top_k, request.node.outputs[0].shape.rank() > 0},
                                               DeviceTable<int64_t>(ignored)});
}

static PreparedKernel PrepareAccuracy(const KernelRequest& request) {
  const auto& [top_k, ignored] = request.node.attributes.As<AccuracyAttributes>();
  return PrepareAccuracyFor(request, top_k, ignored);
}

static PreparedKernel PrepareTopK(const KernelRequest& request) {
  return PrepareAccuracyFor(request, request.node.attributes.As<TopKAccuracyAttributes>().k, {});
}

KernelDef accuracy() {
  return {.name = "cuda.accuracy", .supports = FirstInputIsFloat, .prepare = PrepareAccuracy};
}
KernelDef top_k_accuracy() {
  return {.name = "cuda.top_k_accuracy", .supports = FirstInputIsFloat, .prepare = PrepareTopK};
}

}  // namespace cgrun::cuda
