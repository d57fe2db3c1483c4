// `--host-memory`: a cap on the host's memory beside that of the device, which `--memory` caps.
#ifndef CGRUN_CLI_HOST_CAP_H_
#define CGRUN_CLI_HOST_CAP_H_

#include <string>

#include "src/cli/model_flags.h"
#include "src/fit/run_memory.h"
#include "src/results/memory_use.h"

namespace cgrun {

// If the device is the host's, both caps are of the same memory. Then the function returns the
// flags with the smaller one as `memory`, which then keeps the name of its flag for messages, and
// says so once where both are given. On other devices
// --host-memory stays as it is. `model` is the file to look into where the flags name none. Throws
// InputError if it is no size.
ModelFlags WithHostMemory(ModelFlags flags, const std::string& model = "");

// Throws InputError if a run on a device with memory of its own is planned to take more of the
// host's memory than --host-memory allows.
void CheckHostMemory(const ModelFlags& flags, const RunMemory& memory);
// The same check holds the planned memory of a session against the cap.
void CheckHostMemory(const ModelFlags& flags, const MemoryUse& memory);

// Refuses the flag for a verb that plans no memory of the host beside that of a device. Throws
// InputError.
void RefuseHostMemory(const ModelFlags& flags, const std::string& verb);

}  // namespace cgrun

#endif  // CGRUN_CLI_HOST_CAP_H_
