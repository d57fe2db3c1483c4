// Sizes as people write them.
#ifndef CGRUN_BASE_WRITTEN_BYTES_H_
#define CGRUN_BASE_WRITTEN_BYTES_H_

#include <cstdint>
#include <string>

namespace cgrun {

// The number and unit that `--memory` reads as so many bytes, where five digits do: "5.96 MiB",
// "2 GB"; "" where they do not.
std::string WrittenBytes(int64_t bytes);

}  // namespace cgrun

#endif  // CGRUN_BASE_WRITTEN_BYTES_H_
