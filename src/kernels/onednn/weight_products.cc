// Computes the gradient of a convolution's weight in bf16 as products of matrices, one for each
// element of the window. If a processor multiplies tiles (AMX), oneDNN's own gradient spends most
// of its time on transposing, and on tiles that a short row of positions does not fill.
//
// x is laid out with channels last, its padding around it, in a grid of positions. dy lies in the
// upper left corner of such a grid, with zeros beside it. Then element (u, v) of the window reads x
// a fixed number of positions behind dy, and
//
//   dw[u, v] = dyᵀ · x from there on        [F, C], over the positions of all images at once.
//
// The positions are an even number, at which oneDNN's products are right (primitive.h). A grid
// therefore has one more position, of zeros.
//
// A convolution that moves by s has s² grids, one for each remainder of a position by s in each
// direction. A window element reads one of them.
//
// If the grids of all images take much more room than dw, they hold a part of the images at a time.
// The products of each part are added to sums in f32. These are rounded once, as oneDNN rounds
// those of one product.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Product = dnnl::matmul;

constexpr int64_t kAlignment = 64;
constexpr int64_t kNumber = 2;  // bytes of a bf16
constexpr int64_t kSum = 4;     // … and of an f32

// Grids that take no more than this hold all images: they stay in the caches.
constexpr int64_t kPartBytes = int64_t{4} << 20;

// The speed of one thread was measured with products of tiles, of at least so many channels and
// filters.
constexpr double kFlopsPerSecond = 320e9;
constexpr int64_t kFillingChannels = 128;
constexpr double kBytesPerSecond = 10e9;  // … and what is copied, read and written, of all threads

struct Grid {
  Window window;
  int64_t images = 0;  // that the grids hold at a time, of `all_images`
  int64_t all_images = 0, channels = 0, filters = 0;

  int64_t parts() const { return (all_images + images - 1) / images; }
  int64_t taps() const { return window.y.kernel * window.x.kernel; }

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

  // Returns whether x and dy lie like their grids. A part of the images is always copied.
  bool is_plain() const {
    return images == all_images && IsPointwise(window.y) && IsPointwise(window.x) &&
           IsSoundDepth(Results());
  }

  // The workspace has the grids of x and of dy, behind them the sums of the parts, if there are
  // several, and then oneDNN's scratch. These functions say where, in bytes.
  int64_t GridBytes(int64_t depth) const { return Aligned((positions() + 1) * depth * kNumber); }
  int64_t DyAt() const { return is_plain() ? 0 : grids() * GridBytes(channels); }
  int64_t SumsAt() const { return is_plain() ? 0 : DyAt() + GridBytes(filters); }
  int64_t SumBytes() const { return Aligned(taps() * filters * channels * kSum); }
  int64_t ScratchAt() const { return SumsAt() + (parts() > 1 ? SumBytes() : 0); }

  // Returns where element (u, v) of the window begins to read the grids of x, in bytes.
  int64_t ReadsFrom(int64_t u, int64_t v) const {
    const int64_t grid = u % window.y.stride * grids_across() + v % window.x.stride;
    const int64_t position = u / window.y.stride * columns() + v / window.x.stride;
    return grid * GridBytes(channels) + position * channels * kNumber;
  }

