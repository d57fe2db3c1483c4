// The version of cgrun and of the libraries it uses.
#ifndef CGRUN_CLI_VERSION_H_
#define CGRUN_CLI_VERSION_H_

#include <string>

namespace cgrun {

std::string VersionText();

}  // namespace cgrun

#endif  // CGRUN_CLI_VERSION_H_
