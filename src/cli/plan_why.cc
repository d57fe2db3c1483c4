// Finds the name by the rule of `keep`, then among the names of the optimised graphs.
#include "src/cli/plan_why.h"

#include <algorithm>

#include "src/cli/console.h"
#include "src/compile/fused_value.h"
#include "src/compile/model_graph.h"
#include "src/compile/named_value.h"
#include "src/fit/run_shape.h"
#include "src/frontend/near_names.h"
#include "src/model/gradient_name.h"
#include "src/report/fused_name.h"
#include "src/report/value_life.h"

namespace cgrun {
namespace {

// A value that a name stands for.
struct Meant {
  std::string value;           // "" where there is none
  std::string fused = {};      // the meant value, if the node of `value` computes it besides …
  std::string operators = {};  // … as one of these: "conv + relu"
};

// Returns the names of the values of all entry points, each once.
std::vector<std::string> NamesOf(const std::vector<PlannedEntry>& entries) {
  std::vector<std::string> names;
  for (const PlannedEntry& entry : entries) {
    for (const Value& value : entry.graph->values) {
      if (std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
    }
  }
  return names;
}

// "one.logits" of "one[0].logits": the value that the last run of a path has by its name, where a
// step runs the path several times.
std::string NameInLastRun(const std::string& name) {
  const size_t bracket = name.find('['), dot = name.find('.');
  return bracket < dot && dot != name.npos ? name.substr(0, bracket) + name.substr(dot) : name;
}

// Takes out the values of a path's earlier runs: who means one of those names it in full.
void KeepLastRuns(std::vector<std::string>& names, const std::vector<std::string>& known) {
  std::erase_if(names, [&](const std::string& name) {
    const std::string last = NameInLastRun(name);
    return last != name && std::ranges::find(known, last) != known.end();
  });
}

// "grad(one.conv.weight)" for "conv.weight.grad", as other programs write it; "" for another name.
std::string GradientMeant(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::string_view kEnd = ".grad";
  if (!name.ends_with(kEnd)) return "";
  const std::string of = name.substr(0, name.size() - kEnd.size());
  const auto it = std::ranges::find_if(
      known, [&](const std::string& value) { return value == of || value.ends_with("." + of); });
  return it == known.end() ? "" : "grad(" + *it + ")";
}

InputError NoValue(const std::string& name, const std::vector<std::string>& known) {
  const std::string gradient = GradientMeant(name, known);
  if (!gradient.empty()) {
    return InputError("no value is called '" + name + "' once the graph is optimised",
                      "did you mean '" + gradient + "'?");
  }
  std::vector<std::string> related = NamesWithPart(name, known);
  KeepLastRuns(related, known);
  return InputError("no value is called '" + name + "' once the graph is optimised",
                    HelpWithName(name, known, related));
}

InputError SeveralValues(const std::string& name, const std::vector<std::string>& meant,
                         const std::string& what = "values") {
  const std::string names = ListOfNames(meant);
  return InputError(
      "'" + name + "' is the end of " + std::to_string(meant.size()) + " names of " + what,
      meant.size() > kMostListed ? "they are " + names : "did you mean " + names + "?");
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// "conv + relu" of the node that makes `value`, which has the activation in its name: a kernel can
// do that besides.
std::string TextOf(const std::vector<PlannedEntry>& entries, const std::string& value) {
  const std::string activation = value.substr(value.rfind('.') + 1);
  std::string text;
  for (const PlannedEntry& entry : entries) {
    const ValueId id = entry.graph->FindValue(value);
    const NodeId producer = id.valid() ? entry.graph->values[id].producer : NodeId();
    if (text.empty() && producer.valid()) text = OperatorText(entry.graph->nodes[producer]);
  }
  return text.find(activation) == text.npos ? text + " + " + activation : text;
}

// Says that a value within a fused node has no bytes of its own. If only one entry point has the
// fused node, and others have the value itself, `entry` names it; else it is "".
void TellOfFused(const Meant& meant, const std::string& entry = "") {
  if (meant.fused.empty()) return;
  const bool is_elsewhere = !entry.empty();
  Tell("note: '" + meant.fused + "' was fused into '" + meant.value + "' (" + meant.operators +
       ")" + (is_elsewhere ? " in '" + entry + "'" : "") + ", and takes no bytes of its own" +
       (is_elsewhere ? " there" : "") +
       ": the kernel hands it on as it computes, in its workspace or in the bytes of its result" +
       (is_elsewhere ? "" : "; this is of '" + meant.value + "'"));
}

// The nodes of an entry point whose workspace has that name, or one that ends with it.
std::vector<NodeId> NodesByWorkspace(const PlannedEntry& entry, const EntryLayout& placed,
                                     const std::string& name) {
  std::vector<NodeId> nodes;
  for (const NodeId id : entry.graph->nodes.ids()) {
    if (placed.workspace_buffer[id] < 0) continue;
    const std::string workspace = entry.graph->nodes[id].name + ".workspace";
    if (workspace == name || workspace.ends_with("." + name)) nodes.push_back(id);
  }
  return nodes;
}

// If `name` is that of a workspace and not of a value, returns the lives of this workspace; else
// nothing.
std::vector<ValueLife> LivesOfWorkspace(const std::vector<PlannedEntry>& entries,
                                        const MemoryLayout& layout, const std::string& name) {
  std::vector<ValueLife> lives;
  if (!name.ends_with(".workspace") || Has(NamesOf(entries), name)) return lives;
  std::vector<std::string> meant;
  for (size_t e = 0; e < entries.size(); ++e) {
    for (const NodeId id : NodesByWorkspace(entries[e], layout.entries[e], name)) {
      lives.push_back(LifeOfWorkspace(id, entries[e], layout, static_cast<int>(e)));
      if (!Has(meant, lives.back().name)) meant.push_back(lives.back().name);
    }
  }
  if (meant.size() > 1 && !Has(meant, name)) throw SeveralValues(name, meant, "workspaces");
  std::erase_if(lives,
                [&](const ValueLife& life) { return meant.size() > 1 && life.name != name; });
  return lives;
}

// The value of the operator which computes that of the operator `name`, of parameters, besides.
Meant NameOfFused(const std::vector<PlannedEntry>& entries, const std::string& name) {
  for (const PlannedEntry& entry : entries) {
    for (const Node& node : entry.graph->nodes) {
      if (node.body.empty() || node.phase != Phase::kForward) continue;
      for (const ValueId input : node.inputs) {
        const std::string owner = OwnerOf(*entry.graph, input);
        if (owner.empty() || (owner != name && !owner.ends_with("." + name))) continue;
        const std::string& within = entry.graph->values[node.outputs[0]].name;
        return {within, owner, OperatorText(node)};
      }
    }
  }
  return {};
}

// Does the same for any value that the graph had before the passes: "conv1.relu", "add[0]".
Meant NameOfFusedValue(const std::vector<PlannedEntry>& entries, const std::string& name,
                       const ModelSpec& model, const CompileOptions& options) {
  Diagnostics errors;
  const EntryKind kind = PredictsAlone(model) ? EntryKind::kPredict : EntryKind::kTrain;
  const auto before = BuildModelGraph(model, kind, options, errors);
  if (!before) return {};
  const Graph& after = *entries[0].graph;
  std::vector<Meant> found;
  for (const ValueId id : before->values.ids()) {
    const std::string& full_name = before->values[id].name;
    if (full_name != name && !full_name.ends_with("." + name)) continue;
    const ValueId into = FindFusedInto(*before, id, after);
    if (!into.valid()) continue;
    const Value& within = after.values[into];
    found.push_back({within.name, full_name, OperatorText(after.nodes[within.producer])});
  }
  if (found.empty()) return {};
  if (found.size() == 1 || found[0].fused == name) return found[0];
  std::vector<std::string> names;
  for (const Meant& one : found) names.push_back(one.fused);
  throw SeveralValues(name, names);
}

// The new value of `parameter` where the node that makes it computes the gradient, too.
Meant NameOfUpdate(const std::vector<PlannedEntry>& entries, const std::string& name,
                   const std::string& parameter) {
  for (const PlannedEntry& entry : entries) {
    const Graph& graph = *entry.graph;
    for (const UpdateEdge& edge : graph.updates) {
      if (graph.values[edge.state].name != parameter) continue;
      const NodeId producer = graph.values[edge.next].producer;
      if (!producer.valid() || graph.nodes[producer].body.empty()) continue;
      const std::string& within = graph.values[edge.next].name;
      return {within, name, OperatorText(graph.nodes[producer])};
    }
  }
  return {};
}

// Reports a gradient that the graph does not have.
InputError NoGradient(const std::string& name, const NamedValue& named) {
  if (!named.is_needed) {
    return InputError("a step does not compute " + name + ": nothing reads it",
                      "`--keep '" + name + "'` has it computed");
  }
  return InputError(name + " is no value of its own once the graph is optimised",
                    "the operators that read '" + named.value +
                        "' compute it themselves; `--keep '" + name + "'` keeps it whole");
}

// Finds a value by the end of a name of the optimised graph, as its tables and pictures show it.
Meant NameInGraph(const std::vector<PlannedEntry>& entries, const std::string& name,
                  const std::vector<std::string>& known, const ModelSpec& model,
                  const CompileOptions& options) {
  if (Has(known, name)) return {name};
  std::vector<std::string> meant;
  for (const std::string& other : known) {
    if (other.ends_with("." + name)) meant.push_back(other);
  }
  KeepLastRuns(meant, known);
  if (meant.empty()) {
    Meant within = NameOfFused(entries, name);
    if (within.value.empty()) within = NameOfFusedValue(entries, name, model, options);
    if (!within.value.empty()) return within;
    throw NoValue(name, known);
  }
  if (meant.size() > 1) throw SeveralValues(name, meant);
  return {meant[0]};
}

Meant NameOfGradient(const std::vector<PlannedEntry>& entries, const std::string& name,
                     const NamedValue& named, const std::vector<std::string>& known) {
  if (Has(known, named.value)) return {named.value};
  const Meant within = NameOfUpdate(entries, name, named.gradient_of);
  if (!within.value.empty()) return within;
  throw NoGradient(name, named);
}

// Finds the values that the user's name means, as for `--keep`, or else a name of the optimised
// graph alone. If an operator's `activation` is an operator of its own, both values are returned.
std::vector<Meant> FindNames(const std::vector<PlannedEntry>& entries, const std::string& name,
                             const ModelSpec& model, const CompileOptions& options) {
  const std::vector<std::string> known = NamesOf(entries);
  Diagnostics errors;
  const auto named = FindNamedValue(model, name, options, errors);
  if (const auto gradient = ParseGradientName(name)) {
    if (named) return {NameOfGradient(entries, name, *named, known)};
    Diagnostics of_value;
    if (!FindNamedValue(model, gradient->value, options, of_value)) {
      throw NoValue(gradient->value, known);
    }
    for (const Diagnostic& error : errors.Sorted()) {
      if (error.severity == Severity::kError) throw InputError(error.message, error.help);
    }
  }
  if (!named) return {NameInGraph(entries, name, known, model, options)};
  const std::string& before = named->before_activation;
  if (!Has(known, named->value) && !named->is_needed) {
    throw InputError("'" + name +
                         "' is not computed: nothing reads it, so that it is taken out when "
                         "the graph is optimised",
                     "`--keep '" + name + "'` has it computed");
  }
  if (!Has(known, named->value)) return {NameInGraph(entries, name, known, model, options)};
  if (before.empty()) return {{named->value}};
  if (!Has(known, before)) return {{named->value, before, TextOf(entries, named->value)}};
  Tell("note: '" + name + "' is what its activation makes, '" + named->value +
       "', as for --keep; '" + before + "', which that reads, is behind it");
  return {{named->value}, {before}};
}

}  // namespace

void TellWhy(const std::vector<PlannedEntry>& entries, const MemoryLayout& layout,
             const std::string& name, bool all_entries, const ModelSpec& model,
             const CompileOptions& options) {
  std::vector<ValueLife> all = LivesOfWorkspace(entries, layout, name);
  if (!all.empty()) return PrintResult(ValueLivesText(all, all_entries), ValueLivesJson(all));
  std::string text;
  for (const Meant& meant : FindNames(entries, name, model, options)) {
    TellOfFused(meant);
    if (!entries[0].graph->FindValue(meant.value).valid()) {
      TellOfFused(NameOfFusedValue(entries, meant.value, model, options), entries[0].name);
    }
    std::vector<ValueLife> lives;
    for (size_t e = 0; e < entries.size(); ++e) {
      const ValueId value = entries[e].graph->FindValue(meant.value);
      if (!value.valid()) continue;
      lives.push_back(LifeOf(value, entries[e], layout, static_cast<int>(e)));
      lives.back().fused = meant.fused;
    }
    text += (text.empty() ? "" : "\n") + ValueLivesText(lives, all_entries);
    all.insert(all.end(), lives.begin(), lives.end());
  }
  PrintResult(text, ValueLivesJson(all));
}

}  // namespace cgrun