 private:
  // Counts the positions up to the last one of dy.
  int64_t Results() const {
    return ((images - 1) * rows() + window.y.output - 1) * columns() + window.x.output;
  }
  static int64_t Held(const WindowAxis& axis) {
    return (axis.before + axis.input + axis.after + axis.stride - 1) / axis.stride;
  }
  static int64_t Aligned(int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
};

Grid GridOf(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  const Shape& x = node.inputs[0].shape;
  const Grid whole{WindowOf(attributes.input, attributes.window()), x[0].size, x[0].size, x[1].size,
                   node.inputs[1].shape[1].size};
  const int64_t parts = whole.SumsAt() / std::max(kPartBytes, whole.SumBytes());
  if (parts < 2) return whole;
  Grid grid = whole;
  grid.images = (whole.images + parts - 1) / parts;
  return grid.ScratchAt() < whole.ScratchAt() * 3 / 4 ? grid : whole;
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

// Describes the product for one element of the window and one part of the images. It gives dw, or
// what is added to the sums of dw.
Product::primitive_desc DescOf(const Grid& grid, int threads) {
  SetThreads(threads);
  const auto type = dnnl::memory::data_type::bf16;
  const int64_t positions = grid.multiplied();
  const Desc dy({grid.filters, positions}, type, dnnl::memory::format_tag::ba);
  const Desc x({positions, grid.channels}, type, dnnl::memory::format_tag::ab);
  dnnl::primitive_attr attributes = Attributes();
  if (grid.parts() > 1) {
    dnnl::post_ops add;
    add.append_sum();
    attributes.set_post_ops(add);
  }
  const Desc dw({grid.filters, grid.channels},
                grid.parts() > 1 ? dnnl::memory::data_type::f32 : type,
                dnnl::memory::format_tag::ab);
  return {Product::desc(dy, x, dw), attributes, Engine()};
}

double Seconds(const NodeSignature& node, int threads) {
  const Grid grid = GridOf(node);
  const double flops = 2.0 * static_cast<double>(grid.taps() * grid.parts() * grid.multiplied()) *
                       static_cast<double>(grid.filters * grid.channels);
  const int64_t narrow = std::min({grid.filters, grid.channels, kFillingChannels});
  const double filled = static_cast<double>(narrow) / static_cast<double>(kFillingChannels);
  const double copied = 2 * static_cast<double>(grid.parts() * grid.ScratchAt());
  return flops / filled / kFlopsPerSecond / threads + copied / kBytesPerSecond;
}

// The window's elements outermost, so that each is a matrix.
bool Choose(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  return Try([&] {
    const Grid grid = GridOf(node);
    const auto product = DescOf(grid, setting.threads);
    option->input_layouts = {ChannelsLast(), ChannelsLast()};
    if (grid.taps() > 1) {
      option->output_layouts = {Layout{{2, 3, 0, 1}, {}}};
    }
    option->workspace_bytes =
        grid.ScratchAt() + static_cast<int64_t>(product.scratchpad_desc().get_size());
    return RunsInScratch(product);
  });
}

struct Parameters {
  Grid grid;
  std::vector<PreparedKernel> products;
  PreparedKernel round;  // the sums of several parts, to dw
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

// Row `row` of all rows of all grids of x, whose first image is `first` of all. Behind the last of
// them there are zeros.
void CopyX(const Grid& grid, int64_t first, int64_t row, const std::byte* x, std::byte* to) {
  const WindowAxis &down = grid.window.y, &across = grid.window.x;
  const int64_t bytes = grid.channels * kNumber, row_bytes = grid.columns() * bytes;
  const int64_t of_grid = grid.images * grid.rows();
  const int64_t g = row / of_grid, y = row % grid.rows();
  const int64_t image = first + row % of_grid / grid.rows();
  const int64_t from = y * down.stride + g / grid.grids_across() - down.before;
  std::byte* target = to + g * grid.GridBytes(grid.channels) + row % of_grid * row_bytes;
  if (image >= grid.all_images || from < 0 || from >= down.input) {
    std::memset(target, 0, static_cast<size_t>(row_bytes));
    return;
  }
  CopyRow(across, g % grid.grids_across() - across.before, grid.columns(), bytes,
          x + (image * down.input + from) * across.input * bytes, target);
}

// Row `row` of the grid of dy, likewise.
void CopyDy(const Grid& grid, int64_t first, int64_t row, const std::byte* dy, std::byte* to) {
  const int64_t bytes = grid.filters * kNumber, results = grid.window.x.output;
  const int64_t image = first + row / grid.rows(), y = row % grid.rows();
  std::byte* target = to + row * grid.columns() * bytes;
  if (image >= grid.all_images || y >= grid.window.y.output) {
    std::memset(target, 0, static_cast<size_t>(grid.columns() * bytes));
    return;
  }
  const int64_t from = (image * grid.window.y.output + y) * results;
  std::memcpy(target, dy + from * bytes, static_cast<size_t>(results * bytes));
  std::memset(target + results * bytes, 0, static_cast<size_t>((grid.columns() - results) * bytes));
}

// Writes zeros to the position behind a grid.
void EndGrid(const Grid& grid, int64_t depth, std::byte* of_grid) {
  const int64_t bytes = depth * kNumber;
  std::memset(of_grid + grid.positions() * bytes, 0, static_cast<size_t>(bytes));
}

void CopyGrids(const Parameters& p, int64_t first, const RunContext& context,
               const Instruction& i) noexcept {
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
      CopyX(grid, first, row, x, workspace);
    } else {
      CopyDy(grid, first, row - of_x, dy, workspace + grid.DyAt());
    }
  };
  if (p.threads == 1) {  // no team of another size: OpenMP allocates where that changes
    for (int64_t row = 0; row < of_x + of_grid; ++row) copy(row);
  } else {
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t row = 0; row < of_x + of_grid; ++row) copy(row);
  }
}

