// Root mean squares, directions and sets of names.
#include "src/check/check_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/base/random.h"

namespace cgrun {

std::string KeyOf(const std::string& name, int path) { return name + "@" + std::to_string(path); }

std::vector<std::string> NamesNotIn(const std::set<std::string>& keys,
                                    const std::map<std::string, std::vector<double>>& expected) {
  std::vector<std::string> names;
  for (const auto& [key, numbers] : expected) {
    if (!keys.contains(key)) names.push_back(key.substr(0, key.rfind('@')));
  }
  return names;
}

std::vector<double> NumbersOf(const HostTensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = tensor.At(static_cast<int64_t>(i));
  return numbers;
}

double Sign(uint64_t key, int64_t element) {
  return (RandomBits(key, 0, static_cast<uint64_t>(element)) & 1) != 0 ? 1 : -1;
}

double ScaleOf(const HostTensor& parameter) {
  const double size = RootMeanSquare(NumbersOf(parameter));
  return size > 0 ? size : 0.1;
}

double RootMeanSquare(std::span<const double> numbers) {
  double sum = 0;
  for (double number : numbers) sum += number * number;
  return numbers.empty() ? 0 : std::sqrt(sum / static_cast<double>(numbers.size()));
}

double ErrorOf(std::vector<double> numbers, const std::vector<double>& expected, double floor) {
  CGRUN_CHECK(numbers.size() == expected.size())
      << numbers.size() << " numbers, " << expected.size() << " expected";
  const double size = std::max({RootMeanSquare(expected), floor, 1e-300});
  for (size_t e = 0; e < numbers.size(); ++e) numbers[e] -= expected[e];
  const double error = RootMeanSquare(numbers) / size;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace cgrun
