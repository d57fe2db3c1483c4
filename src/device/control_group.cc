// /proc/self/cgroup names the groups of a process, a line each: "0::/a/b" of version 2,
// "4:cpu,memory:/a/b" of version 1. A limit holds for all groups below it, so that each on the way
// up is asked. In a container the path can be one of the host, which is not mounted: then the
// groups above it are not there either, and what is mounted is the container's own.
#include "src/device/control_group.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace cgrun {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr double kNoQuota = std::numeric_limits<double>::infinity();

// The names of a version's files of memory, and where its groups are mounted.
struct Version {
  const char* mount;
  const char* limit;
  const char* used;
  const char* of_all_below;  // in front of the names in memory.stat that count groups below, too
};
constexpr Version kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_"};
constexpr Version kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current", ""};

// Returns the bytes that one group leaves. Files in memory (tmpfs) count as used, since they are
// not on the lists of files.
int64_t LeftIn(const std::string& folder, const Version& version) {
  std::ifstream limit_file(folder + "/" + version.limit), used_file(folder + "/" + version.used);
  int64_t limit = 0, used = 0, bytes = 0;
  if (!(limit_file >> limit && used_file >> used)) return kNoLimit;  // "max", or no such group
  const std::string prefix = version.of_all_below;
  std::ifstream parts(folder + "/memory.stat");
  for (std::string part; parts >> part >> bytes;) {
    if (part == prefix + "active_file" || part == prefix + "inactive_file") used -= bytes;
  }
  used = std::max<int64_t>(0, used);  // the count of files lags behind
  return std::max<int64_t>(0, limit - used);
}

// Converts a quota to processors. `quota` is the microseconds of their time in each period, which
// is in microseconds too.
double Processors(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : kNoQuota;
}

// "200000 100000", or "max 100000".
double QuotaOfVersion2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period ? Processors(quota, period) : kNoQuota;
}

// -1 is no quota.
double QuotaOfVersion1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"),
      period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period ? Processors(quota, period) : kNoQuota;
}

// The least of what `in_group` says of the folders of the group at `path` and of those above it.
template <class Number>
Number LeastUpwards(const std::string& mount, std::string path,
                    const std::function<Number(const std::string&)>& in_group) {
  Number least = in_group(mount + path);
  for (size_t slash; (slash = path.rfind('/')) != std::string::npos;) {
    path.resize(slash);
    least = std::min(least, in_group(mount + path));
  }
  return least;
}

// Returns whether `name` is one of a list with commas.
bool IsListed(std::string_view list, std::string_view name) {
  for (;;) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == list.npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// Describes a control group of this process.
struct Group {
  std::string controllers;  // with commas; "": of version 2, which has one group for all
  std::string path;

  bool is_version2() const { return controllers.empty(); }
};

std::vector<Group> Groups(const std::string& root) {
  std::vector<Group> groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return groups;
}

}  // namespace

int64_t ControlGroupMemory(const std::string& root) {
  int64_t left = kNoLimit;
  for (const Group& group : Groups(root)) {
    if (!group.is_version2() && !IsListed(group.controllers, "memory")) continue;
    const Version& version = group.is_version2() ? kVersion2 : kVersion1;
    left = std::min(left, LeastUpwards<int64_t>(
                              root + version.mount, group.path,
                              [&](const std::string& folder) { return LeftIn(folder, version); }));
  }
  return left;
}

double ControlGroupProcessors(const std::string& root) {
  double quota = kNoQuota;
  for (const Group& group : Groups(root)) {
    if (group.is_version2()) {
      quota = std::min(quota,
                       LeastUpwards<double>(root + "/sys/fs/cgroup", group.path, QuotaOfVersion2));
    } else if (IsListed(group.controllers, "cpu")) {
      quota = std::min(
          quota, LeastUpwards<double>(root + "/sys/fs/cgroup/cpu", group.path, QuotaOfVersion1));
    }
  }
  return quota;
}

}  // namespace cgrun
