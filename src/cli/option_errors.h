// What is wrong with the arguments of a verb, in our own words.
#ifndef CGRUN_CLI_OPTION_ERRORS_H_
#define CGRUN_CLI_OPTION_ERRORS_H_

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cgrun {

struct Mistake {
  std::string message;
  std::string help;
};

// `error` is what parsing the arguments of `verb` has thrown.
Mistake DescribeParseError(const CLI::App& verb, const CLI::ParseError& error);

}  // namespace cgrun

#endif  // CGRUN_CLI_OPTION_ERRORS_H_
