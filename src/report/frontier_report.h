// `cgrun plan --frontier`: memory against time, as a table and as JSON.
#ifndef CGRUN_REPORT_FRONTIER_REPORT_H_
#define CGRUN_REPORT_FRONTIER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cgrun {

// A plan: the arena, and a step's time as it is estimated.
struct FrontierRow {
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;
  double seconds = 0;
  int64_t recomputations = 0;
  int64_t swaps = 0;            // tensors that go to the swap space and back …
  int64_t file_bytes = 0;       // … which is so large
  int64_t single_threaded = 0;  // operators that work on one thread, in a smaller workspace
  bool usual = false;           // the plan without a cap
  std::vector<std::string> without = {};  // passes that were left out for it
};

// Describes a proven point of a small graph: no order and no recomputation takes less memory or
// time, and no more of the other.
struct ExactRow {
  int64_t arena_bytes = 0;
  double seconds = 0;
  int64_t runs = 0;  // of operators
};

struct ExactProof {
  bool is_there = false;     // whether the graph is small enough
  bool is_complete = false;  // down to the least memory that there is
  std::vector<ExactRow> rows;
};

struct FrontierSubject {
  std::string model;
  std::string device;
  std::string entry;  // whose time it is: "train"
  int64_t batch = 0;
  bool swaps_to_host = false;     // the swap space is pinned memory of the host, and no file
  std::vector<FrontierRow> rows;  // the quickest first
  ExactProof one_by_one;          // of the entry point's operators one by one …
  ExactProof fused;               // … and as the plans fuse them
};

std::string FrontierText(const FrontierSubject& subject);
std::string FrontierJson(const FrontierSubject& subject);

}  // namespace cgrun

#endif  // CGRUN_REPORT_FRONTIER_REPORT_H_
