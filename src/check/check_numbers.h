// The parts of a model's check share these functions: they name results, measure how far results
// are apart, and give the directions in which parameters are moved.
#ifndef CGRUN_CHECK_CHECK_NUMBERS_H_
#define CGRUN_CHECK_CHECK_NUMBERS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"

namespace cgrun {

// Returns the key of a result: its name, and its path's index.
std::string KeyOf(const std::string& name, int path);

// The names of what is expected, by KeyOf(), and not there.
std::vector<std::string> NamesNotIn(const std::set<std::string>& keys,
                                    const std::map<std::string, std::vector<double>>& expected);

// All elements, row by row.
std::vector<double> NumbersOf(const HostTensor& tensor);

// ±1, a pure function of the key of a parameter's name and the element.
double Sign(uint64_t key, int64_t element);

// Returns how far a check moves a parameter in a direction: as far as it is large.
double ScaleOf(const HostTensor& parameter);

// 0 of no numbers.
double RootMeanSquare(std::span<const double> numbers);

// The difference of as many numbers relative to what is expected, or to `floor` where that is more;
// infinite where a number is NaN.
double ErrorOf(std::vector<double> numbers, const std::vector<double>& expected, double floor);

}  // namespace cgrun

#endif  // CGRUN_CHECK_CHECK_NUMBERS_H_
