// Compares getrlimit(2) with what the process has.
#include "src/device/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "src/base/diagnostics.h"
#include "src/base/process_memory.h"
#include "src/base/written_bytes.h"

namespace cgrun {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// `used`: the bytes of the process that the limit counts.
AddressLimit LimitOf(int resource, const char* name, int64_t used) {
  rlimit limit = {};
  const bool is_set = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                      limit.rlim_cur <= static_cast<rlim_t>(kNoLimit);
  if (!is_set) return {kNoLimit, kNoLimit, ""};
  const auto bytes = static_cast<int64_t>(limit.rlim_cur);
  return {std::max<int64_t>(0, bytes - used), bytes, name};
}

// Tries it: a system that counts what is promised refuses memory without any limit of the process.
bool CanMap(int64_t bytes) {
  void* const memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, static_cast<size_t>(bytes));
  return true;
}

}  // namespace

AddressLimit LeastAddressLimit() {
  const ProcessMemory memory = ReadProcessMemory();
  const AddressLimit all = LimitOf(RLIMIT_AS, "ulimit -v", memory.address_space);
  const AddressLimit data = LimitOf(RLIMIT_DATA, "ulimit -d", memory.data);
  return data.left < all.left ? data : all;
}

std::string Describe(const AddressLimit& limit) {
  if (limit.name.empty()) return "";
  return "`" + limit.name + "` leaves " + FreeMiB(limit.left) + " of " + FreeMiB(limit.limit);
}

void CheckAddresses(const std::string& user, int64_t bytes, const std::string& other) {
  if (bytes <= 0 || CanMap(bytes)) return;
  const std::string reason = std::strerror(errno);
  const AddressLimit limit = LeastAddressLimit();
  const std::string needs = user + " needs " + NeededMiB(bytes) + " of addresses, and ";
  const std::string otherwise = other.empty() ? "" : "; " + other;
  if (limit.name.empty()) {
    throw UserError(needs + "the system refuses them: " + reason,
                    "see /proc/sys/vm/overcommit_memory" + otherwise);
  }
  const int64_t enough = limit.limit + bytes - limit.left;
  throw UserError(needs + Describe(limit), "raise the limit: `" + limit.name + " " +
                                               std::to_string((enough + 1023) / 1024) +
                                               "` (KiB) or more" + otherwise);
}

}  // namespace cgrun
