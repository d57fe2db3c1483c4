// Sizes as people write them.
#ifndef CGRUN_BASE_WRITTEN_BYTES_H_
#define CGRUN_BASE_WRITTEN_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cgrun {

// The number and unit that `--memory` reads as so many bytes, where five digits do: "5.96 MiB",
// "2 GB"; "" where they do not.
std::string WrittenBytes(int64_t bytes);

// "12 MiB". A size that is needed rounds up, so that as much as is shown is enough.
std::string NeededMiB(int64_t bytes);
// "12 MiB". A size that is free, or a limit, rounds down, so that as much as is shown is there.
std::string FreeMiB(int64_t bytes);

// "0 B", "640 B", "1.50 KiB", "23.4 MiB", "1.25 GiB": three significant digits.
std::string FormatBytes(int64_t bytes);
// Formats several numbers of bytes with as many more digits as it takes that different numbers look
// different: "13.97 MiB" and "14 MiB", which is exact to the byte.
std::vector<std::string> FormatBytesApart(const std::vector<int64_t>& bytes);
// Does the same for a cap and other numbers beside it. The cap is first, and is written as the user
// wrote it.
std::vector<std::string> FormatBytesUnder(int64_t cap, std::vector<int64_t> bytes);

}  // namespace cgrun

#endif  // CGRUN_BASE_WRITTEN_BYTES_H_
