// The workspace holds the widened operands in their order, then the workspace of the kernel itself.
#include "src/kernels/cpu/widened.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/check.h"
#include "src/kernels/evaluate.h"
#include "src/ops/cast.h"

namespace cgrun::cpu {
namespace {

constexpr int64_t kAlignment = 64;

bool IsBF16(const TensorType& type) { return type.dtype == DType::kBF16; }

bool HasBF16(const NodeSignature& node) {
  return std::ranges::any_of(node.inputs, IsBF16) || std::ranges::any_of(node.outputs, IsBF16);
}

// Returns whether rounding what comes out of the node gives the bits of rounding after each
// operator: of a fused node's, relu alone takes and gives the same numbers, rounded before or
// behind.
bool RoundsOnce(const NodeSignature& node) {
  for (size_t i = 1; i < node.body.size(); ++i) {
    if (node.body[i].op != OpId::relu) return false;
  }
  return true;
}

NodeSignature InF32(NodeSignature node) {
  for (std::vector<TensorType>* types : {&node.inputs, &node.outputs}) {
    for (TensorType& type : *types) {
      if (IsBF16(type)) type.dtype = DType::kF32;
    }
  }
  return node;
}

// A cast of all elements of a tensor, with those that pad.
NodeSignature CastOf(int64_t elements, DType from, DType to) {
  return {OpId::cast,
          Attributes::Of(CastAttributes{to}),
          {{from, Shape{elements}}},
          {{to, Shape{elements}}},
          {}};
}

NodeSignature Widening(int64_t elements) { return CastOf(elements, DType::kBF16, DType::kF32); }
NodeSignature Rounding(int64_t elements) { return CastOf(elements, DType::kF32, DType::kBF16); }

int64_t BytesInF32(int64_t elements) {
  return (elements * SizeOf(DType::kF32) + kAlignment - 1) / kAlignment * kAlignment;
}

// The option with what the copies take.
KernelOption WithCopies(const KernelLibrary& library, KernelOption option,
                        const NodeSignature& node, const RunSetting& setting) {
  option.kernel = WidenedName(option.kernel);
  option.widens = true;
  option.sub_buffers.clear();  // these are counted in bytes of f32
  const auto add = [&](const TensorType& type, const Layout& layout, auto cast_of) {
    if (!IsBF16(type)) return;
    const int64_t elements = PaddedElements(type.shape, layout);
    option.workspace_bytes += BytesInF32(elements);
    option.seconds += library.Options(cast_of(elements), {setting.threads})[0].seconds;
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    add(node.inputs[i], option.input_layouts[i], Widening);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    add(node.outputs[i], option.output_layouts[i], Rounding);
  }
  return option;
}

// An instruction owns it and runs it in one thread, so that operands may change in `Run`.
class Widened {
 public:
  Widened(const KernelLibrary& library, const KernelDef& kernel, const KernelRequest& request)
      : workspace_(static_cast<int>(request.node.inputs.size() + request.node.outputs.size())) {
    const NodeSignature& node = request.node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Copy(library, request, node.inputs[i], i, Widening, &widenings_);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Copy(library, request, node.outputs[i], node.inputs.size() + i, Rounding, &roundings_);
    }
    const NodeSignature in_f32 = InF32(node);
    kernel_ = PrepareKernel(kernel, request.For(in_f32));
    operands_.resize(static_cast<size_t>(workspace_) + 1);
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    static_cast<const Widened*>(i.parameters)->Execute(context, i);
  }

 private:
  struct CopyOf {
    int operand = 0;
    int64_t offset = 0;  // in the workspace
    PreparedKernel cast;
  };

  void Copy(const KernelLibrary& library, const KernelRequest& request, const TensorType& type,
            size_t operand, NodeSignature (*cast_of)(int64_t), std::vector<CopyOf>* copies) {
    if (!IsBF16(type)) return;
    CGRUN_CHECK(request.operands[operand].strides.empty()) << "a widened view";
    const int64_t elements = PaddedElements(type.shape, request.operands[operand].layout);
    const NodeSignature node = cast_of(elements);
    const std::string name = library.Options(node, {request.threads})[0].kernel;
    copies->push_back({static_cast<int>(operand), copy_bytes_,
                       library.Prepare(name, {node, {{}, {}}, request.threads})});
    copy_bytes_ += BytesInF32(elements);
  }

  void Execute(const RunContext& context, const Instruction& i) const noexcept {
    for (int k = 0; k < i.operand_count; ++k) operands_[static_cast<size_t>(k)] = i.operands[k];
    const Operand& workspace = i.operands[workspace_];
    for (const std::vector<CopyOf>* copies : {&widenings_, &roundings_}) {
      for (const CopyOf& copy : *copies) {
        operands_[static_cast<size_t>(copy.operand)] = In(workspace, copy.offset);
      }
    }
    operands_[static_cast<size_t>(workspace_)] = In(workspace, copy_bytes_);
    for (const CopyOf& copy : widenings_) {
      const Operand cast[] = {i.operands[copy.operand], In(workspace, copy.offset)};
      copy.cast.run(context, {copy.cast.run, cast, copy.cast.parameters.get(), 2, i.node});
    }
    kernel_.run(context,
                {kernel_.run, operands_.data(), kernel_.parameters.get(), i.operand_count, i.node});
    for (const CopyOf& copy : roundings_) {
      const Operand cast[] = {In(workspace, copy.offset), i.operands[copy.operand]};
      copy.cast.run(context, {copy.cast.run, cast, copy.cast.parameters.get(), 2, i.node});
    }
  }

  static Operand In(Operand workspace, int64_t offset) noexcept {
    workspace.offset += offset;
    return workspace;
  }

  int workspace_;  // the operand's index
  int64_t copy_bytes_ = 0;
  std::vector<CopyOf> widenings_, roundings_;
  PreparedKernel kernel_;
  mutable std::vector<Operand> operands_;
};

}  // namespace

void AddWidenedOptions(const KernelLibrary& library, const KernelDef& kernel,
                       const NodeSignature& node, const RunSetting& setting,
                       std::vector<KernelOption>* options) {
  if (!HasBF16(node) || !RoundsOnce(node) || node.op == OpId::cast) return;
  std::vector<KernelOption> in_f32;
  AddOptions(kernel, InF32(node), setting, &in_f32);
  for (KernelOption& option : in_f32) {
    options->push_back(WithCopies(library, std::move(option), node, setting));
  }
}

std::string WidenedName(std::string_view kernel) { return std::string(kernel) + ".widened"; }

PreparedKernel PrepareWidened(const KernelLibrary& library, const KernelDef& kernel,
                              const KernelRequest& request) {
  return {&Widened::Run, std::make_shared<const Widened>(library, kernel, request)};
}

}  // namespace cgrun::cpu
