// Versions, as the headers of the libraries give them, or the package for yaml-cpp's.
#include "src/cli/version.h"

#include <cgrun_yaml_cpp_version.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <zlib.h>

#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>

#include "src/kernels/kernel.h"

namespace cgrun {

std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  const auto dotted = [](int major, int minor, int patch) {
    return fmt::format("{}.{}.{}", major, minor, patch);
  };
  return {{"CLI11", CLI11_VERSION},
          {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                   NLOHMANN_JSON_VERSION_PATCH)},
          {"yaml-cpp", CGRUN_YAML_CPP_VERSION},
          {"zlib", zlibVersion()}};
}

std::string LibrariesText() {
  std::vector<std::string> texts;
  for (const auto& [name, version] : LibraryVersions()) texts.push_back(name + " " + version);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string VersionText() {
  return "cgrun " + std::string(kVersion) + "\nlibraries: " + LibrariesText() +
         "\nkernels: " + DescribeKernels(FastestHostDevice());
}

}  // namespace cgrun
