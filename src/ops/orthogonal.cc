// Runs the modified Gram-Schmidt process in f64. Each vector meets those before it in their order,
// so that the bits do not depend on the threads. A normal matrix is conditioned well enough that
// the loss of orthogonality stays far below what f32 shows.
#include "src/ops/orthogonal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "src/base/random.h"

namespace cgrun {
namespace {

constexpr int64_t kBlock = 16;  // vectors that are taken out of the others at a time

// Adds in eight sums, so that the compiler can use vectors.
double Dot(const double* a, const double* b, int64_t n) {
  std::array<double, 8> sums{};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t s = 0; s < 8; ++s)
      sums[s] += a[i + static_cast<int64_t>(s)] * b[i + static_cast<int64_t>(s)];
  }
  for (size_t s = 0; i < n; ++i, ++s) sums[s] += a[i] * b[i];
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

// `count` vectors of `length` numbers, one after another; count ≤ length.
class Vectors {
 public:
  Vectors(int64_t count, int64_t length)
      : count_(count), length_(length), data_(static_cast<size_t>(count * length)) {}

  double* At(int64_t v) { return data_.data() + v * length_; }

  void Orthonormalise() {
    for (int64_t first = 0; first < count_; first += kBlock) {
      const int64_t last = std::min(first + kBlock, count_);
      for (int64_t v = first; v < last; ++v) {
        TakeOut(first, v, v);
        Normalise(v);
      }
      TakeOutOfRest(first, last);
    }
  }

 private:
  // Subtracts from vector v its parts along the unit vectors [first, last).
  void TakeOut(int64_t first, int64_t last, int64_t v) {
    double* to = At(v);
    for (int64_t u = first; u < last; ++u) {
      const double* unit = At(u);
      const double part = Dot(unit, to, length_);
      for (int64_t i = 0; i < length_; ++i) to[i] -= part * unit[i];
    }
  }

  void Normalise(int64_t v) {
    double* vector = At(v);
    const double norm = std::sqrt(Dot(vector, vector, length_));
    for (int64_t i = 0; i < length_; ++i) vector[i] /= norm;
  }

  void TakeOutOfRest(int64_t first, int64_t last) {
    constexpr int64_t kLeastWork = 1 << 22;  // multiplications that are worth a thread
    const int64_t rest = count_ - last;
    const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
    const int64_t parts = std::clamp<int64_t>(rest * length_ * (last - first) / kLeastWork, 1,
                                              std::min<int64_t>(cores, 16));
    const auto take = [&](int64_t part) {
      for (int64_t v = last + rest * part / parts; v < last + rest * (part + 1) / parts; ++v) {
        TakeOut(first, last, v);
      }
    };
    std::vector<std::thread> threads;
    for (int64_t part = 1; part < parts; ++part) threads.emplace_back(take, part);
    take(0);
    for (std::thread& thread : threads) thread.join();
  }

  int64_t count_;
  int64_t length_;
  std::vector<double> data_;
};

}  // namespace

HostTensor OrthogonalValue(const TensorType& type, double gain, uint64_t key) {
  HostTensor tensor(type.dtype, type.shape);
  const int64_t elements = tensor.elements();
  if (elements == 0) return tensor;
  const int64_t rows = type.shape.rank() > 1 ? type.shape[0].size : 1;
  const int64_t columns = elements / rows;
  const bool wide = rows <= columns;  // then the rows are the vectors, else the columns
  Vectors vectors(std::min(rows, columns), std::max(rows, columns));
  const auto element = [&](int64_t i) {
    const int64_t row = i / columns, column = i % columns;
    return wide ? vectors.At(row) + column : vectors.At(column) + row;
  };
  for (int64_t i = 0; i < elements; ++i) {
    *element(i) = RandomNormal(key, 0, static_cast<uint64_t>(i));
  }
  vectors.Orthonormalise();
  for (int64_t i = 0; i < elements; ++i) tensor.Set(i, gain * *element(i));
  return tensor;
}

}  // namespace cgrun
