// A folder that is not there yet is judged by the nearest one above it.
#include "src/model_data/stream_folder.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "src/io/cache_folder.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

bool CanHoldFiles(const std::string& folder) {
  fs::path there = folder;
  if (!there.is_absolute()) return false;
  for (std::error_code error; !fs::exists(there, error) && there.has_relative_path();) {
    there = there.parent_path();
  }
  struct statfs status;
  if (statfs(there.c_str(), &status) != 0 || access(there.c_str(), W_OK | X_OK) != 0) return false;
  return status.f_type != TMPFS_MAGIC && status.f_type != RAMFS_MAGIC;
}

}  // namespace

std::string StreamFolder() {
  const char* temporary = std::getenv("TMPDIR");
  for (const std::string& folder : {std::string(temporary == nullptr ? "" : temporary),
                                    CacheFolder(), std::string("/var/tmp")}) {
    if (CanHoldFiles(folder)) return folder;
  }
  return "";
}

}  // namespace cgrun
