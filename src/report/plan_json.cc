// Memory layouts as JSON.
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/packing/pack.h"
#include "src/report/plan_report.h"
#include "src/report/value_life.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

void AddPaths(const PathSharing& sharing, Json& json) {
  if (sharing.paths.empty()) return;
  for (const PathMemory& path : sharing.paths) {
    json["paths"].push_back({{"name", path.name},
                             {"repetitions", path.repetitions},
                             {"parameter_bytes", path.parameter_bytes},
                             {"state_bytes", path.state_bytes},
                             {"transient_bytes", path.transient_bytes}});
  }
  json["shared_by_paths"] = {{"state_bytes", sharing.state_bytes},
                             {"passed_bytes", sharing.passed_bytes},
                             {"transient_bytes", sharing.transient_bytes}};
}

Json JsonOf(const PassEffects& effects) {
  Json json = {{"entry", effects.entry},
               {"nodes_before", effects.nodes_before},
               {"nodes_after", effects.nodes_after},
               {"passes", Json::array()}};
  for (const PassEffect& pass : effects.passes) {
    json["passes"].push_back({{"name", pass.name},
                              {"rounds", pass.rounds},
                              {"changed_rounds", pass.changed_rounds},
                              {"nodes_added", pass.nodes_added},
                              {"seconds", pass.seconds}});
  }
  for (const PhaseTimes::Phase& phase : effects.phases) {
    json["phases"].push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  return json;
}

std::string VerdictName(Verdict verdict) {
  if (verdict == Verdict::kBoundMet) return "bound met";
  return verdict == Verdict::kExhausted ? "search exhausted" : "gap";
}

}  // namespace

std::string PlanJson(const PlanSubject& subject, const MemoryLayout& layout) {
  Json json;
  json["model"] = subject.model;
  json["device"] = subject.device;
  json["mode"] = subject.training ? "train" : "infer";
  json["batch"] = subject.batch;
  json["threads"] = subject.threads;
  json["precision"] = subject.precision;
  json["tuning"] = subject.tuning.empty() ? Json() : Json(subject.tuning);
  json["memory_cap_bytes"] = subject.memory_cap ? Json(*subject.memory_cap) : Json();
  if (subject.slower) json["predicted_slowdown"] = 1 + *subject.slower;
  json["peak_bytes"] = layout.arena_bytes;
  json["lower_bound_bytes"] = layout.lower_bound_bytes;
  json["optimal"] = layout.optimal;
  json["arena_bytes"] = layout.arena_bytes;
  if (layout.file_bytes > 0) {
    json[subject.swaps_to_host ? "swap_host_bytes" : "swap_file_bytes"] = layout.file_bytes;
  }
  json["data_bytes"] = subject.data_bytes;
  json["base_bytes"] = subject.base_bytes;
  json["start_bytes"] = subject.start_bytes;
  json["total_bytes"] = TotalBytes(subject, layout);
  json["container_bytes"] = subject.container_bytes;
  json["address_space_bytes"] = subject.address_space_bytes;
  if (subject.copies_bytes > 0) json["f32_copies_at_peak_bytes"] = subject.copies_bytes;
  if (subject.eager_peak_bytes > 0) json["eager_peak_bytes"] = subject.eager_peak_bytes;
  json["planner"] = layout.planner;
  json["order"] = subject.order;
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const EntryLayout& entry = layout.entries[e];
    json["entries"].push_back({{"name", subject.entries[e]},
                               {"transient_bytes", entry.transient_bytes},
                               {"peak_step", PeakStep(layout, static_cast<int>(e))},
                               {"lower_bound_bytes", entry.transient_lower_bound},
                               {"without_reuse_bytes", entry.naive_bytes},
                               {"in_place_bytes", entry.in_place_bytes}});
  }
  for (const ZoneUse& zone : layout.zones) {
    json["zones"].push_back({{"name", Name(zone.zone)},
                             {"bytes", zone.persistent_bytes + zone.transient_bytes},
                             {"persistent_bytes", zone.persistent_bytes},
                             {"transient_bytes", zone.transient_bytes}});
  }
  AddPaths(subject.sharing, json);
  if (subject.passes) json["passes"] = JsonOf(*subject.passes);
  for (const FusedNode& fused : subject.fused) {
    json["fused"].push_back(
        {{"node", fused.node}, {"name", fused.name}, {"operators", fused.operators}});
  }
  for (const ComparedPlan& plan : subject.compared) {
    json["compared"].push_back({{"planner", plan.planner},
                                {"arena_bytes", plan.arena_bytes},
                                {"plan_seconds", plan.plan_seconds}});
  }
  for (const PlacedBuffer& buffer : layout.buffers) {
    json["buffers"].push_back(
        {{"name", buffer.name},
         {"zone", Name(buffer.zone)},
         {"arena", buffer.arena == ArenaKind::kFile ? "file" : "device"},
         {"entry", buffer.entry < 0 ? "" : subject.entries[static_cast<size_t>(buffer.entry)]},
         {"offset", buffer.offset},
         {"bytes", buffer.bytes},
         {"lower", buffer.lifespan.lower},
         {"upper", buffer.lifespan.upper},
         {"values", buffer.values},
         {"kept", IsKept(subject, buffer)},
         {"source", buffer.mark.ToString()}});
  }
  json["plan_seconds"] = layout.plan_seconds;
  return JsonText(json, 2) + "\n";
}

std::string PackingJson(const MemoryProblem& problem, const MemoryPlan& plan, double seconds) {
  Json json;
  json["peak_bytes"] = plan.peak_bytes;
  json["lower_bound_bytes"] = plan.lower_bound_bytes;
  json["optimal"] = plan.optimal;
  json["verdict"] = VerdictName(VerdictOf(problem, plan));
  json["planner"] = plan.planner;
  json["nodes"] = plan.nodes;
  Json::object_t offsets;  // a list of pairs: operator[] would look through it for each of them
  offsets.reserve(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    offsets.push_back({problem.buffers[i].name, plan.offsets[i]});
  }
  json["offsets"] = std::move(offsets);
  json["plan_seconds"] = seconds;
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
