// The random numbers of src/base/random.h on the GPU: the very same bits.
#ifndef CGRUN_KERNELS_CUDA_PHILOX_CUH_
#define CGRUN_KERNELS_CUDA_PHILOX_CUH_

#include <cstdint>

namespace cgrun::cuda {

struct PhiloxBlock {
  uint32_t words[4];
};

// The 128-bit block of counter (`high`, `low`) under `key`.
inline __device__ PhiloxBlock DevicePhilox(uint64_t key, uint64_t high, uint64_t low) {
  uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
  uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0;
    const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// [0, 1) from 32 random bits, exact in f32 (24 bits).
inline __device__ float DeviceUniform(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1.0p-24f;
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_PHILOX_CUH_
