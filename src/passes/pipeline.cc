// The order of the passes, a line a pass, and the runner that watches them.
#include "src/passes/pipeline.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/ir/body_text.h"

namespace cgrun {
namespace {

constexpr int kCleanUp = 1;
constexpr int kMaxRounds =
    16;  // of a group; each round that changes something leaves less to change

constexpr PipelineEntry kPipeline[] = {
    {"dead_code", passes::EliminateDeadCode, kCleanUp, PassStage::kGraph,
     "what nothing reads costs every later pass time"},
    {"constant_folding", passes::FoldConstants, kCleanUp, PassStage::kGraph,
     "makes the constants that algebra knows"},
    {"algebra", passes::SimplifyAlgebra, kCleanUp, PassStage::kGraph,
     "may leave equal nodes, and dead ones"},
    {"common_subexpressions", passes::MergeCommonSubexpressions, kCleanUp, PassStage::kGraph,
     "after algebra, which gives equal things one form"},
    {"relu_before_pool_grad", passes::ReluBeforePoolGrad, 0, PassStage::kGraph,
     "while relu and its gradient are nodes of their own"},
    {"clip_in_batch_norm", passes::ClipInBatchNorm, 0, PassStage::kGraph,
     "behind relu_before_pool_grad, which needs the gradient of relu by itself"},
    {"fuse_norms", passes::FuseNorms, 0, PassStage::kGraph,
     "behind clip_in_batch_norm, whose clips go with them"},
    {"fuse_activations", passes::FuseActivations, 0, PassStage::kGraph,
     "behind all others, for to them a fused node is closed"},
    {"fuse_pools", passes::FusePools, 0, PassStage::kGraph,
     "behind fuse_activations, whose activations stand between a convolution and its pool"},
    {"fuse_updates", passes::FuseUpdates, 0, PassStage::kGraph,
     "in the same way; where it stands beside fuse_activations does not matter"},
    {"fuse_sums", passes::FuseSums, 0, PassStage::kGraph,
     "before fuse_elementwise, which would take the additions"},
    {"relu_bits", passes::ReluBits, 0, PassStage::kGraph,
     "behind those that take a gradient of relu into another node, or have it read less"},
    {kChainsPass, passes::FuseElementwise, 0, PassStage::kGraph,
     "behind those that have a better use for an activation than a chain of its like"},
    {"add_in_batch_norm", passes::AddInBatchNorm, 0, PassStage::kGraph,
     "behind fuse_elementwise: it takes chains of an addition and a relu, and no part of longer "
     "ones"},
    {"rematerialise", passes::Rematerialise, 0, PassStage::kPlanned,
     "when a plan says what to compute again; nothing may merge the copies after it"},
    {"swap", passes::SwapToFile, 0, PassStage::kPlanned,
     "behind rematerialise, whose copies read what their plan says is held"},
};

// A number that two graphs share where all that ToString() lists is the same, and by a chance of
// one in 2⁶⁴: that text takes several times as long to make as most passes.
class GraphMark {
 public:
  explicit GraphMark(const Graph& graph) {
    for (const Value& value : graph.values) Add(value);
    for (const Node& node : graph.nodes) Add(node);
    for (const UpdateEdge& edge : graph.updates) Add(edge.state.index, edge.next.index);
    for (const Output& output : graph.outputs) Add(output.name, output.value.index);
  }
  uint64_t number() const { return number_; }

 private:
  template <class... T>
  void Add(const T&... items) {
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ over the golden ratio
    const auto add = [&](uint64_t hash) {
      number_ = (number_ ^ hash) * kMultiplier;
      number_ ^= number_ >> 32;
    };
    (add(std::hash<T>()(items)), ...);
  }
  void Add(const Value& value) {
    Add(value.name, static_cast<int>(value.type.dtype), static_cast<int>(value.role),
        value.producer.index);
    for (const Dim& dim : value.type.shape.dims()) Add(dim.size, dim.batch);
    if (!value.layout.IsPlain()) Add(value.layout.ToString());
  }
  void Add(const Node& node) {
    Add(static_cast<int>(node.op), static_cast<int>(node.phase), node.attributes.Hash());
    for (ValueId input : node.inputs) Add(input.index);
    for (ValueId output : node.outputs) Add(output.index);
    if (node.kernel) Add(node.kernel->kernel, node.kernel->workspace_bytes);
    if (!node.body.empty()) Add(BodyText(node.body, ""));
  }

