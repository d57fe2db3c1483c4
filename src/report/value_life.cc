// Follows a value through the schedule.
#include "src/report/value_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string_view>

#include "src/base/json_text.h"
#include "src/ir/op_def.h"
#include "src/plan/liveness.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

bool Holds(const std::vector<ValueId>& values, ValueId value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

ValueUse UseBy(const Node& node, int64_t step) {
  return {step, node.name, std::string(NameOf(node.op)), node.mark};
}

std::string WhyKept(const Graph& graph, ValueId value) {
  const Role role = graph.values[value].role;
  if (role == Role::kConstant) return "it is a constant";
  if (IsState(role)) return fmt::format("it is state ({}), kept between steps", Name(role));
  for (const Output& output : graph.outputs) {
    if (output.value == value) return "'" + output.name + "' is read after the step";
  }
  for (const UpdateEdge& edge : graph.updates) {
    if (edge.next == value) return "it is a new value of '" + graph.values[edge.state].name + "'";
  }
  return "";
}

std::string StepsText(const ValueLife& life) {
  const Lifespan& span = life.lifespan;
  if (span.lower == 0 && span.upper >= life.steps) return "all steps";
  std::string text = span.upper - span.lower == 1
                         ? fmt::format("step {}", span.lower)
                         : fmt::format("steps {} to {}", span.lower, span.upper - 1);
  text += fmt::format(" of {}", life.steps);
  const bool at_peak = span.lower <= life.peak_step && life.peak_step < span.upper;
  return text + (at_peak ? fmt::format(", the peak at step {} among them", life.peak_step)
                         : fmt::format("; not at the peak, step {}", life.peak_step));
}

// The longest time in which nothing touches the value, for what is not short-lived.
std::string IdleText(const ValueLife& life) {
  std::vector<int64_t> touched;
  for (const ValueUse& use : life.made) touched.push_back(use.step);
  for (const ValueUse& use : life.reads) touched.push_back(use.step);
  int64_t from = 0, to = 0;
  for (size_t i = 1; i < touched.size(); ++i) {
    if (touched[i] - touched[i - 1] <= to - from) continue;
    from = touched[i - 1];
    to = touched[i];
  }
  if (to - from < 2) return "";
  return fmt::format("  Nothing touches it between the steps {} and {}.\n", from, to);
}

void AddUse(TextTable& table, const std::string& what, const ValueUse& use,
            const std::string& note) {
  table.Add({what, fmt::format("step {}", use.step), use.node, use.op, use.mark.ToString(), note});
}

std::string LifeText(const ValueLife& life) {
  std::string out = fmt::format("'{}' in '{}': {}, {}, zone {}\n", life.name, life.entry, life.type,
                                FormatBytes(life.bytes), Name(life.zone));
  out += "  Alive: " + StepsText(life) + ".\n";
  TextTable table(std::vector<Align>(6, Align::kLeft));
  for (const ValueUse& use : life.made) {
    AddUse(table, life.is_workspace ? "used" : "made", use, "");
  }
  for (size_t i = 0; i < life.reads.size(); ++i) {
    const bool last = i + 1 == life.reads.size() && life.kept_because.empty();
    AddUse(table, i == 0 ? "read" : "", life.reads[i], last ? "keeps it alive until here" : "");
  }
  out += table.ToString("  ");
  if (!life.kept_because.empty()) out += "  Kept, as " + life.kept_because + ".\n";
  out += IdleText(life);
  out += fmt::format("  Its bytes begin at offset {}", FormatCount(life.offset));
  if (!life.shares_with.empty()) {
    out += fmt::format(", and hold in turn: {}", fmt::join(life.shares_with, ", "));
  }
  return out + ".\n";
}

Json UseJson(const ValueUse& use) {
  return {{"step", use.step}, {"node", use.node}, {"op", use.op}, {"source", use.mark.ToString()}};
}

// Returns whether a value of the same buffer has bytes in common with `value`: two parts of one
// have none.
bool Meet(const Graph& graph, const EntryLayout& placed, ValueId value, const std::string& name) {
  const ValueId other = graph.FindValue(name);
  if (!other.valid()) return true;  // a state's, in another entry point
  return placed.offset[other] < placed.offset[value] + graph.BytesOf(value) &&
         placed.offset[value] < placed.offset[other] + graph.BytesOf(other);
}

// Returns the facts that all values in a buffer have in common.
ValueLife LifeIn(const PlacedBuffer& buffer, const PlannedEntry& planned,
                 const MemoryLayout& layout, int entry) {
  ValueLife life;
  life.entry = planned.name;
  life.zone = buffer.zone;
  life.steps = static_cast<int64_t>(planned.schedule->steps.size());
  life.peak_step = PeakStep(layout, entry);
  return life;
}

}  // namespace

