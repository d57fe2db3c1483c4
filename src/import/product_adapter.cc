// MatMul of two values: rows, and stacks that are repeated along each other.
#include <algorithm>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// The leading axes of both stacks together; Fail() where they do not go together.
std::vector<Dim> SharedLeading(NodeContext& node, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank()) - 2;
  std::vector<Dim> dims;
  for (int i = 0; i < rank; ++i) {
    const int of_a = i + a.rank() - 2 - rank, of_b = i + b.rank() - 2 - rank;
    const Dim da = of_a < 0 ? Dim(1) : a[of_a], db = of_b < 0 ? Dim(1) : b[of_b];
    if (da != db && da != Dim(1) && db != Dim(1)) {
      node.Fail("its operands " + a.ToString() + " and " + b.ToString() + " do not go together");
    }
    dims.push_back(da == Dim(1) ? db : da);
  }
  return dims;
}

// Repeats a stack of matrices to the leading axes `dims`.
NetworkValue Repeated(ItemWriter& write, const NetworkValue& stack, const std::vector<Dim>& dims) {
  const Shape shape = write.ShapeOf(stack);
  if (std::vector<Dim>(shape.begin(), shape.end() - 2) == dims) return stack;
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims) sizes.push_back(dim.batch ? 0 : dim.size);
  sizes.insert(sizes.end(), {1, 1});
  return write.Part("expand", {stack}, {KeyOfList("sizes", sizes)});
}

}  // namespace

void EmitProduct(NodeContext& node) {
  ItemWriter write(node);
  NetworkValue a = node.Value(0), b = node.Value(1);
  const bool row = write.ShapeOf(a).rank() == 1, column = write.ShapeOf(b).rank() == 1;
  if (row) a = write.Reshaped(a, {Dim(1), write.ShapeOf(a)[0]});
  if (column) b = write.Reshaped(b, {write.ShapeOf(b)[0], Dim(1)});
  const Shape of_a = write.ShapeOf(a), of_b = write.ShapeOf(b);
  if (of_a.rank() < 2 || of_b.rank() < 2) node.Fail("multiplies a single number");
  if (of_a.rank() > 2 && of_b.rank() > 2) {
    const std::vector<Dim> leading = SharedLeading(node, of_a, of_b);
    a = Repeated(write, a, leading);
    b = Repeated(write, b, leading);
  }
  if (!row && !column) return write.Finish("matmul", {a, b});
  const NetworkValue product = write.Part("matmul", {a, b});
  const Shape shape = write.ShapeOf(product);
  std::vector<Dim> dims(shape.begin(), shape.end());
  if (column) dims.erase(dims.end() - 1);
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  node.Set(node.EmitReshape(product, dims));
}

}  // namespace cgrun
