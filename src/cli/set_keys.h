// The keys that `--set` takes of any model file, for completion.
#ifndef CGRUN_CLI_SET_KEYS_H_
#define CGRUN_CLI_SET_KEYS_H_

#include <map>
#include <string>
#include <vector>

namespace cgrun {

// Returns the keys by name, as they are typed up to their values: "train.epochs=". If a model's own
// names follow, the key ends before these: "inputs.".
std::vector<std::string> SetKeys();

// The words of the keys that take one of a few: "train.order" → {"serial", "bfs", …}.
std::map<std::string, std::vector<std::string>> SetValues();

}  // namespace cgrun

#endif  // CGRUN_CLI_SET_KEYS_H_
