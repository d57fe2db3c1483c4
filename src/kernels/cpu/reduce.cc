// Computes reduce_sum, reduce_mean, reduce_max and global_avg_pool, and the first three also of
// what chains make. Results are made from pieces that depend on the shapes alone. Each result has
// one piece. If there are few results, each has several, which the workspace holds until they are
// joined in order.
#include "src/ops/reduce.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/reduce.cc"
#include <hwy/foreach_target.h>
//
#include "src/base/check.h"
#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/reduction.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kVectors = 4;  // of columns that are reduced side by side

struct Add {
  using State = Sum;
  static double Finish(double sum, double) { return sum; }
};

struct Average {
  using State = Sum;
  static double Finish(double sum, double count) { return sum / count; }
};

struct Largest {
  using State = Max;
  static double Finish(double max, double) { return max; }
};

template <class Rule, class T>
struct Reduce {
  using State = typename Rule::State;
  static constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

  // Says where pieces go: into the workspace, or straight into y.
  struct Target {
    T* y = nullptr;
    double* pieces = nullptr;
    const Reduction& p;

    void Put(int64_t result, int64_t piece, double value) const {
      if (p.pieces > 1) {
        pieces[piece * p.results + result] = value;
      } else {
        y[result] = static_cast<T>(static_cast<float>(Rule::Finish(value, p.count)));
      }
    }
  };

  // One result whose elements are contiguous.
  static double OfRows(const Reduction& p, const T* x, int64_t begin, int64_t end) {
    States<State, kRowStates> states;
    ForRuns(p.reduced, {0}, begin, end,
            [&](const auto& at, int64_t count) { AddRow(x + at[0], count, states); });
    return TotalOf(states);
  }

  // `width` results, whose elements lie side by side: whole vectors, or the first part of one.
  template <size_t kCount>
  static void OfColumns(const Reduction& p, const T* x, int64_t width, int64_t begin, int64_t end,
                        double* results) {
    States<State, kCount> states;
    const int64_t stride = p.reduced.inner.strides[0];
    ForRuns(p.reduced, {0}, begin, end, [&](const auto& at, int64_t count) {
      States<State, kCount> local = states;
      const T* row = x + at[0];
      for (int64_t k = 0; k < count; ++k, row += stride) {
#pragma GCC unroll 8
        for (size_t v = 0; v < kCount; ++v) {
          const T* from = row + static_cast<int64_t>(v) * kLanes;
          const bool whole = kCount > 1 || width == kLanes;
          local[v].Add(whole ? LoadLanes(F32(), from) : LoadFirst(F32(), from, width));
        }
      }
      states = local;
    });
#pragma GCC unroll 8
    for (size_t v = 0; v < kCount; ++v) states[v].Lanes(results + v * kF32Lanes);
  }

  // Results [first, first + width) of the rows of results that x begins.
  static void Columns(const Target& to, const T* x, int64_t first, int64_t width, int64_t piece) {
    const auto [begin, end] = to.p.Piece(piece);
    double results[kVectors * kF32Lanes];
    if (width == static_cast<int64_t>(kVectors) * kLanes) {
      OfColumns<kVectors>(to.p, x, width, begin, end, results);
    } else {
      for (int64_t c = 0; c < width; c += kLanes) {
        OfColumns<1>(to.p, x + c, std::min(kLanes, width - c), begin, end, results + c);
      }
    }
    for (int64_t c = 0; c < width; ++c) to.Put(first + c, piece, results[c]);
  }

