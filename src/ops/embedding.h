// Declares the attributes of embedding and of its gradient.
#ifndef CGRUN_OPS_EMBEDDING_H_
#define CGRUN_OPS_EMBEDDING_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct EmbeddingAttributes {
  int64_t entries = 1;
  int64_t units = 1;
  DType dtype = DType::kF32;  // of the weight that a model file owns

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_EMBEDDING_H_
