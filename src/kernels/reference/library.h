// Declares the kernel library of the device `reference`: plain loops, the oracle for every other
// device.
#ifndef CGRUN_KERNELS_REFERENCE_LIBRARY_H_
#define CGRUN_KERNELS_REFERENCE_LIBRARY_H_

#include "src/kernels/kernel.h"

namespace cgrun::reference {

const KernelLibrary& Library();

// Adds the kernel of a plug-in's operator (AddOperator), before anything is compiled. Fails a check
// if the operator has one already.
void AddKernel(OpId op, KernelDef kernel);

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_LIBRARY_H_
