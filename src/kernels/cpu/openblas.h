// Loads the library OpenBLAS when a kernel first needs it. Its start-up takes addresses, and waits
// for ever if a limit refuses them. The limits are therefore looked at first.
#ifndef CGRUN_KERNELS_CPU_OPENBLAS_H_
#define CGRUN_KERNELS_CPU_OPENBLAS_H_

#include <cblas.h>

#include <cstdint>

namespace cgrun::cpu {

// BUFFER_SIZE of OpenBLAS: addresses, of which products seldom touch all.
inline constexpr int64_t kBlasBufferBytes = int64_t{128} << 20;

// Holds the functions that are used. OpenBLAS's header leaves out the two of memory. One takes the
// first free buffer of those that products copy their operands to, and the other frees it.
struct OpenBlas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_get_num_threads) get_num_threads = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  decltype(&openblas_get_parallel) get_parallel = nullptr;
  decltype(&openblas_get_config) get_config = nullptr;
  decltype(&openblas_get_corename) get_corename = nullptr;
  void* (*memory_alloc)(int kind) = nullptr;
  void (*memory_free)(void* buffer) = nullptr;
};

// Loads the library in the first call, for one thread. If OpenBLAS is older than the processor, it
// would multiply by the instructions of its oldest processor. It is then loaded again with
// OPENBLAS_CORETYPE set, unless the user has set that. Throws UserError if the library is missing,
// if it is not the OpenMP flavour, whose team oneDNN and our own kernels share, or if there are too
// few addresses.
const OpenBlas& LoadedOpenBlas();

// Has it use `threads` threads, and take buffers for `products` products that run at once, so that
// no product has to ask the system for one. Throws UserError if a limit leaves too few addresses.
void SetBlasThreads(int threads, int products);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_OPENBLAS_H_
