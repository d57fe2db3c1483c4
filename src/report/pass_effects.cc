// A row a pass, between the graph as it was differentiated and as it was planned.
#include "src/report/pass_effects.h"

#include <fmt/format.h>

#include "src/report/table.h"

namespace cgrun {
namespace {

std::string ChangeText(const PassEffect& pass) {
  if (pass.rounds == 0) return "";
  if (pass.changed_rounds == 0) return "unchanged";
  return pass.nodes_added == 0 ? "changed" : fmt::format("{:+}", pass.nodes_added);
}

// Nodes that no pass added: copies of values that an update would write over too early.
int OtherNodes(const PassEffects& effects) {
  int others = effects.nodes_after - effects.nodes_before;
  for (const PassEffect& pass : effects.passes) others -= pass.nodes_added;
  return others;
}

}  // namespace

std::string PassEffectsText(const PassEffects& effects) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({fmt::format("pass over '{}'", effects.entry), "rounds", "operators", "time"});
  table.AddRule();
  table.Add({"as differentiated", "", FormatCount(effects.nodes_before), ""});
  for (const PassEffect& pass : effects.passes) {
    table.Add({pass.name, pass.rounds == 0 ? "not run" : FormatCount(pass.rounds), ChangeText(pass),
               pass.rounds == 0 ? "" : fmt::format("{:.3f} ms", 1e3 * pass.seconds)});
  }
  if (const int others = OtherNodes(effects); others != 0) {
    table.Add({"copies for updates", "", fmt::format("{:+}", others), ""});
  }
  table.AddRule();
  table.Add({"as planned", "", FormatCount(effects.nodes_after), ""});
  return table.ToString("  ");
}

}  // namespace cgrun
