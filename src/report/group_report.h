// Shows the models of groups: a table on a terminal, CSV and JSON.
#ifndef CGRUN_REPORT_GROUP_REPORT_H_
#define CGRUN_REPORT_GROUP_REPORT_H_

#include <cstdint>
#include <string>

#include "src/results/group_result.h"

namespace cgrun {

// Returns at most about twenty lines: the first groups of `result`, which are the worst of a ranked
// one, the means over all groups, and groups without a model. `file` has all groups; "": none does.
std::string GroupsText(const GroupsResult& result, const std::string& file);

// Returns a line for each group, in the order of `result`: rows, epochs, steps, samples and means
// of each split, and why there is no model.
std::string GroupsCsv(const GroupsResult& result);

std::string GroupsJson(const GroupsResult& result);

// Says what the models take: "1,000 groups: a model of 1.2 KiB each, 1.2 MiB of weights".
std::string GroupsMemoryText(int64_t groups, int64_t weights_bytes);

}  // namespace cgrun

#endif  // CGRUN_REPORT_GROUP_REPORT_H_
