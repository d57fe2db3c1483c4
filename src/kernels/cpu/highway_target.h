// Highway for one instruction set. Included once for each target.
//
// If highway_targets.h has been precompiled, its functions are known for all targets. Then this
// header only chooses one target, which spares each file nearly two seconds.
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
