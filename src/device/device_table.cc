// The devices of this build, a line each.
#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "src/device/cuda.h"

namespace cgrun {

std::vector<std::string> DeviceNames() { return {"reference", "blas", "cpu", "cuda"}; }

std::unique_ptr<Device> OpenDevice(std::string_view name) {
  if (name == "reference" || name == "blas" || name == "cpu") {
    return std::make_unique<CpuDevice>(std::string(name));
  }
  if (name.substr(0, 4) == "cuda") return OpenCudaDevice(name);
  throw UserError("there is no device '" + std::string(name) + "'",
                  SuggestName(name, DeviceNames()));
}

}  // namespace cgrun
