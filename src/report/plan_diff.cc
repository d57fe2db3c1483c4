// Compares two plans, figure by figure and buffer by buffer.
#include "src/report/plan_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// The plans themselves. An ordered object would look through all its keys for each that it is
// given.
using ParsedJson = nlohmann::json;

constexpr size_t kMostChanges = 20;                 // buffers that the text lists
constexpr uint64_t kMostBytes = uint64_t{1} << 60;  // of a figure: sums of a few do not overflow

constexpr const char* kCap = "memory_cap_bytes";

// Keys of the JSON, and what the text calls them.
constexpr std::pair<const char*, const char*> kFigures[] = {
    {"total_bytes", "total"}, {"arena_bytes", "arena"}, {"lower_bound_bytes", "lower bound"},
    {"data_bytes", "data"},   {"base_bytes", "base"},   {"eager_peak_bytes", "eager peak"}};

int64_t BytesAt(const ParsedJson& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

std::string TextAt(const ParsedJson& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// Calls `see` with each object of a list; never where there is no list.
template <class See>
void ForObjectsAt(const ParsedJson& json, const char* key, See see) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) return;
  for (const ParsedJson& item : *it) {
    if (item.is_object()) see(item);
  }
}

// A figure that is there is a number of bytes: taken for 0, it would say that a plan has grown.
// `where`: "" or what holds the figure, with a point behind it.
void CheckBytes(const ParsedJson& json, const std::string& where, const char* key,
                const std::string& name) {
  const auto it = json.find(key);
  if (it == json.end()) return;
  if (it->is_number_unsigned() && it->get<uint64_t>() <= kMostBytes) return;
  throw InputError("'" + name + "' has `" + where + key + "`: " + JsonText(*it) +
                       ", which is no number of bytes",
                   "write it anew with `cgrun plan MODEL --json FILE`");
}

void CheckFigures(const ParsedJson& json, const std::string& name) {
  for (const auto& [key, _] : kFigures) CheckBytes(json, "", key, name);
  const auto cap = json.find(kCap);
  if (cap != json.end() && !cap->is_null()) CheckBytes(json, "", kCap, name);  // null: no cap
  for (const char* list : {"zones", "buffers"}) {
    ForObjectsAt(json, list, [&](const ParsedJson& item) {
      CheckBytes(item, std::string(list) + ".", "bytes", name);
    });
  }
}

ParsedJson ParsePlan(std::string_view text, const std::string& name) {
  const ParsedJson json = TryParseJson(text);
  const bool is_plan = json.is_object() && json.contains("arena_bytes") && json.contains("buffers");
  if (!is_plan) {
    throw InputError("'" + name + "' is not what `cgrun plan --json` writes",
                     "write one before the change, for example with `cgrun plan MODEL --json "
                     "before.json`");
  }
  CheckFigures(json, name);
  return json;
}

// Another plan of the same model can have other values for these settings.
constexpr std::pair<const char*, const char*> kSettings[] = {
    {"device", "device"},        {"mode", "mode"},           {"batch", "batch"},
    {"threads", "threads"},      {"precision", "precision"}, {kCap, "cap"},
    {"tuning", "tuning record"}, {"order", "order"}};

// Throws InputError for plans of two models: what they take says nothing of a change.
void CheckModels(const ParsedJson& before, const std::string& before_name,
                 const ParsedJson& after) {
  const std::string then = TextAt(before, "model"), now = TextAt(after, "model");
  if (then.empty() || now.empty() || then == now) return;
  throw InputError(
      "'" + before_name + "' is a plan of '" + then + "', and this is one of '" + now + "'",
      "compare plans of one model; where it has another name now, change `model` in "
      "the file from before");
}

std::string SettingText(const ParsedJson& plan, const char* key) {
  const auto it = plan.find(key);
  if (it == plan.end() || it->is_null()) return "none";
  if (std::string_view(key).ends_with("_bytes") && it->is_number_unsigned()) {
    return FormatBytes(BytesAt(plan, key));
  }
  return it->is_string() ? it->get<std::string>() : JsonText(*it);
}

// Keys that only one of them has are of another version of this program.
void AddSettings(const ParsedJson& before, const ParsedJson& after, PlanDiff& diff) {
  for (const auto& [key, name] : kSettings) {
    if (!before.contains(key) || !after.contains(key) || before[key] == after[key]) continue;
    diff.settings.push_back({name, SettingText(before, key), SettingText(after, key)});
  }
}

void AddZones(const ParsedJson& before, const ParsedJson& after, PlanDiff& diff) {
  std::map<std::string, PlanFigure> zones;
  ForObjectsAt(before, "zones", [&](const ParsedJson& zone) {
    zones[TextAt(zone, "name")].before = BytesAt(zone, "bytes");
  });
  ForObjectsAt(after, "zones", [&](const ParsedJson& zone) {
    zones[TextAt(zone, "name")].after = BytesAt(zone, "bytes");
  });
  for (auto& [name, figure] : zones) {
    figure.name = "zone " + name;
    diff.figures.push_back(figure);
  }
}

