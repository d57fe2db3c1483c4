// Metadata hold lists as JSON.
#include "src/model_data/data_findings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/json_text.h"
#include "src/base/printable.h"
#include "src/data/classes.h"
#include "src/data/csv_options.h"
#include "src/torch/weights_file.h"

namespace cgrun {
namespace {

constexpr std::string_view kNames = "data.names.", kBytes = "data.bytes.",
                           kNumbers = "data.numbers.";

// Converts each byte to a character from U+0000 to U+00FF.
std::string ToCharacters(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
  }
  return text;
}

// The inverse; nothing where a character is none of those.
std::optional<std::string> ToBytes(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
      continue;
    }
    if ((lead & 0xFC) != 0xC0 || i + 1 == text.size()) return std::nullopt;
    bytes += static_cast<char>(lead << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F));
  }
  return bytes;
}

void PutNames(const std::string& key, const std::vector<std::string>& names,
              SafetensorsMetadata& metadata) {
  const auto is_utf8 = [](const std::string& name) { return FindNoUtf8(name) == name.npos; };
  if (std::ranges::all_of(names, is_utf8)) {
    metadata[std::string(kNames) + key] = JsonText(nlohmann::json(names));
    return;
  }
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(ToCharacters(name));
  metadata[std::string(kBytes) + key] = JsonText(nlohmann::json(texts));
}

std::optional<std::vector<std::string>> NamesOf(const nlohmann::json& list, bool of_bytes) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> names;
  for (const nlohmann::json& item : list) {
    if (!item.is_string()) return std::nullopt;
    std::optional<std::string> name = item.get<std::string>();
    if (of_bytes) name = ToBytes(*name);
    if (!name) return std::nullopt;
    names.push_back(*std::move(name));
  }
  return names;
}

// A number that is not finite is null in JSON.
std::optional<std::vector<double>> NumbersOf(const nlohmann::json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<double> numbers;
  for (const nlohmann::json& item : list) {
    if (!item.is_number() && !item.is_null()) return std::nullopt;
    numbers.push_back(item.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : item.get<double>());
  }
  return numbers;
}

bool Same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

// "the categories of 'town'" of "categories.town".
std::string TextOf(const std::string& key) {
  if (key == kCsvMean) return "the means of their columns";
  if (key == kCsvDeviation) return "the standard deviations of their columns";
  const size_t dot = key.find('.');
  if (dot == key.npos) return "the " + key;
  return "the " + key.substr(0, dot) + " of '" + key.substr(dot + 1) + "'";
}

}  // namespace

DataFindings FindingsOf(const Dataset& dataset) {
  DataFindings findings = dataset.Findings();
  const std::vector<DataField>& fields = dataset.fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::span<const std::string> names = dataset.ClassNames(i);
    if (!names.empty()) findings.names[ClassesKey(fields[i].name)] = {names.begin(), names.end()};
  }
  return findings;
}

SafetensorsMetadata FindingsMetadata(const DataFindings& findings) {
  SafetensorsMetadata metadata;
  for (const auto& [key, names] : findings.names) PutNames(key, names, metadata);
  for (const auto& [key, numbers] : findings.numbers) {
    metadata[std::string(kNumbers) + key] = JsonText(nlohmann::json(numbers));
  }
  return metadata;
}

DataFindings ReadFindings(const SafetensorsMetadata& metadata) {
  DataFindings findings;
  for (const auto& [key, text] : metadata) {
    const bool names = key.starts_with(kNames), bytes = key.starts_with(kBytes);
    if (!names && !bytes && !key.starts_with(kNumbers)) continue;
    const auto json = TryParseJson(text);
    if (names || bytes) {
      auto list = NamesOf(json, bytes);
      if (list) findings.names[key.substr((names ? kNames : kBytes).size())] = *std::move(list);
    } else if (auto list = NumbersOf(json)) {
      findings.numbers[key.substr(kNumbers.size())] = *std::move(list);
    }
  }
  return findings;
}

DataFindings FindingsIn(const std::string& weights) {
  return ReadFindings(ReadWeightsMetadata(weights));
}

int64_t CheckpointBytes(const DataFindings& findings) {
  size_t bytes = 0;
  for (const auto& [key, text] : FindingsMetadata(findings)) bytes += key.size() + text.size();
  return static_cast<int64_t>(8 * bytes);
}

std::string DifferenceOf(const DataFindings& kept, const DataFindings& data) {
  for (const auto& [key, names] : kept.names) {
    const auto other = data.names.find(key);
    if (other != data.names.end() && other->second != names) return TextOf(key);
  }
  for (const auto& [key, numbers] : kept.numbers) {
    const auto other = data.numbers.find(key);
    if (other != data.numbers.end() && !Same(numbers, other->second)) return TextOf(key);
  }
  return "";
}

void CheckFindings(const DataFindings& kept, const std::string& file, const DataFindings& data,
                   bool goes_on, const SourceMark& mark, Diagnostics& diagnostics) {
  const std::string difference = DifferenceOf(kept, data);
  if (difference.empty()) return;
  const std::string message = "the training data are not those that " + file +
                              " was trained with: they differ in " + difference;
  if (goes_on) {
    diagnostics.Error(mark, message,
                      "a run goes on with the same data alone; --weights starts a new run from its "
                      "weights");
  } else {
    diagnostics.Warning(mark, message, "what was learned of them belongs to others now");
  }
}

}  // namespace cgrun
