// Follows readers, and what they make, until a name is one of the other graph.
#include "src/compile/fused_value.h"

#include <algorithm>
#include <deque>

namespace cgrun {
namespace {

bool Computes(const Node& node, OpId op) {
  return std::ranges::any_of(node.body, [&](const FusedOperator& inner) { return inner.op == op; });
}

}  // namespace

ValueId FindFusedInto(const Graph& before, ValueId value, const Graph& after) {
  const NodeId producer = before.values[value].producer;
  if (!producer.valid()) return ValueId();
  const OpId op = before.nodes[producer].op;
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(before);
  IdVector<ValueId, bool> seen(before.values.size(), false);
  std::deque<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId from = open.front();
    open.pop_front();
    for (const NodeId reader : readers[from]) {
      for (const ValueId made : before.nodes[reader].outputs) {
        if (seen[made]) continue;
        seen[made] = true;
        const ValueId found = after.FindValue(before.values[made].name);
        if (!found.valid()) {
          open.push_back(made);
          continue;
        }
        const NodeId maker = after.values[found].producer;
        if (maker.valid() && Computes(after.nodes[maker], op)) return found;
      }
    }
  }
  return ValueId();
}

}  // namespace cgrun
