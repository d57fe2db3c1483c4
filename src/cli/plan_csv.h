// `cgrun plan FILE.csv` solves a packing problem alone.
#ifndef CGRUN_CLI_PLAN_CSV_H_
#define CGRUN_CLI_PLAN_CSV_H_

#include <string>

#include "src/cli/model_flags.h"

namespace cgrun {

// These flags are given beside the model's; a text is empty where its flag is not given.
struct PackFlags {
  std::string capacity;
  std::string time;
  std::string out;
  bool has_planner = false;  // ModelFlags::planner was given
};

// Packs the buffers of `flags.model`. Exit status 1 where a capacity is given and not met.
int PlanCsv(const ModelFlags& flags, const PackFlags& pack_flags);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_CSV_H_
