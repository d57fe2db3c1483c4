// The data of the page; memory_page.js draws it.
#include "src/report/memory_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/check.h"
#include "src/base/json_text.h"
#include "src/report/markup.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMemoryStyle[] =
#include "src/report/memory_page.css.inc"
    ;

constexpr char kScript[] =
#include "src/report/memory_page.js.inc"
    ;

// Returns the buffer as memory_page.js reads it. Steps are half-open, and persistent buffers have
// none.
Json BufferJson(const PlacedBuffer& buffer, const EntryLayout* entry) {
  Json json = {{"name", buffer.name},
               {"zone", Name(buffer.zone)},
               {"offset", buffer.offset},
               {"bytes", buffer.bytes}};
  if (entry != nullptr) {
    json["lower"] = buffer.lifespan.lower;
    json["upper"] = buffer.lifespan.upper;
  }
  if (buffer.recomputed) json["again"] = true;
  if (buffer.swapped) json["swapped"] = true;
  if (buffer.single_threaded) json["alone"] = true;
  if (buffer.values.size() > 1) json["values"] = buffer.values;
  if (buffer.mark.file != nullptr) {
    json["source"] = fmt::format("{}:{}", buffer.mark.file->name, buffer.mark.line);
  }
  return json;
}

Json EntryJson(const MemoryLayout& layout, int index, const std::string& name) {
  const EntryLayout& entry = layout.entries[static_cast<size_t>(index)];
  Json buffers = Json::array();
  for (const PlacedBuffer& buffer : layout.buffers) {
    const bool shown = buffer.arena == ArenaKind::kDevice && buffer.entry == index;
    if (shown && buffer.bytes > 0) buffers.push_back(BufferJson(buffer, &entry));
  }
  return {{"name", name},
          {"bytes", layout.persistent_bytes + entry.transient_bytes},
          {"bound", layout.persistent_bytes + entry.transient_lower_bound},
          {"buffers", buffers}};
}

Json PlanJsonOf(const MemoryPagePlan& plan) {
  const MemoryLayout& layout = *plan.layout;
  Json persistent = Json::array(), entries = Json::array();
  for (const PlacedBuffer& buffer : layout.buffers) {
    const bool shown = buffer.arena == ArenaKind::kDevice && buffer.persistent;
    if (shown && buffer.bytes > 0) persistent.push_back(BufferJson(buffer, nullptr));
  }
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    entries.push_back(EntryJson(layout, static_cast<int>(e), plan.subject->entries[e]));
  }
  return {{"title", plan.title}, {"persistent", persistent}, {"entries", entries}};
}

// Inside <script>, where a name may not end the element.
std::string ScriptData(const std::vector<MemoryPagePlan>& plans) {
  Json json = Json::array();
  for (const MemoryPagePlan& plan : plans) json.push_back(PlanJsonOf(plan));
  std::string text = JsonText(json);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string Row(const std::string& name, const std::vector<MemoryPagePlan>& plans,
                std::string (*fact)(const MemoryPagePlan&)) {
  std::string html = "<tr><th>" + name + "</th>";
  for (const MemoryPagePlan& plan : plans) html += "<td>" + EscapeMarkup(fact(plan)) + "</td>";
  return html + "</tr>\n";
}

std::string BoundText(const MemoryPagePlan& plan) {
  const MemoryLayout& layout = *plan.layout;
  return fmt::format("{}, ratio {}", FormatBytes(layout.lower_bound_bytes),
                     RatioText(layout.arena_bytes, layout.lower_bound_bytes, layout.optimal));
}

// A row a fact, a column a plan.
std::string FactsHtml(const std::vector<MemoryPagePlan>& plans) {
  std::string html = "<table>\n";
  if (plans.size() > 1) html += Row("", plans, [](auto& plan) { return plan.title; });
  html += Row("arena", plans, [](auto& plan) { return FormatBytes(plan.layout->arena_bytes); });
  html += Row("lower bound", plans, BoundText);
  html += Row("persistent region", plans,
              [](auto& plan) { return FormatBytes(plan.layout->persistent_bytes); });
  html += Row("total", plans, [](auto& plan) {
    return fmt::format("{}, with data and the process itself",
                       FormatBytes(plan.layout->arena_bytes + plan.subject->data_bytes +
                                   plan.subject->base_bytes));
  });
  const auto swaps = [](const MemoryPagePlan& plan) { return plan.layout->file_bytes > 0; };
  if (std::ranges::any_of(plans, swaps)) {
    const char* const name = plans[0].subject->swaps_to_host ? "host memory" : "swap file";
    html += Row(name, plans, [](auto& plan) {
      return FormatBytes(plan.layout->file_bytes) +
             (plan.subject->swaps_to_host ? ", pinned, for swapped tensors" : ", on a disk");
    });
  }
  html += Row("order", plans, [](auto& plan) { return plan.subject->order; });
  html += Row("planner", plans, [](auto& plan) { return plan.layout->planner; });
  html += "</table>\n";
  if (plans.size() > 1) {
    html +=
        "<p>Each plan holds the same operators in the same order. A lower bound is that of a "
        "plan's own buffers: a planner that writes nothing in place has more alive at once. Each "
        "picture has a scale of its own: the blue line is the height of the first one.</p>\n";
  }
  return html;
}

}  // namespace

std::string MemoryPageHtml(const std::vector<MemoryPagePlan>& plans) {
  CGRUN_CHECK(!plans.empty()) << "a page of no plan";
  const PlanSubject& subject = *plans[0].subject;
  const std::string model = EscapeMarkup(subject.model);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{} – memory plan</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>{}</h1>\n<p>The memory plan for {} on the device {}, batch {}. Time goes across, "
      "addresses "
      "go up; a rectangle is a buffer. Point at a picture to see what is alive at a step; click to "
      "stay there, and once more to leave.</p>\n{}"
      "<div id=\"controls\"></div>\n<div id=\"plans\"></div>\n"
      "<noscript><p>The pictures need JavaScript.</p></noscript>\n"
      "<script id=\"data\" type=\"application/json\">{}</script>\n<script>{}</script>\n"
      "</body>\n</html>\n",
      model, kMemoryStyle, model, subject.training ? "training" : "inference",
      EscapeMarkup(subject.device), subject.batch, FactsHtml(plans), ScriptData(plans), kScript);
}

}  // namespace cgrun
