// The index writes findings once that most groups share, such as the names of columns.
#include "src/groups/group_index.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"
#include "src/model_data/data_findings.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnd = "]}";  // the last line

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

GroupIndexWriter::GroupIndexWriter(const std::string& folder, const std::string& column,
                                   SafetensorsMetadata shared)
    : shared_(std::move(shared)) {
  file_.Open(PathIn(folder));
  std::string head = JsonText(Json{{"group_by", column}, {"data", Json(shared_)}});
  head.pop_back();
  file_.Write(head + ",\"groups\":[");
}

void GroupIndexWriter::Add(const GroupEntry& entry) {
  Json group = {{"name", entry.name}};
  if (!entry.has_model()) group["no_model"] = entry.reason;
  if (Json differs = DifferenceOf(entry.data, shared_); entry.has_model() && !differs.empty()) {
    group["data"] = std::move(differs);
  }
  file_.Write((has_groups_ ? ",\n" : "\n") + JsonText(group));
  has_groups_ = true;
}

void GroupIndexWriter::Commit() {
  file_.Write("\n" + std::string(kEnd) + "\n");
  file_.Commit();
}

namespace {

// The lines of the file: the head, the groups, the end. Throws where one is none of them.
GroupIndex ParseIndex(std::string_view text) {
  GroupIndex index;
  const auto next = [&] {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with(',')) line.remove_suffix(1);
    return line;
  };
  const Json head = ParseOrderedJson(std::string(next()) + std::string(kEnd));
  head.at("group_by").get_to(index.column);
  const auto shared = head.at("data").get<SafetensorsMetadata>();
  for (std::string_view line = next(); line != kEnd; line = next()) {
    const Json group = ParseOrderedJson(line);  // that of no line, at the end of a cut file, throws
    GroupEntry entry;
    group.at("name").get_to(entry.name);
    entry.reason = group.value("no_model", "");
    if (entry.has_model()) entry.data = MetadataOf(group.value("data", Json::object()), shared);
    index.entries.push_back(std::move(entry));
  }
  return index;
}

}  // namespace

GroupIndex ReadGroupIndex(const std::string& folder) {
  const std::string path = PathIn(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError("'" + folder + "' holds no models of groups: it has no " + kGroupIndex,
                     "`cgrun train` makes one of a model file whose data have `group_by`; "
                     "--weights names the folder of such a run");
  }
  try {
    GroupIndex index = ParseIndex(ReadTextFile(path));
    if (index.Names().count() == std::ssize(index.entries)) return index;
  } catch (const nlohmann::json::exception&) {
    // The file does not say what it should.
  }
  ThrowFileError(path, "is damaged: it does not say which groups there are",
                 "train again, or take the file from a copy");
}

}  // namespace cgrun
