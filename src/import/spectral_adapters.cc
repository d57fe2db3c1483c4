// DFT and STFT as products with a constant matrix of cosines and sines. A real or complex number is
// the last axis, of one or two numbers.
#include <cmath>
#include <numbers>
#include <numeric>

#include "src/base/host_tensor.h"
#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// One transform: `length` samples become `bins` complex numbers.
struct Transform {
  int64_t length = 0;
  int64_t bins = 0;
  bool inverse = false;

  // Returns the angle by which sample `t` turns for bin `k`, in radians. Turns are reduced first,
  // so that long transforms stay exact.
  double Angle(int64_t k, int64_t t) const {
    const double turns = static_cast<double>(k * t % length) / static_cast<double>(length);
    return (inverse ? 2 : -2) * std::numbers::pi * turns;
  }
  double Scale() const { return inverse ? 1.0 / static_cast<double>(length) : 1.0; }
};

// A matrix takes the square of the length; a model that wants more has a better way to say so.
void CheckSize(NodeContext& node, int64_t rows, int64_t columns) {
  constexpr int64_t kMost = 1 << 24;
  if (rows < 1 || columns < 1) node.Fail("has an empty transform");
  if (rows > kMost / columns) {
    node.Fail("would need a matrix of " + std::to_string(rows) + " × " + std::to_string(columns) +
                  " numbers, and has no more than 16,777,216",
              "transform shorter frames");
  }
}

// Bins of a transform of real numbers that is given `onesided`; the others mirror them.
int64_t BinsOf(int64_t length, bool onesided) { return onesided ? length / 2 + 1 : length; }

// Rows [bin, part of the result], columns [sample, part]: the numbers of samples lie side by side.
HostTensor MatrixOf(const Transform& transform, DType dtype, int64_t samples, int64_t parts) {
  HostTensor matrix(dtype, Shape{2 * transform.bins, samples * parts});
  for (int64_t k = 0; k < transform.bins; ++k) {
    for (int64_t t = 0; t < std::min(samples, transform.length); ++t) {
      const double angle = transform.Angle(k, t), scale = transform.Scale();
      const int64_t real = 2 * k * samples * parts + t * parts, imaginary = real + samples * parts;
      matrix.Set(real, scale * std::cos(angle));
      matrix.Set(imaginary, scale * std::sin(angle));
      if (parts == 1) continue;
      matrix.Set(real + 1, -scale * std::sin(angle));
      matrix.Set(imaginary + 1, scale * std::cos(angle));
    }
  }
  return matrix;
}

// Rows [sample], columns [bin, part]: real samples from the half of the bins that are not mirrored.
HostTensor InverseMatrixOf(int64_t length, DType dtype, int64_t bins) {
  HostTensor matrix(dtype, Shape{length, 2 * bins});
  const Transform transform{length, length, /*inverse=*/true};
  for (int64_t t = 0; t < length; ++t) {
    for (int64_t k = 0; k < std::min(bins, BinsOf(length, true)); ++k) {
      const bool is_alone = k == 0 || 2 * k == length;
      const double scale = transform.Scale() * (is_alone ? 1 : 2), angle = transform.Angle(k, t);
      matrix.Set(2 * (t * bins + k), scale * std::cos(angle));
      matrix.Set(2 * (t * bins + k) + 1, -scale * std::sin(angle));
    }
  }
  return matrix;
}

std::vector<Dim> DimsOf(const Shape& shape) { return {shape.begin(), shape.end()}; }

// The order of axes in which `axis` stands before the last one.
std::vector<int64_t> AxisToEnd(int64_t axis, int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + axis);
  perm.insert(perm.end() - 1, axis);
  return perm;
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

// The axis is an attribute up to opset 19, and input 2 after it.
int64_t TransformedAxis(NodeContext& node, int rank) {
  const int64_t by_default = node.opset() < 20 ? node.Int("axis", 1) : -2;
  return node.Axis(node.Has(2) ? IntegerOf(node, 2) : by_default, rank);
}

