// The flags --profile and -v, and what they print and write.
#ifndef CGRUN_CLI_PROFILE_VIEW_H_
#define CGRUN_CLI_PROFILE_VIEW_H_

#include <memory>
#include <string>

#include "src/train/engine.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cgrun {

struct ProfileFlags {
  bool brief = false;                    // -v: by phase and kernel
  const CLI::Option* profile = nullptr;  // --profile: and by operator
  std::string trace_file;                // --profile FILE
  bool full() const;
  bool wanted() const { return brief || full(); }
};

std::shared_ptr<ProfileFlags> AddProfileFlags(CLI::App& app);

// The profile as text, held against this machine's peaks, which are measured now; writes the trace
// where one is wanted.
std::string ShowProfile(const ProfileFlags& flags, const Engine& engine, const OperatorTimes& times,
                        int threads);
// `json`, an object, with the profile as its key "profile".
std::string WithProfile(const std::string& json, const Engine& engine, const OperatorTimes& times,
                        int threads);

}  // namespace cgrun

#endif  // CGRUN_CLI_PROFILE_VIEW_H_
