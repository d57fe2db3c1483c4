// Returns the output of --help and --version for programs.
#ifndef CGRUN_CLI_HELP_JSON_H_
#define CGRUN_CLI_HELP_JSON_H_

#include <string>

namespace cgrun {

class CommandLine;

// The verb that was parsed: `{"name", "summary", "arguments": […], "flags": […], "examples": […]}`;
// without one `cgrun` itself, with a list of all "verbs" such as this.
std::string HelpJson(const CommandLine& line);

// `{"version", "libraries": {name: version}, "kernels"}`.
std::string VersionJson();

}  // namespace cgrun

#endif  // CGRUN_CLI_HELP_JSON_H_
