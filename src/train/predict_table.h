// Tables (CSV files) and texts as samples to predict: read as the model's data say, without labels.
#ifndef CGRUN_TRAIN_PREDICT_TABLE_H_
#define CGRUN_TRAIN_PREDICT_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/model/model_spec.h"

namespace cgrun {

class TableReader {
 public:
  // `kept` is what the weights keep of the data that they were trained on. Of a model that has no
  // data of format `csv`, tables begin with a line of names, and all of their columns are used.
  explicit TableReader(const ModelSpec& model, DataFindings kept = {});

  // Whether the model's own data are tables, or texts.
  bool of_model() const { return spec_ != nullptr; }
  // Whether a file has the name of one that this reads: .csv or .tsv, with or without .gz; or .txt
  // too, of a model that reads texts.
  bool Reads(const std::string& path) const;

  // The samples of a file as fields that feed `inputs`, in their order. The columns that the option
  // `label` names need not be there; what stands in them is not read. What the format found out
  // about the training data comes from the weights, else from the training data. InputError with
  // the place in the file.
  std::shared_ptr<const Dataset> Open(const std::string& path,
                                      const std::vector<DataField>& inputs) const;

 private:
  bool of_text() const { return format_ == "lines" || format_ == "text"; }
  bool TakeOptions(DataOptions& options) const;
  void PrepareTable(const std::string& path, DataOptions& options) const;
  void PrepareLines(const std::string& path, DataOptions& options) const;
  bool NeedsTraining(const DataOptions& options) const;
  std::shared_ptr<const Dataset> Training() const;

  const ModelSpec& model_;
  const DataFindings kept_;
  const DataSpec* spec_ = nullptr;  // of the model's data; null: they are neither
  std::string format_ = "csv";
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_PREDICT_TABLE_H_
