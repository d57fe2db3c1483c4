// Finds the tokens of a model's text, and the words that their ids stand for.
#ifndef CGRUN_MODEL_DATA_TOKEN_NAMES_H_
#define CGRUN_MODEL_DATA_TOKEN_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/token_text.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns the data whose next token a model learns: texts, or lines without labels. Returns null
// for other models.
const DataSpec* TextSpecOf(const ModelSpec& model);

// The value of an option that is one, or `otherwise` where it is not given.
std::string OptionOf(const DataSpec& spec, std::string_view key, const std::string& otherwise);

// Returns the kind of token that such a model predicts; nothing for other models.
std::optional<TokenKind> TokensOf(const ModelSpec& model);

// Returns the words by id, if the findings have a vocabulary. Padding is "", and the id of unknown
// words is "?".
std::vector<std::string> TokenNames(const DataFindings& findings);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_TOKEN_NAMES_H_
