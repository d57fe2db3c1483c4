// A build without CUDA answers here for the device `cuda`.
#include "src/base/diagnostics.h"
#include "src/device/cuda.h"

namespace cgrun {

std::unique_ptr<Device> OpenCudaDevice(std::string_view name) {
  throw UserError("device '" + std::string(name) + "' is not in this build: built without CUDA",
                  "build with `bazel build --config=cuda //src/cli:cgrun`, or use --device cpu");
}

bool HasCudaDevice() { return false; }

std::vector<std::string> DescribeCudaDevices() { return {"built without CUDA"}; }

}  // namespace cgrun
