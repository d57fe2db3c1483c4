// From the tables of the format: those of data sets and optimizers have keys of their own besides.
#include "src/cli/set_keys.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "src/data/dataset.h"
#include "src/frontend/common_keys.h"
#include "src/frontend/supported.h"
#include "src/ir/op_def.h"
#include "src/model/schema.h"

namespace cgrun {
namespace {

std::string Below(std::string_view place, std::string_view key) {
  return (place.empty() ? "" : std::string(place) + ".") + std::string(key);
}

// What no value makes good.
bool IsRefused(std::string_view place, std::string_view key) {
  return std::ranges::any_of(UnsupportedKeys(), [&](const UnsupportedKey& other) {
    return other.place == place && other.key == key && other.values.empty();
  });
}

class Keys {
 public:
  std::vector<std::string> All() {
    for (const MapDoc& map : maps_) {
      if (map.place.find_first_of("*[") == std::string_view::npos) AddMap(map);
    }
    return {keys_.begin(), keys_.end()};
  }

 private:
  const MapDoc* Find(const std::string& place) const {
    const auto map = std::ranges::find(maps_, std::string_view(place), &MapDoc::place);
    return map == maps_.end() ? nullptr : &*map;
  }

  void Add(const std::string& key) { keys_.insert(key + "="); }

  void AddMap(const MapDoc& map) {
    for (const KeyDoc& key : map.keys) {
      const std::string name = Below(map.place, key.name);
      if (IsRefused(map.place, key.name) || Find(name) != nullptr) continue;
      if (map.place == "data") {
        AddDataSet(name);
      } else if (Find(name + ".*") != nullptr) {
        keys_.insert(name + ".");
      } else {
        Add(name);
        if (key.name == "optimizer") AddOptimizer(name);
      }
    }
  }

  void AddDataSet(const std::string& place) {
    for (const KeyDoc& key : Find("data.*")->keys) {
      if (place != "data.train" || key.name != "split") Add(Below(place, key.name));
    }
    for (const DataFormat* format : DataFormats()) {
      for (const DataOptionSpec& option : format->options) Add(Below(place, option.name));
    }
  }

  void AddOptimizer(const std::string& place) {
    Add(Below(place, "op"));
    for (int i = 0; i < OpCount(); ++i) {
      const OpDef& def = GetOpDef(static_cast<OpId>(i));
      if (def.usage != Usage::kOptimizer) continue;
      for (const AttributeField& field : def.schema->fields()) {
        if (!field.internal) Add(Below(place, field.name));
      }
      for (const CommonKey& key : KeysInCommon(def)) Add(Below(place, key.name));
    }
  }

  const std::vector<MapDoc> maps_ = FormatReference();
  std::set<std::string> keys_;
};

}  // namespace

std::vector<std::string> SetKeys() { return Keys().All(); }

}  // namespace cgrun
