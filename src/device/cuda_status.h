// Turns the status of a call of CUDA's runtime into an error of ours. Only builds with CUDA include
// it.
#ifndef CGRUN_DEVICE_CUDA_STATUS_H_
#define CGRUN_DEVICE_CUDA_STATUS_H_

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {

// Throws UserError with what failed and CUDA's own words.
inline void Require(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw UserError(what + ": " + cudaGetErrorString(status));
}

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using OwnedEvent = std::unique_ptr<CUevent_st, DestroyEvent>;

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CUDA_STATUS_H_
