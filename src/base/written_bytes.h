// Sizes as people write them.
#ifndef CGRUN_BASE_WRITTEN_BYTES_H_
#define CGRUN_BASE_WRITTEN_BYTES_H_

#include <cstdint>
#include <string>

namespace cgrun {

// The number and unit that `--memory` reads as so many bytes, where five digits do: "5.96 MiB",
// "2 GB"; "" where they do not.
std::string WrittenBytes(int64_t bytes);

// "12 MiB". A size that is needed rounds up, so that as much as is shown is enough.
std::string NeededMiB(int64_t bytes);
// "12 MiB". A size that is free, or a limit, rounds down, so that as much as is shown is there.
std::string FreeMiB(int64_t bytes);

}  // namespace cgrun

#endif  // CGRUN_BASE_WRITTEN_BYTES_H_
