// Finding the name among those of the optimised graphs.
#include "src/cli/plan_why.h"

#include <algorithm>

#include "src/cli/console.h"
#include "src/report/fused_name.h"
#include "src/report/value_life.h"

namespace cgrun {
namespace {

constexpr size_t kMostMeant = 8;  // names that the help lists
constexpr char kWhoLists[] = "`cgrun graph MODEL` and `cgrun plan MODEL --full` list them";

// Of all entry points, each once.
std::vector<std::string> NamesOf(const std::vector<PlannedEntry>& entries) {
  std::vector<std::string> names;
  for (const PlannedEntry& entry : entries) {
    for (const Value& value : entry.graph->values) {
      if (std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
    }
  }
  return names;
}

// The last `parts` parts of a name, which dots part.
std::string EndOf(const std::string& name, std::ptrdiff_t parts) {
  size_t begin = name.size();
  for (; parts > 0 && begin != std::string::npos; --parts) {
    begin = begin == 0 ? std::string::npos : name.rfind('.', begin - 1);
  }
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

// The name that is nearly `name`, or ends nearly so; "" where there is none.
std::string NearlyCalled(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return nearest;
  const std::ptrdiff_t parts = std::ranges::count(name, '.') + 1;
  std::vector<std::string> ends;
  for (const std::string& other : known) ends.push_back(EndOf(other, parts));
  const auto end = std::ranges::find(ends, NearestName(name, ends));
  return end == ends.end() ? "" : known[static_cast<size_t>(end - ends.begin())];
}

// "'a', 'b' or 'c'"; of many the first few: "'a', 'b', … and 12 more".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  const size_t shown = std::min(names.size(), kMostMeant);
  for (size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  }
  if (shown == names.size()) return text;
  return text + ", … and " + std::to_string(names.size() - shown) + " more; " + kWhoLists;
}

// Names with a part that begins with `name`, as those of an operator's values do.
std::vector<std::string> WithPart(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> found;
  for (const std::string& other : known) {
    if (other.starts_with(name) || other.find("." + name) != std::string::npos) {
      found.push_back(other);
    }
  }
  return found;
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

InputError NoValue(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> related = WithPart(name, known);
  KeepLastRuns(related, known);
  const std::string nearest = related.empty() ? NearlyCalled(name, known) : Listed(related);
  return InputError("no value is called '" + name + "' once the graph is optimised",
                    nearest.empty()   ? kWhoLists
                    : related.empty() ? "did you mean '" + nearest + "'?"
                                      : "names with a part that begins so: " + nearest);
}

InputError SeveralValues(const std::string& name, const std::vector<std::string>& meant) {
  const std::string names = Listed(meant);
  return InputError(
      "'" + name + "' is the end of " + std::to_string(meant.size()) + " names of values",
      meant.size() > kMostMeant ? "they are " + names : "did you mean " + names + "?");
}

// The value of the operator which computes that of the operator `name`, of parameters, besides; it
// says so, for what a fused node computes in between has no names. "" where there is none.
std::string NameOfFused(const std::vector<PlannedEntry>& entries, const std::string& name) {
  for (const PlannedEntry& entry : entries) {
    for (const Node& node : entry.graph->nodes) {
      if (node.body.empty() || node.phase != Phase::kForward) continue;
      for (const ValueId input : node.inputs) {
        const std::string owner = OwnerOf(*entry.graph, input);
        if (owner.empty() || (owner != name && !owner.ends_with("." + name))) continue;
        const std::string& within = entry.graph->values[node.outputs[0]].name;
        Tell("note: '" + owner + "' is computed within '" + within + "' (" + OperatorText(node) +
             "), and is no value of its own; this is of '" + within + "'");
        return within;
      }
    }
  }
  return "";
}

std::string FullName(const std::vector<PlannedEntry>& entries, const std::string& name) {
  const std::vector<std::string> known = NamesOf(entries);
  if (std::ranges::find(known, name) != known.end()) return name;
  std::vector<std::string> meant;
  for (const std::string& other : known) {
    if (other.ends_with("." + name)) meant.push_back(other);
  }
  KeepLastRuns(meant, known);
  if (meant.empty()) {
    const std::string within = NameOfFused(entries, name);
    if (!within.empty()) return within;
    throw NoValue(name, known);
  }
  if (meant.size() > 1) throw SeveralValues(name, meant);
  return meant[0];
}

}  // namespace

void TellWhy(const std::vector<PlannedEntry>& entries, const MemoryLayout& layout,
             const std::string& name, bool all_entries) {
  const std::string full_name = FullName(entries, name);
  std::vector<ValueLife> lives;
  for (size_t e = 0; e < entries.size(); ++e) {
    const ValueId value = entries[e].graph->FindValue(full_name);
    if (!value.valid()) continue;
    lives.push_back(LifeOf(value, entries[e], layout, static_cast<int>(e)));
  }
  PrintResult(ValueLivesText(lives, all_entries), ValueLivesJson(lives));
}

}  // namespace cgrun
