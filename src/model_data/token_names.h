// What the tokens of a model's text are, and what the ids of words stand for.
#ifndef CGRUN_MODEL_DATA_TOKEN_NAMES_H_
#define CGRUN_MODEL_DATA_TOKEN_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/token_text.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Of the data that a model learns the next token of, texts or lines without labels; null for other
// models.
const DataSpec* TextSpecOf(const ModelSpec& model);

// The value of an option that is one, or `otherwise` where it is not given.
std::string OptionOf(const DataSpec& spec, std::string_view key, const std::string& otherwise);

// What a model learns the next one of; nothing for other models.
std::optional<TokenKind> TokensOf(const ModelSpec& model);

// By id, where the findings have a vocabulary: padding is "", what is no word "?".
std::vector<std::string> TokenNames(const DataFindings& findings);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_TOKEN_NAMES_H_
