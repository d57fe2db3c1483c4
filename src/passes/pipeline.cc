// The order of the passes, a line a pass, and the runner that watches them.
#include "src/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "src/base/check.h"

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
    {kLayoutsPass, nullptr, 0, PassStage::kSelection,
     "when all nodes are there that have a kernel to choose"},
    {"rematerialise", passes::Rematerialise, 0, PassStage::kPlanned,
     "when a plan says what to compute again; nothing may merge the copies after it"},
    {"swap", passes::SwapToFile, 0, PassStage::kPlanned,
     "behind rematerialise, whose copies read what their plan says is held"},
    {kSmallerWorkspacesPass, nullptr, 0, PassStage::kOrder,
     "beside rematerialise and swap, with which it competes under a cap"},
    {kLanesPass, nullptr, 0, PassStage::kOrder,
     "when it is known what runs, and how many bytes are to be alive at once"},
};

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
    if (options_.observe) options_.observe("", graph_);
    Verify("the phase before");
    text_ = ToString(graph_);
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
    const auto start = std::chrono::steady_clock::now();
    const bool changed = entry.run(graph_, context_);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (changed) Verify(entry.name);  // else the text below is that of a graph that was verified
    std::string text = ToString(graph_);
    CGRUN_CHECK(changed == (text != text_))
        << "pass " << entry.name << " says that it " << (changed ? "changed" : "did not change")
        << " the graph";
    text_ = std::move(text);
    reports_[i].rounds += 1;
    reports_[i].changed_rounds += changed;
    reports_[i].nodes_removed += nodes_before - static_cast<int>(graph_.nodes.size());
    reports_[i].seconds += seconds.count();
    if (options_.observe) options_.observe(entry.name, graph_);
    stopped_ = entry.name == options_.stop_after;
    return changed;
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
  std::string text_;  // of the graph as the last pass left it
  bool stopped_ = false;
};

}  // namespace

bool PassOptions::Disabled(std::string_view pass) const {
  return std::find(disabled.begin(), disabled.end(), pass) != disabled.end();
}

std::span<const PipelineEntry> Pipeline() { return kPipeline; }

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const PipelineEntry& entry : kPipeline) names.emplace_back(entry.name);
  return names;
}

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
