// Checks whether a file can hold the data that its header declares.
#ifndef CGRUN_DATA_DECLARED_LENGTH_H_
#define CGRUN_DATA_DECLARED_LENGTH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/io/read_file.h"

namespace cgrun {

// The bytes of the `elements` that the header behind which `reader` stands declares: `declared` in
// words. `elements` is nothing where their number overflows. UserError where there are none, and
// where the rest of the file is not as long.
int64_t CheckDeclaredLength(const FileReader& reader, const std::string& declared,
                            std::optional<int64_t> elements, int64_t element_bytes);

// Counts the bytes of a file, inflated where it is gzip. A compressed file is read to its end, or
// until more than `limit` bytes have come out. Throws UserError where it cannot be read.
int64_t CountBytes(const std::string& path, int64_t limit);

}  // namespace cgrun

#endif  // CGRUN_DATA_DECLARED_LENGTH_H_
