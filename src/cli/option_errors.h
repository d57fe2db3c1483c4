// Mistakes in a command line, in our own words.
#ifndef CGRUN_CLI_OPTION_ERRORS_H_
#define CGRUN_CLI_OPTION_ERRORS_H_

#include <string>
#include <vector>

namespace cgrun {

class CommandLine;
struct ParseStop;

struct Mistake {
  std::string message;
  std::string help;
};

// `words`, at least one, are behind the program's name, and `stop` is how the parse of `line`
// ended.
Mistake DescribeMistake(const CommandLine& line, const ParseStop& stop,
                        const std::vector<std::string>& words);

}  // namespace cgrun

#endif  // CGRUN_CLI_OPTION_ERRORS_H_
