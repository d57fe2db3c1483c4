// Reports on the weights that a training run begins with.
#ifndef CGRUN_CLI_WEIGHTS_REPORT_H_
#define CGRUN_CLI_WEIGHTS_REPORT_H_

#include <string>
#include <vector>

#include "src/run/weights.h"

namespace cgrun {

// Notes conversions: "2 tensors of f16 were converted to f32". Numbers of f64 lose digits by that.
std::vector<std::string> ConversionNotes(const WeightsReport& report);

// Warns of tensors that are not finite.
void WarnOfNotFinite(const WeightsReport& report, const std::string& file);

// Names of the file and of the model side by side, a line each, where no tensor of the file is one
// of the model's; "" where one of the two lists is empty.
std::string NamesBeside(const WeightsReport& report);
inline constexpr char kRenameHelp[] =
    "if these are weights of this model, the key `rename` gives them its names: "
    "`rename: {\"layer*.weight\": \"fc*.weight\"}`";

// Lists what was loaded, what was not and why; with --quiet, as warnings, what a user must know of
// alone. False, after an error, where nothing of `file` fits the model, or that by chance: training
// would begin from scratch in silence.
bool ReportWeights(const WeightsReport& report, const std::string& file);

}  // namespace cgrun

#endif  // CGRUN_CLI_WEIGHTS_REPORT_H_
