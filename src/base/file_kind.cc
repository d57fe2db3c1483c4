// stat(2), which waits for nobody.
#include "src/base/file_kind.h"

#include <sys/stat.h>

namespace cgrun {

std::string_view SpecialKind(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO (named pipe)";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string_view SpecialKindOf(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return "";
  const bool is_given = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (S_ISFIFO(status.st_mode) && is_given) return "";
  return SpecialKind(status.st_mode);
}

}  // namespace cgrun