  static void RunTask(const Target& to, const T* x, int64_t task) {
    const Reduction& p = to.p;
    const int64_t piece = task % p.pieces;
    if (p.rows) {
      const int64_t result = task / p.pieces;
      const auto [begin, end] = p.Piece(piece);
      to.Put(result, piece, OfRows(p, x + p.Offset(result), begin, end));
    } else {
      const int64_t tile = task / p.pieces, tiles = p.Tiles(), size = p.kept.inner.size;
      const int64_t column = tile % tiles * Reduction::kTile;
      const int64_t first = tile / tiles * size + column;
      for (int64_t c = 0; c < Reduction::kTile; c += kVectors * kLanes) {
        const int64_t width = std::min(static_cast<int64_t>(kVectors) * kLanes, size - column - c);
        if (width > 0) Columns(to, x + p.Offset(first + c), first + c, width, piece);
      }
    }
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Reduction*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    double* pieces = p.pieces > 1 ? Data<double>(context, i, 2) : nullptr;
    const Target to{Data<T>(context, i, 1), pieces, p};
    Split(p.threads, p.Tasks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) RunTask(to, x, task);
    });
    JoinAll(to);
  }

  static void JoinAll(const Target& to) {
    const Reduction& p = to.p;
    for (int64_t result = 0; p.pieces > 1 && result < p.results; ++result) {
      const double total = JoinPieces<State>(p, to.pieces, result);
      to.y[result] = static_cast<T>(static_cast<float>(Rule::Finish(total, p.count)));
    }
  }

  // Results [begin, end) of rows that are there together.
  static void WholeRows(const Target& to, const T* x, int64_t begin, int64_t end) {
    for (int64_t result = begin; result < end; ++result, x += to.p.count) {
      States<State, kRowStates> states;
      AddRow(x, to.p.count, states);
      to.Put(result, 0, TotalOf(states));
    }
  }

  // A piece from several tiles, made(begin, count). These begin at whole turns of AddRow, so that
  // each element meets the state that it meets in a piece that is there as a whole.
  static void TiledPiece(const Target& to, int64_t task, int64_t most, const auto& made) {
    States<State, kRowStates> states;
    const int64_t end = to.p.TaskBegin(task + 1);
    for (int64_t at = to.p.TaskBegin(task); at < end; at += most) {
      const int64_t count = std::min(most, end - at);
      AddRow(made(at, count), count, states);
    }
    to.Put(task / to.p.pieces, task % to.p.pieces, TotalOf(states));
  }

  static void ByTiles(const Reduction& p, const RowTiles& tiles, const TileMaker& maker, void* y,
                      double* pieces) {
    const Target to{static_cast<T*>(y), pieces, p};
    const int64_t grain = std::max<int64_t>(tiles.rows, 1);
    SplitParts(p.threads, p.Tasks(), grain, [&](int part, int64_t begin, int64_t end) {
      const auto made = [&](int64_t at, int64_t count) {
        return static_cast<const T*>(maker.make(maker.state, part, at, count));
      };
      for (int64_t task = begin; tiles.rows == 0 && task < end; ++task) {
        TiledPiece(to, task, tiles.elements, made);
      }
      for (int64_t row = begin; tiles.rows > 0 && row < end; row += tiles.rows) {
        const int64_t last = std::min(row + tiles.rows, end);
        WholeRows(to, made(row * p.count, (last - row) * p.count), row, last);
      }
    });
    JoinAll(to);
  }
};

template <class T>
TileReducer ReducerOf(OpId op) {
  if (op == OpId::reduce_sum) return &Reduce<Add, T>::ByTiles;
  if (op == OpId::reduce_mean) return &Reduce<Average, T>::ByTiles;
  if (op == OpId::reduce_max) return &Reduce<Largest, T>::ByTiles;
  return nullptr;
}

TileReducer TileReducerOf(OpId op, DType dtype) {
  if (dtype == DType::kBF16) return ReducerOf<BFloat16>(op);
  return dtype == DType::kF32 ? ReducerOf<float>(op) : nullptr;
}

// `kReductionOf` is what a node reduces over.
template <Reduction (*kReductionOf)(const NodeSignature&)>
int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return kReductionOf(node).WorkspaceBytes();
}

template <class Rule, Reduction (*kReductionOf)(const NodeSignature&)>
PreparedKernel Prepare(const KernelRequest& request) {
  Reduction reduction = kReductionOf(request.node);
  reduction.threads = ThreadsFor(request);
  const bool narrow = request.node.inputs[0].dtype == DType::kBF16;
  return PreparedKernel::Of(narrow ? &Reduce<Rule, BFloat16>::Run : &Reduce<Rule, float>::Run,
                            std::move(reduction));
}

template <class Rule, Reduction (*kReductionOf)(const NodeSignature&) = ReductionOf>
KernelDef Define(std::string_view name) {
  return PerElement({.name = name,
                     .supports = AllF32OrBF16,
                     .workspace_bytes = WorkspaceBytes<kReductionOf>,
                     .prepare = Prepare<Rule, kReductionOf>});
}

// Reduces all axes but images and channels.
Reduction ReductionOfPlanes(const NodeSignature& node) {
  std::vector<int> axes;
  for (int axis = 2; axis < node.inputs[0].shape.rank(); ++axis) axes.push_back(axis);
  return ReductionOver(node.inputs[0].shape, axes);
}

KernelDef reduce_sum() { return Define<Add>("cpu.reduce_sum"); }
KernelDef reduce_mean() { return Define<Average>("cpu.reduce_mean"); }
KernelDef reduce_max() { return Define<Largest>("cpu.reduce_max"); }
KernelDef global_avg_pool() { return Define<Average, ReductionOfPlanes>("cpu.global_avg_pool"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL_AND(reduce_sum, reduce_sum_in_blocks)
CGRUN_CPU_KERNEL(reduce_mean)
CGRUN_CPU_KERNEL(reduce_max)
CGRUN_CPU_KERNEL_AND(global_avg_pool, global_avg_pool_in_blocks)

HWY_EXPORT(TileReducerOf);
TileReducer TileReducerOf(OpId op, DType dtype) {
  return HasVectorTarget() ? HWY_DYNAMIC_DISPATCH(TileReducerOf)(op, dtype) : nullptr;
}

}  // namespace cgrun::cpu
#endif
