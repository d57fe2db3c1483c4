// What most groups have in common, such as the names of columns, is written once.
#include "src/groups/group_index.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "src/base/json_text.h"
#include "src/io/atomic_file.h"
#include "src/io/file_error.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/model_data/data_findings.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

std::string PathIn(const std::string& folder) { return folder + "/" + kGroupIndex; }

// Returns the items of `data` that are not so in `shared`. A key that it lacks is null.
Json DifferenceOf(const SafetensorsMetadata& data, const SafetensorsMetadata& shared) {
  Json differs = Json::object();
  for (const auto& [key, text] : data) {
    const auto found = shared.find(key);
    if (found == shared.end() || found->second != text) differs[key] = text;
  }
  for (const auto& [key, text] : shared) {
    if (!data.contains(key)) differs[key] = nullptr;
  }
  return differs;
}

SafetensorsMetadata MetadataOf(const Json& differs, SafetensorsMetadata data) {
  for (const auto& [key, text] : differs.items()) {
    if (text.is_null()) {
      data.erase(key);
    } else {
      data[key] = text.get<std::string>();
    }
  }
  return data;
}

}  // namespace

DataFindings GroupEntry::Findings() const { return ReadFindings(data); }
ClassNames GroupEntry::Classes() const { return ReadClassMetadata(data); }

const SafetensorsMetadata& SharedMetadata(const GroupIndex& index) {
  static const SafetensorsMetadata kNone;
  for (const GroupEntry& entry : index.entries) {
    if (entry.has_model()) return entry.data;
  }
  return kNone;
}

GroupNames GroupIndex::Names() const {
  GroupNames names;
  for (const GroupEntry& entry : entries) names.Add(entry.name);
  return names;
}

void WriteGroupIndex(const std::string& folder, const GroupIndex& index) {
  const SafetensorsMetadata& shared = SharedMetadata(index);
  Json groups = Json::array();
  for (const GroupEntry& entry : index.entries) {
    Json group = {{"name", entry.name}};
    if (!entry.has_model()) group["no_model"] = entry.reason;
    if (Json differs = DifferenceOf(entry.data, shared); entry.has_model() && !differs.empty()) {
      group["data"] = std::move(differs);
    }
    groups.push_back(std::move(group));
  }
  const Json json = {
      {"group_by", index.column}, {"data", Json(shared)}, {"groups", std::move(groups)}};
  const std::string text = JsonText(json, 1) + "\n";
  WriteFileAtomically(PathIn(folder), std::as_bytes(std::span(text)));
}

GroupIndex ReadGroupIndex(const std::string& folder) {
  const std::string path = PathIn(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError("'" + folder + "' holds no models of groups: it has no " + kGroupIndex,
                     "`cgrun train` makes one of a model file whose data have `group_by`; "
                     "--weights names the folder of such a run");
  }
  const std::string text = ReadTextFile(path);
  CheckJsonRoom(path, text);
  const Json json = TryParseOrderedJson(text);
  try {
    GroupIndex index;
    json.at("group_by").get_to(index.column);
    const auto shared = json.at("data").get<SafetensorsMetadata>();
    for (const Json& group : json.at("groups")) {
      GroupEntry entry;
      group.at("name").get_to(entry.name);
      entry.reason = group.value("no_model", "");
      if (entry.has_model()) entry.data = MetadataOf(group.value("data", Json::object()), shared);
      index.entries.push_back(std::move(entry));
    }
    if (index.Names().count() == std::ssize(index.entries)) return index;
  } catch (const nlohmann::json::exception&) {
    // The file does not say what it should.
  }
  ThrowFileError(path, "is damaged: it does not say which groups there are",
                 "train again, or take the file from a copy");
}

}  // namespace cgrun
