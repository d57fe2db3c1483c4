// The devices' kernel libraries, a line each.
#include "src/kernels/kernel.h"
#include "src/kernels/reference/library.h"

namespace cgrun {

const KernelLibrary* FindKernelLibrary(std::string_view device) {
  if (device == "reference") return &reference::Library();
  return nullptr;
}

}  // namespace cgrun
