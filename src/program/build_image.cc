// BuildImage: one instruction for each step that is not elided.
#include "src/program/build_image.h"

#include <algorithm>
#include <optional>
#include <set>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/cost_model.h"

namespace cgrun {
namespace {

class EntryBuilder {
 public:
  // `paths` are the image's indices of the graph's paths.
  EntryBuilder(const ImageSource& source, const EntryLayout& layout, std::vector<int> paths)
      : graph_(*source.graph), layout_(layout), source_(source), paths_(std::move(paths)) {
    viewed_.resize(graph_.values.size());
    for (ValueId id : graph_.values.ids()) viewed_[id] = id;
    for (const ScheduleStep& step : source.schedule->steps) {
      const Node& node = graph_.nodes[step.node];
      if (layout.elided[step.node]) viewed_[node.outputs[0]] = viewed_[node.inputs[0]];
    }
  }

  ImageEntry Run() {
    ImageEntry entry{source_.name, source_.kind, source_.batch, {}, {}, {}, {}};
    entry.incremental = layout_.incremental;
    if (entry.incremental) reach_ = ComputeReach(graph_);
    for (ValueId id : graph_.values.ids()) {
      const Value& value = graph_.values[id];
      if (value.producer.valid()) continue;
      if (value.role != Role::kPlaceholder) {
        entry.resident.push_back(OperandOf(id, Access::kRead));
        continue;
      }
      entry.feeds.push_back(
          {value.name, value.type, OutputKind::kPrediction, -1, OperandOf(id, Access::kWrite)});
      if (reach_) entry.feeds.back().reach = reach_->values[id] & reach_->all;
    }
    for (const Output& output : graph_.outputs) {
      entry.results.push_back({output.name, graph_.values[output.value].type, output.kind,
                               PathOf(output.path), OperandOf(output.value, Access::kRead),
                               output.metric});
    }
    for (const ScheduleStep& step : source_.schedule->steps) {
      if (layout_.elided[step.node]) continue;
      entry.instructions.push_back(InstructionOf(step.node));
      entry.instructions.back().stream = step.stream;
    }
    return entry;
  }

 private:
  int PathOf(PathId id) const { return id.valid() ? paths_[static_cast<size_t>(id.index)] : -1; }

  ImageOperand OperandOf(ValueId id, Access access) const {
    const int64_t offset = layout_.offset[id];
    CGRUN_CHECK(offset >= 0) << graph_.values[id].name << " has no place";
    return {{offset, ArenaOf(graph_, id), access},
            graph_.BytesOf(id),
            viewed_[id].index,
            {graph_.values[id].layout, {}}};
  }

  ImageInstruction InstructionOf(NodeId id) const {
    const Node& node = graph_.nodes[id];
    CGRUN_CHECK(node.kernel.has_value()) << node.name << " has no kernel";
    ImageInstruction instruction;
    instruction.name = node.name;
    instruction.phase = node.phase;
    instruction.path = PathOf(node.path);
    instruction.source = node.mark.ToString();
    instruction.node = SignatureOf(graph_, node);
    instruction.kernel = node.kernel->kernel;
    instruction.threads = node.kernel->threads;
    instruction.thread_team = node.kernel->thread_team;
    instruction.again = node.recomputes.valid() || IsTransfer(node.op);
    if (node.kernel->slower_by > 0) {
      instruction.share_for_less = node.kernel->slower_by / SecondsOf(graph_, node);
    }
    for (ValueId input : node.inputs) {
      instruction.operands.push_back(OperandOf(input, Access::kRead));
    }
    for (ValueId output : node.outputs) {
      instruction.operands.push_back(OperandOf(output, Access::kWrite));
    }
    if (reach_) instruction.reach = reach_->nodes[id];
    if (layout_.workspace_offset[id] >= 0) {
      const Operand scratch{layout_.workspace_offset[id], ArenaKind::kDevice, Access::kScratch};
      instruction.operands.push_back({scratch, node.kernel->workspace_bytes, -1, {}});
    }
    return instruction;
  }

  const Graph& graph_;
  const EntryLayout& layout_;
  const ImageSource& source_;
  std::vector<int> paths_;
  std::optional<Reach> reach_;         // of an incremental entry point
  IdVector<ValueId, ValueId> viewed_;  // the origin of a view; itself for others
};

// State and constants of all entry points, each once; `seen` holds their places.
void AddPersistent(const Graph& graph, const EntryLayout& layout, std::set<int64_t>& seen,
                   ProgramImage& image) {
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    const bool constant = value.role == Role::kConstant;
    if (value.producer.valid() || (!IsState(value.role) && !constant)) continue;
    if (!seen.insert(layout.offset[id]).second) continue;
    if (constant) {
      image.constants.push_back({value.name, graph.constants.at(id), layout.offset[id]});
      continue;
    }
    const auto info = graph.parameters.find(id);
    CGRUN_CHECK(info != graph.parameters.end()) << value.name << " has no initialiser";
    image.states.push_back(
        {value.name, value.type, value.role, info->second, layout.offset[id], value.layout});
  }
}

}  // namespace

std::vector<int> AddPaths(const Graph& graph, std::vector<ImagePath>& paths) {
  std::vector<int> indices;
  for (const Path& path : graph.paths) {
    auto found = std::ranges::find(paths, path.name, &ImagePath::name);
    if (found == paths.end()) found = paths.insert(found, {path.name, ""});
    if (path.learning_rate.valid()) {
      found->learning_rate_feed = graph.values[path.learning_rate].name;
    }
    indices.push_back(static_cast<int>(found - paths.begin()));
  }
  return indices;
}

ProgramImage BuildImage(const std::vector<ImageSource>& sources, const MemoryLayout& layout) {
  ProgramImage image;
  image.arena_bytes[static_cast<size_t>(ArenaKind::kDevice)] = layout.arena_bytes;
  image.arena_bytes[static_cast<size_t>(ArenaKind::kFile)] = layout.file_bytes;
  std::set<int64_t> seen;
  for (size_t e = 0; e < sources.size(); ++e) {
    AddPersistent(*sources[e].graph, layout.entries[e], seen, image);
    std::vector<int> paths = AddPaths(*sources[e].graph, image.paths);
    image.entries.push_back(EntryBuilder(sources[e], layout.entries[e], std::move(paths)).Run());
  }
  std::sort(image.states.begin(), image.states.end(),
            [](const ImageState& a, const ImageState& b) { return a.offset < b.offset; });
  return image;
}

}  // namespace cgrun
