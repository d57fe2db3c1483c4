// The flags --dim and --const: what verbs that read a model of ONNX are told of its inputs.
#ifndef CGRUN_CLI_ONNX_FLAGS_H_
#define CGRUN_CLI_ONNX_FLAGS_H_

#include <string>
#include <vector>

#include "src/cli/verb.h"
#include "src/import/import.h"

namespace cgrun {

struct OnnxFlags {
  std::vector<std::string> dims, constants;  // as they were typed
  std::string data;                          // --data of eval: a file with the key `data`; or ""
};

// Declares the flags; `flags` is filled when the command line is parsed.
void AddOnnxFlags(const Verb& verb, OnnxFlags& flags);

// InputError names the flag that is wrong.
ImportOptions ImportOptionsOf(const OnnxFlags& flags);

}  // namespace cgrun

#endif  // CGRUN_CLI_ONNX_FLAGS_H_
