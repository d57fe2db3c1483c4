// Parts of the streams of random.h, many numbers at a time: for tensors of initial values.
#ifndef CGRUN_BASE_RANDOM_STREAM_H_
#define CGRUN_BASE_RANDOM_STREAM_H_

#include <cstdint>
#include <span>

namespace cgrun {

// Fills `bits` with RandomBits(key, high, i) for i from `first` on. `first` is a multiple of 4.
void RandomBitsFrom(uint64_t key, uint64_t high, uint64_t first, std::span<uint32_t> bits);

// Numbers that are nearer than kNormalError to RandomNormal(key, high, i), for i from `first` on, a
// multiple of 4: library functions one by one take several times as long.
void NearNormalsFrom(uint64_t key, uint64_t high, uint64_t first, std::span<double> normals);
inline constexpr double kNormalError = 0x1.0p-40;

}  // namespace cgrun

#endif  // CGRUN_BASE_RANDOM_STREAM_H_
