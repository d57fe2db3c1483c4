// The gradient of a convolution's weight in bf16 as products of matrices, one for each element of
// the window: where a processor multiplies tiles (AMX), oneDNN's own gradient spends most of its
// time on transposing, and on tiles that a short row of positions does not fill.
//
// x is laid out with channels last, its padding around it, in a grid of positions; dy in the upper
// left corner of such a grid, zeros beside it. Then element (u, v) of the window reads x a fixed
// number of positions behind dy, and
//
//   dw[u, v] = dyᵀ · x from there on        [F, C], over the positions of all images at once.
//
// The positions are an even number, at which oneDNN's products are right (primitive.h): a grid has
// one more, of zeros.
//
// Of a convolution that moves by s there are s² grids, one for each remainder of a position by s in
// each direction; a window element reads one of them.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Product = dnnl::matmul;

constexpr int64_t kAlignment = 64;
constexpr int64_t kNumber = 2;  // bytes of a bf16

// Of one thread, measured: products of tiles, with as many channels and filters or more …
constexpr double kFlopsPerSecond = 320e9;
constexpr int64_t kFillingChannels = 128;
constexpr double kBytesPerSecond = 10e9;  // … and what is copied, read and written, of all threads

Layout ChannelsLast() { return {{0, 2, 3, 1}, {}}; }

struct Grid {
  Window window;
  int64_t images = 0, channels = 0, filters = 0;

  // Positions of one grid, and how many are multiplied: behind the last of dy there are zeros
  // alone.
  int64_t rows() const { return Held(window.y); }
  int64_t columns() const { return Held(window.x); }
  int64_t positions() const { return images * rows() * columns(); }
  int64_t multiplied() const { return (Results() + 1) / 2 * 2; }

  // The grids of x that elements of the window read, first to last: (row, column) remainders.
  int64_t grids_down() const { return std::min(window.y.stride, window.y.kernel); }
  int64_t grids_across() const { return std::min(window.x.stride, window.x.kernel); }
  int64_t grids() const { return grids_down() * grids_across(); }

  // Whether x and dy lie like their grids.
  bool is_plain() const {
    const auto lies_so = [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.after == 0;
    };
    return lies_so(window.y) && lies_so(window.x) && IsSoundDepth(Results());
  }

  // Where the workspace has the grids of x and of dy, and behind them oneDNN's, in bytes.
  int64_t GridBytes(int64_t depth) const {
    return ((positions() + 1) * depth * kNumber + kAlignment - 1) / kAlignment * kAlignment;
  }
  int64_t DyAt() const { return is_plain() ? 0 : grids() * GridBytes(channels); }
  int64_t ScratchAt() const { return is_plain() ? 0 : DyAt() + GridBytes(filters); }

  // From where on element (u, v) of the window reads the grids of x, in bytes.
  int64_t ReadsFrom(int64_t u, int64_t v) const {
    const int64_t grid = u % window.y.stride * grids_across() + v % window.x.stride;
    const int64_t position = u / window.y.stride * columns() + v / window.x.stride;
    return grid * GridBytes(channels) + position * channels * kNumber;
  }

 private:
  // Up to the last of dy.
  int64_t Results() const {
    return ((images - 1) * rows() + window.y.output - 1) * columns() + window.x.output;
  }
  static int64_t Held(const WindowAxis& axis) {
    return (axis.before + axis.input + axis.after + axis.stride - 1) / axis.stride;
  }
};

Grid GridOf(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  const Shape& x = node.inputs[0].shape;
  return {WindowOf(attributes.input, attributes.window()), x[0].size, x[1].size,
          node.inputs[1].shape[1].size};
}

bool Supports(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  const auto fits = [](const TensorType& type) {
    return type.dtype == DType::kBF16 && type.shape.Elements() > 0;
  };
  const bool is_dense = attributes.groups == 1 && attributes.dilation == IntList{1, 1};
  return MultipliesTiles() && is_dense && fits(node.inputs[0]) && fits(node.inputs[1]) &&
         fits(node.outputs[0]);
}

Product::primitive_desc DescOf(const Grid& grid, int threads) {
  SetThreads(threads);
  const auto type = dnnl::memory::data_type::bf16;
  const int64_t positions = grid.multiplied();
  const Desc dy({grid.filters, positions}, type, dnnl::memory::format_tag::ba);
  const Desc x({positions, grid.channels}, type, dnnl::memory::format_tag::ab);
  const Desc dw({grid.filters, grid.channels}, type, dnnl::memory::format_tag::ab);
  return {Product::desc(dy, x, dw), Attributes(), Engine()};
}

double Seconds(const NodeSignature& node, int threads) {
  const Grid grid = GridOf(node);
  const int64_t taps = grid.window.y.kernel * grid.window.x.kernel;
  const double flops = 2.0 * static_cast<double>(taps * grid.multiplied()) *
                       static_cast<double>(grid.filters * grid.channels);
  const int64_t narrow = std::min({grid.filters, grid.channels, kFillingChannels});
  const double filled = static_cast<double>(narrow) / static_cast<double>(kFillingChannels);
  const double copied = 2 * static_cast<double>(grid.ScratchAt());
  return flops / filled / kFlopsPerSecond / threads + copied / kBytesPerSecond;
}

// The window's elements outermost, so that each is a matrix.
bool Choose(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  return Try([&] {
    const Grid grid = GridOf(node);
    const auto product = DescOf(grid, setting.threads);
    option->input_layouts = {ChannelsLast(), ChannelsLast()};
    if (grid.window.y.kernel * grid.window.x.kernel > 1) {
      option->output_layouts = {Layout{{2, 3, 0, 1}, {}}};
    }
    option->workspace_bytes =
        grid.ScratchAt() + static_cast<int64_t>(product.scratchpad_desc().get_size());
    return IsFast(product);
  });
}

