// Computes roi_align and its gradient, box by box.
#include "src/ops/roi_align.h"

#include <algorithm>

#include "src/kernels/reference/coordinates.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/roi_taps.h"

namespace cgrun::reference {
namespace {

// Calls f(element, weight) for the four elements of a plane around a sample. One of weight 0 takes
// no part, whatever it is.
template <class F>
void ForFour(const RoiTap& row, const RoiTap& column, int64_t width, F f) {
  const int64_t rows[2] = {row.low * width, row.high * width};
  const int64_t columns[2] = {column.low, column.high};
  const double row_weights[2] = {row.low_weight, row.high_weight};
  const double column_weights[2] = {column.low_weight, column.high_weight};
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      const double weight = row_weights[a] * column_weights[b];
      if (weight != 0) f(rows[a] + columns[b], weight);
    }
  }
}

// f(element of y, element of the map, weight) for all that one channel of a box reads.
template <class F>
void ForEachRead(const RoiPlan& p, const RoiTap* taps, int64_t map_width, F f) {
  const RoiTap* columns = taps + p.rows();
  for (int64_t i = 0; i < p.rows(); ++i) {
    for (int64_t j = 0; j < p.columns(); ++j) {
      const int64_t element = i / p.ratio * p.width + j / p.ratio;
      ForFour(taps[i], columns[j], map_width,
              [&](int64_t from, double weight) { f(element, from, weight); });
    }
  }
}

template <class T>
struct RoiAlignForward {
  // One channel of a box. The workspace holds its sums behind the taps.
  static void Channel(const RoiPlan& p, const RoiTap* taps, const RoiMap& map, const T* plane,
                      double* sums, T* y) {
    const int64_t elements = p.height * p.width;
    std::fill_n(sums, elements, 0.0);
    ForEachRead(p, taps, map.width, [=](int64_t element, int64_t from, double weight) {
      sums[element] += weight * static_cast<double>(plane[from]);
    });
    const auto samples = static_cast<double>(p.ratio * p.ratio);
    for (int64_t e = 0; e < elements; ++e) y[e] = static_cast<T>(sums[e] / samples);
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RoiPlan*>(i.parameters);
    const int maps = static_cast<int>(p.maps.size());
    const T* boxes = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, maps + 1);
    RoiTap* taps = Data<RoiTap>(context, i, maps + 2);
    auto* sums = reinterpret_cast<double*>(taps + p.rows() + p.columns());
    for (int64_t b = 0; b < p.images * p.boxes; ++b) {
      const RoiBox box = RoiBox::At(boxes, b);
      const size_t m = MapOfBox(p, box);
      const RoiMap& map = p.maps[m];
      FillRoiTaps(p, box, map, taps);
      const int64_t plane = map.height * map.width;
      const T* x =
          Data<const T>(context, i, static_cast<int>(m) + 1) + b / p.boxes * p.channels * plane;
      for (int64_t c = 0; c < p.channels; ++c, x += plane, y += p.height * p.width) {
        Channel(p, taps, map, x, sums, y);
      }
    }
  }
};

struct RoiAlignGradParameters : RoiPlan {
  size_t map = 0;
};

template <class T>
struct RoiAlignGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RoiAlignGradParameters*>(i.parameters);
    const T* boxes = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    RoiTap* taps = Data<RoiTap>(context, i, 3);
    const RoiMap& map = p.maps[p.map];
    const int64_t plane = map.height * map.width, elements = p.height * p.width;
    const auto samples = static_cast<double>(p.ratio * p.ratio);
    std::fill_n(dx, p.images * p.channels * plane, T(0));
    for (int64_t b = 0; b < p.images * p.boxes; ++b) {
      const RoiBox box = RoiBox::At(boxes, b);
      if (MapOfBox(p, box) != p.map) continue;
      FillRoiTaps(p, box, map, taps);
      for (int64_t c = 0; c < p.channels; ++c) {
        const T* from = dy + (b * p.channels + c) * elements;
        T* to = dx + (b / p.boxes * p.channels + c) * plane;
        ForEachRead(p, taps, map.width, [=](int64_t element, int64_t read, double weight) {
          to[read] += static_cast<T>(weight / samples * static_cast<double>(from[element]));
        });
      }
    }
  }
};

PreparedKernel PrepareRoiAlign(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  RoiPlan p = RoiPlanOf(node);
  return PreparedKernel::Of(ForCoordinates<RoiAlignForward>(node), std::move(p));
}

PreparedKernel PrepareRoiAlignGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<RoiAlignGradAttributes>();
  RoiAlignGradParameters p{
      RoiPlanOf(attributes.forward(), node.inputs[0].shape, node.inputs[1].shape),
      static_cast<size_t>(attributes.map)};
  p.maps[p.map].height = attributes.shape[2].size;
  p.maps[p.map].width = attributes.shape[3].size;
  return PreparedKernel::Of(ForCoordinates<RoiAlignGrad>(node), std::move(p));
}

int64_t RoiAlignWorkspaceBytes(const NodeSignature& node, int) {
  const auto& attributes = node.attributes.As<RoiAlignAttributes>();
  return RoiTapBytes(attributes) +
         attributes.size[0] * attributes.size[1] * static_cast<int64_t>(sizeof(double));
}

int64_t GradWorkspaceBytes(const NodeSignature& node, int) {
  return RoiTapBytes(node.attributes.As<RoiAlignGradAttributes>().forward());
}

}  // namespace

KernelDef roi_align() {
  return {.name = "reference.roi_align",
          .supports = HasCoordinates,
          .workspace_bytes = RoiAlignWorkspaceBytes,
          .prepare = PrepareRoiAlign};
}

KernelDef roi_align_grad() {
  return {.name = "reference.roi_align_grad",
          .supports = HasCoordinates,
          .workspace_bytes = GradWorkspaceBytes,
          .prepare = PrepareRoiAlignGrad};
}

}  // namespace cgrun::reference
