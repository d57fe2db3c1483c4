// The first target of the first data set that has one outside.
#include "src/lint/probability_check.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "src/data/field_values.h"

namespace cgrun {
namespace {

// "'labels.npy': sample 5 has the target 2, but those of binary_cross_entropy are from 0 to 1".
void Report(const NumbersOutside& outside, const SamplePlace& place, const LabelUse& use,
            Diagnostics& diagnostics) {
  std::string holder = "sample " + std::to_string(place.sample);
  if (place.own || place.file.empty()) {
    holder = place.own ? "'" + place.file + "'" : holder;
  } else if (!place.in_file()) {
    holder = "'" + place.file + "': " + holder;
  }
  const int64_t more = outside.samples - 1;
  const std::string others = more == 0 ? ""
                                       : "; and " + CountText(more, "more sample") +
                                             (more == 1 ? " has" : " have") + " such targets";
  char number[32];
  std::snprintf(number, sizeof(number), "%.9g", outside.number);
  diagnostics.Error(place.mark.file != nullptr ? place.mark : use.maker,
                    holder + " has the target " + number + ", but those of " + use.op +
                        " are from 0 to 1" + others,
                    "0 is for no, 1 for yes, and what lies between for a probability; numbers of "
                    "any size are for `squared_error`, more classes than two for "
                    "`softmax_cross_entropy`");
}

// Returns how far a target may lie outside: sums and quotients of this type round by as much.
double ToleranceOf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? 1e-2 : 1e-6;
}

}  // namespace

void CheckProbabilities(const std::vector<LabelledSet>& sets, const std::vector<LabelUse>& uses,
                        Diagnostics& diagnostics) {
  std::set<std::string> told;  // inputs
  for (const auto& [dataset, inputs] : sets) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto use = std::ranges::find_if(uses, [&](const LabelUse& item) {
        return item.kind == LabelUse::Kind::kProbabilities && item.input == inputs[i];
      });
      if (use == uses.end() || told.contains(inputs[i])) continue;
      const double tolerance = ToleranceOf(dataset->fields()[i].dtype);
      const std::optional<NumbersOutside> outside =
          FindOutside(dataset->whole(), i, -tolerance, 1 + tolerance);
      if (!outside) continue;
      told.insert(inputs[i]);
      Report(*outside, dataset->whole().PlaceOf(i, outside->sample, std::nullopt), *use,
             diagnostics);
    }
  }
}

}  // namespace cgrun
