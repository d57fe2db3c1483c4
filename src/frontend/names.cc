#include "src/frontend/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/word_list.h"

namespace cgrun {

std::optional<ValueId> Scope::Find(const std::string& name) const {
  const auto it = values.find(name);
  if (it != values.end()) return it->second;
  return outer == nullptr ? std::nullopt : outer->Find(name);
}

void Scope::CollectNames(std::vector<std::string>& names) const {
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (outer != nullptr) outer->CollectNames(names);
}

void Names::Declare(const PathSpec& path) {
  for (const OpSpec& op : path.ops) {
    for (const MarkedText& name : OutputNames(op)) {
      const Declaration here{path.name.value, name.mark.line};
      declared_.emplace(name.value, here);
      declared_.emplace(path.name.value + "." + name.value, here);
    }
  }
  std::vector<std::string>& read = read_[path.name.value];
  const auto add = [&](const OpSpec& op) {
    for (const MarkedText& name : op.in) read.push_back(name.value);
  };
  for (const OpSpec& op : path.ops) add(op);
  for (const LossSpec& loss : path.losses) add(loss.op);
  for (const MetricSpec& metric : path.metrics) add(metric.op);
}

void Names::DeclareLeftOut(const PathSpec& path, bool maybe_meant) {
  Declare(path);
  left_out_.emplace(path.name.value, maybe_meant);
}

bool Names::IsLeftOut(const std::string& name) const {
  const auto declared = declared_.find(name);
  return declared != declared_.end() && left_out_.contains(declared->second.path);
}

void Names::Publish(const Scope& scope, const std::string& path) {
  for (const auto& [name, value] : scope.values) {
    const auto [first, is_new] = first_path_.emplace(name, path);
    if (ambiguous_.contains(name)) continue;
    if (is_new || first->second == path) {
      global_.values[name] = value;
    } else {
      global_.values[name] = ValueId();
      ambiguous_[name] = first->second + "." + name + "' or '" + path + "." + name;
    }
  }
}

namespace {

// Returns whether `name` says something inside of what could not be built: "stage[1].conv" of
// 'stage'.
bool IsInsideUnknown(const std::string& name, const Scope& scope) {
  for (size_t i = name.find_first_of(".["); i != std::string::npos;
       i = name.find_first_of(".[", i + 1)) {
    const std::optional<ValueId> outer = scope.Find(name.substr(0, i));
    if (outer && !outer->valid()) return true;
  }
  return false;
}

}  // namespace

std::vector<Names::Read> Names::ReadsOf(const std::string& path) const {
  std::vector<Read> reads;
  const auto names = read_.find(path);
  if (names == read_.end()) return reads;
  for (const std::string& name : names->second) {
    const auto made = declared_.find(name);
    const bool own = declared_.contains(path + "." + name);
    if (made != declared_.end() && !own) reads.push_back({path, name, made->second.path});
  }
  return reads;
}

std::vector<Names::Read> Names::CircleOf(const std::string& name) const {
  const auto declared = declared_.find(name);
  if (declared == declared_.end() || declared->second.path == current_) return {};
  std::vector<std::vector<Read>> ways = {{{current_, name, declared->second.path}}};
  std::set<std::string> seen = {declared->second.path};
  for (size_t i = 0; i < ways.size(); ++i) {  // the shortest first
    const std::vector<Read> way = ways[i];
    if (way.back().from == current_) return way;
    for (const Read& read : ReadsOf(way.back().from)) {
      if (!seen.insert(read.from).second) continue;
      ways.push_back(way);
      ways.back().push_back(read);
    }
  }
  return {};
}

namespace {

// Names that data sets and other programs give to what a network is to find.
constexpr std::string_view kOfTargets[] = {"label", "labels", "target",  "targets",
                                           "class", "y_true", "classes", "mask"};

// Says how a value gets a name that nothing has yet.
std::string HelpWithNewName(const std::string& name) {
  if (std::ranges::find(kOfTargets, name) == std::end(kOfTargets)) {
    return "`- " + name + ": {op: …}` gives an operator's output a name";
  }
  return "what the data feed is an input: `inputs: {" + name +
         ": {type: int32, shape: []}}` for classes, `{type: f32, shape: [1]}` for a number";
}

}  // namespace

void Names::ReportLeftOut(const MarkedText& name, Diagnostics& diagnostics) const {
  const std::string& path = declared_.at(name.value).path;
  if (left_out_.at(path)) return;
  diagnostics.Error(
      name.mark,
      "path '" + path + "' is left out of `train.sequence`, so nothing computes '" + name.value +
          "'",
      "name '" + path + "' there, too" + (current_.empty() ? "" : ", before '" + current_ + "'"));
}

std::string Names::HelpWithUnknown(const std::string& name, const Scope& scope) const {
  const auto declared = declared_.find(name);
  if (declared == declared_.end()) {
    std::vector<std::string> names;
    scope.CollectNames(names);
    if (!NearestName(name, names).empty()) return SuggestName(name, names);
    return SuggestName(name, names) + "; " + HelpWithNewName(name);
  }
  const auto& [path, line] = declared->second;
  if (path == current_) {
    return "it is made in line " + std::to_string(line) +
           ", and an operator reads only what is made above it";
  }
  return "it is made in path '" + path +
         "': let that run first (the order of `paths`, or `train.sequence`)";
}

ValueId Names::Lookup(const MarkedText& name, const Scope& scope, Diagnostics& diagnostics) const {
  const std::optional<ValueId> value = scope.Find(name.value);
  const auto ambiguous = ambiguous_.find(name.value);
  const bool own = &scope != &global_ && scope.values.contains(name.value);
  if (value && !value->valid() && !own && ambiguous != ambiguous_.end()) {
    diagnostics.Error(name.mark, "two paths have a value '" + name.value + "'",
                      "write '" + ambiguous->second + "'");
  }
  if (value) return *value;
  if (incomplete_ || IsInsideUnknown(name.value, scope)) return ValueId();
  if (IsLeftOut(name.value) && !left_out_.contains(current_)) {
    ReportLeftOut(name, diagnostics);
    return ValueId();
  }
  const std::vector<Read> circle = CircleOf(name.value);
  if (circle.empty()) {
    diagnostics.Error(name.mark, "there is no value '" + name.value + "' before this place",
                      HelpWithUnknown(name.value, scope));
    return ValueId();
  }
  std::vector<std::string> paths, reads;
  for (const Read& read : circle) {
    paths.push_back("'" + read.reader + "'");
    reads.push_back(fmt::format("reads '{}' of '{}'", read.name, read.from));
  }
  diagnostics.Error(
      name.mark,
      fmt::format("the paths {} read each other{}", ListWords(paths, "and"),
                  circle.size() > 2 ? " in a circle" : ""),
      fmt::format("{} {}; split one of them, so that each reads only what is made before it",
                  paths[0], fmt::join(reads, ", which ")));
  return ValueId();
}

}  // namespace cgrun
