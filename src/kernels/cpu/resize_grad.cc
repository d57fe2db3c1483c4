// Computes the gradient of resize of f32, plane by plane. Each row is spread over the columns, then
// over two rows of the plane's sums, in f64 in the workspace.
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/resize_taps.h"

namespace cgrun::cpu {
namespace {

struct Parameters : ResizePlanes {
  int threads = 1;
};

void SpreadOverColumns(const ResizeAxis& columns, const float* dy, double* line) {
  std::fill_n(line, columns.original, 0.0);
  for (size_t c = 0; c < columns.size(); ++c) {
    const double value = static_cast<double>(dy[c]), part = value * columns.weight[c];
    line[columns.low[c]] += value - part;
    line[columns.high[c]] += part;
  }
}

void SpreadOverRows(const double* line, int64_t width, double weight, double* low, double* high) {
  if (low == high) {
    for (int64_t c = 0; c < width; ++c) low[c] += line[c];
    return;
  }
  for (int64_t c = 0; c < width; ++c) {
    const double part = line[c] * weight;
    low[c] += line[c] - part;
    high[c] += part;
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* dy = Data<const float>(context, i, 0);
  float* dx = Data<float>(context, i, 1);
  double* workspace = Data<double>(context, i, 2);
  const int64_t width = p.columns.original;
  SplitParts(p.threads, p.planes, 1, [&, width](int part, int64_t begin, int64_t end) {
    double* sums = workspace + part * (p.inputs() + width);
    double* line = sums + p.inputs();
    for (int64_t n = begin; n < end; ++n) {
      std::fill_n(sums, p.inputs(), 0.0);
      const float* from = dy + n * p.outputs();
      for (size_t row = 0; row < p.rows.size(); ++row, from += p.columns.size()) {
        SpreadOverColumns(p.columns, from, line);
        SpreadOverRows(line, width, p.rows.weight[row], sums + p.rows.low[row] * width,
                       sums + p.rows.high[row] * width);
      }
      float* to = dx + n * p.inputs();
      for (int64_t e = 0; e < p.inputs(); ++e) to[e] = static_cast<float>(sums[e]);
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(
      &Run, Parameters{ResizePlanesOf(node.outputs[0].shape, node.inputs[0].shape, IsNearest(node)),
                       ThreadsFor(request, Work::kComputes)});
}

// Each thread has a plane of sums and a row.
int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  const Shape& dx = node.outputs[0].shape;
  return threads * (dx[2].size + 1) * dx[3].size * static_cast<int64_t>(sizeof(double));
}

}  // namespace

std::vector<KernelDef> resize_grad() {
  return {PerElement({.name = "cpu.resize_grad",
                      .supports = AllF32,
                      .workspace_bytes = WorkspaceBytes,
                      .prepare = Prepare})};
}

}  // namespace cgrun::cpu
