// Computes roi_align. It first works out what each box reads. Then it goes box by box through each
// channel, whose maps fit a cache. The rows that an element of y reads are added up as vectors, and
// then the columns of that sum.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/roi_align.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/roi_taps.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters : RoiPlan {
  int64_t widest = 1;  // of the maps
  int threads = 1;

  int64_t samples() const { return rows() + columns(); }  // of a box
};

// A row or column and its weight in a mean. One of weight 0 takes no part, whatever it is.
struct Weighted {
  int32_t index = 0;
  float weight = 0;
};

// The map of a box, and the columns of it that are read.
struct Part {
  int32_t map = 0;
  int32_t begin = 0;
  int32_t end = 0;
};

struct Workspace {
  RoiTap* taps;        // of one box
  Weighted* weighted;  // of all boxes: two for each row of samples, then for each column
  Part* parts;         // of all boxes
  float* lines;        // one a thread

  static int64_t Bytes(const Parameters& p) {
    const int64_t boxes = p.images * p.boxes, samples = p.samples();
    const auto sizes = [](size_t bytes, int64_t n) { return static_cast<int64_t>(bytes) * n; };
    return sizes(sizeof(RoiTap), samples) + sizes(sizeof(Weighted), 2 * boxes * samples) +
           sizes(sizeof(Part), boxes) + sizes(sizeof(float), p.threads * p.widest);
  }

  Workspace(const Parameters& p, std::byte* bytes)
      : taps(reinterpret_cast<RoiTap*>(bytes)),
        weighted(reinterpret_cast<Weighted*>(taps + p.samples())),
        parts(reinterpret_cast<Part*>(weighted + 2 * p.images * p.boxes * p.samples())),
        lines(reinterpret_cast<float*>(parts + p.images * p.boxes)) {}
};

void PlanBox(const Parameters& p, const float* boxes, int64_t b, const Workspace& w) {
  const RoiBox box = RoiBox::At(boxes, b);
  const size_t map = MapOfBox(p, box);
  FillRoiTaps(p, box, p.maps[map], w.taps);
  const double share = 1 / static_cast<double>(p.ratio);
  Weighted* to = w.weighted + 2 * b * p.samples();
  for (int64_t i = 0; i < p.samples(); ++i) {
    const RoiTap& tap = w.taps[i];
    *to++ = {static_cast<int32_t>(tap.low), static_cast<float>(tap.low_weight * share)};
    *to++ = {static_cast<int32_t>(tap.high), static_cast<float>(tap.high_weight * share)};
  }
  const RoiTap* columns = w.taps + p.rows();  // they run from left to right, or back
  const RoiTap &first = columns[0], &last = columns[p.columns() - 1];
  w.parts[b] = {static_cast<int32_t>(map), static_cast<int32_t>(std::min(first.low, last.low)),
                static_cast<int32_t>(std::max(first.high, last.high) + 1)};
}

// line[begin … end) = Σ weight·row over `count` rows of a plane.
HWY_INLINE void AddRows(const float* plane, int64_t width, const Weighted* rows, int64_t count,
                        const Part& part, float* line) {
  const F32 d;
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  for (int64_t column = part.begin; column < part.end; column += kLanes) {
    const int64_t lanes = std::min(kLanes, part.end - column);
    VF32 sum = hn::Zero(d);
    for (int64_t r = 0; r < count; ++r) {
      if (rows[r].weight == 0) continue;
      const VF32 row = LoadSome(d, plane + rows[r].index * width + column, lanes);
      sum = hn::MulAdd(hn::Set(d, rows[r].weight), row, sum);
    }
    StoreSome(d, sum, line + column, lanes);
  }
}

// Computes one channel of a box.
void Channel(const Parameters& p, const float* plane, const Part& part, const Weighted* weighted,
             float* line, float* y) {
  const int64_t reads = 2 * p.ratio, width = p.maps[static_cast<size_t>(part.map)].width;
  const Weighted* columns = weighted + 2 * p.rows();
  for (int64_t i = 0; i < p.height; ++i) {
    AddRows(plane, width, weighted + i * reads, reads, part, line);
    for (int64_t j = 0; j < p.width; ++j) {
      float sum = 0;
      for (int64_t r = j * reads; r < (j + 1) * reads; ++r) {
        if (columns[r].weight != 0) sum += columns[r].weight * line[columns[r].index];
      }
      *y++ = sum;
    }
  }
}

void Forward(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const int maps = static_cast<int>(p.maps.size());
  const float* boxes = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, maps + 1);
  const Workspace w(p, Data<std::byte>(context, i, maps + 2));
  for (int64_t b = 0; b < p.images * p.boxes; ++b) PlanBox(p, boxes, b, w);
  const int64_t elements = p.height * p.width;
  SplitParts(p.threads, p.images * p.channels, 1, [&](int thread, int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {  // of all images
      const int64_t begin = c / p.channels * p.boxes;
      for (int64_t b = begin; b < begin + p.boxes; ++b) {
        const Part& part = w.parts[b];
        const RoiMap& map = p.maps[static_cast<size_t>(part.map)];
        Channel(p, Data<const float>(context, i, part.map + 1) + c * map.height * map.width, part,
                w.weighted + 2 * b * p.samples(), w.lines + thread * p.widest,
                y + (b * p.channels + c % p.channels) * elements);
      }
    }
  });
}

Parameters Pack(const NodeSignature& node, int threads) {
  Parameters p{RoiPlanOf(node), 1, threads};
  for (const RoiMap& map : p.maps) p.widest = std::max(p.widest, map.width);
  return p;
}

bool Supports(const NodeSignature& node) { return node.outputs[0].dtype == DType::kF32; }

// Little of a map may be read.
PreparedKernel Prepare(const KernelRequest& request) {
  const bool is_small = ByteSize(request.node.outputs[0]) < LeastParallelBytes(Work::kComputes);
  return PreparedKernel::Of(&Forward, Pack(request.node, is_small ? 1 : request.threads));
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return Workspace::Bytes(Pack(node, threads));
}

KernelDef roi_align() {
  return PerElement({.name = "cpu.roi_align",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(roi_align)

}  // namespace cgrun::cpu
#endif
