// Uses oneDNN as this project needs it: our types and layouts as its descriptors, primitives with
// memory and scratch from the plan, execution without exceptions.
#ifndef CGRUN_KERNELS_ONEDNN_PRIMITIVE_H_
#define CGRUN_KERNELS_ONEDNN_PRIMITIVE_H_

#include <dnnl.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "src/kernels/kernel.h"
#include "src/ops/window.h"

namespace cgrun::onednn {

const dnnl::engine& Engine();

// Says the thread team of the primitives that this thread makes and runs. oneDNN bakes it into
// them.
void SetThreads(int threads);

dnnl::memory::data_type DataType(DType dtype);
// Returns whether it is f32 or bf16, which the kernels here take.
bool IsOnednnFloat(DType dtype);

// Returns whether the processor multiplies bf16: pairs of numbers (AVX512_BF16), and tiles (AMX).
bool MultipliesPairs();
bool MultipliesTiles();
// Returns whether oneDNN's products of two matrices of bf16 are right for this depth. Pairs fill an
// even one; at some odd ones (63, 1215, 1535) its tiles give a NaN, or an illegal instruction.
bool IsSoundDepth(int64_t depth);

dnnl::memory::dims DimsOf(const Shape& shape);
// Returns whether a window reads one element, where it stands.
inline bool IsPointwise(const WindowAxis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.after == 0;
}
// Returns how a tensor of images lies for tiles.
inline Layout ChannelsLast() { return {{0, 2, 3, 1}, {}}; }
// Describes a bound type in a layout.
dnnl::memory::desc Describe(const TensorType& type, const Layout& layout);
// A type whose layout oneDNN is to choose.
dnnl::memory::desc DescribeAny(const TensorType& type);
// Calls `choose`; false where oneDNN throws, since it has no code for that.
template <class Choose>
bool Try(Choose choose) {
  try {
    return choose();
  } catch (const dnnl::error&) {
    return false;
  }
}

// Returns whether a primitive is more than oneDNN's own reference code.
template <class Desc>
bool IsFast(const Desc& desc) {
  return std::string_view(desc.impl_info_str()).find("ref") == std::string_view::npos;
}

// Returns whether a product of two matrices allocates nothing while it runs: oneDNN's other code
// packs into memory that it allocates in each run, or is its reference.
template <class Desc>
bool RunsInScratch(const Desc& product) {
  return std::string_view(product.impl_info_str()).starts_with("brg");
}

// Returns the layout that oneDNN chose. If it is more than an order of axes with blocks, there is
// none.
std::optional<Layout> LayoutOf(const dnnl::memory::desc& desc);

// Scratch is ours: the plan places it.
dnnl::primitive_attr Attributes();

// One argument of a primitive: which of the instruction's operands it is.
struct Argument {
  int kind = 0;  // DNNL_ARG_SRC, …
  int operand = 0;
  dnnl::memory::desc desc;
  int64_t offset = 0;  // bytes from the operand's first
};

// The scratchpad as the operand behind the outputs, from byte `offset` on, where there is one.
void AddScratch(const dnnl::memory::desc& scratch, int operand, std::vector<Argument>& arguments,
                int64_t offset = 0);

// A primitive with its arguments, run as an instruction. The addresses that it last ran with are
// kept in it, since to set them costs time.
PreparedKernel PrepareRun(dnnl::primitive primitive, const std::vector<Argument>& arguments);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_PRIMITIVE_H_
