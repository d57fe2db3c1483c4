// Less memory by computing again: the part of a compile that trades time for it.
#ifndef CGRUN_COMPILE_RECOMPUTE_H_
#define CGRUN_COMPILE_RECOMPUTE_H_

#include "src/compile/compile.h"

namespace cgrun {

// Has the entry point compute again, right before its later readers, what its schedule would hold
// at the peak: the least of it with which the peak is as low as it gets for the share of a step's
// time that `options` has for this. Only operators that do little for each element run twice.
// Results do not change by a bit. False where that lowers nothing.
bool RecomputeAtPeak(CompiledEntry& entry, const Target& target, const CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_RECOMPUTE_H_
