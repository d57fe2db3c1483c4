// Asks the target for the same kernel and layouts on other threads.
#include "src/budget/single_threaded.h"

#include <algorithm>
#include <vector>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/cost_model.h"

namespace cgrun {
namespace {

// The option of the node's own kernel, in the layouts that its operands have.
std::optional<KernelOption> OptionOf(const Graph& graph, const Node& node, const Target& target,
                                     int threads, int thread_team) {
  RunSetting setting{threads};
  setting.thread_team = thread_team;
  std::vector<Layout> outputs;
  for (ValueId id : node.inputs) setting.layouts.push_back(graph.values[id].layout);
  for (ValueId id : node.outputs) outputs.push_back(graph.values[id].layout);
  for (KernelOption& option : target.Options(SignatureOf(graph, node), setting)) {
    const bool is_it = option.kernel == node.kernel->kernel && option.output_layouts == outputs &&
                       option.input_layouts == setting.layouts;
    if (is_it) return std::move(option);
  }
  return std::nullopt;
}

// Returns the seconds that `node` takes longer on one thread, on the scale of SecondsOf. If only
// one of the two times was measured, they cannot be compared. Then the number of threads is the
// ratio.
double SlowerBy(const Graph& graph, const Node& node, const KernelChoice& single) {
  const KernelChoice& team = *node.kernel;
  const bool are_alike = single.is_measured == team.is_measured && team.seconds > 0;
  const double times = are_alike ? single.seconds / team.seconds : team.threads;
  return std::max(0.0, times - 1) * SecondsOf(graph, node);
}

}  // namespace

std::optional<KernelChoice> SingleThreadedChoice(const Graph& graph, const Node& node,
                                                 const Target& target) {
  if (!node.kernel || node.kernel->threads == 1 || GetOpDef(node.op).has_effect) {
    return std::nullopt;
  }
  const auto option = OptionOf(graph, node, target, 1, node.kernel->threads);
  if (!option) return std::nullopt;
  KernelChoice choice = *node.kernel;
  choice.threads = 1;
  choice.thread_team = option->same_bits_single_threaded ? 0 : node.kernel->threads;
  choice.workspace_bytes = option->workspace_bytes;
  choice.in_place = option->in_place;
  choice.seconds = option->seconds;
  choice.is_measured = option->is_measured;
  return choice;
}

std::optional<KernelChoice> SmallerWorkspace(const Graph& graph, const Node& node,
                                             const Target& target) {
  if (!node.kernel || node.kernel->workspace_bytes == 0) return std::nullopt;
  const KernelChoice& team = *node.kernel;
  std::optional<KernelChoice> choice = SingleThreadedChoice(graph, node, target);
  const bool is_less =
      choice && choice->workspace_bytes < team.workspace_bytes && choice->in_place == team.in_place;
  if (!is_less) return std::nullopt;
  choice->single_threaded = true;
  choice->slower_by = SlowerBy(graph, node, *choice);
  choice->seconds = team.seconds;
  choice->is_measured = team.is_measured;
  return choice;
}

KernelChoice WholeTeam(const Graph& graph, const Node& node, const Target& target, int threads) {
  const auto option = OptionOf(graph, node, target, threads, 0);
  CGRUN_CHECK(option.has_value()) << node.name << " has lost the kernel of its team";
  KernelChoice choice = *node.kernel;
  choice.threads = threads;
  choice.thread_team = 0;
  choice.single_threaded = false;
  choice.slower_by = 0;
  choice.workspace_bytes = option->workspace_bytes;
  choice.in_place = option->in_place;
  return choice;
}

bool UseWholeTeams(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                   Bytes most) {
  std::vector<std::pair<double, NodeId>> alone;
  for (NodeId id : entry.graph.nodes.ids()) {
    const Node& node = entry.graph.nodes[id];
    if (node.kernel && node.kernel->single_threaded)
      alone.emplace_back(-node.kernel->slower_by, id);
  }
  std::ranges::sort(alone);
  bool changed = false;
  for (const auto& [_, id] : alone) {
    Node& node = entry.graph.nodes[id];
    const KernelChoice before =
        std::exchange(*node.kernel, WholeTeam(entry.graph, node, target, options.threads));
    const std::vector<Bytes> bytes = BytesOf(entry.graph, entry.schedule, options.layout);
    const bool fits = *std::ranges::max_element(bytes) <= most;
    if (!fits) node.kernel = before;
    changed |= fits;
  }
  return changed;
}

int64_t CountSingleThreaded(const Graph& graph) {
  return std::ranges::count_if(graph.nodes, [](const Node& node) {
    return node.kernel && node.kernel->single_threaded && !node.recomputes.valid();
  });
}

}  // namespace cgrun
