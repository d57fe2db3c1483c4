// The kernel library of the device `reference`: plain loops, the oracle for every other device.
#ifndef CGRUN_KERNELS_REFERENCE_LIBRARY_H_
#define CGRUN_KERNELS_REFERENCE_LIBRARY_H_

#include "src/kernels/kernel.h"

namespace cgrun::reference {

const KernelLibrary& Library();

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_LIBRARY_H_
