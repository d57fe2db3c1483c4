// Cleans names, and counts those that are taken.
#include "src/import/value_names.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cgrun {
namespace {

constexpr size_t kMostBytes = 60;
// YAML and the format take these for something else than a name.
constexpr std::array<std::string_view, 14> kWords = {"null", "Null",  "NULL",    "true",    "false",
                                                     "inf",  "nan",   "yes",     "no",      "_",
                                                     "op",   "block", "network", "gradient"};

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "layer1", "layer1.0", "conv1", "Conv" of "/layer1/layer1.0/conv1/Conv"; a part that repeats the
// one before and goes on replaces it.
std::string WithoutRepeats(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (!parts.empty() && part.starts_with(parts.back())) parts.pop_back();
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  std::string joined;
  for (const std::string_view part : parts) joined.append(joined.empty() ? "" : "_").append(part);
  return joined;
}

}  // namespace

std::string CleanName(std::string_view name) {
  std::string clean;
  for (const char c : WithoutRepeats(name)) {
    if (IsLetterOrDigit(c)) {
      clean += c;
    } else if (!clean.empty() && clean.back() != '_') {
      clean += '_';
    }
    if (clean.size() == kMostBytes) break;
  }
  while (!clean.empty() && clean.back() == '_') clean.pop_back();
  if (clean.empty()) return "value";
  if (clean[0] >= '0' && clean[0] <= '9') clean.insert(0, "v");
  if (std::ranges::find(kWords, clean) != kWords.end()) clean += "_";
  return clean;
}

std::string ValueNames::Take(std::string_view wish) {
  const std::string clean = CleanName(wish);
  std::string name = clean;
  while (!taken_.insert(name).second) {
    int& last = last_.try_emplace(clean, 1).first->second;
    name = clean + "_" + std::to_string(++last);
  }
  return name;
}

}  // namespace cgrun
