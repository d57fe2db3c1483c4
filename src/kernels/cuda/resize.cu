// Computes resize and its gradient. Each thread has a pixel and works out where it reads from.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/resize_formulas.h"
#include "src/ops/resize.h"

namespace cgrun::cuda {

struct ResizeSizes {
  int64_t planes = 1;
  int64_t height = 1, width = 1;                  // of a plane of the original
  int64_t resized_height = 1, resized_width = 1;  // of a plane of the result
  bool nearest = false;
};

using formulas::BilinearTap, formulas::NearestTap, formulas::ResizeTap;

inline __device__ ResizeTap TapOf(int64_t i, int64_t from, int64_t to, bool nearest) {
  return nearest ? NearestTap(i, from, to) : BilinearTap(i, from, to);
}

template <class Bits>
struct NearestBody {
  ResizeSizes p;
  const Bits* x;
  Bits* y;
  __device__ void operator()(int64_t e) const {
    const int64_t column = e % p.resized_width, row = e / p.resized_width % p.resized_height;
    const Bits* plane = x + e / (p.resized_width * p.resized_height) * p.height * p.width;
    y[e] = plane[NearestTap(row, p.height, p.resized_height).low * p.width +
                 NearestTap(column, p.width, p.resized_width).low];
  }
};

template <class Bits>
struct Nearest {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResizeSizes*>(i.parameters);
    ForEachElement(
        context, p.planes * p.resized_height * p.resized_width,
        NearestBody<Bits>{p, Data<const Bits>(context, i, 0), Data<Bits>(context, i, 1)});
  }
};

template <class T>
struct BilinearBody {
  ResizeSizes p;
  const T* x;
  T* y;

  __device__ void operator()(int64_t e) const {
    const ResizeTap column = BilinearTap(e % p.resized_width, p.width, p.resized_width);
    const ResizeTap row =
        BilinearTap(e / p.resized_width % p.resized_height, p.height, p.resized_height);
    const T* plane = x + e / (p.resized_width * p.resized_height) * p.height * p.width;
    const T *low = plane + row.low * p.width, *high = plane + row.high * p.width;
    const double above = formulas::Between(low[column.low], low[column.high], column.weight);
    const double below = formulas::Between(high[column.low], high[column.high], column.weight);
    y[e] = formulas::RoundPixel<T>(above + (below - above) * row.weight);
  }
};

template <class T>
struct Bilinear {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResizeSizes*>(i.parameters);
    ForEachElement(context, p.planes * p.resized_height * p.resized_width,
                   BilinearBody<T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
  }
};

// Adds what one pixel of the original gets, row by row.
template <class T>
struct ResizeGradBody {
  ResizeSizes p;
  const T* dy;
  T* dx;

  static __device__ double PartOf(const ResizeTap& tap, int64_t pixel, double value) {
    const double to_high = value * tap.weight;
    return (tap.low == pixel ? value - to_high : 0) + (tap.high == pixel ? to_high : 0);
  }

  __device__ void operator()(int64_t e) const {
    const int64_t column = e % p.width, row = e / p.width % p.height;
    const T* plane = dy + e / (p.width * p.height) * p.resized_height * p.resized_width;
    double sum = 0;
    for (int64_t r = 0; r < p.resized_height; ++r) {
      const ResizeTap up = TapOf(r, p.height, p.resized_height, p.nearest);
      if (up.low != row && up.high != row) continue;
      for (int64_t c = 0; c < p.resized_width; ++c) {
        const ResizeTap across = TapOf(c, p.width, p.resized_width, p.nearest);
        if (across.low != column && across.high != column) continue;
        sum += PartOf(across, column, PartOf(up, row, LoadF64(plane[r * p.resized_width + c])));
      }
    }
    dx[e] = StoreF64<T>(sum);
  }
};

template <class T>
struct ResizeGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResizeSizes*>(i.parameters);
    ForEachElement(context, p.planes * p.height * p.width,
                   ResizeGradBody<T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
  }
};

static bool IsNearest(const NodeSignature& node) {
  return node.attributes.As<ResizeAttributes>().mode == "nearest";
}

static ResizeSizes PackResize(const NodeSignature& node, const Shape& original,
                              const Shape& resized) {
  return {original[0].size * original[1].size,
          original[2].size,
          original[3].size,
          resized[2].size,
          resized[3].size,
          IsNearest(node)};
}

static bool SupportsResize(const NodeSignature& node) {
  return IsNearest(node) || !IsStorageType(node.inputs[0].dtype);
}

static PreparedKernel PrepareResize(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run = IsNearest(node)       ? ForBytes<Nearest>(SizeOf(dtype))
                             : dtype == DType::kU8 ? &Bilinear<uint8_t>::Run
                                                   : ForFloat<Bilinear>(dtype);
  return PreparedKernel::Of(run, PackResize(node, node.inputs[0].shape, node.outputs[0].shape));
}

static PreparedKernel PrepareResizeGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(ForFloat<ResizeGrad>(node.inputs[0].dtype),
                            PackResize(node, node.outputs[0].shape, node.inputs[0].shape));
}

KernelDef resize() {
  return {.name = "cuda.resize", .supports = SupportsResize, .prepare = PrepareResize};
}
KernelDef resize_grad() {
  return {.name = "cuda.resize_grad", .supports = AllFloat, .prepare = PrepareResizeGrad};
}

}  // namespace cgrun::cuda
