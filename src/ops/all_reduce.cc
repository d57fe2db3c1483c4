// Defines all_reduce: the sum of a gradient over the processes of a distributed run.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef all_reduce() {
  OpDef def;
  def.name = "all_reduce";
  def.summary = "Sums a tensor over all processes.";
  def.details = "y = Σ over ranks of x, added in rank order; every process gets the same bits.";
  def.inputs = {{"x", "this process's part"}};
  def.outputs = {{"y", "the sum"}};
  def.infer = InferSameAsInput;
  def.in_place = {{0, 0}};
  def.has_effect = true;
  return def;
}

}  // namespace cgrun::op_def
