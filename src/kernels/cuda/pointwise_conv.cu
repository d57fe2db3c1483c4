// The products, and what strides and sums over images need beside them.
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/cuda/pack.cuh"
#include "src/kernels/cuda/pointwise_conv.cuh"

namespace cgrun::cuda {

// Says which elements are read of planes of height·width each.
struct StridedPlanes {
  Divisor height, width, down, across;  // the sizes of all, and the strides
  int64_t rows = 0, columns = 0;        // that are read
};

// Makes dx: what is read gets its gradient, and all else 0. It takes `kPack` neighbours of a row at
// a time.
template <class T, int kPack>
struct SpreadBody {
  StridedPlanes p;
  const T* read;
  T* dx;
  __device__ void operator()(int64_t pack) const {
    const int64_t e = pack * kPack;
    const int64_t line = p.width.Quotient(e), plane = p.height.Quotient(line);
    const int64_t row = line - plane * p.height.by(), column = e - line * p.width.by();
    Pack<T, kPack> all;
    for (int k = 0; k < kPack; ++k) all.at[k] = Store<T>(0);
    const int64_t r = p.down.Quotient(row);
    if (r * p.down.by() == row && r < p.rows) {
      const T* from = read + (plane * p.rows + r) * p.columns;
      for (int k = 0; k < kPack; ++k) {
        const int64_t c = p.across.Quotient(column + k);
        if (c * p.across.by() == column + k && c < p.columns) all.at[k] = from[c];
      }
    }
    StorePack(dx + e, all);
  }
};

template <class T>
static void Spread(const RunContext& context, const StridedPlanes& p, int64_t elements,
                   const T* read, T* dx) noexcept {
  constexpr int kPack = 4;
  if (p.width.by() % kPack == 0) {
    ForEachElement(context, elements / kPack, SpreadBody<T, kPack>{p, read, dx});
  } else {
    ForEachElement(context, elements, SpreadBody<T, 1>{p, read, dx});
  }
}

// The elements of x that are read; here `height` and `width` are of these.
template <class T>
struct GatherBody {
  Divisor height, width;
  int64_t down, across, all_rows, all_columns;
  const T* x;
  T* read;
  __device__ void operator()(int64_t e) const {
    const int64_t line = width.Quotient(e), plane = height.Quotient(line);
    const int64_t row = (line - plane * height.by()) * down;
    const int64_t column = (e - line * width.by()) * across;
    read[e] = x[(plane * all_rows + row) * all_columns + column];
  }
};

// Adds the terms of all images in their order.
template <class T>
struct SumTermsBody {
  int64_t images, elements;
  const float* terms;
  T* dweight;
  __device__ void operator()(int64_t e) const {
    double sum = 0;
#pragma unroll 8
    for (int64_t i = 0; i < images; ++i) sum += static_cast<double>(terms[i * elements + e]);
    dweight[e] = StoreF64<T>(sum);
  }
};

static bool IsDense(const WindowAxis& axis) { return axis.input == axis.output; }
static bool IsDense(const Window& window) { return IsDense(window.y) && IsDense(window.x); }

// One element, always of the image.
static bool IsPoint(const WindowAxis& axis) {
  return axis.kernel == 1 && axis.before == 0 && (axis.output - 1) * axis.stride < axis.input;
}

static int64_t TermsOf(const ConvTask& task) {
  return task.sizes.images * task.weight_elements() * int64_t{sizeof(float)};
}

bool PointwiseConv::CanRun(const ConvTask& task) {
  constexpr int64_t kMostTerms = 64 << 20;
  const Window& window = task.sizes.window;
  const bool known = task.dtype == DType::kF32 || task.dtype == DType::kBF16;
  if (!known || task.sizes.groups != 1 || task.bias || !task.FitsInt()) return false;
  if (!IsPoint(window.y) || !IsPoint(window.x)) return false;
  if (task.result == ConvResult::kOutput) return IsDense(window);
  return task.result == ConvResult::kInput || TermsOf(task) <= kMostTerms;
}

// An image must have enough to do. bf16 and TF32 want rows that begin at multiples of 16 bytes, for
// the tensor cores; bf16 gathers nothing.
bool PointwiseConv::IsChosen(const ConvTask& task) {
  constexpr int64_t kLeastPlane = 64, kAlignment = 16;
  const ConvSizes& sizes = task.sizes;
  if (!CanRun(task) || sizes.output_plane() < kLeastPlane) return false;
  const bool is_f32 = task.dtype == DType::kF32;
  if (is_f32 && !task.tf32) return true;
  if (!is_f32 && task.result == ConvResult::kWeight && !IsDense(sizes.window)) return false;
  const int64_t aligned = kAlignment / SizeOf(task.dtype);
  return sizes.output_plane() % aligned == 0 && sizes.channels % aligned == 0 &&
         sizes.filters % aligned == 0;
}

// The elements of x that are read.
static int64_t ReadElements(const ConvTask& task) {
  return task.sizes.images * task.sizes.channels * task.sizes.output_plane();
}

static int64_t ReadBytes(const ConvTask& task) {
  return IsDense(task.sizes.window) ? 0 : RoundedUp(ReadElements(task) * SizeOf(task.dtype));
}

static int64_t TermsBytes(const ConvTask& task) {
  return task.result == ConvResult::kWeight ? RoundedUp(TermsOf(task)) : 0;
}

static int64_t ProductBytes(const ConvTask& task) {
  const int64_t size = SizeOf(task.dtype);
  if (task.result == ConvResult::kOutput) return task.output_elements() * size;
  if (task.result == ConvResult::kWeight) return TermsOf(task);
  return ReadElements(task) * size;
}

int64_t PointwiseConv::WorkspaceOf(const ConvTask& task) {
  return ReadBytes(task) + TermsBytes(task) + CublasWorkspace(ProductBytes(task));
}

// The matrices of an image are X [C, HW], W [K, C] and Y [K, HW]. Then Y = W·X, dX = Wᵀ·dY, dW =
// dY·Xᵀ.
PointwiseConv::PointwiseConv(const ConvTask& task)
    : task_(task),
      dense_(IsDense(task.sizes.window)),
      height_(task.sizes.window.y.input),
      width_(task.sizes.window.x.input),
      down_(task.sizes.window.y.stride),
      across_(task.sizes.window.x.stride),
      read_bytes_(ReadBytes(task)),
      terms_bytes_(TermsBytes(task)) {
  const auto channels = static_cast<int>(task.sizes.channels);
  const auto filters = static_cast<int>(task.sizes.filters);
  const auto plane = static_cast<int>(task.sizes.output_plane());
  const int64_t x_stride = int64_t{channels} * plane, y_stride = int64_t{filters} * plane;
  CublasProduct& p = product_;
  p.handle = CublasHandle();
  p.dtype = task.dtype;
  p.tf32 = task.tf32;
  p.result = task.result == ConvResult::kWeight ? DType::kF32 : task.dtype;
  p.matrices = static_cast<int>(task.sizes.images);
  p.workspace_bytes = CublasWorkspace(ProductBytes(task));
  p.rows = task.result == ConvResult::kInput ? channels : filters;
  p.columns = task.result == ConvResult::kWeight ? channels : plane;
  p.transpose_a = task.result == ConvResult::kInput;
  p.transpose_b = task.result == ConvResult::kWeight;
  p.a_columns = task.result == ConvResult::kWeight ? plane : channels;
  p.b_columns = plane;
  switch (task.result) {
    case ConvResult::kOutput:
      p.depth = channels;
      p.b_stride = x_stride;
      break;
    case ConvResult::kInput:
      p.depth = filters;
      p.b_stride = y_stride;
      break;
    case ConvResult::kWeight:
      p.depth = plane;
      p.a_stride = y_stride;
      p.b_stride = x_stride;
      break;
  }
}

template <class T>
void PointwiseConv::RunAs(const RunContext& context, T* x, T* weight, T* y,
                          std::byte* workspace) const noexcept {
  const WindowAxis &wy = task_.sizes.window.y, &wx = task_.sizes.window.x;
  T* const read = dense_ ? x : reinterpret_cast<T*>(workspace);
  auto* const terms = reinterpret_cast<float*>(workspace + read_bytes_);
  std::byte* const rest = workspace + read_bytes_ + terms_bytes_;
  switch (task_.result) {
    case ConvResult::kOutput:
      product_.Run(context, weight, x, false, y, rest);
      return;
    case ConvResult::kInput:
      product_.Run(context, weight, y, false, read, rest);
      if (dense_) return;
      Spread(context, StridedPlanes{height_, width_, down_, across_, wy.output, wx.output},
             task_.input_elements(), read, x);
      return;
    case ConvResult::kWeight:
      if (!dense_) {
        const GatherBody<T> gather{Divisor(wy.output), Divisor(wx.output), wy.stride, wx.stride,
                                   wy.input,           wx.input,           x,         read};
        ForEachElement(context, ReadElements(task_), gather);
      }
      product_.Run(context, y, read, false, terms, rest);
      ForEachElement(context, task_.weight_elements(),
                     SumTermsBody<T>{task_.sizes.images, task_.weight_elements(), terms, weight});
      return;
  }
}

void PointwiseConv::Run(const RunContext& context, void* x, void* weight, void* y,
                        std::byte* workspace) const noexcept {
  if (task_.dtype == DType::kBF16) {
    using T = __nv_bfloat16;
    RunAs(context, static_cast<T*>(x), static_cast<T*>(weight), static_cast<T*>(y), workspace);
  } else {
    using T = float;
    RunAs(context, static_cast<T*>(x), static_cast<T*>(weight), static_cast<T*>(y), workspace);
  }
}

std::string PointwiseConv::ToString() const {
  return "cuBLAS, " + std::to_string(WorkspaceOf(task_) >> 20) + " MiB";
}

}  // namespace cgrun::cuda
