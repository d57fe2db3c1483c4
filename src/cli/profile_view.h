// The flags --profile and -v, and what they print and write.
#ifndef CGRUN_CLI_PROFILE_VIEW_H_
#define CGRUN_CLI_PROFILE_VIEW_H_

#include <memory>
#include <optional>
#include <string>

#include "src/cli/verb.h"
#include "src/report/profile_report.h"
#include "src/run/engine.h"

namespace cgrun {

struct ProfileFlags {
  bool brief = false;           // -v: by phase and kernel
  std::optional<Flag> profile;  // --profile: and by operator
  std::string trace_file;       // --profile FILE
  bool full() const;
  bool wanted() const { return brief || full(); }
};

std::shared_ptr<ProfileFlags> AddProfileFlags(const Verb& verb);

// This machine's peaks, which are measured now; of the host, those of a GPU are not known.
Ceilings MeasureCeilings(const Engine& engine, int threads);

// Returns the profile as text, compared with these ceilings. Writes the trace if one is wanted.
std::string ShowProfile(const ProfileFlags& flags, const Engine& engine, const OperatorTimes& times,
                        const Ceilings& ceilings);
// ProfileObject() returns the same as a JSON object. WithProfile() returns `json`, an object, with
// the profile as its key "profile".
std::string ProfileObject(const Engine& engine, const OperatorTimes& times,
                          const Ceilings& ceilings);
std::string WithProfile(const std::string& json, const Engine& engine, const OperatorTimes& times,
                        const Ceilings& ceilings);

}  // namespace cgrun

#endif  // CGRUN_CLI_PROFILE_VIEW_H_
