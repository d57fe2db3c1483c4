// /proc/self/cgroup names the groups of a process, a line each: "0::/a/b" of version 2,
// "4:cpu,memory:/a/b" of version 1. A limit holds for all groups below it, so that each on the way
// up is asked. In a container the path can be one of the host, which is not mounted: then the
// groups above it are not there either, and what is mounted is the container's own.
#include "src/device/control_group.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace cgrun {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The names of a version's files, and where its groups are mounted.
struct Version {
  const char* mount;
  const char* limit;
  const char* used;
  const char* of_all_below;  // in front of the names in memory.stat that count groups below, too
};
constexpr Version kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_"};
constexpr Version kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current", ""};

// What one group leaves. Files in memory (tmpfs) are used; they are not on the lists of files.
int64_t LeftIn(const std::string& folder, const Version& version) {
  std::ifstream limit_file(folder + "/" + version.limit), used_file(folder + "/" + version.used);
  int64_t limit = 0, used = 0, bytes = 0;
  if (!(limit_file >> limit && used_file >> used)) return kNoLimit;  // "max", or no such group
  const std::string prefix = version.of_all_below;
  std::ifstream parts(folder + "/memory.stat");
  for (std::string part; parts >> part >> bytes;) {
    if (part == prefix + "active_file" || part == prefix + "inactive_file") used -= bytes;
  }
  used = std::max<int64_t>(0, used);  // what is counted of files lags behind
  return std::max<int64_t>(0, limit - used);
}

// What the group at `path` and those above it leave.
int64_t LeftUpwards(const std::string& root, std::string path, const Version& version) {
  int64_t left = kNoLimit;
  for (;;) {
    left = std::min(left, LeftIn(root + version.mount + path, version));
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return left;
    path.resize(slash);
  }
}

// Whether `name` is one of a list with commas.
bool IsListed(std::string_view list, std::string_view name) {
  for (;;) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == list.npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

int64_t ControlGroupMemory(const std::string& root) {
  int64_t left = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) left = std::min(left, LeftUpwards(root, path, kVersion2));
    if (IsListed(controllers, "memory")) {
      left = std::min(left, LeftUpwards(root, path, kVersion1));
    }
  }
  return left;
}

}  // namespace cgrun
