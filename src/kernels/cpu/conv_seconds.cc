// The parts of the time: products of whole vectors, patches packed or scattered, and what does not
// fit in the caches.
#include "src/kernels/cpu/conv_seconds.h"

#include <algorithm>

#include "src/kernels/cpu/blas.h"
#include "src/kernels/kernel.h"
#include "src/ops/pool.h"

namespace cgrun::cpu {
namespace {

constexpr double kProductsPerSecond = 47.5e9;  // multiply-adds of one thread
constexpr double kFewestSums = 8;  // fewer vectors of sums than these wait for one another
constexpr double kPackRun = 1.8e-9;
constexpr double kScatterRun = 2.4e-9;
constexpr double kStridedPixel = 0.72e-9;  // packed or scattered one by one
constexpr double kStoreVector = 1.8e-9;
constexpr double kTapVector = 0.5e-9;  // of a plane that lies in the first-level cache
constexpr double kTransposeNumber = 0.3e-9;
constexpr double kPoolVector = 1.5e-9;    // of windows, at one place of the kernel
constexpr double kUnpoolWindow = 1.5e-9;  // a winner given its gradient
constexpr double kFillPixel = 0.05e-9;
constexpr double kCachedBytes = 4 << 20;
constexpr double kBytesPerSecond = 6.7e9;  // beyond these, of all threads

double RoundUp(int64_t n, int64_t to) { return static_cast<double>((n + to - 1) / to * to); }

double MemorySeconds(const NodeSignature& node) {
  const auto bytes = static_cast<double>(OperandBytes(node));
  return std::max(bytes - kCachedBytes, 0.0) / kBytesPerSecond;
}

// To move what the pixels of one plane see at one tap, `run` seconds a run.
double RunSeconds(const ConvGeometry& g, int64_t lanes, double run) {
  if (g.window.x.stride != 1) return kStridedPixel * static_cast<double>(g.output_plane());
  const WindowAxis &y = g.window.y, &x = g.window.x;
  return run * static_cast<double>(y.output) * RoundUp(x.output, lanes) /
         static_cast<double>(lanes);
}

// `rows` that are summed up side by side, of which the time of few is as that of more.
double ProductSeconds(double rows, double vectors_by_depth, int64_t lanes) {
  return std::max(rows, kFewestSums / 4) * vectors_by_depth * static_cast<double>(lanes) /
         kProductsPerSecond;
}

double Planes(const ConvGeometry& g) { return static_cast<double>(g.images * g.groups); }

}  // namespace

int ConvThreads(const ConvGeometry& g, int threads) {
  const int64_t products = g.images * g.groups * g.output_plane() * g.group_weight();
  return RunsSingleThreaded(products, threads) ? 1 : threads;
}

double TiledConvSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const auto taps = static_cast<double>(g.taps()), filters = static_cast<double>(g.filters);
  const double vectors = RoundUp(g.output_plane(), lanes) / static_cast<double>(lanes);
  const double seconds = ProductSeconds(filters, vectors * taps, lanes) +
                         taps * RunSeconds(g, lanes, kPackRun) + filters * vectors * kStoreVector;
  return Planes(g) * seconds / ConvThreads(g, threads) + MemorySeconds(node);
}

double DirectConvSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const WindowAxis &y = g.window.y, &x = g.window.x;
  const auto taps = static_cast<double>(g.taps()), filters = static_cast<double>(g.filters);
  const double vectors =
      RoundUp(x.output, lanes) / static_cast<double>(lanes) * static_cast<double>(y.output);
  const auto image = static_cast<double>(g.group_input());
  const double seconds = ProductSeconds(filters, vectors * taps, lanes) +
                         filters * vectors * kStoreVector +
                         image / static_cast<double>(lanes) * kPackRun;
  return Planes(g) * seconds / ConvThreads(g, threads) + MemorySeconds(node);
}

double DepthwiseConvSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const WindowAxis &y = g.window.y, &x = g.window.x;
  const double vectors = RoundUp(x.output, lanes) / static_cast<double>(lanes) *
                         static_cast<double>(y.output * g.filters);
  const auto pixels = static_cast<double>(g.input_plane());
  const double seconds = vectors * (static_cast<double>(g.taps()) * kTapVector + kStoreVector) +
                         pixels / static_cast<double>(lanes) * kPackRun;
  return Planes(g) * seconds / ConvThreads(g, threads) + MemorySeconds(node);
}

double TiledInputGradSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const auto taps = static_cast<double>(g.taps()), filters = static_cast<double>(g.filters);
  const double vectors = RoundUp(g.output_plane(), lanes) / static_cast<double>(lanes);
  const double seconds =
      ProductSeconds(taps, vectors * filters, lanes) + taps * RunSeconds(g, lanes, kScatterRun);
  const double parts = std::min<double>(ConvThreads(g, threads), Planes(g));
  return Planes(g) * seconds / parts + MemorySeconds(node);
}

double TiledWeightGradSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const auto taps = static_cast<double>(g.taps()), pixels = static_cast<double>(g.output_plane());
  const double vectors = RoundUp(g.filters, lanes) / static_cast<double>(lanes);
  const double seconds = ProductSeconds(taps, vectors * pixels, lanes) +
                         pixels * static_cast<double>(g.filters) * kTransposeNumber;
  const auto parts = static_cast<double>(std::min<int64_t>(ConvThreads(g, threads), g.images));
  return Planes(g) * seconds / parts + MemorySeconds(node);
}

double TiledConvMaxPoolSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  const ConvGeometry g = ConvGeometryOf(node);
  const Shape& y = node.outputs[0].shape;
  const IntList& kernel = node.body.back().attributes.As<MaxPoolAttributes>().kernel;
  const double vectors = RoundUp(y[3].size, lanes) / static_cast<double>(lanes);
  const double rows = static_cast<double>(y.Elements() / y[3].size);
  const double pool = rows * vectors * static_cast<double>(kernel[0] * kernel[1]) * kPoolVector;
  const double parts = std::min<double>(ConvThreads(g, threads), Planes(g));
  return TiledConvSeconds(node, lanes, threads) * ConvThreads(g, threads) / parts + pool / parts;
}

double UnpooledInputGradSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  return TiledInputGradSeconds(node, lanes, threads) + UnpoolSeconds(node, threads);
}

double UnpooledWeightGradSeconds(const NodeSignature& node, int64_t lanes, int threads) {
  return TiledWeightGradSeconds(node, lanes, threads) + UnpoolSeconds(node, threads);
}

double UnpoolSeconds(const NodeSignature& node, int threads) {
  const Shape& dy = node.inputs[1].shape;
  const Shape& x = node.body[0].attributes.As<PoolGradAttributes>().input;
  const auto windows = static_cast<double>(dy.Elements()),
             pixels = static_cast<double>(x.Elements());
  const double parts = std::min<double>(threads, static_cast<double>(dy[0].size));
  return (windows * kUnpoolWindow + pixels * kFillPixel) / parts;
}

}  // namespace cgrun::cpu
