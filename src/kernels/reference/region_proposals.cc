// Computes region_proposals image by image: it reads the scores, selects the best, moves their
// boxes, and suppresses those that overlap.
#include "src/ops/region_proposals.h"

#include <cmath>
#include <numeric>

#include "src/kernels/reference/coordinates.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Anchor {
  double width = 0;
  double height = 0;
};

struct Map {
  int64_t stride = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t begin = 0;            // index of its first anchor among those of an image
  std::vector<Anchor> anchors;  // one for each ratio

  int64_t places() const { return height * width; }
  int64_t scores() const { return std::ssize(anchors) * places(); }
};

struct RegionProposalsParameters {
  std::vector<Map> maps;
  int64_t images = 1;
  int64_t scores = 0;      // of an image: one an anchor
  int64_t candidates = 0;  // at most as many
  int64_t count = 0;
  double max_iou = 0;
  std::array<double, 4> std = {};

  int64_t image_height() const { return maps[0].height * maps[0].stride; }
  int64_t image_width() const { return maps[0].width * maps[0].stride; }
};

// The workspace serves one image.
template <class T>
struct RegionProposalsWorkspace {
  BoxOf<T>* boxes;  // of the candidates, in the order of their scores
  T* scores;
  int32_t* order;  // indices of anchors
  int32_t* kept;   // indices of candidates

  RegionProposalsWorkspace(const RegionProposalsParameters& p, std::byte* bytes)
      : boxes(reinterpret_cast<BoxOf<T>*>(bytes)),
        scores(reinterpret_cast<T*>(boxes + p.candidates)),
        order(reinterpret_cast<int32_t*>(scores + p.scores)),
        kept(order + p.scores) {}

  static int64_t Bytes(const RegionProposalsParameters& p) {
    const auto sizes = [](size_t bytes, int64_t n) { return static_cast<int64_t>(bytes) * n; };
    return sizes(sizeof(BoxOf<T>), p.candidates) + sizes(sizeof(T), p.scores) +
           sizes(sizeof(int32_t), p.scores + p.count);
  }
};

template <class T>
struct Proposals {
  // Returns the anchor `index` of image `n`, moved by its deltas.
  static BoxOf<T> BoxOfAnchor(const RegionProposalsParameters& p, const RunContext& context,
                              const Instruction& i, int64_t n, int64_t index) {
    size_t m = 0;
    while (m + 1 < p.maps.size() && p.maps[m + 1].begin <= index) ++m;
    const Map& map = p.maps[m];
    const int64_t places = map.places(), ratio = (index - map.begin) / places;
    const int64_t place = (index - map.begin) % places;
    const Anchor& anchor = map.anchors[static_cast<size_t>(ratio)];
    const auto x = static_cast<T>(place % map.width * map.stride);
    const auto y = static_cast<T>(place / map.width * map.stride);
    const auto half_width = static_cast<T>(anchor.width / 2);
    const auto half_height = static_cast<T>(anchor.height / 2);
    const T* from = Data<const T>(context, i, static_cast<int>(2 * m + 1)) +
                    4 * (n * map.scores() + ratio * places) + place;
    Deltas<T> deltas;
    for (size_t d = 0; d < 4; ++d, from += places) deltas[d] = *from * static_cast<T>(p.std[d]);
    return Moved<T>({x - half_width, y - half_height, x + half_width, y + half_height}, deltas,
                    static_cast<T>(p.image_width()), static_cast<T>(p.image_height()));
  }

  // Copies the scores of image `n` and puts the best of them first, in their order.
  static void SortScores(const RegionProposalsParameters& p, const RunContext& context,
                         const Instruction& i, int64_t n, const RegionProposalsWorkspace<T>& w) {
    for (size_t m = 0; m < p.maps.size(); ++m) {
      const int64_t scores = p.maps[m].scores();
      std::copy_n(Data<const T>(context, i, static_cast<int>(2 * m)) + n * scores, scores,
                  w.scores + p.maps[m].begin);
    }
    int32_t *const last = w.order + p.candidates, *const end = w.order + p.scores;
    std::iota(w.order, end, 0);
    if (last != end) std::nth_element(w.order, last, end, ByScore<T>{w.scores});
    std::sort(w.order, last, ByScore<T>{w.scores});
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RegionProposalsParameters*>(i.parameters);
    const int maps = static_cast<int>(p.maps.size());
    auto* y = Data<BoxOf<T>>(context, i, 2 * maps);
    const RegionProposalsWorkspace<T> w(p, Data<std::byte>(context, i, 2 * maps + 1));
    for (int64_t n = 0; n < p.images; ++n, y += p.count) {
      SortScores(p, context, i, n, w);
      for (int64_t c = 0; c < p.candidates; ++c) {
        w.boxes[c] = BoxOfAnchor(p, context, i, n, w.order[c]);
      }
      const int64_t kept = SuppressNonMaxima<T>(
          {w.boxes, static_cast<size_t>(p.candidates)}, static_cast<T>(p.max_iou),
          {w.kept, static_cast<size_t>(p.count)}, [](size_t, size_t) { return true; });
      for (int64_t b = 0; b < kept; ++b) y[b] = w.boxes[w.kept[b]];
      std::fill(y + kept, y + p.count, BoxOf<T>());
    }
  }
};

RegionProposalsParameters PackRegionProposals(const NodeSignature& node) {
  const auto& a = node.attributes.As<RegionProposalsAttributes>();
  RegionProposalsParameters p;
  for (size_t m = 0; m < a.strides.size(); ++m) {
    const Shape& scores = node.inputs[2 * m].shape;
    Map map{a.strides[m], scores[2].size, scores[3].size, p.scores, {}};
    for (const double ratio : a.ratios) {
      map.anchors.push_back({a.scales[m] * std::sqrt(ratio), a.scales[m] / std::sqrt(ratio)});
    }
    p.scores += map.scores();
    p.maps.push_back(std::move(map));
  }
  p.images = node.outputs[0].shape[0].size;
  p.candidates = std::min(a.candidates, p.scores);
  p.count = a.count;
  p.max_iou = a.max_iou;
  std::copy_n(a.std.begin(), 4, p.std.begin());
  return p;
}

PreparedKernel PrepareRegionProposals(const KernelRequest& request) {
  return PreparedKernel::Of(ForCoordinates<Proposals>(request.node),
                            PackRegionProposals(request.node));
}

int64_t RegionProposalsWorkspaceBytes(const NodeSignature& node, int) {
  const RegionProposalsParameters p = PackRegionProposals(node);
  return node.inputs[0].dtype == DType::kF64 ? RegionProposalsWorkspace<double>::Bytes(p)
                                             : RegionProposalsWorkspace<float>::Bytes(p);
}

}  // namespace

KernelDef region_proposals() {
  return {.name = "reference.region_proposals",
          .supports = HasCoordinates,
          .workspace_bytes = RegionProposalsWorkspaceBytes,
          .prepare = PrepareRegionProposals};
}

}  // namespace cgrun::reference