void ImportDft(NodeContext& node, const Adapter&) {
  const TensorType x = node.TypeOf(0);
  const int rank = x.shape.rank();
  if (rank < 2 || !IsFloat(x.dtype)) node.Fail("reads " + x.ToString());
  const int64_t axis = TransformedAxis(node, rank), parts = x.shape[rank - 1].size;
  if (axis == rank - 1 || (parts != 1 && parts != 2)) {
    node.Fail("reads " + x.shape.ToString() + ", whose last axis must hold one or two numbers");
  }
  node.RefuseBatch(0, axis, "transforms");
  const int64_t samples = x.shape[static_cast<int>(axis)].size;
  const bool onesided = node.Int("onesided", 0) != 0, inverse = node.Int("inverse", 0) != 0;
  if (onesided && parts != (inverse ? 2 : 1)) {
    node.FailAttribute("onesided",
                       inverse ? "is for complex numbers in the inverse" : "is for real numbers");
  }
  const bool makes_real = onesided && inverse;
  const int64_t all = makes_real ? 2 * (samples - 1) : samples;
  const int64_t length = node.Has(1) ? IntegerOf(node, 1) : all;
  if (length < 1) node.Fail("has an empty transform");
  const Transform transform{length, makes_real ? length : BinsOf(length, onesided), inverse};
  const int64_t made = makes_real ? 1 : 2;
  CheckSize(node, made * transform.bins, samples * parts);
  HostTensor matrix = makes_real ? InverseMatrixOf(length, x.dtype, samples)
                                 : MatrixOf(transform, x.dtype, samples, parts);

  ItemWriter write(node);
  const std::vector<int64_t> perm = AxisToEnd(axis, rank);
  const NetworkValue in_order = write.Transposed(node.Value(0), perm);
  std::vector<Dim> dims = DimsOf(write.ShapeOf(in_order));
  dims.pop_back();
  dims.back() = Dim(samples * parts);
  const NetworkValue rows = write.Reshaped(in_order, dims);
  const NetworkValue numbers = node.Emit(
      "linear", {{rows, ""}}, {KeyOf("units", made * transform.bins), KeyOf("bias", false)},
      {{"weight", ConstantOf(std::move(matrix))}}, "numbers");
  dims.back() = Dim(transform.bins);
  dims.push_back(Dim(made));
  const NetworkValue result = write.Reshaped(numbers, dims);
  write.Finish("transpose", {result}, {KeyOfList("perm", Inverse(perm))});
}

// The samples of a frame are multiplied by these; nothing: by 1.
std::vector<double> WindowOf(NodeContext& node, int64_t length) {
  if (!node.Has(2)) return std::vector<double>(static_cast<size_t>(length), 1.0);
  std::vector<double> window = NumbersOf(node, 2);
  if (static_cast<int64_t>(window.size()) != length) {
    node.Fail("has a window of " + std::to_string(window.size()) + " numbers for frames of " +
              std::to_string(length));
  }
  return window;
}

// Frames of a signal are what a convolution reads.
void ImportStft(NodeContext& node, const Adapter&) {
  const TensorType signal = node.TypeOf(0);
  const Shape& shape = signal.shape;
  const bool is_real = shape.rank() == 2 || (shape.rank() == 3 && shape[2].size == 1);
  if (!is_real || !IsFloat(signal.dtype)) {
    node.Fail("reads " + signal.ToString() + ", and only real signals are supported");
  }
  node.RefuseBatch(0, 1, "transforms");
  const int64_t step = IntegerOf(node, 1), samples = shape[1].size;
  if (!node.Has(2) && !node.Has(3)) node.Fail("has neither a window nor a frame length");
  const int64_t length = node.Has(3) ? IntegerOf(node, 3) : node.ShapeOf(2).Elements();
  if (length < 1 || length > samples || step < 1) {
    node.Fail("has frames of " + std::to_string(length) + " samples, " + std::to_string(step) +
              " apart, in a signal of " + std::to_string(samples));
  }
  const Transform transform{length, BinsOf(length, node.Int("onesided", 1) != 0), false};
  CheckSize(node, 2 * transform.bins, length);
  HostTensor matrix = MatrixOf(transform, signal.dtype, length, 1);
  const std::vector<double> window = WindowOf(node, length);
  for (int64_t i = 0; i < matrix.elements(); ++i) {
    matrix.Set(i, matrix.At(i) * window[static_cast<size_t>(i % length)]);
  }
  Constant filters = ConstantOf(std::move(matrix));
  filters.dims = {2 * transform.bins, 1, 1, length};

  ItemWriter write(node);
  const NetworkValue image =
      write.Reshaped(node.Value(0), {shape[0], Dim(1), Dim(1), Dim(samples)});
  const NetworkValue numbers =
      node.Emit("conv", {{image, ""}},
                {KeyOf("filters", 2 * transform.bins), KeyOfList("kernel", {1, length}),
                 KeyOfList("stride", {1, step}), KeyOf("bias", false)},
                {{"weight", std::move(filters)}}, "numbers");
  const int64_t frames = (samples - length) / step + 1;
  const NetworkValue complex =
      write.Reshaped(numbers, {shape[0], Dim(transform.bins), Dim(2), Dim(frames)});
  write.Finish("transpose", {complex}, {KeyOfList("perm", {0, 3, 1, 2})});
}

}  // namespace

std::span<const Adapter> SpectralAdapters() {
  static constexpr Adapter kRows[] = {
      {.op_type = "DFT", .import = ImportDft, .max_inputs = 3, .since = 17},
      {.op_type = "STFT", .import = ImportStft, .max_inputs = 4, .since = 17},
  };
  return kRows;
}

}  // namespace cgrun
