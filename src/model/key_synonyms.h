// Names that keys have in other frameworks.
#ifndef CGRUN_MODEL_KEY_SYNONYMS_H_
#define CGRUN_MODEL_KEY_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

#include "src/base/synonyms.h"

namespace cgrun {

// Each leads to a key of the format or to an attribute of an operator.
std::span<const Synonym> KeySynonyms();

// The key of `known` that others call `name`, or that it is a typing error of; "" where it is none.
std::string MeantKey(std::string_view name, std::span<const std::string> known);

// Suggests a key to write instead of `name`, which is not among `known`: see SuggestSynonym(). Or
// it says why nothing is to be written for a key of another framework.
std::string SuggestKey(std::string_view name, std::span<const std::string> known);

// The same, but "" where nothing is known of `name`, instead of a list of all that is.
std::string HelpWithMeantKey(std::string_view name, std::span<const std::string> known);

// Suggests a metric to write instead of `name`, which is not among `known`. The best model is
// always selected by the metric of `valid`, which others call `val_loss`.
std::string SuggestMetric(std::string_view name, std::span<const std::string> known);

// home() of the first key of ours that others call `name` and that has one; "" where none has.
std::string HomeOfSynonym(std::string_view name, std::string (*home)(std::string_view));

}  // namespace cgrun

#endif  // CGRUN_MODEL_KEY_SYNONYMS_H_
