// The version of cgrun and of the libraries it uses.
#ifndef CGRUN_CLI_VERSION_H_
#define CGRUN_CLI_VERSION_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgrun {

inline constexpr std::string_view kVersion = "0.1";

// Names and versions of the libraries that every device shares, by name.
std::vector<std::pair<std::string, std::string>> LibraryVersions();
// "CLI11 2.3.1, fmt 9.1.0, …".
std::string LibrariesText();
std::string VersionText();

}  // namespace cgrun

#endif  // CGRUN_CLI_VERSION_H_
