// Versions, as the headers of the libraries give them.
#include "src/cli/version.h"

#include <fmt/core.h>
#include <zlib.h>

#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>

namespace cgrun {

std::string VersionText() {
  return fmt::format(
      "cgrun 0.1\nlibraries: CLI11 {}, fmt {}.{}.{}, nlohmann-json {}.{}.{}, zlib {}",
      CLI11_VERSION, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH,
      zlibVersion());
}

}  // namespace cgrun
