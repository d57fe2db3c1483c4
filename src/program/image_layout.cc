// Values become buffers: what an instruction writes over one of its inputs shares that one's.
#include "src/program/image_layout.h"

#include <algorithm>
#include <map>
#include <memory>

#include "src/base/check.h"
#include "src/program/image_values.h"

namespace cgrun {
namespace {

constexpr int64_t kRegionGrain = 64;  // to which the plan rounds its regions

Role RoleOf(const ProgramImage& image, const ImageEntry& entry, const ImageValue& value) {
  switch (value.kind) {
    case ImageValueKind::kState:
      return image.states[static_cast<size_t>(value.persistent)].role;
    case ImageValueKind::kConstant:
      return Role::kConstant;
    case ImageValueKind::kFeed:
      return Role::kPlaceholder;
    case ImageValueKind::kWritten:
    case ImageValueKind::kWorkspace:
      break;
  }
  const Phase phase = entry.instructions[static_cast<size_t>(value.instruction)].phase;
  return phase == Phase::kBackward ? Role::kGradient : Role::kIntermediate;
}

Zone ZoneOf(const ProgramImage& image, const ImageEntry& entry, const ImageValue& value) {
  if (value.kind == ImageValueKind::kWorkspace) return Zone::kWorkspace;
  if (RoleOf(image, entry, value) == Role::kOptimizerState) return Zone::kOptimizer;
  if (value.instruction < 0) return Zone::kForward;
  switch (entry.instructions[static_cast<size_t>(value.instruction)].phase) {
    case Phase::kForward:
      return Zone::kForward;
    case Phase::kUpdate:
      return Zone::kOptimizer;
    case Phase::kBackward:
    case Phase::kCommunication:
      break;
  }
  return Zone::kGradient;
}

// "model.yaml:12:7" as a mark; no mark where it is none.
SourceMark MarkOf(const std::string& source) {
  const size_t column = source.rfind(':');
  if (column == source.npos || column == 0) return {};
  const size_t line = source.rfind(':', column - 1);
  if (line == source.npos) return {};
  SourceMark mark;
  mark.file = std::make_shared<const SourceFile>(SourceFile{source.substr(0, line), ""});
  mark.line = std::atoi(source.c_str() + line + 1);
  mark.column = std::atoi(source.c_str() + column + 1);
  return mark;
}

bool IsPersistent(const ImageValue& value) {
  return value.kind == ImageValueKind::kState || value.kind == ImageValueKind::kConstant;
}

class GraphMaker {
 public:
  GraphMaker(const ProgramImage& image, const ImageEntry& entry) : image_(image), entry_(entry) {}

  Graph Make() {
    graph_.name = image_.model;
    graph_.seed = image_.seed;
    for (const ImagePath& path : image_.paths) {
      Path added;
      added.name = path.name;
      added.backprop = !path.learning_rate_feed.empty();
      graph_.paths.push_back(std::move(added));
    }
    const std::vector<ImageValue> values = ValuesOf(image_, entry_);
    for (const ImageValue& value : values) AddValue(value);
    for (const ImageInstruction& instruction : entry_.instructions) AddNode(instruction);
    for (const ImageValue& value : values) AddUpdate(value, values);
    for (const ImagePort& result : entry_.results) {
      Output output{At(result.bytes), result.kind, result.name, {}, result.metric};
      if (result.path >= 0) output.path = PathId(result.path);
      graph_.outputs.push_back(std::move(output));
    }
    return std::move(graph_);
  }

 private:
  // A value that the entry point does not use has no number.
  void AddValue(const ImageValue& of_image) {
    if (of_image.bytes.value < 0) return;
    Value value;
    value.type = of_image.type;
    value.layout = of_image.bytes.layout.layout;
    value.role = RoleOf(image_, entry_, of_image);
    value.zone = ZoneOf(image_, entry_, of_image);
    value.name = of_image.name;
    id_of_[of_image.bytes.value] = graph_.values.push_back(std::move(value));
  }

  ValueId At(const ImageOperand& operand) const {
    const auto found = id_of_.find(operand.value);
    CGRUN_CHECK(found != id_of_.end()) << "an operand without a value";
    return found->second;
  }

