// Finds the values of a model that become its outputs.
#ifndef CGRUN_IMPORT_CUT_H_
#define CGRUN_IMPORT_CUT_H_

#include <string>
#include <vector>

#include "src/onnx/onnx_file.h"

namespace cgrun {

struct WantedOutput {
  onnx::ValueInfo value;  // without a type where the model is cut inside
  std::string wish;       // the name that the user knows
};

// Returns the values that `names` are; without names the outputs of the model. A name is that of a
// value or of the node that gives it, as the file or as a model file has it. InputError for a name
// that is neither, with those that are near, and for a model without outputs.
std::vector<WantedOutput> WantedOutputs(const onnx::OnnxFile& file,
                                        const std::vector<std::string>& names);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_CUT_H_
