// Names the kind of a file that is no regular file.
#ifndef CGRUN_BASE_FILE_KIND_H_
#define CGRUN_BASE_FILE_KIND_H_

#include <sys/types.h>

#include <string>
#include <string_view>

namespace cgrun {

// "a folder", "a FIFO (named pipe)", "a socket", "a device" by a mode of stat(2); "" for a file.
std::string_view SpecialKind(mode_t mode);

// Returns the same for what is at `path`; "" also if nothing is there. A pipe below /dev and /proc,
// as that of
// `<(command)` and of /dev/stdin, is one that somebody writes to: it counts as a file.
std::string_view SpecialKindOf(const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_BASE_FILE_KIND_H_
