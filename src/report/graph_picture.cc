// Groups nodes into boxes, then looks up what each box and edge is made of.
#include "src/report/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "src/ir/body_text.h"
#include "src/report/fused_name.h"
#include "src/report/name_folds.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kMostHoverNodes = 24;  // nodes of a block that its hover text lists

size_t Index(int i) { return static_cast<size_t>(i); }

bool IsForward(const Node& node) { return node.phase == Phase::kForward; }

std::string ShapeText(const TensorType& type) {
  std::string text =
      fmt::format("{}", fmt::join(type.shape | std::views::transform(&Dim::ToString), "×"));
  if (text.empty()) text = "scalar";
  return type.dtype == DType::kF32 ? text : std::string(Name(type.dtype)) + " " + text;
}

class PictureMaker {
 public:
  PictureMaker(const Graph& graph, const MemoryLayout& layout, int entry,
               const PictureOptions& options)
      : graph_(graph),
        layout_(layout),
        entry_(layout.entries[Index(entry)]),
        order_(TopologicalOrder(graph)),
        readers_(Readers(graph)),
        to_parameters_(graph.nodes.size(), false),
        box_of_(graph.nodes.size(), -1),
        pill_of_(graph.values.size(), -1) {
    picture_.title = options.title;
    picture_.notes = options.notes;
    picture_.zones = layout.zones;
    picture_.nodes = static_cast<int>(graph.nodes.size());
    picture_.learns = graph.Learns();
    for (size_t i = 0; i < layout.buffers.size(); ++i) {
      const PlacedBuffer& buffer = layout.buffers[i];
      if (!buffer.persistent && buffer.entry != entry) continue;
      for (const std::string& value : buffer.values) placed_[value] = &buffer;
    }
    full_ = options.full;
  }

  GraphPicture Make() {
    FindParameterGradients();
    AddPlaceholders();
    GroupNodes();
    for (size_t i = 0; i < picture_.boxes.size(); ++i) FillBox(i);
    AddEdges();
    for (size_t i = 0; i < picture_.boxes.size(); ++i) FindAnchor(i);
    MoveSources();
    return std::move(picture_);
  }

