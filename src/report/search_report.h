// Shows the table of a search on a terminal, and as JSON.
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
// Says which trial is the best, and which command uses it. The text is "" if no trial has a value.
std::string BestTrialText(const SearchResult& result);
// Says what the ensemble is worth, and which command uses it, or why there is none. The text is ""
// if the search was not asked for one.
std::string EnsembleText(const SearchResult& result);
// Lists the rungs of successive halving: "27 trials to epoch 1, 9 to epoch 3, …". Without rungs
// the text is "".
std::string RungsText(const SearchResult& result);

std::string SearchJson(const SearchResult& result);

}  // namespace cgrun

#endif  // CGRUN_REPORT_SEARCH_REPORT_H_
