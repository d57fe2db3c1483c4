// GroupSource reads rows of tables and has each predicted by the model of its group. The rows keep
// their order.
#ifndef CGRUN_GROUPS_GROUP_SOURCE_H_
#define CGRUN_GROUPS_GROUP_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/groups/group_models.h"
#include "src/model_data/grouped_rows.h"
#include "src/predict/predict.h"
#include "src/predict/predict_table.h"

namespace cgrun {

class GroupSource {
 public:
  // Reads the tables. `model` and `models` outlive this. Throws InputError for a file that is no
  // table, and TableError for rows whose group has no model, each with its place.
  GroupSource(const std::vector<std::string>& files, std::vector<DataField> inputs,
              const ModelSpec& model, const GroupModels& models);

  int64_t samples() const;
  // Groups that have rows in a file, counted for each file.
  int64_t parts() const;
  std::vector<std::string> files() const;
  // Host memory that the tables take, in bytes.
  int64_t reading_bytes() const;
  const std::vector<FileProblem>& problems() const { return problems_; }
  const Diagnostics& warnings() const { return warnings_; }
  const std::vector<std::string>& notes() const { return notes_; }

  // Has `predictor` predict group by group, and `sink` see the rows in their order. Returns how
  // many they are.
  int64_t Run(Predictor& predictor, const Predictor::Sink& sink);

 private:
  struct File {
    std::string path;
    std::unique_ptr<GroupedRows> rows;
  };
  class FileRun;

  void CheckStrays(const GroupedRows& rows) const;

  const ModelSpec& model_;
  const GroupModels& models_;
  const std::vector<DataField> inputs_;
  std::vector<File> files_;
  std::vector<FileProblem> problems_;  // none: a bad file is an error
  Diagnostics warnings_;
  std::vector<std::string> notes_;
};

}  // namespace cgrun

#endif  // CGRUN_GROUPS_GROUP_SOURCE_H_
