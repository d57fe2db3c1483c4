// Computes embedding and its gradient. The ids are sorted by counting first; then each entry's rows
// of dy are added in the ids' order in f64, so that no two threads add to one number.
#include "src/ops/embedding.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/embedding.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/labels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);
constexpr int64_t kTile = 64;  // columns of a row of the table that are one task

struct Parameters {
  int64_t ids = 0;
  int64_t entries = 0;
  int64_t units = 0;
  LabelReader id = nullptr;
  int threads = 1;

  // The entry of id `n`, or −1.
  int64_t Entry(const std::byte* ids_bytes, int64_t n) const {
    const int64_t entry = id(ids_bytes, n);
    return entry >= 0 && entry < entries ? entry : -1;
  }
};

void Forward(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const auto* ids = Data<const std::byte>(context, i, 0);
  const float* weight = Data<const float>(context, i, 1);
  float* y = Data<float>(context, i, 2);
  const size_t bytes = static_cast<size_t>(p.units) * sizeof(float);
  Split(p.threads, p.ids, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      float* row = y + n * p.units;
      if (const int64_t entry = p.Entry(ids, n); entry >= 0) {
        std::memcpy(row, weight + entry * p.units, bytes);
      } else {
        std::fill_n(row, p.units, std::numeric_limits<float>::quiet_NaN());
      }
    }
  });
}

// Afterwards the places of entry e in `ids` are order[end[e − 1]] to order[end[e]], ascending.
void SortByEntry(const Parameters& p, const std::byte* ids, int64_t* end, int64_t* order) {
  std::fill_n(end, p.entries, 0);
  for (int64_t n = 0; n < p.ids; ++n) {
    if (const int64_t entry = p.Entry(ids, n); entry >= 0) ++end[entry];
  }
  int64_t before = 0;
  for (int64_t e = 0; e < p.entries; ++e) before += std::exchange(end[e], before);
  for (int64_t n = 0; n < p.ids; ++n) {
    if (const int64_t entry = p.Entry(ids, n); entry >= 0) order[end[entry]++] = n;
  }
}

// Adds columns [begin, end) of the rows of dy that `order` names.
void AddRows(const Parameters& p, const float* dy, const int64_t* order, int64_t count,
             int64_t begin, int64_t end, float* dweight) {
  const F32 d;
  for (int64_t c = begin; c < end; c += kLanes) {
    const int64_t lanes = std::min(kLanes, end - c);
    Sum sum;
    sum.Add(hn::Zero(d));  // the sum of none is 0
    for (int64_t n = 0; n < count; ++n) sum.Add(LoadSome(d, dy + order[n] * p.units + c, lanes));
    StoreSome(d, sum.RoundedLanes(), dweight + c, lanes);
  }
}

// A task is a tile of columns of an entry; the tiles of the same columns follow one another, so
// that threads share the work of frequent entries where rows are long.
void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* dy = Data<const float>(context, i, 1);
  float* dweight = Data<float>(context, i, 2);
  int64_t* ends = Data<int64_t>(context, i, 3);
  int64_t* order = ends + p.entries;
  SortByEntry(p, Data<const std::byte>(context, i, 0), ends, order);
  const int64_t tiles = (p.units + kTile - 1) / kTile;
  Split(p.threads, tiles * p.entries, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t entry = task % p.entries, column = task / p.entries * kTile;
      const int64_t first = entry == 0 ? 0 : ends[entry - 1];
      AddRows(p, dy, order + first, ends[entry] - first, column, std::min(column + kTile, p.units),
              dweight + entry * p.units);
    }
  });
}

bool Supports(const NodeSignature& node) { return node.outputs[0].dtype == DType::kF32; }

// The workspace holds the end of each entry's ids, then the ids' places by entry.
int64_t WorkspaceBytes(const NodeSignature& node, int) {
  const int64_t entries = node.attributes.As<EmbeddingAttributes>().entries;
  return (entries + node.inputs[0].shape.Elements()) * static_cast<int64_t>(sizeof(int64_t));
}

PreparedKernel Prepare(const KernelRequest& request, KernelFunction run, int threads) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<EmbeddingAttributes>();
  return PreparedKernel::Of(
      run, Parameters{node.inputs[0].shape.Elements(), attributes.entries, attributes.units,
                      LabelReaderOf(node.inputs[0].dtype), threads});
}

// Most of the table is not read.
PreparedKernel PrepareForward(const KernelRequest& request) {
  const int64_t moved = 2 * ByteSize(request.node.outputs[0]);
  const int threads = moved < LeastParallelBytes(Work::kMoves) ? 1 : request.threads;
  return Prepare(request, &Forward, threads);
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return Prepare(request, &Grad, ThreadsFor(request));
}

KernelDef embedding() {
  return PerElement({.name = "cpu.embedding", .supports = Supports, .prepare = PrepareForward});
}

KernelDef embedding_grad() {
  return PerElement({.name = "cpu.embedding_grad",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = PrepareGrad});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(embedding)
CGRUN_CPU_KERNEL(embedding_grad)

}  // namespace cgrun::cpu
#endif
