// Makes a report from an engine's times.
#include "src/cli/profile_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "src/base/json_text.h"
#include "src/device/device.h"
#include "src/device/peaks.h"
#include "src/io/atomic_file.h"

namespace cgrun {
namespace {

std::vector<EntryProfile> ProfilesOf(const Engine& engine, const OperatorTimes& times) {
  std::vector<EntryProfile> profiles;
  for (size_t e = 0; e < engine.model().entries.size(); ++e) {
    const int entry = static_cast<int>(e);
    EntryProfile profile{engine.model().entries[e].name, engine.model().entries[e].batch, {}};
    const std::vector<EngineOperator> operators = engine.Operators(entry);
    for (size_t i = 0; i < operators.size(); ++i) {
      profile.operators.push_back({operators[i].name, operators[i].kernel, operators[i].phase,
                                   operators[i].flops, operators[i].bytes, times.Entry(entry)[i],
                                   operators[i].fewer_operations});
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace

Ceilings MeasureCeilings(const Engine& engine, int threads) {
  if (!KindOfDevice(engine.model().device).on_host) return {threads, 0, 0};
  // The arena has been given back by now, so that these bytes stay within the plan.
  const int64_t bytes = std::min(kPeakBytes, engine.memory().reserved_peak_bytes);
  const Peaks peaks = MeasurePeaks(threads, bytes);
  return {threads, peaks.flops_per_second, peaks.bytes_per_second};
}

bool ProfileFlags::full() const { return profile && profile->given(); }

std::shared_ptr<ProfileFlags> AddProfileFlags(const Verb& verb) {
  auto flags = std::make_shared<ProfileFlags>();
  verb.AddSwitch("-v,--verbose", flags->brief, "show where the time went, by phase and kernel");
  flags->profile = verb.Add("--profile", flags->trace_file,
                            "show where the time went, by operator, too; with FILE, also write a "
                            "trace for Perfetto, whose 2.3 MiB do not count for --memory")
                       .OptionalValue()
                       .Value("[FILE]");
  return flags;
}

std::string ShowProfile(const ProfileFlags& flags, const Engine& engine, const OperatorTimes& times,
                        const Ceilings& ceilings) {
  const std::vector<EntryProfile> profiles = ProfilesOf(engine, times);
  if (!flags.trace_file.empty()) {
    const std::string trace = TraceJson(profiles, times.runs());
    WriteFileAtomically(flags.trace_file, std::as_bytes(std::span(trace)));
  }
  return ProfileText(profiles, ceilings, flags.full());
}

std::string ProfileObject(const Engine& engine, const OperatorTimes& times,
                          const Ceilings& ceilings) {
  return ProfileJson(ProfilesOf(engine, times), ceilings);
}

std::string WithProfile(const std::string& json, const Engine& engine, const OperatorTimes& times,
                        const Ceilings& ceilings) {
  using Json = nlohmann::ordered_json;
  Json whole = ParseOrderedJson(json);
  whole["profile"] = ParseOrderedJson(ProfileObject(engine, times, ceilings));
  return JsonText(whole, 2) + "\n";
}

}  // namespace cgrun
