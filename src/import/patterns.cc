// The table of formulas, and what becomes of each.
#include "src/import/patterns.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "src/import/item_graph.h"
#include "src/import/join_constants.h"
#include "src/import/match.h"

namespace cgrun {
namespace {

using Keys = std::vector<TreeEntry>;

// Returns the keys of the operator for a match on a value of `rank`; nothing where it cannot do
// what the match does.
using KeysOf = std::optional<Keys> (*)(const FormulaMatch& match, int rank);

std::optional<Keys> NoKeys(const FormulaMatch&, int) { return Keys(); }

std::optional<Keys> ByTanh(const FormulaMatch&, int) {
  return Keys{KeyOf("approximate", std::string("tanh"))};
}

// The operator has one axis.
std::optional<Keys> OneAxis(const FormulaMatch& match, int rank) {
  if (match.axes.size() != 1) return std::nullopt;
  if (match.axes[0] == rank - 1) return Keys();
  return Keys{KeyOf("axis", match.axes[0])};
}

// The operator normalises all axes from one on.
std::optional<Keys> LastAxes(const FormulaMatch& match, int rank) {
  if (match.number < 0 || match.axes.empty()) return std::nullopt;
  const int64_t first = match.axes.front();
  if (match.axes.back() != rank - 1 || rank - first != std::ssize(match.axes)) return std::nullopt;
  Keys keys = {KeyOf("axis", first)};
  if (static_cast<float>(match.number) != 1e-5f) {
    keys.push_back(KeyOf("epsilon", NumberText(match.number)));
  }
  keys.push_back(KeyOf("affine", false));
  return keys;
}

struct Pattern {
  const char* op;
  KeysOf keys;
  const char* formula;
};

// `x` is what the operator reads.
constexpr Pattern kPatterns[] = {
    {"gelu", NoKeys, "0.5 * x * (1 + erf(0.70710678118654752 * x))"},
    {"gelu", NoKeys, "x * (0.5 + 0.5 * erf(0.70710678118654752 * x))"},
    {"gelu", NoKeys, "h = 0.5 * x; h + h * erf(0.70710678118654752 * x)"},
    {"gelu", ByTanh, "0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x^3)))"},
    {"gelu", ByTanh, "0.5 * x * (1 + tanh(0.79788456080286536 * x * (1 + 0.044715 * x^2)))"},
    {"gelu", ByTanh, "x * (0.5 + 0.5 * tanh(0.79788456080286536 * (x + 0.044715 * x^3)))"},
    {"gelu", ByTanh, "x * (0.5 + 0.5 * tanh(0.79788456080286536 * x * (1 + 0.044715 * x^2)))"},
    {"silu", NoKeys, "x * sigmoid(x)"},
    {"silu", NoKeys, "x / (1 + exp(-1 * x))"},
    {"hard_swish", NoKeys, "x * clip(x + 3, 0, 6) / 6"},
    {"hard_swish", NoKeys, "x * clip(0.5 + x / 6, 0, 1)"},
    {"softmax", OneAxis, "p = exp(x - max(x)); p / sum(p)"},
    {"softmax", OneAxis, "p = exp(x); p / sum(p)"},
    {"log_softmax", OneAxis, "c = x - max(x); c - log(sum(exp(c)))"},
    {"layer_norm", LastAxes, "c = x - mean(x); c / sqrt(mean(c^2) + e)"},
    {"layer_norm", LastAxes, "m = mean(x); (x - m) / sqrt(mean(x^2) - m^2 + e)"},
    {"layer_norm", LastAxes,
     "m = mean(x); i = scale / sqrt(mean((x - m)^2) + e); x * i + (shift - m * i)"},
    {"layer_norm", LastAxes, "m = mean(x); i = 1 / sqrt(mean((x - m)^2) + e); x * i - m * i"},
};

struct ParsedPattern {
  Pattern pattern;
  Formula formula;
};

const std::vector<ParsedPattern>& ParsedPatterns() {
  static const std::vector<ParsedPattern> parsed = [] {
    std::vector<ParsedPattern> all;
    for (const Pattern& pattern : kPatterns) {
      all.push_back({pattern, ParseFormula(pattern.formula)});
    }
    return all;
  }();
  return parsed;
}

// Puts the operator of the first pattern that matches in the place of item `root`. Returns its
// name, or "".
std::string Recognise(ItemGraph& graph, int root) {
  const TensorType& type = graph.TypeOf(root);
  if (!IsFloat(type.dtype)) return "";
  for (const auto& [pattern, formula] : ParsedPatterns()) {
    const std::optional<FormulaMatch> match = MatchFormula(graph, formula, root);
    if (!match) continue;
    const int x = match->values.at("x");
    if (graph.TypeOf(x) != type) continue;
    std::optional<Keys> keys = pattern.keys(*match, type.shape.rank());
    if (!keys) continue;
    const std::string name = NameOfWhole(graph.at(root).item.name, pattern.op);
    Item item{name, pattern.op, {}, *std::move(keys), {}};
    if (match->values.contains("scale") &&
        !AddAffine(graph, item, match->values.at("scale"), match->values.at("shift"), x)) {
      continue;
    }
    graph.Replace(root, std::move(item), {{x, 0, ""}});
    return pattern.op;
  }
  return "";
}

}  // namespace

std::vector<std::string> RecognisePatterns(Network& network,
                                           const std::vector<std::string>& outputs,
                                           onnx::OnnxFile& file) {
  ItemGraph graph(network, outputs);
  std::map<std::string, int> counts;
  for (int root = 0; root < graph.size(); ++root) {
    if (graph.at(root).is_dead) continue;
    const std::string op = Recognise(graph, root);
    if (!op.empty()) ++counts[op];
  }
  for (const std::string& op : JoinConstants(graph, file)) ++counts[op];
  if (!graph.IsChanged()) return {};
  std::optional<Network> rebuilt = graph.Rebuilt();
  if (!rebuilt) return {};
  network = *std::move(rebuilt);
  std::vector<std::string> lines;
  for (const auto& [op, count] : counts) lines.push_back(fmt::format("{} × {}", count, op));
  return lines;
}

}  // namespace cgrun
