// A build without oneDNN has this in place of its kernels.
#include "src/kernels/onednn/kernels.h"

namespace cgrun::onednn {

bool IsBuilt() { return false; }
std::string Version() { return ""; }
std::vector<Entry> Kernels() { return {}; }

}  // namespace cgrun::onednn
