// The devices' kernel libraries, a line each.
#include "src/kernels/cpu/library.h"
#include "src/kernels/cuda/library.h"
#include "src/kernels/kernel.h"
#include "src/kernels/reference/library.h"

namespace cgrun {

const KernelLibrary* FindKernelLibrary(std::string_view device) {
  if (device == "reference") return &reference::Library();
  if (device == "blas") return &cpu::BlasLibrary();
  if (device == "cpu") return cpu::Library();
  if (device.substr(0, 4) == "cuda") return cuda::Library();
  return nullptr;
}

}  // namespace cgrun
