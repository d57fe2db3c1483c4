// Loops over blocks of counters, written for the compiler to make vectors of.
#include "src/base/random_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "src/base/random.h"

namespace cgrun {
namespace {

constexpr size_t kLanes = 64;  // blocks of four words at a time
constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

using Lanes = std::array<uint32_t, kLanes>;

// Philox() of the counters first … first + kLanes − 1; word w of block b becomes words[w][b].
void PhiloxBlocks(uint64_t key, uint64_t high, uint64_t first, std::array<Lanes, 4>& words) {
  Lanes &c0 = words[0], &c1 = words[1], &c2 = words[2], &c3 = words[3];
  for (size_t b = 0; b < kLanes; ++b) {
    c0[b] = static_cast<uint32_t>(first + b);
    c1[b] = static_cast<uint32_t>((first + b) >> 32);
    c2[b] = static_cast<uint32_t>(high);
    c3[b] = static_cast<uint32_t>(high >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (size_t b = 0; b < kLanes; ++b) {
      const uint64_t p0 = static_cast<uint64_t>(kMultiplier0) * c0[b];
      const uint64_t p1 = static_cast<uint64_t>(kMultiplier1) * c2[b];
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1[b] ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3[b] ^ k1;
      c0[b] = n0;
      c1[b] = static_cast<uint32_t>(p1);
      c2[b] = n2;
      c3[b] = static_cast<uint32_t>(p0);
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
}

// 32 bits as a double, exactly: no vector conversion of unsigned numbers is needed.
inline double ToDouble(uint32_t bits) {
  return std::bit_cast<double>(0x4330000000000000 | uint64_t{bits}) - 0x1.0p52;
}

// log(u) of u in (0, 1]: by halves of the exponent, then 2·atanh((m − 1)/(m + 1)).
inline double NearLog(double u) {
  const uint64_t bits = std::bit_cast<uint64_t>(u);
  const uint64_t half = uint64_t{0x3FE6A09E667F3BCD};  // √½
  const uint64_t shifted = bits - half;  // the exponent of u / √½, possibly below 0
  const uint64_t exponent = (shifted + (uint64_t{2048} << 52)) >> 52;  // + 2048
  const double e = std::bit_cast<double>(0x4330000000000000 | exponent) - (0x1.0p52 + 2048);
  const double m = std::bit_cast<double>(bits - (shifted & 0xFFF0000000000000));
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 21;
  sum = sum * z + 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  sum = sum * z + 1;
  return e * std::numbers::ln2 + 2 * s * sum;
}

// Computes cos(2πv) for v = bits·2⁻³². A polynomial covers an eighth of a turn on either side.
inline double NearCosine(uint32_t bits) {
  const uint32_t turned = bits + (uint32_t{1} << 29);
  const uint32_t quadrant = turned >> 30;
  const double rest = ToDouble(turned & 0x3FFFFFFF) - 0x1.0p29;
  const double x = rest * (2 * std::numbers::pi * 0x1.0p-32), z = x * x;
  double cosine = -1.0 / 87178291200;
  cosine = cosine * z + 1.0 / 479001600;
  cosine = cosine * z - 1.0 / 3628800;
  cosine = cosine * z + 1.0 / 40320;
  cosine = cosine * z - 1.0 / 720;
  cosine = cosine * z + 1.0 / 24;
  cosine = cosine * z - 0.5;
  cosine = cosine * z + 1;
  double sine = -1.0 / 1307674368000;
  sine = sine * z + 1.0 / 6227020800;
  sine = sine * z - 1.0 / 39916800;
  sine = sine * z + 1.0 / 362880;
  sine = sine * z - 1.0 / 5040;
  sine = sine * z + 1.0 / 120;
  sine = sine * z - 1.0 / 6;
  sine = sine * z * x + x;
  // The results in the four quadrants are cos, −sin, −cos and sin.
  const uint64_t odd = -uint64_t{quadrant & 1};
  const uint64_t value =
      (std::bit_cast<uint64_t>(sine) & odd) | (std::bit_cast<uint64_t>(cosine) & ~odd);
  const uint64_t sign = uint64_t{(quadrant ^ (quadrant >> 1)) & 1} << 63;
  return std::bit_cast<double>(value ^ sign);
}

}  // namespace

void RandomBitsFrom(uint64_t key, uint64_t high, uint64_t first, std::span<uint32_t> bits) {
  std::array<Lanes, 4> words;
  for (size_t done = 0; done < bits.size(); done += 4 * kLanes) {
    PhiloxBlocks(key, high, (first + done) / 4, words);
    const size_t count = std::min(4 * kLanes, bits.size() - done);
    for (size_t i = 0; i < count; ++i) bits[done + i] = words[i % 4][i / 4];
  }
}

void NearNormalsFrom(uint64_t key, uint64_t high, uint64_t first, std::span<double> normals) {
  std::array<Lanes, 4> words;
  std::array<double, kLanes> even, odd;
  const auto pairs = [](const Lanes& u, const Lanes& v, std::array<double, kLanes>& out) {
#pragma omp simd
    for (size_t b = 0; b < kLanes; ++b) {
      const double radius = std::sqrt(-2 * NearLog((ToDouble(u[b]) + 1) * 0x1.0p-32));
      out[b] = radius * NearCosine(v[b]);
    }
  };
  for (size_t done = 0; done < normals.size(); done += 2 * kLanes) {
    PhiloxBlocks(key, high, (first + done) / 2, words);
    pairs(words[0], words[1], even);
    pairs(words[2], words[3], odd);
    const size_t count = std::min(2 * kLanes, normals.size() - done);
    for (size_t i = 0; i < count; ++i) normals[done + i] = i % 2 == 0 ? even[i / 2] : odd[i / 2];
  }
}

}  // namespace cgrun
