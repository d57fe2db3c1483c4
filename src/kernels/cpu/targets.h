// Lists the instruction sets that our own kernels are compiled for. Include it before Highway's
// foreach_target.h. Each set costs compile time and size, so there are three: SSE4, AVX2 and
// AVX-512 (AVX3 by Highway's name). A CPU without SSE4 has none of these kernels.
#ifndef CGRUN_KERNELS_CPU_TARGETS_H_
#define CGRUN_KERNELS_CPU_TARGETS_H_

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_DISABLED_TARGETS HWY_SSSE3

#endif  // CGRUN_KERNELS_CPU_TARGETS_H_
