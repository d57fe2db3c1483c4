// MakeEnsemble() makes an ensemble of the best trials of a search that has ended: a folder with one
// model file and its weights.
#ifndef CGRUN_SEARCH_MAKE_ENSEMBLE_H_
#define CGRUN_SEARCH_MAKE_ENSEMBLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/results/search_result.h"
#include "src/search/search_spec.h"
#include "src/search/trial_model.h"
#include "src/search/trial_plan.h"
#include "src/session/session.h"

namespace cgrun {

struct EnsembleCandidate {
  int64_t trial = 0;    // from 1
  std::string folder;   // of its run
  std::string weights;  // a hash
};

struct EnsembleRequest {
  EnsembleSpec spec;
  std::string metric;
  bool higher_is_better = false;
  std::string folder;                         // of the search
  std::vector<EnsembleCandidate> candidates;  // the best first
};

// The number of the best trials whose run folders an ensemble may need.
int64_t CandidatesOf(const EnsembleSpec& spec);

// Chooses the members by one half of `valid`, measures their mean by the other half, and writes the
// folder `ensemble` of the search. If that folder has the ensemble of these very candidates,
// nothing is computed. Errors go to the result. Throws RunStopped after a signal.
EnsembleResult MakeEnsemble(const EnsembleRequest& request, const TrialPlace& place,
                            SharedData& data, const RunSignals& signals);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_MAKE_ENSEMBLE_H_
