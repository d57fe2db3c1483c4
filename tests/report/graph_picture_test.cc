// Pictures of graphs: what boxes and edges say, and files that browsers and Graphviz read.
#include "src/report/graph_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "src/ops/cast.h"
#include "src/ops/pool.h"
#include "src/report/graph_dot.h"
#include "src/report/graph_svg.h"
#include "src/report/text_width.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

GraphPicture PictureOfGraph(const Graph& graph, const PictureOptions& options = {}) {
  const Graph prepared = PrepareGraph(graph, 2, Reference());
  const GraphProgram program = EncodeGraph(prepared, "serial", {}, Reference());
  return PictureOf(prepared, program.layout, 0, options);
}

// Makes y = w·x, a gradient of w, and its update.
Graph Step() {
  GraphMaker make;
  Path path;
  path.name = "p";
  make.graph().paths.push_back(path);
  const ValueId x = make.Feed("x", {4}), w = make.State("p.y.w", {4});
  const ValueId y = make.Op(OpId::mul, "p.y", {w, x});
  const ValueId z = make.Op(OpId::relu, "p.z", {y});
  make.Out(z, "z");
  make.phase = Phase::kBackward;
  const ValueId dy = make.Op(OpId::relu_grad, "p.z.grad", {z, z}, {}, Zone::kGradient);
  const ValueId dw = make.Op(OpId::mul, "p.y.dw", {dy, x}, {}, Zone::kGradient);
  make.phase = Phase::kUpdate;
  make.Update(w, make.Op(OpId::sub, "p.y.w.next", {w, dw}));
  return make.graph();
}

