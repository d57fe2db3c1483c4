// open(2) takes the lowest number that is free.
#include "src/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace cgrun {

// Without O_CLOEXEC: a program that is started by this one has them, too.
void OpenClosedStreams() {
  int file = 0;
  do {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  if (file > STDERR_FILENO) close(file);
}

}  // namespace cgrun
