// Holds the state that the steps of an import share.
#ifndef CGRUN_IMPORT_IMPORT_STATE_H_
#define CGRUN_IMPORT_IMPORT_STATE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "src/import/constant.h"
#include "src/import/network.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// A name of an ONNX graph stands for a constant, or for a value of the network.
struct ImportedValue {
  std::optional<Constant> constant;
  NetworkValue value;
  bool shared = false;  // other names may stand for the same value
};

// The names of a graph, of the body of a control-flow node, or of a function's body. All names of
// `outer` are known in it, too.
struct GraphScope {
  const GraphScope* outer = nullptr;  // null of the main graph and of functions
  bool is_main = false;
  std::map<std::string, ImportedValue, std::less<>> operands = {};
  std::map<std::string, int64_t, std::less<>> uses = {};  // by live nodes and as outputs

  // Looks in the outer scopes, too; null where nothing has the name.
  const ImportedValue* Find(std::string_view name) const;
};

// Folding may still take this much. An output has at most 64 KiB, or four times its inputs' bytes.
struct FoldBudget {
  int64_t bytes = 0;        // in all
  int64_t flops = 1 << 30;  // in all; above, nodes are left to the model
  int64_t dequantised = 0;  // of weights, in f32
  int64_t nodes = 1 << 17;  // that come out of functions, loops and branches
};

struct ImportState {
  onnx::OnnxFile& file;
  int64_t opset = 0;  // of the nodes that are being imported
  // The first dimension of the inputs, where the file has a number and the batch is open.
  std::optional<int64_t> batch = {};
  Network network = Network();
  GraphScope* scope = nullptr;  // of the nodes that are being imported
  std::map<std::string, std::string, std::less<>> outputs = {};  // of the file → of the model
  // Constants that are values, by their elements and sizes; see NodeContext::Value().
  using Parameters = std::map<std::pair<const onnx::Tensor*, std::vector<int64_t>>, NetworkValue>;
  Parameters parameters = {};
  std::set<std::string> learned = {};  // those of them that are weights: see IsWeightSlot()
  // Values in other types, by the value and the type; see CastValue().
  std::map<std::pair<ValueId, DType>, NetworkValue> casts = {};
  // Constants in wider types, by their elements and sizes, the type, and whether halves are
  // exchanged; with the constant that each was, so that its elements stay where they are.
  using WideConstants = std::map<std::tuple<const onnx::Tensor*, std::vector<int64_t>, DType, bool>,
                                 std::pair<Constant, Constant>>;
  WideConstants wide_constants = {};
  // Maps domain, name and overload to a function.
  using Functions =
      std::map<std::tuple<std::string, std::string, std::string>, const onnx::Function*>;
  Functions functions = {};
  FoldBudget budget = {};
  int64_t folded_bytes = 0;              // of lists of sizes
  std::vector<std::string> folded = {};  // nodes, as people read them
  std::vector<std::string> warnings = {};
  // Keeps nodes that are in no file, such as a function's body with its attributes.
  std::deque<std::vector<onnx::Node>> made_bodies = {};
  int depth = 0;  // of functions, loops and branches
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_IMPORT_STATE_H_