// The index of the box of that name.
int Find(const GraphPicture& picture, const std::string& name) {
  for (size_t i = 0; i < picture.boxes.size(); ++i) {
    if (picture.boxes[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no box " << name;
  return 0;
}

const PictureBox& BoxOf(const GraphPicture& picture, const std::string& name) {
  return picture.boxes[static_cast<size_t>(Find(picture, name))];
}

TEST(GraphPicture, TellsPhasesApart) {
  const GraphPicture picture = PictureOfGraph(Step());
  EXPECT_EQ(picture.nodes, 5);
  EXPECT_FALSE(picture.folded);
  EXPECT_EQ(BoxOf(picture, "x").nodes, 0);
  EXPECT_EQ(BoxOf(picture, "y").lane, LaneId::kForward);
  EXPECT_EQ(BoxOf(picture, "z.grad").lane, LaneId::kBackward);
  EXPECT_EQ(BoxOf(picture, "y.dw").lane, LaneId::kParameterGradient);
  EXPECT_EQ(BoxOf(picture, "y.w.next").lane, LaneId::kUpdate);
}

TEST(GraphPicture, PutsGradientsAndUpdatesBesideWhatTheyAreOf) {
  const GraphPicture picture = PictureOfGraph(Step());
  EXPECT_EQ(BoxOf(picture, "z.grad").anchor, Find(picture, "z"));
  EXPECT_EQ(BoxOf(picture, "y.dw").anchor, Find(picture, "y"));
  EXPECT_EQ(BoxOf(picture, "y.w.next").anchor, Find(picture, "y"));
}

TEST(GraphPicture, ShowsShapesBytesBuffersAndParameters) {
  const GraphPicture picture = PictureOfGraph(Step());
  const PictureBox& y = BoxOf(picture, "y");
  EXPECT_EQ(y.what, "mul");
  EXPECT_EQ(y.shape, "4");
  EXPECT_EQ(y.bytes, 16);
  EXPECT_NE(y.hover.find("kernel reference."), y.hover.npos) << y.hover;
  ASSERT_EQ(y.states.size(), 1u);
  EXPECT_EQ(picture.buffers[static_cast<size_t>(y.states[0])].name, "p.y.w");
  EXPECT_EQ(BoxOf(picture, "y.w.next").buffer, y.states[0]);  // the update lies in the parameter
}

TEST(GraphPicture, TellsPathsApartThatLearn) {
  GraphMaker make;
  for (const char* name : {"discriminate", "generate"}) {
    Path path;
    path.name = name;
    path.backprop = true;
    make.graph().paths.push_back(path);
  }
  const ValueId x = make.Feed("x", {4});
  make.Out(make.Op(OpId::relu, "discriminate.fake", {x}), "a");
  make.Out(make.Op(OpId::exp, "generate.fake", {x}), "b");
  const GraphPicture picture = PictureOfGraph(make.graph());
  std::set<std::string> texts;
  for (const PictureBox& box : picture.boxes) texts.insert(box.name + ": " + box.what);
  EXPECT_TRUE(texts.contains("fake: relu · discriminate"));
  EXPECT_TRUE(texts.contains("fake: exp · generate"));
}

TEST(GraphPicture, MarksWhatIsWrittenInPlace) {
  const GraphPicture picture = PictureOfGraph(Step());
  const int y = Find(picture, "y"), z = Find(picture, "z");
  ASSERT_EQ(BoxOf(picture, "y").buffer, BoxOf(picture, "z").buffer);
  int in_place = 0;
  for (const PictureEdge& edge : picture.edges) {
    EXPECT_TRUE(edge.in_place || edge.from != y || edge.to != z);
    in_place += edge.in_place;
    const bool same = picture.boxes[static_cast<size_t>(edge.from)].buffer ==
                      picture.boxes[static_cast<size_t>(edge.to)].buffer;
    EXPECT_TRUE(same || !edge.in_place);
  }
  EXPECT_GE(in_place, 1);
}

TEST(GraphPicture, GivesABufferOneColour) {
  const GraphPicture picture = PictureOfGraph(Step());
  std::set<int> numbers;
  for (const PictureBuffer& buffer : picture.buffers)
    EXPECT_TRUE(numbers.insert(buffer.number).second);
  for (const Zone zone : {Zone::kForward, Zone::kGradient, Zone::kOptimizer}) {
    std::set<std::string> fills;
    for (int i = 0; i < kZoneColors; ++i) {
      const BufferColor color = ColorOfBuffer(zone, i);
      EXPECT_EQ(color.fill.size(), 7u);
      EXPECT_TRUE(fills.insert(color.fill).second) << color.fill;
    }
  }
}

// Makes a chain of `blocks` blocks of three nodes.
Graph Chain(int blocks) {
  GraphMaker make;
  Path path;
  path.name = "p";
  make.graph().paths.push_back(path);
  ValueId value = make.Feed("x", {4});
  for (int i = 0; i < blocks; ++i) {
    const std::string block = "p.stage[" + std::to_string(i) + "].";
    for (const char* name : {"a", "b", "c"}) {
      value = make.Op(OpId::exp, block + name, {value});
    }
  }
  make.Out(value, "y");
  return make.graph();
}

TEST(GraphPicture, FoldsLargeGraphsIntoBlocks) {
  const GraphPicture small = PictureOfGraph(Chain(50));
  EXPECT_FALSE(small.folded);
  EXPECT_EQ(small.boxes.size(), 151u);
  const GraphPicture large = PictureOfGraph(Chain(51));
  EXPECT_TRUE(large.folded);
  ASSERT_EQ(large.boxes.size(), 52u);
  EXPECT_EQ(large.edges.size(), 51u);
  const PictureBox& block = BoxOf(large, "stage[7]");
  EXPECT_EQ(block.nodes, 3);
  EXPECT_EQ(block.what, "3 ops: 3 exp");
  EXPECT_EQ(PictureOfGraph(Chain(51), {.full = true}).boxes.size(), 154u);
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Tags that close what was opened, and no bare '&' or '<' between them.
void ExpectWellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = xml.find('<'); at != xml.npos; at = xml.find('<', at + 1)) {
    const size_t end = xml.find('>', at);
    ASSERT_NE(end, xml.npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), tag.npos) << tag;
    ASSERT_EQ(Count(tag, "\"") % 2, 0u) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
  for (size_t at = xml.find('&'); at != xml.npos; at = xml.find('&', at + 1)) {
    const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
    EXPECT_TRUE(entity == "&amp;" || entity == "&lt;" || entity == "&gt;" || entity == "&quot;")
        << entity;
  }
}

TEST(GraphSvg, HasABoxANodeAndALineAnEdge) {
  const GraphPicture picture =
      PictureOfGraph(Step(), {.title = "a <b> & \"c\"", .notes = {"1 < 2"}});
  const std::string svg = GraphSvg(picture);
  ExpectWellFormed(svg);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; &quot;c&quot;"), svg.npos);
  EXPECT_EQ(Count(svg, "<g class=\"g\">"), picture.boxes.size() + picture.edges.size());
  EXPECT_EQ(Count(svg, "stroke-dasharray=\"5 3\""), 0u);
  for (const char* heading : {">FORWARD<", ">BACKWARD<", ">UPDATE<"}) {
    EXPECT_EQ(Count(svg, heading), 1u) << heading;
  }
}

// Each name must end before the number at its right begins. Its end follows from its start and its
// width.
TEST(GraphSvg, NamesEndBeforeTheNumbersOfTheirBuffers) {
  GraphMaker make;
  ValueId value = make.Feed("x", {4});
  for (const char* name : {"wwww_wwww_wwww_wwww_wwww_wwww", "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
                           "p.bottleneck[0].conv_norm[0].conv.broadcast_sum.again", "short"}) {
    value = make.Op(OpId::exp, name, {value});
  }
  make.Out(value, "y");
  const std::string svg = GraphSvg(PictureOfGraph(make.graph()));
  const std::regex names(
      "<text x=\"([0-9.]+)\" y=\"[0-9.]+\" class=\"n\">([^<]*)</text>\n"
      "<text x=\"([0-9.]+)\" y=\"[0-9.]+\" class=\"b\">(#[0-9]+)</text>");
  int found = 0, cut = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), names), end; at != end; ++at, ++found) {
    const std::smatch& match = *at;
    const double name_end = std::stod(match[1]) + TextWidth(match[2].str(), {12, true});
    const double number_begin = std::stod(match[3]) - TextWidth(match[4].str(), {10, false});
    EXPECT_LT(name_end + 4, number_begin) << match[2];
    cut += match[2].str().find("…") != std::string::npos;
  }
  EXPECT_EQ(found, 5);
  EXPECT_EQ(cut, 2) << "what fits stays whole";
}

