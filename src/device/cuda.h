// The CUDA device. A build without CUDA has a stand-in that says so (cuda_absent.cc).
#ifndef CGRUN_DEVICE_CUDA_H_
#define CGRUN_DEVICE_CUDA_H_

#include "src/device/device.h"

namespace cgrun {

// "cuda" or "cuda:N". Throws UserError if this build has no CUDA, or there is no such GPU.
std::unique_ptr<Device> OpenCudaDevice(std::string_view name);

// Returns whether this machine has a GPU and a driver for it. Throws UserError where that cannot be
// told, as of a GPU that has failed.
bool HasCudaDevice();

// One line for each GPU, or why there is none: "built without CUDA".
std::vector<std::string> DescribeCudaDevices();

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CUDA_H_