void AddBuffers(const ParsedJson& before, const ParsedJson& after, PlanDiff& diff) {
  std::map<std::pair<std::string, std::string>, BufferChange> changes;
  const auto change_of = [&](const ParsedJson& buffer) -> BufferChange& {
    const std::string entry = TextAt(buffer, "entry"), name = TextAt(buffer, "name");
    BufferChange& change = changes[{entry, name}];
    change.entry = entry;
    change.name = name;
    return change;
  };
  ForObjectsAt(before, "buffers", [&](const ParsedJson& buffer) {
    change_of(buffer).before = BytesAt(buffer, "bytes");
  });
  ForObjectsAt(after, "buffers", [&](const ParsedJson& buffer) {
    change_of(buffer).after = BytesAt(buffer, "bytes");
  });
  for (const auto& [key, change] : changes) {
    if (change.before != change.after) diff.buffers.push_back(change);
  }
  const auto size = [](const BufferChange& change) {
    return std::abs(std::max<int64_t>(0, change.after) - std::max<int64_t>(0, change.before));
  };
  std::stable_sort(diff.buffers.begin(), diff.buffers.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

std::string ChangeText(int64_t before, int64_t after) {
  if (before == after) return "same";
  const char* sign = after > before ? "+" : "−";
  std::string text = sign + FormatBytes(std::abs(after - before));
  if (before > 0) {
    const auto change = static_cast<double>(std::abs(after - before));
    text += fmt::format(" ({}{:.1f} %)", sign, 100 * change / static_cast<double>(before));
  }
  return text;
}

std::string FiguresText(const PlanDiff& diff) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "before", "now", "change"});
  table.AddRule();
  for (const PlanFigure& figure : diff.figures) {
    table.Add({figure.name, FormatBytes(figure.before), FormatBytes(figure.after),
               ChangeText(figure.before, figure.after)});
  }
  return table.ToString("  ");
}

std::string BuffersText(const PlanDiff& diff) {
  if (diff.buffers.empty()) return "Every buffer is as it was.\n";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.Add({"entry point", "before", "now", "buffer"});
  table.AddRule();
  const auto text = [](int64_t bytes) { return bytes < 0 ? "–" : FormatBytes(bytes); };
  for (size_t i = 0; i < std::min(kMostChanges, diff.buffers.size()); ++i) {
    const BufferChange& change = diff.buffers[i];
    table.Add({change.entry.empty() ? "all" : change.entry, text(change.before), text(change.after),
               change.name});
  }
  std::string out = table.ToString("  ");
  if (diff.buffers.size() > kMostChanges) {
    out += fmt::format("  and {} smaller changes\n", diff.buffers.size() - kMostChanges);
  }
  return out;
}

}  // namespace

PlanDiff DiffPlans(std::string_view before, const std::string& before_name,
                   std::string_view after) {
  const ParsedJson old_plan = ParsePlan(before, before_name),
                   new_plan = ParsePlan(after, "the new plan");
  CheckModels(old_plan, before_name, new_plan);
  PlanDiff diff;
  AddSettings(old_plan, new_plan, diff);
  for (const auto& [key, name] : kFigures) {
    diff.figures.push_back({name, BytesAt(old_plan, key), BytesAt(new_plan, key)});
  }
  const auto planned = [](const ParsedJson& plan) {
    return BytesAt(plan, "arena_bytes") + BytesAt(plan, "data_bytes");
  };
  diff.grew_bytes = std::max<int64_t>(0, planned(new_plan) - planned(old_plan));
  AddZones(old_plan, new_plan, diff);
  AddBuffers(old_plan, new_plan, diff);
  return diff;
}

std::string PlanDiffText(const PlanDiff& diff) {
  const std::string verdict =
      diff.grew_bytes > 0
          ? "Arena and data take " + FormatBytes(diff.grew_bytes) + " more than before.\n"
          : "Arena and data take no more than before.\n";
  std::string settings;
  for (const ChangedSetting& setting : diff.settings) {
    settings +=
        fmt::format("note: {} {} before, {} now\n", setting.name, setting.before, setting.after);
  }
  return settings + FiguresText(diff) + "\n" + BuffersText(diff) + "\n" + verdict;
}

std::string PlanDiffJson(const PlanDiff& diff) {
  nlohmann::ordered_json json;
  json["grew_bytes"] = diff.grew_bytes;
  json["settings"] = nlohmann::ordered_json::array();
  for (const ChangedSetting& setting : diff.settings) {
    json["settings"].push_back(
        {{"name", setting.name}, {"before", setting.before}, {"after", setting.after}});
  }
  json["figures"] = nlohmann::ordered_json::array();
  for (const PlanFigure& figure : diff.figures) {
    json["figures"].push_back(
        {{"name", figure.name}, {"before", figure.before}, {"after", figure.after}});
  }
  json["buffers"] = nlohmann::ordered_json::array();
  for (const BufferChange& change : diff.buffers) {
    json["buffers"].push_back(
        {{"entry", change.entry},
         {"name", change.name},
         {"before", change.before < 0 ? ParsedJson() : ParsedJson(change.before)},
         {"after", change.after < 0 ? ParsedJson() : ParsedJson(change.after)}});
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
