// Pinned memory of the host as the swap space of a GPU. In builds with CUDA alone.
#ifndef CGRUN_DEVICE_CUDA_SWAP_H_
#define CGRUN_DEVICE_CUDA_SWAP_H_

#include "src/device/device.h"

namespace cgrun {

// Device::MakeSwapSpace() of `device`, which is the current one of CUDA.
std::unique_ptr<SwapSpace> MakeCudaSwapSpace(Device& device, Stream run, int64_t bytes,
                                             size_t most_in_flight);

// Device::MeasureTransfers() of `device`, which is the current one of CUDA: 64 MiB are copied to
// pinned memory and back a few times, and the quickest time counts.
TransferSpeed MeasureCudaTransfers(Device& device);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CUDA_SWAP_H_