// The names of updates differ in front, and in a box of one width they all have room.
TEST(GraphSvg, NamesOfUnnamedOperatorsHaveRoom) {
  GraphMaker make;
  ValueId value = make.Feed("x", {4});
  for (const char* name : {"conv_norm[0].scale.adamw", "linear[0].scale.adamw",
                           "conv_norm[0] + relu + max_pool", "conv_norm[1] + relu + max_pool"}) {
    value = make.Op(OpId::exp, name, {value});
  }
  make.Out(value, "y");
  const std::string svg = GraphSvg(PictureOfGraph(make.graph()));
  EXPECT_EQ(Count(svg, ">conv_norm[0].scale.adamw</text>"), 1u);
  EXPECT_EQ(Count(svg, ">conv_norm[1] + relu + max_pool</text>"), 1u);
  EXPECT_EQ(Count(svg, "…"), 0u);
}

TEST(GraphSvg, NumberTypesAreNotLeftOut) {
  GraphMaker make;
  const ValueId x = make.Feed("image", {32, 3, 640, 640}, DType::kU8);
  make.Out(make.Op(OpId::cast, "p.y", {x}, Attributes::Of(CastAttributes{DType::kF32})), "y");
  GraphPicture picture = PictureOfGraph(make.graph());
  EXPECT_EQ(Count(GraphSvg(picture), ">uint8 32×3×640×640 · 37.5 MiB<"), 1u);
  PictureBox& box = picture.boxes[static_cast<size_t>(Find(picture, "image"))];
  box.shape = "uint8 " + std::string(60, '9');
  EXPECT_EQ(Count(GraphSvg(picture), ">uint8 999"), 1u) << "nor where nothing else has room";
}

// The shape is that of the first output.
TEST(GraphSvg, SaysWhatIsBesidesTheShape) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {16, 1, 48, 48});
  const auto pooled =
      make.Ops(OpId::max_pool, "p.pool", {x}, Attributes::Of(MaxPoolAttributes{{2, 2}, {}}));
  make.Out(pooled[0], "y");
  make.Out(pooled[1], "index");
  EXPECT_EQ(
      Count(GraphSvg(PictureOfGraph(make.graph())), ">16×1×24×24 · 36.0 KiB + index 9.00 KiB<"),
      1u);
}

TEST(GraphSvg, ShowsTheSizesOfAnImageWhole) {
  GraphMaker make;
  make.Out(make.Op(OpId::exp, "p.y", {make.Feed("x", {32, 3, 224, 224})}), "y");
  const std::string svg = GraphSvg(PictureOfGraph(make.graph()));
  EXPECT_EQ(Count(svg, ">32×3×224×224 · 18.4 MiB<"), 2u)
      << "of the input, and of what is made of it";
}

TEST(GraphSvg, ZonesOfTheLegendDoNotTouch) {
  GraphPicture picture = PictureOfGraph(Step());
  for (ZoneUse& zone : picture.zones) {
    zone.transient_bytes = int64_t{999} << 30;
    zone.buffers = 1'234'567;
  }
  const std::string svg = GraphSvg(picture);
  const std::regex texts("<text x=\"([0-9.]+)\" y=\"[0-9.]+\">([^<]*buffers)</text>");
  double end = 0;
  int found = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), texts), none; at != none; ++at, ++found) {
    EXPECT_GT(std::stod((*at)[1]), end + 21) << "the square of a zone stands before its text";
    end = std::stod((*at)[1]) + TextWidth((*at)[2].str(), {11, false});
  }
  EXPECT_GE(found, 3);
}