  void AddNode(const ImageInstruction& instruction) {
    Node node;
    node.op = instruction.node.op;
    node.attributes = instruction.node.attributes;
    node.body = instruction.node.body;
    node.phase = instruction.phase;
    node.name = instruction.name;
    node.mark = MarkOf(instruction.source);
    if (instruction.path >= 0) node.path = PathId(instruction.path);
    KernelChoice kernel;
    kernel.kernel = instruction.kernel;
    kernel.threads = instruction.threads;
    const size_t inputs = instruction.node.inputs.size();
    const NodeId id(static_cast<int64_t>(graph_.nodes.size()));
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ImageOperand& operand = instruction.operands[i];
      if (operand.value < 0) {
        kernel.workspace_bytes = operand.bytes;
      } else if (i < inputs) {
        node.inputs.push_back(At(operand));
      } else {
        const ValueId output = At(operand);
        graph_.values[output].producer = id;
        graph_.values[output].output_index = static_cast<int>(i - inputs);
        node.outputs.push_back(output);
      }
    }
    node.kernel = std::move(kernel);
    graph_.nodes.push_back(std::move(node));
  }

  // A value that is written into a state's bytes is the state's next value.
  void AddUpdate(const ImageValue& next, const std::vector<ImageValue>& values) {
    if (next.kind != ImageValueKind::kWritten) return;
    for (const ImageValue& state : values) {
      if (state.kind != ImageValueKind::kState || state.bytes.value < 0) continue;
      if (SameBytes(state.bytes, next.bytes)) {
        graph_.updates.push_back({At(state.bytes), At(next.bytes)});
      }
    }
  }

  const ProgramImage& image_;
  const ImageEntry& entry_;
  Graph graph_;
  std::map<int32_t, ValueId> id_of_;  // by the number of a value in the byte code
};

// The most bytes that `buffers` have alive at one step.
int64_t MostAlive(const std::vector<const PlacedBuffer*>& buffers) {
  std::map<TimePoint, int64_t> changes;
  for (const PlacedBuffer* buffer : buffers) {
    changes[buffer->lifespan.lower] += buffer->bytes;
    changes[buffer->lifespan.upper] -= buffer->bytes;
  }
  int64_t alive = 0, most = 0;
  for (const auto& [step, change] : changes) most = std::max(most, alive += change);
  return most;
}

class LayoutMaker {
 public:
  explicit LayoutMaker(const ProgramImage& image) : image_(image) {}

  MemoryLayout Make() {
    layout_.arena_bytes = image_.arena_bytes[static_cast<size_t>(ArenaKind::kDevice)];
    layout_.file_bytes = image_.arena_bytes[static_cast<size_t>(ArenaKind::kFile)];
    for (size_t e = 0; e < image_.entries.size(); ++e) AddEntry(static_cast<int>(e));
    layout_.persistent_bytes = (persistent_end_ + kRegionGrain - 1) / kRegionGrain * kRegionGrain;
    layout_.transient_bytes = std::max<int64_t>(0, layout_.arena_bytes - layout_.persistent_bytes);
    for (size_t e = 0; e < image_.entries.size(); ++e) Measure(static_cast<int>(e));
    AddZones();
    layout_.optimal = layout_.arena_bytes <= layout_.lower_bound_bytes;
    return std::move(layout_);
  }

 private:
  void AddEntry(int e) {
    const ImageEntry& entry = image_.entries[static_cast<size_t>(e)];
    const std::vector<ImageValue> values = ValuesOf(image_, entry);
    std::vector<size_t> buffers;  // of each value
    for (const ImageValue& value : values) {
      if (IsPersistent(value)) {
        buffers.push_back(AddPersistent(value, entry));
        continue;
      }
      const size_t shared = SharedBuffer(value, values, buffers, e);
      if (shared < layout_.buffers.size()) {
        Extend(layout_.buffers[shared], value);
        buffers.push_back(shared);
      } else {
        buffers.push_back(layout_.buffers.size());
        layout_.buffers.push_back(BufferOf(value, entry, e));
      }
    }
    EntryLayout added;
    added.elided.resize(entry.instructions.size(), false);
    added.incremental = entry.incremental;
    layout_.entries.push_back(std::move(added));
  }

  // Entry points share them.
  size_t AddPersistent(const ImageValue& value, const ImageEntry& entry) {
    const auto [at, fresh] = persistent_.try_emplace(value.name, layout_.buffers.size());
    if (!fresh) return at->second;
    PlacedBuffer buffer = BufferOf(value, entry, -1);
    buffer.persistent = true;
    persistent_end_ = std::max(persistent_end_, buffer.offset + buffer.bytes);
    layout_.buffers.push_back(std::move(buffer));
    return at->second;
  }

