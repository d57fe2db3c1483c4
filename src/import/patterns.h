// Recognises operators that an exporter has written as several: layer_norm, gelu, softmax, silu.
#ifndef CGRUN_IMPORT_PATTERNS_H_
#define CGRUN_IMPORT_PATTERNS_H_

#include <string>
#include <vector>

#include "src/import/network.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// Puts one item in the place of several wherever they compute what it does, and nothing else reads
// what is between. `outputs` are the names of items that must stay. Returns lines for people:
// "2 × layer_norm". The network stays as it is where the result could not be inferred.
std::vector<std::string> RecognisePatterns(Network& network,
                                           const std::vector<std::string>& outputs,
                                           onnx::OnnxFile& file);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_PATTERNS_H_
