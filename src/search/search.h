// RunSearch() is what `cgrun search` does: it proposes trials, plans each before it runs, runs them
// in one heap, and ranks them.
#ifndef CGRUN_SEARCH_SEARCH_H_
#define CGRUN_SEARCH_SEARCH_H_

#include <optional>
#include <string>

#include "src/results/search_result.h"
#include "src/search/search_spec.h"
#include "src/search/trial_plan.h"
#include "src/session/session.h"

namespace cgrun {

struct SearchOptions {
  std::string folder;  // that the search leaves; it is there and locked, unless this is a dry run
  std::string arguments;  // other settings of the command line for the trials, in one line
  bool resume = false;    // goes on with the journal in the folder
  bool dry_run = false;   // plans trials as far as they are known, and runs none
  int jobs = 0;           // processes; 0: as many as there are processors and memory for
  TrialPlace place;       // `device` is that of the first model where it is ""
};

// Sees a search go on.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // All trials that are known from the start are planned.
  virtual void OnPlanned(const SearchResult&) {}
  // `trial` has left a rung, was refused, or failed.
  virtual void OnTrial(const SearchResult&, const TrialResult& /*trial*/) {}
  // All trials have ended, and an ensemble is made of some of these candidates.
  virtual void OnEnsemble(int64_t /*candidates*/) {}
};

// Errors of the file and of its models go to `diagnostics`: then the result is empty, and nothing
// has run. `search` outlives the call. Throws InputError for a journal of another search, and
// UserError for files.
std::optional<SearchResult> RunSearch(const SearchSpec& search, const SearchOptions& options,
                                      SearchObserver& observer, const RunSignals& signals,
                                      Diagnostics& diagnostics);

// Identifies a search by its file and by the models that it names.
// `expand` is that of LoadModelFile().
std::string FingerprintOf(const SearchSpec& search, const std::string& arguments,
                          const TreeExpander& expand = {});

}  // namespace cgrun

#endif  // CGRUN_SEARCH_SEARCH_H_