  PlacedBuffer BufferOf(const ImageValue& value, const ImageEntry& entry, int e) const {
    PlacedBuffer buffer;
    buffer.name = value.name;
    buffer.zone = ZoneOf(image_, entry, value);
    buffer.arena = value.bytes.operand.arena;
    buffer.offset = value.bytes.operand.offset;
    buffer.bytes = value.bytes.bytes;
    buffer.entry = e;
    buffer.lifespan = value.lifespan;
    buffer.lifespan.upper = std::max(buffer.lifespan.upper, buffer.lifespan.lower + 1);
    buffer.values = {value.name};
    if (value.instruction >= 0) {
      buffer.mark = MarkOf(entry.instructions[static_cast<size_t>(value.instruction)].source);
    }
    return buffer;
  }

  // The buffer of an input that the value is written over, or of the state that it updates; past
  // all where it has a buffer of its own.
  size_t SharedBuffer(const ImageValue& value, const std::vector<ImageValue>& values,
                      const std::vector<size_t>& buffers, int e) const {
    if (value.kind != ImageValueKind::kWritten) return layout_.buffers.size();
    const ImageInstruction& instruction =
        image_.entries[static_cast<size_t>(e)].instructions[static_cast<size_t>(value.instruction)];
    for (size_t v = 0; v < buffers.size(); ++v) {
      if (!Overlap(values[v].bytes, value.bytes)) continue;
      if (IsPersistent(values[v])) return buffers[v];
      for (size_t i = 0; i < instruction.node.inputs.size(); ++i) {
        if (instruction.operands[i].value == values[v].bytes.value) return buffers[v];
      }
    }
    return layout_.buffers.size();
  }

  static void Extend(PlacedBuffer& buffer, const ImageValue& value) {
    const int64_t begin = std::min(buffer.offset, value.bytes.operand.offset);
    const int64_t end =
        std::max(buffer.offset + buffer.bytes, value.bytes.operand.offset + value.bytes.bytes);
    buffer.offset = begin;
    buffer.bytes = end - begin;
    buffer.lifespan.upper = std::max(buffer.lifespan.upper, value.lifespan.upper);
    if (std::ranges::find(buffer.values, value.name) == buffer.values.end()) {
      buffer.values.push_back(value.name);
    }
  }

  std::vector<const PlacedBuffer*> TransientOf(int e) const {
    std::vector<const PlacedBuffer*> buffers;
    for (const PlacedBuffer& buffer : layout_.buffers) {
      const bool is_there = buffer.entry == e && buffer.arena == ArenaKind::kDevice;
      if (is_there) buffers.push_back(&buffer);
    }
    return buffers;
  }

  void Measure(int e) {
    EntryLayout& entry = layout_.entries[static_cast<size_t>(e)];
    const std::vector<const PlacedBuffer*> buffers = TransientOf(e);
    int64_t end = layout_.persistent_bytes;
    for (const PlacedBuffer* buffer : buffers) {
      end = std::max(end, buffer->offset + buffer->bytes);
      entry.naive_bytes += buffer->bytes;
    }
    entry.transient_bytes = end - layout_.persistent_bytes;
    entry.transient_lower_bound = MostAlive(buffers);
    layout_.lower_bound_bytes =
        std::max(layout_.lower_bound_bytes, layout_.persistent_bytes + entry.transient_lower_bound);
  }

  void AddZones() {
    for (const Zone zone : {Zone::kForward, Zone::kGradient, Zone::kOptimizer, Zone::kWorkspace}) {
      ZoneUse use;
      use.zone = zone;
      for (const PlacedBuffer& buffer : layout_.buffers) {
        if (buffer.zone != zone || buffer.arena != ArenaKind::kDevice) continue;
        ++use.buffers;
        if (buffer.persistent) use.persistent_bytes += buffer.bytes;
      }
      for (size_t e = 0; e < layout_.entries.size(); ++e) {
        std::vector<const PlacedBuffer*> buffers = TransientOf(static_cast<int>(e));
        std::erase_if(buffers, [&](const PlacedBuffer* b) { return b->zone != zone; });
        use.transient_bytes = std::max(use.transient_bytes, MostAlive(buffers));
      }
      layout_.zones.push_back(use);
    }
  }

  const ProgramImage& image_;
  MemoryLayout layout_;
  std::map<std::string, size_t> persistent_;  // the buffers of states and constants
  int64_t persistent_end_ = 0;
};

}  // namespace

Graph GraphOf(const ProgramImage& image, const ImageEntry& entry) {
  return GraphMaker(image, entry).Make();
}

MemoryLayout LayoutOf(const ProgramImage& image) { return LayoutMaker(image).Make(); }

}  // namespace cgrun
