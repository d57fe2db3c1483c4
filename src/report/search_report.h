// The table of a search on a terminal, and as JSON.
#ifndef CGRUN_REPORT_SEARCH_REPORT_H_
#define CGRUN_REPORT_SEARCH_REPORT_H_

#include <cstddef>
#include <string>

#include "src/results/search_result.h"

namespace cgrun {

// A line for each trial as it is planned: parameters, bytes, estimated time.
std::string PlannedTrials(const SearchResult& result);
// The ranking, with at most `most` rows, and a line that says how many more there are.
std::string RankedTrials(const SearchResult& result, size_t most);
// What the best trial is, and the commands that use it. "" if no trial has a value.
std::string BestTrialText(const SearchResult& result);
// The rungs of successive halving: "27 trials to epoch 1, 9 to epoch 3, …". "" without them.
std::string RungsText(const SearchResult& result);

std::string SearchJson(const SearchResult& result);

}  // namespace cgrun

#endif  // CGRUN_REPORT_SEARCH_REPORT_H_