// An optimizer's states and work spaces are in no box, and have their colours all the same.
TEST(GraphSvg, EveryZoneOfTheLegendHasItsColours) {
  GraphPicture picture = PictureOfGraph(Step());
  for (ZoneUse& zone : picture.zones) zone.buffers = std::max(zone.buffers, 1);
  const std::string svg = GraphSvg(picture);
  EXPECT_EQ(Count(svg, " zone</text>") + Count(svg, " zone (in no box)</text>"),
            picture.zones.size());
  EXPECT_EQ(Count(svg, "workspace zone (in no box)"), 1u);
  EXPECT_EQ(Count(svg, "width=\"14\" height=\"8.0\""), 3 * picture.zones.size());
}

// The back of a folded block stands out below it: an arrow from below ends there, not behind it.
TEST(GraphSvg, ArrowsEndAtTheBacksOfFoldedBlocks) {
  GraphMaker make;
  Path path;
  path.name = "p";
  make.graph().paths.push_back(path);
  const ValueId y = make.Op(OpId::exp, "p.y", {make.Feed("x", {4})});
  const ValueId z = make.Op(OpId::relu, "p.z", {y});
  make.phase = Phase::kBackward;
  const ValueId dz = make.Op(OpId::relu_grad, "p.z.grad", {z, z}, {}, Zone::kGradient);
  make.Out(make.Op(OpId::mul, "p.y.grad", {dz, y}, {}, Zone::kGradient), "dy");
  GraphPicture picture = PictureOfGraph(make.graph());
  const std::string plain = GraphSvg(picture);
  for (PictureBox& box : picture.boxes) box.nodes = box.nodes == 0 ? 0 : 2;
  const std::string folded = GraphSvg(picture);
  const std::regex arrows("<path fill=\"#[0-9a-f]+\" d=\"M[0-9.]+ ([0-9.]+)l");
  std::multiset<double> moved;
  std::sregex_iterator a(plain.begin(), plain.end(), arrows),
      b(folded.begin(), folded.end(), arrows);
  for (const std::sregex_iterator end; a != end && b != end; ++a, ++b) {
    moved.insert(std::stod((*b)[1]) - std::stod((*a)[1]));
  }
  EXPECT_EQ(moved.size(), picture.edges.size());
  EXPECT_GE(moved.count(0), 2u) << "those that arrive from above or across stay";
  EXPECT_GE(moved.count(4), 1u);
}

TEST(GraphSvg, NeedsNothingFromElsewhere) {
  const std::string svg = GraphSvg(PictureOfGraph(Step()));
  EXPECT_EQ(Count(svg, "http"), 1u);  // the name space
  for (const char* what : {"<script", "href", "url(", "@import", "nan", "inf\""}) {
    EXPECT_EQ(svg.find(what), svg.npos) << what;
  }
}

TEST(GraphSvg, OfOneGraphIsTheSameBytes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = MakeRandomGraph(seed);
    const std::string svg = GraphSvg(PictureOfGraph(graph));
    ExpectWellFormed(svg);
    EXPECT_EQ(svg, GraphSvg(PictureOfGraph(graph)));
  }
}

TEST(GraphDot, ListsBoxesAndEdges) {
  const GraphPicture picture = PictureOfGraph(Step(), {.title = "a \"b\" \\"});
  const std::string dot = GraphDot(picture);
  EXPECT_TRUE(dot.starts_with("digraph \"a \\\"b\\\" \\\\\" {\n")) << dot;
  EXPECT_EQ(Count(dot, "[label="), picture.boxes.size());
  EXPECT_EQ(Count(dot, " -> "), picture.edges.size());
  EXPECT_EQ(Count(dot, "subgraph cluster_"), 3u);
  EXPECT_EQ(Count(dot, "{"), Count(dot, "}"));
}

TEST(GraphDot, IsReadByGraphviz) {
  if (std::system("dot -V >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "Graphviz is not installed: there is no `dot`";
  }
  const std::string path = testing::TempDir() + "graph_picture_test.dot";
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::ofstream(path) << GraphDot(PictureOfGraph(seed == 0 ? Step() : MakeRandomGraph(seed)));
    EXPECT_EQ(std::system(("dot -Tsvg '" + path + "' >/dev/null").c_str()), 0);
  }
}

}  // namespace
}  // namespace cgrun
