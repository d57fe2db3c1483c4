// GroupIndex: which groups a run has models of, where their weights lie, and by what their data are
// read. The file groups.json of a run folder holds it.
#ifndef CGRUN_GROUPS_GROUP_INDEX_H_
#define CGRUN_GROUPS_GROUP_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/io/atomic_file.h"
#include "src/io/safetensors.h"
#include "src/model_data/class_names.h"
#include "src/model_data/grouped_rows.h"

namespace cgrun {

inline constexpr char kGroupIndex[] = "groups.json";

struct GroupEntry {
  std::string name;
  std::string reason;        // why it has no model; "" where it has one
  SafetensorsMetadata data;  // FindingsMetadata() and ClassMetadata() of its training data

  bool has_model() const { return reason.empty(); }
  DataFindings Findings() const;
  ClassNames Classes() const;
};

struct GroupIndex {
  std::string column;               // that names the groups
  std::vector<GroupEntry> entries;  // by the place of their weights

  GroupNames Names() const;
};

// Returns the data of the first group that has a model. All groups have the same classes of labels
// and mostly the same columns.
const SafetensorsMetadata& SharedMetadata(const GroupIndex& index);

// Writes the index of a run folder, group by group. Its lines are JSON, and so is the whole file.
class GroupIndexWriter {
 public:
  // `shared`: what of the data most groups have in common, which is written once. Throws UserError
  // where the file cannot be written, as the others do.
  GroupIndexWriter(const std::string& folder, const std::string& column,
                   SafetensorsMetadata shared);

  void Add(const GroupEntry& entry);
  // Ends the file, which is not there before.
  void Commit();

 private:
  SafetensorsMetadata shared_;
  AtomicFile file_;
  bool has_groups_ = false;
};

// Reads it. Throws InputError where the folder has none, or a damaged one.
GroupIndex ReadGroupIndex(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_GROUPS_GROUP_INDEX_H_
