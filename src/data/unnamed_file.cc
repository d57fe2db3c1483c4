// If the file system has no files without a name, one is made and its name is removed.
#include "src/data/unnamed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace cgrun {

int OpenUnnamedFile(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return -1;
  std::string name = folder + "/cgrun-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

int ReserveFile(int file, int64_t bytes) {
  int error = 0;
  do {
    error = bytes > 0 ? posix_fallocate(file, 0, bytes) : 0;
  } while (error == EINTR);
  return error;
}

}  // namespace cgrun
