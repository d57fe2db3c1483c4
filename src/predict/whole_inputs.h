// Inputs that have no batch: each takes one file or one value, which every run reads.
#ifndef CGRUN_PREDICT_WHOLE_INPUTS_H_
#define CGRUN_PREDICT_WHOLE_INPUTS_H_

#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/data/dataset.h"

namespace cgrun {

struct WholeInput {
  std::string source;  // a file, or the value as it was typed
  bool is_file = false;
  HostTensor tensor;  // of its input's type
};

// Takes the arguments for `fields` out of `arguments`: `NAME=FILE.npy`, `NAME=VALUE`, or where
// `alone` says that no other input is there and `fields` has one, `FILE.npy`. InputError where an
// input gets none or two, or where a file or value is not of its type and shape.
std::vector<WholeInput> TakeWholeInputs(const std::vector<DataField>& fields, bool alone,
                                        std::vector<std::string>& arguments);

}  // namespace cgrun

#endif  // CGRUN_PREDICT_WHOLE_INPUTS_H_
