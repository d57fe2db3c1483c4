#include "src/io/cache_folder.h"

#include <cstdlib>
#include <filesystem>

namespace cgrun {

namespace fs = std::filesystem;

std::string CacheFolder() {
  const auto folder = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path cache = folder("XDG_CACHE_HOME"); cache.is_absolute()) {
    return (cache / "cgrun").string();
  }
  const fs::path home = folder("HOME");
  return home.is_absolute() ? (home / ".cache" / "cgrun").string() : "";
}

}  // namespace cgrun
