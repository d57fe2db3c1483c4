// Makes descriptors and executes primitives.
#include "src/kernels/onednn/primitive.h"

#include <omp.h>

#include <algorithm>
#include <numeric>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/kernels/one_thread.h"

namespace cgrun::onednn {
namespace {

const dnnl::stream& Stream() {
  static const dnnl::stream stream(Engine());
  return stream;
}

// oneDNN generates the code of its matrix products when the first one runs, and keeps it: a MiB or
// two, which are to be in the base of a plan and no part of a step. Any product of matrices makes
// all of it; one of vectors has code of its own.
void GenerateProducts() {
  static const bool generated = [] {
    constexpr int64_t kSize = 32;
    const std::vector<float> ones(kSize * kSize, 1);
    std::vector<float> result(kSize * kSize);
    return dnnl::sgemm('N', 'N', kSize, kSize, kSize, 1, ones.data(), kSize, ones.data(), kSize, 0,
                       result.data(), kSize) == dnnl::status::success;
  }();
  CGRUN_CHECK(generated) << "oneDNN: a product of 32 × 32 failed";
}

// Returns whether it is computed by matrix products.
bool MakesProducts(const dnnl::primitive& primitive) {
  const char* kind = "";
  dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0, &kind);
  return std::string_view(kind).find("gemm") != std::string_view::npos;
}

// A primitive and the memory objects of its arguments. One instruction owns it and runs it in one
// thread, so that the addresses may change in `Run`.
class Prepared {
 public:
  Prepared(dnnl::primitive primitive, const std::vector<Argument>& arguments)
      : primitive_(std::move(primitive)) {
    Stream();  // made here, since making it allocates
    if (MakesProducts(primitive_)) GenerateProducts();
    for (const Argument& argument : arguments) {
      memories_.emplace_back(argument.desc, Engine(), nullptr);
      operands_.push_back(argument.operand);
      offsets_.push_back(argument.offset);
      addresses_.push_back(nullptr);
      arguments_.push_back({argument.kind, memories_.back().get()});
    }
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    static_cast<const Prepared*>(i.parameters)->Execute(context, i);
  }

 private:
  void Execute(const RunContext& context, const Instruction& i) const noexcept {
    for (size_t a = 0; a < arguments_.size(); ++a) {
      std::byte* address = Data<std::byte>(context, i, operands_[a]) + offsets_[a];
      if (address == addresses_[a]) continue;
      addresses_[a] = address;
      Check(dnnl_memory_set_data_handle_v2(arguments_[a].memory, address, Stream().get()));
    }
    const OneThread one(single_threaded_);
    const PooledAllocations pooled;
    Check(dnnl_primitive_execute(primitive_.get(), Stream().get(),
                                 static_cast<int>(arguments_.size()), arguments_.data()));
  }
  static void Check(dnnl_status_t status) noexcept {
    CGRUN_CHECK(status == dnnl_success) << "oneDNN: "
                                        << "status " << static_cast<int>(status);
  }

  dnnl::primitive primitive_;
  bool single_threaded_ = omp_get_max_threads() == 1;  // as it is made
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<int> operands_;
  std::vector<int64_t> offsets_;
  mutable std::vector<std::byte*> addresses_;
};

}  // namespace

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

void SetThreads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

bool IsOnednnFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; }

bool MultipliesPairs() {
  return MultipliesTiles() || dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_bf16;
}

bool MultipliesTiles() { return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx; }

bool IsSoundDepth(int64_t depth) { return depth > 0 && depth % 2 == 0; }

dnnl::memory::data_type DataType(DType dtype) {
  using Type = dnnl::memory::data_type;
  if (dtype == DType::kU8) return Type::u8;
  CGRUN_CHECK(IsOnednnFloat(dtype)) << "no oneDNN kernel for " << Name(dtype);
  return dtype == DType::kF32 ? Type::f32 : Type::bf16;
}

dnnl::memory::dims DimsOf(const Shape& shape) {
  dnnl::memory::dims dims;
  for (const Dim& dim : shape.dims()) dims.push_back(dim.size);
  return dims;
}

dnnl::memory::desc DescribeAny(const TensorType& type) {
  return {DimsOf(type.shape), DataType(type.dtype), dnnl::memory::format_tag::any};
}

namespace {

// Makes the descriptor of a layout.
dnnl::memory::desc Describe(const dnnl::memory::dims& dims, dnnl_data_type_t type,
                            const Layout& layout) {
  dnnl_memory_desc_t desc = {};
  desc.ndims = static_cast<int>(dims.size());
  desc.data_type = type;
  desc.format_kind = dnnl_blocked;
  dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  std::vector<int64_t> block(dims.size(), 1);
  int64_t stride = 1;
  for (const Layout::Block& inner : layout.blocks) {
    blocking.inner_blks[blocking.inner_nblks] = inner.size;
    blocking.inner_idxs[blocking.inner_nblks++] = inner.axis;
    block[static_cast<size_t>(inner.axis)] *= inner.size;
    stride *= inner.size;
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    desc.dims[axis] = dims[axis];
    desc.padded_dims[axis] = (dims[axis] + block[axis] - 1) / block[axis] * block[axis];
  }
  for (size_t i = dims.size(); i-- > 0;) {
    const size_t axis = layout.order.empty() ? i : static_cast<size_t>(layout.order[i]);
    blocking.strides[axis] = stride;
    stride *= desc.padded_dims[axis] / block[axis];
  }
  return dnnl::memory::desc(desc);
}

}  // namespace

dnnl::memory::desc Describe(const TensorType& type, const Layout& layout) {
  return Describe(DimsOf(type.shape), dnnl::memory::convert_to_c(DataType(type.dtype)), layout);
}

std::optional<Layout> LayoutOf(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& c = desc.data;
  if (c.format_kind != dnnl_blocked || c.extra.flags != dnnl_memory_extra_flag_none) return {};
  const dnnl_blocking_desc_t& blocking = c.format_desc.blocking;
  Layout layout;
  layout.order.resize(static_cast<size_t>(c.ndims));
  std::iota(layout.order.begin(), layout.order.end(), 0);
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    layout.blocks.push_back({static_cast<int>(blocking.inner_idxs[i]), blocking.inner_blks[i]});
  }
  // An axis of one element, or of one block, has the stride of the axis that it is next to, and
  // comes after it.
  std::vector<int64_t> counts(c.padded_dims, c.padded_dims + c.ndims);
  for (const Layout::Block& block : layout.blocks) {
    counts[static_cast<size_t>(block.axis)] /= block.size;
  }
  std::stable_sort(layout.order.begin(), layout.order.end(), [&](int a, int b) {
    return std::make_pair(blocking.strides[a], counts[static_cast<size_t>(a)]) >
           std::make_pair(blocking.strides[b], counts[static_cast<size_t>(b)]);
  });
  const bool ordered = std::is_sorted(layout.order.begin(), layout.order.end());
  if (ordered && layout.blocks.empty()) layout.order.clear();
  if (Describe(desc.dims(), c.data_type, layout) != desc) return std::nullopt;
  return layout;
}

dnnl::primitive_attr Attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void AddScratch(const dnnl::memory::desc& scratch, int operand, std::vector<Argument>& arguments,
                int64_t offset) {
  if (scratch.get_size() > 0) arguments.push_back({DNNL_ARG_SCRATCHPAD, operand, scratch, offset});
}

PreparedKernel PrepareRun(dnnl::primitive primitive, const std::vector<Argument>& arguments) {
  return {Prepared::Run, std::make_shared<const Prepared>(std::move(primitive), arguments)};
}

}  // namespace cgrun::onednn
