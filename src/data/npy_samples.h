// NumPy arrays as samples of a number type that a model wants.
#ifndef CGRUN_DATA_NPY_SAMPLES_H_
#define CGRUN_DATA_NPY_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/data/sample_store.h"

namespace cgrun {

struct NpySamples {
  std::vector<int64_t> sizes;  // samples first
  SampleStore store;
};

// Reads a file, plain or compressed by gzip, with its elements as `dtype`. No element may change
// (f64 may be rounded to f32). Throws UserError, which names the file and the first element that
// does not fit. An array that exceeds `room`, or has no elements or no axes, is refused before
// memory is taken.
NpySamples ReadNpyAs(const std::string& path, DType dtype, SampleRoom& room);

}  // namespace cgrun

#endif  // CGRUN_DATA_NPY_SAMPLES_H_
