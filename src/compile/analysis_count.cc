// One counter of the process; plans can be made on several threads.
#include "src/compile/analysis_count.h"

#include <atomic>

namespace cgrun {
namespace {

std::atomic<int64_t> count{0};

}  // namespace

int64_t AnalysisCount() { return count.load(std::memory_order_relaxed); }

void CountAnalysis() { count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace cgrun
