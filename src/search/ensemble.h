// Chooses the members of an ensemble by their predictions: numbers in, weights out.
#ifndef CGRUN_SEARCH_ENSEMBLE_H_
#define CGRUN_SEARCH_ENSEMBLE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cgrun {

// The predictions of a candidate for all samples. Those of two candidates have equal length.
using CandidateNumbers = std::span<const float>;

// Says how bad a mean of predictions is. Less is better; NaN is worse than any number.
using EnsembleLoss = std::function<double(std::span<const double> mean)>;

// A choice counts how often each candidate is picked. The weight of a candidate is its count,
// divided by the sum of all. If no candidate has a loss that is a number, all counts are 0.
using EnsembleChoice = std::vector<int64_t>;

// Picks the `count` best candidates, once each. The first of equal ones comes first. The result has
// fewer if fewer have a loss that is a number.
EnsembleChoice ChooseTop(std::span<const CandidateNumbers> candidates, int64_t count,
                         const EnsembleLoss& loss);

// Picks candidates one by one, with replacement, `most` times. Each pick is the candidate with
// which the mean of all picks is best, the first of equal ones. Returns the picks until the best
// of these means, the first of equal ones (Caruana et al., Ensemble Selection from Libraries of
// Models, 2004).
EnsembleChoice ChooseGreedily(std::span<const CandidateNumbers> candidates, int64_t most,
                              const EnsembleLoss& loss);

// The mean of the candidates by their counts, of which one is above 0.
std::vector<double> MeanOf(std::span<const CandidateNumbers> candidates,
                           const EnsembleChoice& choice);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_ENSEMBLE_H_
