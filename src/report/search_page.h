// report.html of a search, on one page that needs nothing else: the curves of all trials, their
// parameters beside each other, which parameters mattered, the rungs, and the table.
#ifndef CGRUN_REPORT_SEARCH_PAGE_H_
#define CGRUN_REPORT_SEARCH_PAGE_H_

#include <string>
#include <vector>

#include "src/results/search_result.h"

namespace cgrun {

// `settings` is the text of the search file.
std::string SearchPageHtml(const SearchResult& result, const std::string& settings);

// Says how much of the variance of the trials' ranks the groups of one parameter's values explain,
// from 0 to 1. Numbers are put into four groups of the same size. Ranks, unlike values, do not let
// one failed trial count for all. The result is nothing if fewer than four trials have the
// parameter, or all have one value.
struct ParameterWeight {
  std::string parameter;
  double share = 0;
  std::string best;  // the value or range whose trials are best on average
};
std::vector<ParameterWeight> WeighParameters(const SearchResult& result);

}  // namespace cgrun

#endif  // CGRUN_REPORT_SEARCH_PAGE_H_
