// Highway for all instruction sets that kernels are compiled for, to be precompiled and included in
// front of all else. At its end Highway looks as if it had not been included, so that a file of
// kernels begins as it would without this header; highway_target.h knows better.
#ifndef CGRUN_KERNELS_CPU_HIGHWAY_TARGETS_H_

#include "src/kernels/cpu/targets.h"

#define HWY_TARGET_INCLUDE "src/kernels/cpu/highway_target.h"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/highway_target.h"

#undef HIGHWAY_HWY_FOREACH_TARGET_H_
#undef HWY_HIGHWAY_INCLUDED
#undef HWY_SET_MACROS_PER_TARGET
#undef HWY_TARGET_INCLUDE
#undef HWY_TARGET_TOGGLE

#define CGRUN_KERNELS_CPU_HIGHWAY_TARGETS_H_
#endif  // CGRUN_KERNELS_CPU_HIGHWAY_TARGETS_H_
