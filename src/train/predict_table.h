// Tables (CSV files) as samples to predict: read as the model's data says, without its labels.
#ifndef CGRUN_TRAIN_PREDICT_TABLE_H_
#define CGRUN_TRAIN_PREDICT_TABLE_H_

#include <memory>
#include <string>

#include "src/data/dataset.h"
#include "src/model/model_spec.h"

namespace cgrun {

class TableReader {
 public:
  // Of a model that has no data of format `csv`, tables begin with a line of names, and all of
  // their columns are used.
  explicit TableReader(const ModelSpec& model);

  // Whether the model's own data are tables.
  bool of_model() const { return spec_ != nullptr; }
  // Whether a file has the name of a table: .csv or .tsv, with or without .gz.
  static bool IsTable(const std::string& path);

  // The rows of a file as samples of one field, which feeds `field`. The columns that the option
  // `label` names need not be there; what stands in them is not read. `missing: mean` takes the
  // means of the training data. InputError with the place in the file.
  std::shared_ptr<const Dataset> Open(const std::string& path, const DataField& field) const;

 private:
  bool TakeOptions(DataOptions& options) const;
  std::shared_ptr<const Dataset> Training() const;

  const ModelSpec& model_;
  const DataSpec* spec_ = nullptr;  // of the model's data; null: they are no tables
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_PREDICT_TABLE_H_
