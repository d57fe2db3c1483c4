// Declares the attributes of gather, of its gradient, and of the operators that read and write
// single elements or blocks at given indices.
#ifndef CGRUN_OPS_GATHER_H_
#define CGRUN_OPS_GATHER_H_

#include <optional>
#include <string>

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct GatherAttributes {
  int64_t axis = 0;

  static const AttributeSchema& Schema();
};

struct GatherGradAttributes {
  int64_t axis = 0;
  Shape shape;  // of the input of gather

  static const AttributeSchema& Schema();
};

struct GatherElementsAttributes {
  int64_t axis = -1;
  bool zero_outside = false;  // 0 where an index is outside, as gradients are

  static const AttributeSchema& Schema();
};

struct ScatterElementsAttributes {
  int64_t axis = -1;
  std::string reduction = "none";  // or add, mul, min, max

  static const AttributeSchema& Schema();
};

struct GatherNdAttributes {
  int64_t batch_dims = 0;
  bool zero_outside = false;  // as above

  static const AttributeSchema& Schema();
};

struct ScatterNdAttributes {
  int64_t batch_dims = 0;
  std::string reduction = "none";  // as above

  static const AttributeSchema& Schema();
};

// Returns whether input `i` is of a type of indices; reports it where not.
bool ExpectIndices(InferContext& context, int i);

// The axis, if it can be indexed: it is there, and not that of the batch. Reports it where not.
std::optional<int> IndexedAxis(InferContext& context, int64_t axis, const Shape& shape);

// Returns whether `reduction` can be computed with the type of input 0; reports it where not.
bool ExpectReducible(InferContext& context, const std::string& reduction);

// Adds the field `reduction` to a schema.
template <class T>
SchemaBuilder<T>& AddReduction(SchemaBuilder<T>& builder) {
  return builder
      .Add("reduction", &T::reduction,
           "how an element and what is written to it become one: none takes what is written")
      .Choices({"none", "add", "mul", "min", "max"});
}

}  // namespace cgrun

#endif  // CGRUN_OPS_GATHER_H_
