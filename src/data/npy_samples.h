// NumPy arrays as samples of a number type that a model wants.
#ifndef CGRUN_DATA_NPY_SAMPLES_H_
#define CGRUN_DATA_NPY_SAMPLES_H_

#include <string>

#include "src/base/host_tensor.h"
#include "src/data/options.h"

namespace cgrun {

// A file with its elements as `dtype`, where that changes none of them (f64 may be rounded to f32);
// plain or compressed by gzip. UserError, which names the file and the first element that does not
// fit; an array that takes more than is `left`, of no elements or of no axes is refused before
// memory is taken.
HostTensor ReadNpyAs(const std::string& path, DType dtype, const MemoryLeft& left);

}  // namespace cgrun

#endif  // CGRUN_DATA_NPY_SAMPLES_H_
