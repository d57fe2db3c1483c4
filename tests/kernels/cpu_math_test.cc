// Measures how far the vectors' exponentials and logarithms, and functions made of them, are from
// the true values. The unit is the last place. The test covers the whole range of f32 and much of
// that of f64.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "src/kernels/kernel.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

using Function = long double (*)(long double);

struct MathCase {
  OpId op;
  Function exact;
  double most_units;  // of an error
};

long double Sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double Softplus(long double x) { return std::log1p(std::exp(-std::abs(x))) + std::fmax(x, 0); }

const MathCase kCases[] = {
    {OpId::exp, std::exp, 2},    {OpId::log, std::log, 2},      {OpId::tanh, std::tanh, 4},
    {OpId::sigmoid, Sigmoid, 4}, {OpId::softplus, Softplus, 4},
};

// Returns every 2^`step_bits`-th number of the type, of both signs.
template <class T, class Bits>
std::vector<T> Grid(int step_bits) {
  std::vector<T> numbers;
  const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  for (Bits bits = 0; bits < infinity; bits += Bits{1} << step_bits) {
    const T x = std::bit_cast<T>(static_cast<Bits>(bits + bits % 1021));
    numbers.push_back(x);
    numbers.push_back(-x);
  }
  return numbers;
}

// Returns the distance from a number to the next one.
template <class T>
long double UnitAt(T x) {
  return static_cast<long double>(std::nextafter(std::abs(x), std::numeric_limits<T>::infinity())) -
         static_cast<long double>(std::abs(x));
}

template <class T>
void Check(const std::vector<T>& numbers) {
  for (const MathCase& c : kCases) {
    const HostTensor x = HostTensor::Of<T>({std::ssize(numbers)}, numbers);
    const NodeSignature node{c.op, {}, {{x.dtype(), x.shape()}}, {{x.dtype(), x.shape()}}, {}};
    const KernelLibrary& library = *FindKernelLibrary("blas");
    const KernelOption option = library.Options(node, {})[0];
    ASSERT_TRUE(option.kernel.starts_with("cpu.")) << option.kernel;
    const OptionRun run = RunOption(library, node, option, {{x}}, 1);
    double worst = 0;
    T where = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const long double exact = c.exact(numbers[i]);
      const T rounded = static_cast<T>(exact), y = run.outputs[0].template data<T>()[i];
      if (!std::isfinite(rounded)) {
        ASSERT_TRUE(std::isnan(rounded) ? std::isnan(y) : y == rounded)
            << NameOf(c.op) << "(" << numbers[i] << ") = " << y;
        continue;
      }
      const auto units =
          static_cast<double>(std::abs(static_cast<long double>(y) - exact) / UnitAt(rounded));
      if (!(units <= worst)) worst = units, where = numbers[i];
    }
    testing::Test::RecordProperty(std::string(NameOf(c.op)), std::to_string(worst));
    EXPECT_LE(worst, c.most_units) << NameOf(c.op) << " at " << where;
  }
}

TEST(CpuMath, F32) { Check(Grid<float, uint32_t>(13)); }
TEST(CpuMath, F64) { Check(Grid<double, uint64_t>(44)); }

}  // namespace
}  // namespace cgrun
