// Writes the clusters, then the nodes and the edges.
#include "src/report/graph_dot.h"

#include <fmt/format.h>

#include "src/base/printable.h"

namespace cgrun {
namespace {

constexpr const char* kPlain = "#64748b";

// A quoted string of the language; line feeds become \n.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : PrintableLines(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? "\\n" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string NodeLine(const GraphPicture& picture, size_t index) {
  const PictureBox& box = picture.boxes[index];
  std::string label = box.name + "\n" + box.what + "\n";
  label += box.shape + (box.shape.empty() ? "" : ", ") + BytesText(box);
  std::string fill = "#f8fafc", line = kPlain;
  if (box.buffer >= 0) {
    const PictureBuffer& buffer = picture.buffers[static_cast<size_t>(box.buffer)];
    label += fmt::format(", #{}", buffer.number);
    fill = buffer.color.fill;
    line = buffer.color.line;
  }
  return fmt::format("n{} [label={}, tooltip={}, fillcolor=\"{}\", color=\"{}\"{}{}];\n", index,
                     Quote(label), Quote(box.hover), fill, line,
                     box.view ? ", style=\"filled,rounded,dashed\"" : "",
                     box.nodes > 1 ? ", peripheries=2" : "");
}

std::string Cluster(const GraphPicture& picture, LaneId lane, const char* name) {
  std::string nodes;
  for (size_t i = 0; i < picture.boxes.size(); ++i) {
    LaneId of = picture.boxes[i].lane;
    if (of == LaneId::kParameterGradient) of = LaneId::kBackward;
    if (of == lane) nodes += "    " + NodeLine(picture, i);
  }
  if (nodes.empty()) return "";
  return fmt::format(
      "  subgraph cluster_{0} {{\n    label=\"{0}\";\n    style=\"rounded,filled\";\n"
      "    color=\"#f1f5f9\";\n{1}  }}\n",
      name, nodes);
}

// The edges from forward nodes to backward and update nodes do not rank them. Else all backward and
// update nodes would stand below the forward ones, and the edges would cross the whole picture.
bool LeavesForward(const GraphPicture& picture, const PictureEdge& edge) {
  const auto lane = [&](int box) { return picture.boxes[static_cast<size_t>(box)].lane; };
  return lane(edge.from) == LaneId::kForward && lane(edge.to) != LaneId::kForward;
}

std::string EdgeLine(const GraphPicture& picture, const PictureEdge& edge) {
  const std::string color =
      edge.buffer < 0 ? kPlain : picture.buffers[static_cast<size_t>(edge.buffer)].color.line;
  return fmt::format("  n{} -> n{} [color=\"{}\", tooltip={}{}{}];\n", edge.from, edge.to, color,
                     Quote(edge.hover), edge.in_place ? ", penwidth=4" : "",
                     LeavesForward(picture, edge) ? ", constraint=false" : "");
}

}  // namespace

std::string GraphDot(const GraphPicture& picture) {
  std::string label = picture.title;
  for (const std::string& note : picture.notes) label += "\n" + note;
  std::string dot = fmt::format(
      "digraph {} {{\n  label={};\n  labelloc=t;\n  bgcolor=white;\n  fontname=sans;\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=sans, fontsize=10];\n"
      "  edge [arrowsize=0.6];\n  nodesep=0.2;\n  ranksep=0.3;\n",
      Quote(picture.title), Quote(label));
  dot += Cluster(picture, LaneId::kForward, "forward");
  dot += Cluster(picture, LaneId::kBackward, "backward");
  dot += Cluster(picture, LaneId::kUpdate, "update");
  for (const PictureEdge& edge : picture.edges) dot += EdgeLine(picture, edge);
  return dot + "}\n";
}

}  // namespace cgrun
