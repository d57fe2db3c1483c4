// Follows readers, and what they make, until a name is one of the other graph.
#include "src/compile/fused_value.h"

#include <algorithm>
#include <deque>

namespace cgrun {
namespace {

// Counts the operators of a kind in a fused node.
int64_t CountOf(OpId op, const Node& node) {
  return std::ranges::count(node.body, op, &FusedOperator::op);
}

}  // namespace

ValueId FindFusedInto(const Graph& before, ValueId value, const Graph& after) {
  const NodeId producer = before.values[value].producer;
  if (!producer.valid()) return ValueId();
  const OpId op = before.nodes[producer].op;
  const ReaderLists readers = Readers(before);
  IdVector<ValueId, bool> seen(before.values.size(), false);
  IdVector<ValueId, int64_t> others(before.values.size(), 0);  // of `op` on the way to a value
  std::deque<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId from = open.front();
    open.pop_front();
    for (const NodeId reader : readers[from]) {
      for (const ValueId made : before.nodes[reader].outputs) {
        if (seen[made]) continue;
        seen[made] = true;
        others[made] = others[from] + (before.nodes[reader].op == op);
        const ValueId found = after.FindValue(before.values[made].name);
        if (!found.valid()) {
          open.push_back(made);
          continue;
        }
        const NodeId maker = after.values[found].producer;
        // More than come behind the value: else it is gone in another way.
        if (maker.valid() && CountOf(op, after.nodes[maker]) > others[made]) return found;
      }
    }
  }
  return ValueId();
}

}  // namespace cgrun
