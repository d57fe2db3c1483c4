// Runs an imported model as `cgrun predict` does.
#ifndef CGRUN_TESTS_ONNX_CONFORMANCE_RUN_IMPORTED_H_
#define CGRUN_TESTS_ONNX_CONFORMANCE_RUN_IMPORTED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/import/import.h"
#include "src/results/mode.h"

namespace cgrun {

// The outputs on the device `cpu`, in the order of the file. The model file is read from its text.
// `inputs` have the names of the ONNX file. UserError where the model cannot be compiled or fed.
std::vector<HostTensor> RunImported(const ImportedModel& imported, onnx::OnnxFile& file,
                                    const std::map<std::string, HostTensor>& inputs, int64_t batch,
                                    Mode mode);

}  // namespace cgrun

#endif  // CGRUN_TESTS_ONNX_CONFORMANCE_RUN_IMPORTED_H_
