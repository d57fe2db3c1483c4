// The groups of a model's data (`data.group_by`): which rows each has, how many samples they make,
// and their sets, one group after another.
#ifndef CGRUN_MODEL_DATA_GROUP_TABLE_H_
#define CGRUN_MODEL_DATA_GROUP_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/model/model_spec.h"
#include "src/model_data/grouped_rows.h"
#include "src/model_data/model_data.h"

namespace cgrun {

// The samples of a group: what its sets have when they are open.
struct GroupSamples {
  int64_t train = 0;
  int64_t valid = 0;
  int64_t test = 0;
};

class GroupTable {
 public:
  // Reads the tables of `model` and opens each group once to count its samples. `whole`: the
  // training data of all groups, which were opened without an error. Null after an error. Throws
  // UserError.
  static std::shared_ptr<const GroupTable> Read(const ModelSpec& model, const Dataset& whole,
                                                int64_t most_bytes, Diagnostics& diagnostics);

  int64_t count() const { return names_.count(); }
  const GroupNames& names() const { return names_; }
  // Rows of the training table.
  int64_t RowsOf(int64_t group) const { return train_->RowsOf(group); }
  const GroupSamples& SamplesOf(int64_t group) const {
    return samples_[static_cast<size_t>(group)];
  }
  // Why the data of a group cannot be opened, such as too few rows for a split; "" where they can.
  const std::string& ProblemOf(int64_t group) const {
    return problems_[static_cast<size_t>(group)];
  }
  // The numbers of samples that groups have in each set, each number once and none of them 0.
  const std::vector<int64_t>& train_sizes() const { return train_sizes_; }
  const std::vector<int64_t>& valid_sizes() const { return valid_sizes_; }
  const std::vector<int64_t>& test_sizes() const { return test_sizes_; }
  // How many groups there are, which of them cannot be opened, and how many rows of `valid` and
  // `test` are of groups that the training data do not have.
  std::vector<std::string> Notes() const;
  // Hashes the text of all rows, by which a run that goes on knows them.
  uint64_t Hash() const;
  // Host memory.
  int64_t bytes() const;

 private:
  friend class GroupOpener;

  std::string CountNote() const;
  std::string ProblemNote() const;  // "" where all groups can be opened

  std::string column_;
  GroupNames names_;
  std::unique_ptr<GroupedRows> train_, valid_, test_;  // null where the model has no such table
  DataFindings classes_;  // the names of classes in the whole table, which all groups share
  std::vector<GroupSamples> samples_;
  std::vector<std::string> problems_;
  std::vector<int64_t> train_sizes_, valid_sizes_, test_sizes_;
};

// Opens the sets of groups.
class GroupOpener {
 public:
  // Both outlive this.
  GroupOpener(const ModelSpec& model, const GroupTable& table);

  // The sets of a group, as OpenModelData() opens those of tables with the rows of this group
  // alone, but that labels which are texts have the classes of the whole table. A set of a table in
  // which the group has no rows is null. `kept` is what weights keep for reading the data; null
  // without weights. Errors go to `diagnostics`.
  ModelData Open(int64_t group, const DataFindings* kept, Diagnostics& diagnostics) const;

 private:
  struct Set {
    const GroupedRows* rows = nullptr;  // null where there is no table
    DataOption format;
    DataOptions options;
  };
  Set SetOf(const std::optional<DataSpec>& spec, const GroupedRows* rows) const;
  std::shared_ptr<const Dataset> OpenPart(const Set& set, int64_t group, const DataFindings* kept,
                                          ModelData& data, Diagnostics& diagnostics) const;

  const ModelSpec& model_;
  const DataFindings& classes_;
  std::optional<DataSplit> split_;
  Set train_, valid_, test_;
};

// The first error, as one line.
std::string FirstError(const Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_GROUP_TABLE_H_
