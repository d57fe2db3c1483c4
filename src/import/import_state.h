// Holds the state that the steps of an import share.
#ifndef CGRUN_IMPORT_IMPORT_STATE_H_
#define CGRUN_IMPORT_IMPORT_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/import/constant.h"
#include "src/import/network.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// A name of an ONNX graph stands for a constant, or for a value of the network.
struct Operand {
  std::optional<Constant> constant;
  NetworkValue value;
};

struct ImportState {
  onnx::OnnxFile& file;
  int64_t opset = 0;
  std::optional<int64_t> batch =
      {};  // the first dimension of the inputs, where the file has a number
  Network network = Network();
  std::map<std::string, Operand, std::less<>> operands = {};     // by names of the file
  std::map<std::string, int64_t, std::less<>> uses = {};         // by nodes and as outputs
  std::map<std::string, std::string, std::less<>> outputs = {};  // of the file → of the model
  int64_t folded_bytes = 0;
  std::vector<std::string> folded = {};  // nodes, as people read them
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_IMPORT_STATE_H_
