// The kernels that oneDNN gives, as a table. A build without oneDNN has an empty one.
#ifndef CGRUN_KERNELS_ONEDNN_KERNELS_H_
#define CGRUN_KERNELS_ONEDNN_KERNELS_H_

#include <string>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::onednn {

struct Entry {
  OpId op;
  KernelDef kernel;
};

bool IsBuilt();
std::string Version();  // "oneDNN 2.6.3, AVX512_CORE_BF16"
std::vector<Entry> Kernels();

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_KERNELS_H_
