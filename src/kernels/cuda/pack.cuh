// Neighbouring elements that a thread reads and writes together.
#ifndef CGRUN_KERNELS_CUDA_PACK_CUH_
#define CGRUN_KERNELS_CUDA_PACK_CUH_

#include <cstddef>
#include <cstdint>

namespace cgrun::cuda {

// `kCount` elements, a power of two; they lie at a multiple of their size. Operands begin at
// multiples of 64 bytes, in plans as in eager mode.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T at[kCount];
};

template <int kCount, class T>
__device__ Pack<T, kCount> LoadPack(const T* from) {
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}
template <int kCount, class T>
__device__ void StorePack(T* to, const Pack<T, kCount>& pack) {
  *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_PACK_CUH_