ValueLife LifeOf(ValueId value, const PlannedEntry& planned, const MemoryLayout& layout,
                 int entry) {
  const Graph& graph = *planned.graph;
  const EntryLayout& placed = layout.entries[static_cast<size_t>(entry)];
  const PlacedBuffer& buffer = layout.buffers[static_cast<size_t>(placed.buffer[value])];
  ValueLife life = LifeIn(buffer, planned, layout, entry);
  life.name = graph.values[value].name;
  life.type = graph.values[value].type.ToString();
  life.bytes = graph.BytesOf(value);
  life.lifespan = ComputeLiveness(graph, *planned.schedule).values[value];
  for (int64_t step = 0; step < life.steps; ++step) {
    const Node& node = graph.nodes[planned.schedule->steps[static_cast<size_t>(step)].node];
    if (Holds(node.outputs, value)) life.made.push_back(UseBy(node, step));
    if (Holds(node.inputs, value)) life.reads.push_back(UseBy(node, step));
  }
  life.kept_because = WhyKept(graph, value);
  life.offset = placed.offset[value];
  for (const std::string& name : buffer.values) {
    if (name != life.name && Meet(graph, placed, value, name)) life.shares_with.push_back(name);
  }
  return life;
}

ValueLife LifeOfWorkspace(NodeId node, const PlannedEntry& planned, const MemoryLayout& layout,
                          int entry) {
  const Graph& graph = *planned.graph;
  const EntryLayout& placed = layout.entries[static_cast<size_t>(entry)];
  const PlacedBuffer& buffer = layout.buffers[static_cast<size_t>(placed.workspace_buffer[node])];
  ValueLife life = LifeIn(buffer, planned, layout, entry);
  life.name = buffer.name;
  life.type = "workspace of the kernel";
  life.bytes = buffer.bytes;
  life.lifespan = buffer.lifespan;
  life.made.push_back(UseBy(graph.nodes[node], buffer.lifespan.lower));
  life.is_workspace = true;
  life.offset = placed.workspace_offset[node];
  return life;
}

int64_t PeakStep(const MemoryLayout& layout, int entry) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // of bytes, by step
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (buffer.entry != entry || buffer.persistent) continue;
    if (buffer.arena != ArenaKind::kDevice) continue;
    changes.emplace_back(buffer.lifespan.lower, buffer.bytes);
    changes.emplace_back(buffer.lifespan.upper, -buffer.bytes);
  }
  std::ranges::sort(changes);  // deaths at a step go before births
  int64_t alive = 0, most = 0, peak = 0;
  for (const auto& [step, bytes] : changes) {
    alive += bytes;
    if (alive > most) peak = step;
    most = std::max(most, alive);
  }
  return peak;
}

int64_t CopiesAtPeak(const Graph& graph, const MemoryLayout& layout, int entry) {
  const int64_t peak = PeakStep(layout, entry);
  int64_t bytes = 0;
  for (const NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    const int workspace = layout.entries[static_cast<size_t>(entry)].workspace_buffer[id];
    const bool copies = node.kernel && node.kernel->widens;
    if (workspace < 0 || !copies) continue;
    const PlacedBuffer& buffer = layout.buffers[static_cast<size_t>(workspace)];
    const bool at_peak = buffer.lifespan.lower <= peak && peak < buffer.lifespan.upper;
    if (at_peak) bytes += buffer.bytes;
  }
  return bytes;
}

std::string ValueLivesText(const std::vector<ValueLife>& lives, bool all) {
  if (all) return fmt::format("{}", fmt::join(lives | std::views::transform(LifeText), "\n"));
  std::string out = LifeText(lives.at(0));
  if (lives.size() == 1) return out;
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  for (size_t i = 1; i < lives.size(); ++i) {
    table.Add({"in '" + lives[i].entry + "'", FormatBytes(lives[i].bytes), StepsText(lives[i])});
  }
  return out + "\n" + table.ToString("  ") + "  --full tells as much of each.\n";
}

std::string ValueLivesJson(const std::vector<ValueLife>& lives) {
  Json json = Json::array();
  for (const ValueLife& life : lives) {
    Json one = {{"entry", life.entry},
                {"name", life.name},
                {"type", life.type},
                {"bytes", life.bytes},
                {"zone", Name(life.zone)},
                {"lower", life.lifespan.lower},
                {"upper", life.lifespan.upper},
                {"steps", life.steps},
                {"offset", life.offset},
                {"shares_with", life.shares_with},
                {"peak_step", life.peak_step},
                {"kept_because", life.kept_because}};
    if (!life.fused.empty()) one["fused_value"] = life.fused;
    if (life.is_workspace) one["workspace"] = true;  // `made` is the operator that uses it
    one["made"] = life.made.empty() ? Json() : UseJson(life.made[0]);
    one["reads"] = Json::array();
    for (const ValueUse& use : life.reads) one["reads"].push_back(UseJson(use));
    json.push_back(one);
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