void RunPrepared(const PreparedKernel& kernel, const RunContext& context, Instruction i) noexcept {
  i.parameters = kernel.parameters.get();
  kernel.run(context, i);
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const bool has_parts = p.grid.parts() > 1;
  if (has_parts) {
    std::memset(Data<std::byte>(context, i, 3) + p.grid.SumsAt(), 0,
                static_cast<size_t>(p.grid.SumBytes()));
  }
  for (int64_t part = 0; part < p.grid.parts(); ++part) {
    if (!p.grid.is_plain()) CopyGrids(p, part * p.grid.images, context, i);
    for (const PreparedKernel& product : p.products) RunPrepared(product, context, i);
  }
  if (has_parts) RunPrepared(p.round, context, i);
}

// The sums in f32 as dw.
PreparedKernel PrepareRounding(const Grid& grid) {
  using Type = dnnl::memory::data_type;
  const dnnl::memory::dims numbers = {grid.taps() * grid.filters * grid.channels};
  const Desc sums(numbers, Type::f32, dnnl::memory::format_tag::a);
  const Desc dw(numbers, Type::bf16, dnnl::memory::format_tag::a);
  const dnnl::reorder::primitive_desc desc(Engine(), sums, Engine(), dw, Attributes());
  CGRUN_CHECK(desc.scratchpad_desc().get_size() == 0) << "rounding wants a workspace";
  return PrepareRun(dnnl::reorder(desc),
                    {{DNNL_ARG_FROM, 3, sums, grid.SumsAt()}, {DNNL_ARG_TO, 2, dw}});
}

PreparedKernel Prepare(const KernelRequest& request) {
  const Grid grid = GridOf(request.node);
  const auto desc = DescOf(grid, request.threads);
  const bool plain = grid.is_plain(), has_parts = grid.parts() > 1;
  const Product product(desc);
  Parameters p{grid, {}, {}, request.threads};
  if (has_parts) p.round = PrepareRounding(grid);
  for (int64_t u = 0; u < grid.window.y.kernel; ++u) {
    for (int64_t v = 0; v < grid.window.x.kernel; ++v) {
      const int64_t matrix = (u * grid.window.x.kernel + v) * grid.filters * grid.channels;
      const int64_t to = has_parts ? grid.SumsAt() + matrix * kSum : matrix * kNumber;
      std::vector<Argument> arguments = {
          {DNNL_ARG_SRC, plain ? 1 : 3, desc.src_desc(), grid.DyAt()},
          {DNNL_ARG_WEIGHTS, plain ? 0 : 3, desc.weights_desc(), grid.ReadsFrom(u, v)},
          {DNNL_ARG_DST, has_parts ? 3 : 2, desc.dst_desc(), to}};
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
