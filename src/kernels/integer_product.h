// The sizes of products of 8-bit integers, of which every kernel of one makes its loops.
#ifndef CGRUN_KERNELS_INTEGER_PRODUCT_H_
#define CGRUN_KERNELS_INTEGER_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "src/ir/signature.h"
#include "src/kernels/conv_sizes.h"
#include "src/ops/conv_integer.h"

namespace cgrun {

// Bytes that are int8 or uint8.
struct ByteOperand {
  bool is_signed = false;

  int32_t At(const std::byte* bytes, int64_t i) const {
    return is_signed ? reinterpret_cast<const int8_t*>(bytes)[i]
                     : reinterpret_cast<const uint8_t*>(bytes)[i];
  }
};

// Reads the element of a zero point that belongs to row or column `i`.
struct ZeroPoint {
  ByteOperand of;
  int64_t stride = 0;  // 0: one for all

  int32_t At(const std::byte* bytes, int64_t i) const { return of.At(bytes, i * stride); }
};

inline ByteOperand ByteOperandOf(const NodeSignature& node, size_t i) {
  return {node.inputs[i].dtype == DType::kI8};
}
inline ZeroPoint ZeroPointOf(const NodeSignature& node, size_t i) {
  return {ByteOperandOf(node, i), node.inputs[i].shape.Elements() == 1 ? 0 : 1};
}

struct MatmulIntegerSizes {
  int64_t rows = 0, columns = 0, depth = 0;  // of one product
  int64_t matrices = 1;
  int64_t a_stride = 0, b_stride = 0;  // from matrix to matrix; 0: the same one
  ByteOperand a, b;
  ZeroPoint a_zero, b_zero;  // a row and a column each

  static MatmulIntegerSizes Of(const NodeSignature& node) {
    const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape;
    MatmulIntegerSizes p;
    p.rows = a[a.rank() - 2].size;
    p.depth = a[a.rank() - 1].size;
    p.columns = b[b.rank() - 1].size;
    p.matrices = node.outputs[0].shape.Elements() / (p.rows * p.columns);
    p.a_stride = a.rank() == 2 ? 0 : p.rows * p.depth;
    p.b_stride = b.rank() == 2 ? 0 : p.depth * p.columns;
    p.a = ByteOperandOf(node, 0);
    p.b = ByteOperandOf(node, 1);
    p.a_zero = ZeroPointOf(node, 2);
    p.b_zero = ZeroPointOf(node, 3);
    return p;
  }
};

struct ConvIntegerSizes {
  ConvSizes conv;
  ByteOperand x, weight;
  ZeroPoint x_zero, weight_zero;  // the latter one a filter

  static ConvIntegerSizes Of(const NodeSignature& node) {
    const auto& a = node.attributes.As<ConvIntegerAttributes>();
    return {ConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, a.window(node.inputs[1].shape),
                        a.groups),
            ByteOperandOf(node, 0), ByteOperandOf(node, 1), ZeroPointOf(node, 2),
            ZeroPointOf(node, 3)};
  }
};

}  // namespace cgrun

#endif  // CGRUN_KERNELS_INTEGER_PRODUCT_H_
