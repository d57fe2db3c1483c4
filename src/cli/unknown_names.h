// Explains verbs and flags that do not exist: users often have the name of another program in mind.
#ifndef CGRUN_CLI_UNKNOWN_NAMES_H_
#define CGRUN_CLI_UNKNOWN_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "src/cli/option_errors.h"
#include "src/cli/verb.h"

namespace cgrun {

// `word` stands where a verb should, and is none.
Mistake UnknownVerb(const std::string& word);

// The first of the words behind the program's name that looks like a flag and is none of `verb`.
std::optional<Mistake> UnknownFlag(const Verb& verb, const std::vector<std::string>& words);

}  // namespace cgrun

#endif  // CGRUN_CLI_UNKNOWN_NAMES_H_
