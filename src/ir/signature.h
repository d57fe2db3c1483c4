// A node without its graph: what type inference, costs, targets and kernels see of it.
#ifndef CGRUN_IR_SIGNATURE_H_
#define CGRUN_IR_SIGNATURE_H_

#include <span>
#include <vector>

#include "src/ir/attributes.h"
#include "src/ir/op_id.h"
#include "src/ir/tensor_type.h"

namespace cgrun {

// Output `output` may be written over input `input`.
struct InPlacePair {
  int input = 0;
  int output = 0;
  friend bool operator==(const InPlacePair&, const InPlacePair&) = default;
};

// Names an input that is a part of an output, or an output that is a part of an input. The smaller
// one can lie in the bytes of the larger one, from its byte `begin` on. Then nothing has to be
// copied.
struct SubBufferPair {
  int input = 0;
  int output = 0;
  int64_t begin = 0;
  friend bool operator==(const SubBufferPair&, const SubBufferPair&) = default;
};

// One operator of a fused node's body. An operand is an input of the fused node (i ≥ 0) or the
// result of an earlier body operator j (−1 − j). The last operator's results are the node's
// outputs.
struct FusedOperator {
  OpId op = OpId::identity;
  Attributes attributes;
  std::vector<int> operands;
  friend bool operator==(const FusedOperator&, const FusedOperator&) = default;
};

struct NodeSignature {
  OpId op = OpId::identity;
  Attributes attributes;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  std::vector<FusedOperator> body;  // of OpId::fused alone
};

struct OpCost {
  int64_t flops = 0;  // a multiply-add counts two
};

// Returns the floating-point operations of a bound node.
OpCost CostOf(const NodeSignature& node);
// Returns the pairs on which a node may run in place, as its operator's definition says. A fused
// node has the pairs of its last operator on inputs that nothing else in it reads. It also has the
// pairs on which the values that this operator reads may be made in place, because the overwritten
// input has been read by then.
std::vector<InPlacePair> InPlacePairsOf(OpId op, std::span<const FusedOperator> body);
std::string_view NameOf(OpId op);

}  // namespace cgrun

#endif  // CGRUN_IR_SIGNATURE_H_
