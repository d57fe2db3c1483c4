// Computes detections image by image: it finds the class of each box, selects the best boxes, and
// suppresses others of the same class.
#include "src/ops/detections.h"

#include "src/kernels/reference/coordinates.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct DetectionsParameters {
  int64_t images = 1;
  int64_t boxes = 0;  // of an image
  int64_t classes = 0;
  int64_t count = 0;
  double min_score = 0;
  double max_iou = 0;
  std::array<double, 4> std = {};
  int64_t image_height = 1;
  int64_t image_width = 1;
};

// The workspace serves one image.
template <class T>
struct DetectionsWorkspace {
  BoxOf<T>* moved;  // of what was found, in the order of scores
  T* scores;        // of each box, for its class
  int32_t* classes;
  int32_t* order;  // indices of boxes
  int32_t* kept;   // indices of what was found

  DetectionsWorkspace(const DetectionsParameters& p, std::byte* bytes)
      : moved(reinterpret_cast<BoxOf<T>*>(bytes)),
        scores(reinterpret_cast<T*>(moved + p.boxes)),
        classes(reinterpret_cast<int32_t*>(scores + p.boxes)),
        order(classes + p.boxes),
        kept(order + p.boxes) {}
};

int64_t WorkspaceBytesOf(const DetectionsParameters& p, int64_t number_bytes) {
  const int64_t index_bytes = sizeof(int32_t);
  return p.boxes * (5 * number_bytes + 2 * index_bytes) + p.count * index_bytes;
}

template <class T>
struct Detections {
  // Fills scores and classes, and returns how many boxes are none of the background. `order` names
  // these from the highest score on.
  static int64_t FindClasses(const DetectionsParameters& p, const T* scores,
                             const DetectionsWorkspace<T>& w) {
    int64_t found = 0;
    for (int64_t b = 0; b < p.boxes; ++b, scores += p.classes) {
      const T* highest = std::max_element(scores, scores + p.classes);
      w.classes[b] = static_cast<int32_t>(highest - scores);
      w.scores[b] = *highest;
      if (w.classes[b] != 0 && *highest >= static_cast<T>(p.min_score)) {
        w.order[found++] = static_cast<int32_t>(b);
      }
    }
    std::sort(w.order, w.order + found, ByScore<T>{w.scores});
    return found;
  }

  static BoxOf<T> MovedBox(const DetectionsParameters& p, const BoxOf<T>& box, const T* from) {
    Deltas<T> deltas;
    for (size_t d = 0; d < 4; ++d) deltas[d] = from[d] * static_cast<T>(p.std[d]);
    return Moved(box, deltas, static_cast<T>(p.image_width), static_cast<T>(p.image_height));
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const DetectionsParameters*>(i.parameters);
    const auto* boxes = Data<const BoxOf<T>>(context, i, 0);
    const T* scores = Data<const T>(context, i, 1);
    const T* deltas = Data<const T>(context, i, 2);
    T* y = Data<T>(context, i, 4);
    const DetectionsWorkspace<T> w(p, Data<std::byte>(context, i, 5));
    for (int64_t n = 0; n < p.images; ++n) {
      const int64_t found = FindClasses(p, scores + n * p.boxes * p.classes, w);
      for (int64_t f = 0; f < found; ++f) {
        const int64_t b = n * p.boxes + w.order[f];
        w.moved[f] = MovedBox(p, boxes[b], deltas + 4 * (b * p.classes + w.classes[w.order[f]]));
      }
      const int64_t kept = SuppressNonMaxima<T>(
          {w.moved, static_cast<size_t>(found)}, static_cast<T>(p.max_iou),
          {w.kept, static_cast<size_t>(p.count)},
          [&](size_t f, size_t g) { return w.classes[w.order[f]] == w.classes[w.order[g]]; });
      for (int64_t k = 0; k < kept; ++k, y += 6) {
        const BoxOf<T>& box = w.moved[w.kept[k]];
        const int32_t b = w.order[w.kept[k]];
        const T row[6] = {box.x1,     box.y1, box.x2, box.y2, static_cast<T>(w.classes[b]),
                          w.scores[b]};
        std::copy_n(row, 6, y);
      }
      y = std::fill_n(y, 6 * (p.count - kept), T(0));
    }
  }
};

DetectionsParameters PackDetections(const NodeSignature& node) {
  const auto& a = node.attributes.As<DetectionsAttributes>();
  const Shape &scores = node.inputs[1].shape, &image = node.inputs[3].shape;
  DetectionsParameters p{
      scores[0].size, scores[1].size, scores[2].size, a.count, a.min_score, a.max_iou, {},
      image[2].size,  image[3].size};
  std::copy_n(a.std.begin(), 4, p.std.begin());
  return p;
}

PreparedKernel PrepareDetections(const KernelRequest& request) {
  return PreparedKernel::Of(ForCoordinates<Detections>(request.node), PackDetections(request.node));
}

int64_t DetectionsWorkspaceBytes(const NodeSignature& node, int) {
  return WorkspaceBytesOf(PackDetections(node), SizeOf(node.inputs[0].dtype));
}

}  // namespace

KernelDef detections() {
  return {.name = "reference.detections",
          .supports = HasCoordinates,
          .workspace_bytes = DetectionsWorkspaceBytes,
          .prepare = PrepareDetections};
}

}  // namespace cgrun::reference