  uint64_t number_ = 0;
};

uint64_t MarkOf(const Graph& graph) { return GraphMark(graph).number(); }

class Runner {
 public:
  Runner(std::span<const PipelineEntry> passes, Graph& graph, const PassContext& context,
         const PassOptions& options)
      : passes_(passes), graph_(graph), context_(context), options_(options) {
    for (const PipelineEntry& entry : passes_) {
      reports_.push_back({std::string(entry.name), 0, 0, 0, 0});
    }
  }

  std::vector<PassReport> Run() {
    const PhaseTimer timer("verify passes");
    if (options_.observe) options_.observe("", graph_);
    Verify("the phase before");
    mark_ = MarkOf(graph_);
    for (size_t begin = 0; begin < passes_.size() && !stopped_;) {
      size_t end = begin + 1;
      while (end < passes_.size() && passes_[begin].group > 0 &&
             passes_[end].group == passes_[begin].group) {
        ++end;
      }
      RunGroup(begin, end);
      begin = end;
    }
    return std::move(reports_);
  }

 private:
  void RunGroup(size_t begin, size_t end) {
    const int rounds = passes_[begin].group > 0 ? kMaxRounds : 1;
    bool changed = true;
    for (int round = 0; round < rounds && changed && !stopped_; ++round) {
      changed = false;
      for (size_t i = begin; i < end && !stopped_; ++i) changed |= RunPass(i);
    }
  }

  bool RunPass(size_t i) {
    const PipelineEntry& entry = passes_[i];
    if (options_.Disabled(entry.name)) {
      stopped_ = entry.name == options_.stop_after;
      return false;
    }
    const int nodes_before = static_cast<int>(graph_.nodes.size());
    const double start = ThreadSeconds();
    const bool changed = Change(entry);
    const double seconds = ThreadSeconds() - start;
    if (changed) Verify(entry.name);  // else the mark below is that of a graph that was verified
    const uint64_t mark = MarkOf(graph_);
    CGRUN_CHECK(changed == (mark != mark_))
        << "pass " << entry.name << " says that it " << (changed ? "changed" : "did not change")
        << " the graph";
    mark_ = mark;
    reports_[i].rounds += 1;
    reports_[i].changed_rounds += changed;
    reports_[i].nodes_removed += nodes_before - static_cast<int>(graph_.nodes.size());
    reports_[i].seconds += seconds;
    if (options_.observe) options_.observe(entry.name, graph_);
    stopped_ = entry.name == options_.stop_after;
    return changed;
  }

  bool Change(const PipelineEntry& entry) {
    const PhaseTimer timer(entry.name);
    return entry.run(graph_, context_);
  }

  void Verify(std::string_view after) const {
    const std::vector<std::string> violations = VerifyGraph(graph_);
    CGRUN_CHECK(violations.empty()) << "after " << after << ": " << violations[0];
  }

  std::span<const PipelineEntry> passes_;
  Graph& graph_;
  const PassContext& context_;
  const PassOptions& options_;
  std::vector<PassReport> reports_;
  uint64_t mark_ = 0;  // of the graph as the last pass left it
  bool stopped_ = false;
};

}  // namespace

bool PassOptions::Disabled(std::string_view pass) const {
  return std::find(disabled.begin(), disabled.end(), pass) != disabled.end();
}

std::span<const PipelineEntry> Pipeline() { return kPipeline; }

std::vector<PassReport> RunPipeline(std::span<const PipelineEntry> passes, Graph& graph,
                                    const PassContext& context, const PassOptions& options) {
  return Runner(passes, graph, context, options).Run();
}

std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  const PassOptions& options, PassStage stage) {
  std::vector<PipelineEntry> passes;
  for (const PipelineEntry& entry : kPipeline) {
    if (entry.stage == stage) passes.push_back(entry);
  }
  return RunPipeline(passes, graph, context, options);
}

}  // namespace cgrun