 private:
  // Backward nodes whose results only updates read, sums of such results among them.
  void FindParameterGradients() {
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      const Node& node = graph_.nodes[*id];
      bool read = false, only = node.phase != Phase::kForward && node.phase != Phase::kUpdate;
      for (const ValueId output : node.outputs) {
        for (const NodeId reader : readers_[output]) {
          read = true;
          only &= graph_.nodes[reader].phase == Phase::kUpdate || IsSumOf(reader, output);
        }
      }
      to_parameters_[*id] = read && only;
    }
  }

  // Returns whether `reader` adds this gradient of a parameter to others of it.
  bool IsSumOf(NodeId reader, ValueId value) const {
    const Node& node = graph_.nodes[reader];
    const bool adds =
        node.op == OpId::add || node.op == OpId::accumulate || node.phase == Phase::kCommunication;
    return adds && to_parameters_[reader] &&
           graph_.values[node.outputs[0]].type == graph_.values[value].type;
  }

  // Adds the placeholders of data. Counters and rates stand only in hover texts.
  void AddPlaceholders() {
    for (const ValueId id : graph_.values.ids()) {
      const Value& value = graph_.values[id];
      if (value.role != Role::kPlaceholder || value.producer.valid()) continue;
      const auto forward = [&](NodeId reader) { return IsForward(graph_.nodes[reader]); };
      const bool data = value.type.shape.rank() > 0 && value.name[0] != '.';
      if (!data || std::ranges::none_of(readers_[id], forward)) continue;
      pill_of_[id] = static_cast<int>(picture_.boxes.size());
      picture_.boxes.push_back({});
      nodes_.push_back({});
      PictureBox& box = picture_.boxes.back();
      box.name = value.name;
      box.what = "placeholder";
      box.nodes = 0;
      box.shape = ShapeText(value.type);
      box.bytes = graph_.BytesOf(id);
      box.buffer = BufferOf(id);
      box.hover = "placeholder " + ValueText(id);
    }
  }

  LaneId LaneOf(NodeId id, bool folded) const {
    switch (graph_.nodes[id].phase) {
      case Phase::kForward:
        return LaneId::kForward;
      case Phase::kUpdate:
        return LaneId::kUpdate;
      case Phase::kBackward:
      case Phase::kCommunication:
        break;
    }
    return to_parameters_[id] && !folded ? LaneId::kParameterGradient : LaneId::kBackward;
  }

  void GroupNodes() {
    picture_.folded = !full_ && graph_.nodes.size() > kMostNodes;
    std::vector<std::string> names;
    std::vector<int> lanes;
    for (const NodeId id : order_) {
      names.push_back(graph_.nodes[id].name);
      lanes.push_back(static_cast<int>(LaneOf(id, picture_.folded)));
    }
    const std::vector<std::string> blocks =
        FoldNames(names, lanes, picture_.folded ? kMostNodes : names.size());
    std::map<std::pair<int, std::string>, int> boxes;
    for (size_t i = 0; i < order_.size(); ++i) {
      const auto [box, fresh] =
          boxes.try_emplace({lanes[i], blocks[i]}, static_cast<int>(picture_.boxes.size()));
      if (fresh) {
        picture_.boxes.push_back({});
        picture_.boxes.back().name = blocks[i];
        picture_.boxes.back().lane = static_cast<LaneId>(lanes[i]);
        nodes_.push_back({});
      }
      box_of_[order_[i]] = box->second;
      nodes_[Index(box->second)].push_back(order_[i]);
    }
  }

  // The name without the path in which it stands.
  std::string ShortName(const std::string& name) const {
    if (graph_.paths.size() == 0) return name;
    for (const Path& path : graph_.paths) {
      if (name.starts_with(path.name + ".")) return name.substr(path.name.size() + 1);
    }
    return name;
  }

  // The path that `name` stands in, where several learn: they may have outputs of the same name.
  std::string PathNote(const std::string& name) const {
    int learning = 0;
    std::string note;
    for (const Path& path : graph_.paths) {
      learning += path.backprop && path.repetition == 0;
      if (name.starts_with(path.name + ".")) note = " · " + path.name;
    }
    return learning > 1 ? note : "";
  }

  void FillBox(size_t index) {
    PictureBox& box = picture_.boxes[index];
    const std::vector<NodeId>& nodes = nodes_[index];
    if (nodes.empty()) return;
    box.nodes = static_cast<int>(nodes.size());
    const Node& last = graph_.nodes[nodes.back()];
    box.name = ShortName(box.nodes == 1 ? BoxName(graph_, last) : box.name);
    box.what = box.nodes == 1 ? OperatorText(last) + PathNote(last.name) : CountText(nodes);
    box.view = box.nodes == 1 && entry_.elided[nodes[0]];
    const ValueId shown = ShownOutput(index);
    if (shown.valid()) {
      box.shape = ShapeText(graph_.values[shown].type);
      box.buffer = BufferOf(shown);
    }
    box.bytes = BytesOf(nodes);
    if (box.nodes == 1) NameOtherOutputs(box, last);
    AddStates(box, nodes);
    if (box.nodes > 1) box.hover = fmt::format("{}: {}", box.name, box.what);
    for (size_t i = 0; i < std::min(nodes.size(), kMostHoverNodes); ++i) {
      box.hover += (box.hover.empty() ? "" : "\n");
      box.hover += box.nodes == 1 ? NodeText(nodes[i]) : NodeLine(nodes[i]);
    }
    if (nodes.size() > kMostHoverNodes) {
      box.hover += fmt::format("\n… and {} more", nodes.size() - kMostHoverNodes);
    }
  }

  // Returns the output that is shown of a block: the last one that is read outside.
  ValueId ShownOutput(size_t index) const {
    const std::vector<NodeId>& nodes = nodes_[index];
    for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
      if (graph_.nodes[*id].outputs.empty()) continue;
      const ValueId output = graph_.nodes[*id].outputs[0];
      for (const NodeId reader : readers_[output]) {
        const int box = box_of_[reader];
        if (Index(box) != index && picture_.boxes[Index(box)].lane == picture_.boxes[index].lane) {
          return output;
        }
      }
    }
    const Node& last = graph_.nodes[nodes.back()];
    return last.outputs.empty() ? ValueId() : last.outputs[0];
  }

  // Values that share a buffer count once.
  int64_t BytesOf(const std::vector<NodeId>& nodes) const {
    std::map<const PlacedBuffer*, int64_t> most;
    for (const NodeId id : nodes) {
      for (const ValueId output : graph_.nodes[id].outputs) {
        const auto placed = placed_.find(graph_.values[output].name);
        int64_t& bytes = most[placed == placed_.end() ? nullptr : placed->second];
        bytes = std::max(bytes, graph_.BytesOf(output));
      }
    }
    int64_t sum = 0;
    for (const auto& [buffer, bytes] : most) sum += bytes;
    return sum;
  }

  // The shape that a box shows is that of its node's first output.
  void NameOtherOutputs(PictureBox& box, const Node& node) const {
    if (node.outputs.size() < 2) return;
    box.besides_bytes = box.bytes - graph_.BytesOf(node.outputs[0]);
    const std::string& other = graph_.values[node.outputs[1]].name;
    const size_t others = node.outputs.size() - 1;
    box.besides = others > 1 ? fmt::format("{} more", others) : other.substr(other.rfind('.') + 1);
  }

  // "11 ops: 4 conv, 4 batch_norm, 3 relu"
  std::string CountText(const std::vector<NodeId>& nodes) const {
    std::map<std::string, int> counts;
    for (const NodeId id : nodes) ++counts[OperatorText(graph_.nodes[id])];
    std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto text = [](const auto& count) {
      return fmt::format("{} {}", count.second, count.first);
    };
    return fmt::format("{} ops: {}", nodes.size(),
                       fmt::join(sorted | std::views::transform(text), ", "));
  }

  void AddStates(PictureBox& box, const std::vector<NodeId>& nodes) {
    if (box.lane != LaneId::kForward || box.nodes > 1) return;
    std::set<int> seen;
    for (const NodeId id : nodes) {
      for (const ValueId input : graph_.nodes[id].inputs) {
        if (!IsState(graph_.values[input].role)) continue;
        const int buffer = BufferOf(input);
        if (buffer >= 0 && seen.insert(buffer).second) box.states.push_back(buffer);
      }
    }
  }

  // The number of a value's buffer in the picture, which it gets when it is first met; -1 for what
  // has none in memory.
  int BufferOf(ValueId id) {
    const auto placed = placed_.find(graph_.values[id].name);
    if (placed == placed_.end()) return -1;
    const PlacedBuffer& from = *placed->second;
    if (from.arena != ArenaKind::kDevice) return -1;
    const auto [at, fresh] = number_.try_emplace(&from, static_cast<int>(picture_.buffers.size()));
    if (fresh) {
      picture_.buffers.push_back({at->second + 1, from.name, from.zone, from.offset, from.bytes,
                                  from.persistent,
                                  ColorOfBuffer(from.zone, zone_count_[from.zone]++)});
    }
    return at->second;
  }

  std::string ValueText(ValueId id) {
    const Value& value = graph_.values[id];
    std::string text = fmt::format(
        "{}: {}{}{}, {}", value.name, value.type.ToString(), value.layout.IsPlain() ? "" : " ",
        value.layout.IsPlain() ? "" : value.layout.ToString(), FormatBytes(graph_.BytesOf(id)));
    const auto placed = placed_.find(value.name);
    if (placed == placed_.end()) return text;
    const PlacedBuffer& from = *placed->second;
    if (from.arena == ArenaKind::kFile) {
      return text + " in the swap space at " + FormatCount(from.offset);
    }
    const int buffer = BufferOf(id);
    text += fmt::format(
        " in buffer {} at {} ({} zone, {})", buffer + 1, FormatCount(from.offset), Name(from.zone),
        from.persistent
            ? "always"
            : fmt::format("steps {} to {}", from.lifespan.lower, from.lifespan.upper - 1));
    return text;
  }

  std::string NodeText(NodeId id) {
    const Node& node = graph_.nodes[id];
    const std::string attributes = node.attributes.ToString();
    std::string text = fmt::format("{}\noperator {}{}{}", node.name, OperatorText(node),
                                   attributes.empty() ? "" : " ", attributes);
    if (!node.body.empty()) {
      text += "\n" + BodyText(node.body, "  ");
      text.pop_back();  // its last line feed
    }
    if (node.kernel && !entry_.elided[id]) {
      text += "\nkernel " + node.kernel->kernel;
      if (node.kernel->workspace_bytes > 0) {
        text += ", workspace " + FormatBytes(node.kernel->workspace_bytes);
      }
    }
    if (entry_.elided[id]) text += "\na view: no work, no bytes";
    for (const ValueId input : node.inputs) text += "\nin " + ValueText(input);
    for (const ValueId output : node.outputs) text += "\nout " + ValueText(output);
    const std::string mark = node.mark.ToString();
    return mark.empty() ? text : text + "\n" + mark;
  }

  std::string NodeLine(NodeId id) const {
    const Node& node = graph_.nodes[id];
    std::string text = "  " + ShortName(node.name) + ": " + OperatorText(node);
    if (!node.outputs.empty()) text += " " + ShapeText(graph_.values[node.outputs[0]].type);
    return text;
  }

  // An update stands beside what reads its state; a gradient beside the node that its name is from.
  void FindAnchor(size_t index) {
    PictureBox& box = picture_.boxes[index];
    if (box.lane == LaneId::kForward) return;
    for (const NodeId id : nodes_[index]) {
      if (box.anchor >= 0) return;
      box.anchor = box.lane == LaneId::kUpdate ? StateReader(id) : -1;
      if (box.anchor < 0) box.anchor = Namesake(graph_.nodes[id].name);
    }
  }

  int StateReader(NodeId id) const {
    for (const ValueId input : graph_.nodes[id].inputs) {
      if (!IsState(graph_.values[input].role)) continue;
      if (const int box = ForwardReader(input); box >= 0) return box;
    }
    return -1;
  }

  // Reorders only prepare what is read.
  int ForwardReader(ValueId value) const {
    for (const NodeId reader : readers_[value]) {
      const Node& node = graph_.nodes[reader];
      if (!IsForward(node)) continue;
      const int box = node.op == OpId::reorder ? ForwardReader(node.outputs[0]) : box_of_[reader];
      if (box >= 0) return box;
    }
    return -1;
  }

  // Moves boxes that read only parameters to their first reader.
  void MoveSources() {
    for (PictureBox& box : picture_.boxes) box.source = true;
    for (const PictureEdge& edge : picture_.edges) picture_.boxes[Index(edge.to)].source = false;
    for (auto edge = picture_.edges.rbegin(); edge != picture_.edges.rend(); ++edge) {
      PictureBox& from = picture_.boxes[Index(edge->from)];
      const PictureBox& to = picture_.boxes[Index(edge->to)];
      if (from.source && from.lane != LaneId::kForward) from.anchor = to.anchor;
    }
  }

  int Namesake(const std::string& name) const {
    int best = 1, box = -1;  // the path alone is not enough
    for (const NodeId id : order_) {
      if (!IsForward(graph_.nodes[id]) || graph_.nodes[id].op == OpId::reorder) continue;
      const int common = CommonParts(name, graph_.nodes[id].name);
      if (common <= best) continue;
      best = common;
      box = box_of_[id];
    }
    return box;
  }

  // Returns whether the node writes an output over this input.
  bool WritesOver(const Node& node, ValueId input) const {
    const auto from = placed_.find(graph_.values[input].name);
    if (from == placed_.end()) return false;
    return std::ranges::any_of(node.outputs, [&](ValueId output) {
      const auto to = placed_.find(graph_.values[output].name);
      return to != placed_.end() && to->second == from->second;
    });
  }

  void AddEdges() {
    std::map<std::pair<int, int>, size_t> edge_of;
    std::map<std::pair<int, int>, int64_t> most;  // bytes
    for (const NodeId id : order_) {
      for (const ValueId input : graph_.nodes[id].inputs) {
        const NodeId producer = graph_.values[input].producer;
        const int from = producer.valid() ? box_of_[producer] : pill_of_[input];
        const int to = box_of_[id];
        if (from < 0 || from == to) continue;
        const auto [at, fresh] = edge_of.try_emplace({from, to}, picture_.edges.size());
        if (fresh) picture_.edges.push_back({.from = from, .to = to});
        PictureEdge& edge = picture_.edges[at->second];
        const std::string text = ValueText(input);
        if (edge.hover.find(text) == edge.hover.npos) {
          edge.hover += (fresh ? "" : "\n") + text;
        }
        const bool in_place = WritesOver(graph_.nodes[id], input);
        if (fresh || graph_.BytesOf(input) > most[{from, to}] || (in_place && !edge.in_place)) {
          edge.buffer = BufferOf(input);
          most[{from, to}] = graph_.BytesOf(input);
        }
        edge.in_place |= in_place;
      }
    }
    for (PictureEdge& edge : picture_.edges) {
      const PictureBox& to = picture_.boxes[Index(edge.to)];
      // Within a block it may be another than the buffer that the block shows.
      edge.in_place &= to.nodes == 1 || edge.buffer == to.buffer;
      if (edge.in_place) edge.hover += "\nin place: the reader writes its result over it";
    }
  }

  const Graph& graph_;
  const MemoryLayout& layout_;
  const EntryLayout& entry_;
  const std::vector<NodeId> order_;
  const ReaderLists readers_;
  IdVector<NodeId, bool> to_parameters_;
  IdVector<NodeId, int> box_of_;
  IdVector<ValueId, int> pill_of_;
  std::vector<std::vector<NodeId>> nodes_;  // of each box
  std::map<std::string, const PlacedBuffer*> placed_;
  std::map<const PlacedBuffer*, int> number_;
  std::map<Zone, int> zone_count_;
  bool full_ = false;
  GraphPicture picture_;
};

}  // namespace

GraphPicture PictureOf(const Graph& graph, const MemoryLayout& layout, int entry,
                       const PictureOptions& options) {
  return PictureMaker(graph, layout, entry, options).Make();
}

std::string BytesText(const PictureBox& box) {
  if (box.besides_bytes <= 0) return FormatBytes(box.bytes);
  return FormatBytes(box.bytes - box.besides_bytes) + " + " + box.besides + " " +
         FormatBytes(box.besides_bytes);
}

LayoutGraph LayoutGraphOf(const GraphPicture& picture, double width, double height,
                          double placeholder_height) {
  LayoutGraph graph;
  for (const PictureBox& box : picture.boxes) {
    const bool placeholder = box.nodes == 0;
    graph.boxes.push_back(
        {box.lane, box.anchor, box.source, width, placeholder ? placeholder_height : height});
  }
  for (const PictureEdge& edge : picture.edges) graph.edges.push_back({edge.from, edge.to});
  return graph;
}

}  // namespace cgrun
