// Runs reorder by oneDNN.
#include "src/ops/reorder.h"

#include "src/base/check.h"
#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {
namespace {

constexpr int kMostAxes = 6;  // for which oneDNN has fast code
constexpr double kFlopsPerSecond = 10e9;

Layout Parsed(const std::string& text) {
  Layout layout;
  CGRUN_CHECK(Layout::Parse(text, &layout)) << text;
  return layout;
}

dnnl::reorder::primitive_desc DescOf(const NodeSignature& node, int threads) {
  SetThreads(threads);
  const auto& attributes = node.attributes.As<ReorderAttributes>();
  return {Engine(), Describe(node.inputs[0], Parsed(attributes.from)), Engine(),
          Describe(node.outputs[0], Parsed(attributes.to)), Attributes()};
}

bool Supports(const NodeSignature& node) {
  const Shape& shape = node.inputs[0].shape;
  const DType dtype = node.inputs[0].dtype;
  return (IsOnednnFloat(dtype) || dtype == DType::kU8) && shape.Elements() > 0 &&
         shape.rank() > 0 && shape.rank() <= kMostAxes;
}

}  // namespace

KernelDef reorder() {
  KernelDef def{.name = "onednn.reorder", .supports = Supports};
  def.flops_per_second = kFlopsPerSecond;
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] {
      const auto& attributes = node.attributes.As<ReorderAttributes>();
      option->input_layouts[0] = Parsed(attributes.from);
      option->output_layouts[0] = Parsed(attributes.to);
      option->workspace_bytes =
          static_cast<int64_t>(DescOf(node, setting.threads).scratchpad_desc().get_size());
      return true;
    });
  };
  def.prepare = [](const KernelRequest& request) {
    const auto desc = DescOf(request.node, request.threads);
    std::vector<Argument> arguments = {{DNNL_ARG_FROM, 0, desc.src_desc()},
                                       {DNNL_ARG_TO, 1, desc.dst_desc()}};
    AddScratch(desc.scratchpad_desc(), 2, arguments);
    return PrepareRun(dnnl::reorder(desc), arguments);
  };
  return def;
}

}  // namespace cgrun::onednn