struct Parameters {
  Grid grid;
  std::vector<PreparedKernel> products;
  int threads = 1;
};

// One row of a grid of x: positions that are `stride` apart, of which `first` is the first; zeros
// where they lie outside.
void CopyRow(const WindowAxis& axis, int64_t first, int64_t columns, int64_t bytes,
             const std::byte* from, std::byte* to) {
  const auto is_inside = [&](int64_t column) { return column >= 0 && column < axis.input; };
  for (int64_t k = 0; k < columns;) {
    const int64_t column = first + k * axis.stride;
    int64_t run = 1;
    if (!is_inside(column)) {
      while (k + run < columns && !is_inside(column + run * axis.stride)) ++run;
      std::memset(to + k * bytes, 0, static_cast<size_t>(run * bytes));
    } else {
      if (axis.stride == 1) run = std::min(columns - k, axis.input - column);
      std::memcpy(to + k * bytes, from + column * bytes, static_cast<size_t>(run * bytes));
    }
    k += run;
  }
}

// Row `row` of all rows of all grids of x.
void CopyX(const Grid& grid, int64_t row, const std::byte* x, std::byte* to) {
  const WindowAxis &down = grid.window.y, &across = grid.window.x;
  const int64_t bytes = grid.channels * kNumber, row_bytes = grid.columns() * bytes;
  const int64_t of_grid = grid.images * grid.rows();
  const int64_t g = row / of_grid, image = row % of_grid / grid.rows(), y = row % grid.rows();
  const int64_t from = y * down.stride + g / grid.grids_across() - down.before;
  std::byte* target = to + g * grid.GridBytes(grid.channels) + row % of_grid * row_bytes;
  if (from < 0 || from >= down.input) {
    std::memset(target, 0, static_cast<size_t>(row_bytes));
    return;
  }
  CopyRow(across, g % grid.grids_across() - across.before, grid.columns(), bytes,
          x + (image * down.input + from) * across.input * bytes, target);
}

// Row `row` of the grid of dy.
void CopyDy(const Grid& grid, int64_t row, const std::byte* dy, std::byte* to) {
  const int64_t bytes = grid.filters * kNumber, results = grid.window.x.output;
  const int64_t image = row / grid.rows(), y = row % grid.rows();
  std::byte* target = to + row * grid.columns() * bytes;
  const int64_t copied = y < grid.window.y.output ? results : 0;
  const int64_t from = (image * grid.window.y.output + y) * results;
  std::memcpy(target, dy + from * bytes * (copied > 0), static_cast<size_t>(copied * bytes));
  std::memset(target + copied * bytes, 0, static_cast<size_t>((grid.columns() - copied) * bytes));
}

// The position behind a grid.
void EndGrid(const Grid& grid, int64_t depth, std::byte* of_grid) {
  const int64_t bytes = depth * kNumber;
  std::memset(of_grid + grid.positions() * bytes, 0, static_cast<size_t>(bytes));
}

void CopyGrids(const Parameters& p, const RunContext& context, const Instruction& i) noexcept {
  const Grid& grid = p.grid;
  const auto* x = Data<const std::byte>(context, i, 0);
  const auto* dy = Data<const std::byte>(context, i, 1);
  auto* workspace = Data<std::byte>(context, i, 3);
  const int64_t of_grid = grid.images * grid.rows(), of_x = grid.grids() * of_grid;
  for (int64_t g = 0; g < grid.grids(); ++g) {
    EndGrid(grid, grid.channels, workspace + g * grid.GridBytes(grid.channels));
  }
  EndGrid(grid, grid.filters, workspace + grid.DyAt());
  const auto copy = [&](int64_t row) {
    if (row < of_x) {
      CopyX(grid, row, x, workspace);
    } else {
      CopyDy(grid, row - of_x, dy, workspace + grid.DyAt());
    }
  };
  if (p.threads == 1) {  // no team of another size: OpenMP allocates where that changes
    for (int64_t row = 0; row < of_x + of_grid; ++row) copy(row);
  } else {
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t row = 0; row < of_x + of_grid; ++row) copy(row);
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  if (!p.grid.is_plain()) CopyGrids(p, context, i);
  for (const PreparedKernel& product : p.products) {
    Instruction one = i;
    one.parameters = product.parameters.get();
    product.run(context, one);
  }
}

PreparedKernel Prepare(const KernelRequest& request) {
  const Grid grid = GridOf(request.node);
  const auto desc = DescOf(grid, request.threads);
  const bool plain = grid.is_plain();
  const Product product(desc);
  Parameters p{grid, {}, request.threads};
  for (int64_t u = 0; u < grid.window.y.kernel; ++u) {
    for (int64_t v = 0; v < grid.window.x.kernel; ++v) {
      const int64_t matrix = (u * grid.window.x.kernel + v) * grid.filters * grid.channels;
      std::vector<Argument> arguments = {
          {DNNL_ARG_SRC, plain ? 1 : 3, desc.src_desc(), grid.DyAt()},
          {DNNL_ARG_WEIGHTS, plain ? 0 : 3, desc.weights_desc(), grid.ReadsFrom(u, v)},
          {DNNL_ARG_DST, 2, desc.dst_desc(), matrix * kNumber}};
      AddScratch(desc.scratchpad_desc(), 3, arguments, grid.ScratchAt());
      p.products.push_back(PrepareRun(product, arguments));
    }
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

}  // namespace

KernelDef weight_products() {
  KernelDef def{.name = "onednn.weight_products", .supports = Supports, .prepare = Prepare};
  def.choose = Choose;
  def.seconds = Seconds;
  return def;
}

}  // namespace cgrun::onednn
