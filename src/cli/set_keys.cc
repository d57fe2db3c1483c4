// Makes the keys from the tables of the format. Data sets and optimizers have further keys of their
// own.
#include "src/cli/set_keys.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/json_text.h"
#include "src/data/dataset.h"
#include "src/device/device.h"
#include "src/frontend/common_keys.h"
#include "src/frontend/supported.h"
#include "src/ir/op_def.h"
#include "src/model/schema.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

std::string Below(std::string_view place, std::string_view key) {
  return (place.empty() ? "" : std::string(place) + ".") + std::string(key);
}

// Returns whether a key is refused with any value.
bool IsRefused(std::string_view place, std::string_view key) {
  return std::ranges::any_of(UnsupportedKeys(), [&](const UnsupportedKey& other) {
    return other.place == place && other.key == key && other.values.empty();
  });
}

using Words = std::vector<std::string>;

std::vector<std::string> BooleanWords() { return {"true", "false"}; }

// Returns the values of a type that takes one of a few; nothing for other types.
Words WordsOf(const ValueType& type) {
  using Json = nlohmann::json;
  const Json schema = TryParseJson(std::string(type.json));
  if (!schema.is_object()) return {};
  const auto kind = schema.find("type"), choices = schema.find("enum");
  if (kind != schema.end() && kind->is_string() && kind->get<std::string>() == "boolean") {
    return BooleanWords();
  }
  Words words;
  if (choices == schema.end()) return words;
  for (const Json& word : *choices) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

Words WordsOf(const AttributeField& field) {
  return field.kind == AttributeKind::kBool ? BooleanWords() : field.choices;
}

Words DeviceWords() {
  Words words;
  for (const DeviceKind& kind : DeviceKinds()) words.emplace_back(kind.name);
  words.emplace_back("auto");
  return words;
}

Words FormatWords() {
  Words words;
  for (const DataFormat* format : DataFormats()) words.emplace_back(format->name);
  return words;
}

class Keys {
 public:
  // Returns the words that each key may have, by the key's name with "=" or "." at its end.
  std::map<std::string, Words> All() {
    for (const MapDoc& map : maps_) {
      if (map.place.find_first_of("*[") == std::string_view::npos) AddMap(map);
    }
    return keys_;
  }

 private:
  const MapDoc* Find(const std::string& place) const {
    const auto map = std::ranges::find(maps_, std::string_view(place), &MapDoc::place);
    return map == maps_.end() ? nullptr : &*map;
  }

  void Add(const std::string& key, Words words = {}) {
    keys_.try_emplace(key + "=", std::move(words));
  }

  void AddMap(const MapDoc& map) {
    for (const KeyDoc& key : map.keys) {
      const std::string name = Below(map.place, key.name);
      if (IsRefused(map.place, key.name) || Find(name) != nullptr) continue;
      if (map.place == "data" && key.type.text == kMapType.text) {
        AddDataSet(name);
      } else if (Find(name + ".*") != nullptr) {
        keys_.try_emplace(name + ".");
      } else {
        Add(name, name == "device" ? DeviceWords() : WordsOf(key.type));
        if (key.name == "optimizer") AddOptimizer(name);
      }
    }
  }

  void AddDataSet(const std::string& place) {
    for (const KeyDoc& key : Find("data.*")->keys) {
      if (place == "data.train" && key.name == "split") continue;
      Add(Below(place, key.name), key.name == "format" ? FormatWords() : WordsOf(key.type));
    }
    for (const DataFormat* format : DataFormats()) {
      for (const DataOptionSpec& option : format->options) {
        const auto& choices = option.values.choices;
        Add(Below(place, option.name), Words(choices.begin(), choices.end()));
      }
    }
  }

  void AddOptimizer(const std::string& place) {
    Words optimizers;
    for (int i = 0; i < OpCount(); ++i) {
      const OpDef& def = GetOpDef(static_cast<OpId>(i));
      if (def.usage != Usage::kOptimizer) continue;
      optimizers.emplace_back(def.name);
      for (const AttributeField& field : def.schema->fields()) {
        if (!field.internal) Add(Below(place, field.name), WordsOf(field));
      }
      for (const CommonKey& key : KeysInCommon(def)) Add(Below(place, key.name));
    }
    Add(Below(place, "op"), std::move(optimizers));
  }

  const std::vector<MapDoc> maps_ = FormatReference();
  std::map<std::string, Words> keys_;
};

}  // namespace

std::vector<std::string> SetKeys() {
  std::vector<std::string> keys;
  for (const auto& [key, words] : Keys().All()) keys.push_back(key);
  return keys;
}

std::map<std::string, std::vector<std::string>> SetValues() {
  std::map<std::string, std::vector<std::string>> values;
  for (auto& [key, words] : Keys().All()) {
    if (!words.empty()) values[key.substr(0, key.size() - 1)] = words;
  }
  return values;
}

}  // namespace cgrun
