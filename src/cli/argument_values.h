// Help, completion and the reference ask here what may stand for the value of a flag or an
// argument.
#ifndef CGRUN_CLI_ARGUMENT_VALUES_H_
#define CGRUN_CLI_ARGUMENT_VALUES_H_

#include <string>
#include <vector>

#include "src/cli/verb.h"

namespace cgrun {

struct ArgumentValues {
  enum class Kind { kNone, kAny, kWords, kFile, kFolder, kRun, kSetting };
  // kNone is a switch, kRun names a run folder, kSetting takes a key of the model file and a value.
  Kind kind = Kind::kAny;
  std::string name;                // its name in --help: "FILE", "graph|eager"; "" for a switch
  bool optional = false;           // the flag may stand without it
  std::vector<std::string> words;  // kWords: all that there are
  // kFile: how the names of such files end, "yaml"; empty: in any way.
  std::vector<std::string> suffixes = {};
};

ArgumentValues ValuesOf(const Flag& flag);

}  // namespace cgrun

#endif  // CGRUN_CLI_ARGUMENT_VALUES_H_
