// Highway for one instruction set. Included once for each target.
//
// Where highway_targets.h has been precompiled, its functions are known for all targets, and what
// is left is to choose one of them: each file is spared nearly two seconds.
#ifdef CGRUN_KERNELS_CPU_HIGHWAY_TARGETS_H_
#include <hwy/ops/set_macros-inl.h>
// Precompiled, the compiler's own headers of vectors count as code of ours, with their warnings.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#else
#include <hwy/highway.h>
// Behind it:
#include <hwy/contrib/math/math-inl.h>
#endif
