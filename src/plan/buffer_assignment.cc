// AssignBuffers: the alias sets in the order of the schedule, with a workspace behind the outputs
// of its node.
#include "src/plan/buffer_assignment.h"

#include <numeric>

#include "src/plan/sub_buffers.h"

namespace cgrun {
namespace {

class Assigner {
 public:
  Assigner(const Graph& graph, const BufferOptions& options)
      : graph_(graph), model_(graph, options) {
    result_.of_value.resize(graph.values.size());
    result_.offset.resize(graph.values.size());
    result_.of_workspace.resize(graph.nodes.size());
    result_.elided.resize(graph.nodes.size());
    result_.buffers.reserve(graph.values.size() + graph.nodes.size());
  }

  BufferAssignment Run(const Schedule& schedule) {
    const std::vector<NodeRun> runs = RunsOf(graph_, schedule);
    model_.FindSets(runs);
    of_set_.resize(model_.sets().size());
    for (ValueId id : model_.fed()) AddValue(id);
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto time = static_cast<TimePoint>(i);
      for (ValueId output : runs[i].outputs) AddValue(output);
      result_.elided[runs[i].node] = model_.IsElided(runs[i]);
      AddWorkspace(runs[i], {time, time + runs[i].length});
    }
    result_.liveness = {model_.steps(), model_.lifespans()};
    result_.in_place_bytes = model_.in_place_bytes();
    return std::move(result_);
  }

 private:
  void AddValue(ValueId id) {
    SharedBufferId& buffer = of_set_[model_.SetOf(id)];
    if (!buffer.valid()) buffer = NewBuffer(model_.sets()[model_.SetOf(id)]);
    result_.of_value[id] = buffer;
    result_.buffers[buffer].values.push_back(id);
  }

  SharedBufferId NewBuffer(const AliasSet& set) {
    SharedBuffer buffer;
    buffer.bytes = set.facts.bytes;
    buffer.zone = set.facts.zone;
    buffer.arena = set.facts.arena;
    buffer.persistent = set.facts.persistent;
    buffer.kept = set.facts.kept;
    buffer.lifespan = set.lifespan;
    return result_.buffers.push_back(std::move(buffer));
  }

  void AddWorkspace(const NodeRun& run, Lifespan running) {
    const Bytes workspace = model_.WorkspaceOf(run);
    if (workspace == 0) return;
    SharedBuffer buffer;
    buffer.bytes = workspace;
    buffer.zone = Zone::kWorkspace;
    buffer.lifespan = running;
    buffer.workspace_of = run.node;
    result_.of_workspace[run.node] = result_.buffers.push_back(std::move(buffer));
  }

  const Graph& graph_;
  AliasModel model_;
  IdVector<AliasSetId, SharedBufferId> of_set_;
  BufferAssignment result_;
};

}  // namespace

BufferAssignment AssignBuffers(const Graph& graph, const Schedule& schedule,
                               const BufferOptions& options) {
  BufferAssignment assignment = Assigner(graph, options).Run(schedule);
  if (options.sub_buffers) PlaceSubBuffers(graph, schedule, options.zones_apart, &assignment);
  return assignment;
}

std::vector<Bytes> TransientBytes(const BufferAssignment& assignment) {
  std::vector<Bytes> bytes(static_cast<size_t>(assignment.liveness.steps) + 1);
  for (const SharedBuffer& buffer : assignment.buffers) {
    if (buffer.persistent || buffer.arena != ArenaKind::kDevice) continue;
    bytes[static_cast<size_t>(buffer.lifespan.lower)] += RoundUp(buffer.bytes, kDefaultAlignment);
    bytes[static_cast<size_t>(buffer.lifespan.upper)] -= RoundUp(buffer.bytes, kDefaultAlignment);
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  bytes.pop_back();
  return bytes;
}

std::vector<Bytes> TransientBytes(const Graph& graph, const Schedule& schedule,
                                  const BufferOptions& options) {
  return AliasModel(graph, options).CountBytes(RunsOf(graph, schedule));
}

}  // namespace cgrun
