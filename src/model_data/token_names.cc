// Options of the data say what tokens are.
#include "src/model_data/token_names.h"

#include "src/data/lines_dataset.h"

namespace cgrun {

std::string OptionOf(const DataSpec& spec, std::string_view key, const std::string& otherwise) {
  for (const Attribute& option : spec.options) {
    if (option.key == key && !option.value.IsNull()) return option.value.scalar;
  }
  return otherwise;
}

const DataSpec* TextSpecOf(const ModelSpec& model) {
  if (!model.data) return nullptr;
  for (const auto* spec : {&model.data->train, &model.data->test, &model.data->valid}) {
    if (!*spec || !(*spec)->format) continue;
    const std::string& format = (*spec)->format->value;
    if (format != "text" && format != "lines") continue;
    return OptionOf(**spec, "label", "none") == "none" ? &**spec : nullptr;
  }
  return nullptr;
}

std::optional<TokenKind> TokensOf(const ModelSpec& model) {
  const DataSpec* spec = TextSpecOf(model);
  if (spec == nullptr) return std::nullopt;
  if (spec->format->value == "text") return TokenKind::kBytes;
  const std::string tokens = OptionOf(*spec, "tokens", "words");
  if (tokens == "words") return TokenKind::kWords;
  return tokens == "ids" ? TokenKind::kIds : TokenKind::kBytes;
}

std::vector<std::string> TokenNames(const DataFindings& findings) {
  const auto words = findings.names.find(kVocabularyKey);
  if (words == findings.names.end()) return {};
  std::vector<std::string> names = {"", "?"};
  names.insert(names.end(), words->second.begin(), words->second.end());
  return names;
}

}  // namespace cgrun
