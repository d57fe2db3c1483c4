// A hash by which a resumed run knows the data that it began with.
#ifndef CGRUN_MODEL_DATA_DATA_HASH_H_
#define CGRUN_MODEL_DATA_DATA_HASH_H_

#include <cstdint>

#include "src/data/dataset.h"

namespace cgrun {

// Hashes some samples all over the set: 256, or 8 where one has more than 4 KiB. Throws UserError
// where one cannot be read.
uint64_t HashOf(const Dataset& dataset);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_DATA_HASH_H_
