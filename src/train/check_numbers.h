// What the parts of a model's check have in common: names of results, and how far apart they are.
#ifndef CGRUN_TRAIN_CHECK_NUMBERS_H_
#define CGRUN_TRAIN_CHECK_NUMBERS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace cgrun {

// Of a result: its name, and its path's index.
std::string KeyOf(const std::string& name, int path);

// The names of what is expected, by KeyOf(), and not there.
std::vector<std::string> NamesNotIn(const std::set<std::string>& keys,
                                    const std::map<std::string, std::vector<double>>& expected);

// 0 of no numbers.
double RootMeanSquare(std::span<const double> numbers);

// The difference of as many numbers relative to what is expected, or to `floor` where that is more;
// infinite where a number is NaN.
double ErrorOf(std::vector<double> numbers, const std::vector<double>& expected, double floor);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_CHECK_NUMBERS_H_
