// Tables (CSV files) and texts as samples to predict: read as the model's data say, without labels.
#ifndef CGRUN_PREDICT_PREDICT_TABLE_H_
#define CGRUN_PREDICT_PREDICT_TABLE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/data/csv_options.h"
#include "src/data/dataset.h"
#include "src/data/table_rows.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Reports the errors of a table, each with its place in it. The text is the first error, and the
// number of others beside it.
class TableError : public InputError {
 public:
  TableError(const std::string& message, const std::string& help, Diagnostics errors)
      : InputError(message, help),
        errors_(std::make_shared<const Diagnostics>(std::move(errors))) {}
  const std::shared_ptr<const Diagnostics>& errors() const { return errors_; }

 private:
  std::shared_ptr<const Diagnostics> errors_;
};

// Throws TableError with the first error, of which there is one, and with all of them.
[[noreturn]] void ThrowFirst(const Diagnostics& diagnostics);

// The samples of a file, and which of their fields feeds each of the inputs.
struct PredictTable {
  std::shared_ptr<const Dataset> rows;
  std::vector<size_t> fields;
};

class TableReader {
 public:
  // `kept` holds the findings that the weights keep of their training data. If a model has no data
  // of format `csv`, tables begin with a line of names, and all of their columns are used.
  explicit TableReader(const ModelSpec& model, DataFindings kept = {});

  // Returns whether the model's own data are tables, or texts.
  bool of_model() const { return spec_ != nullptr; }
  bool of_text() const { return format_ == "lines" || format_ == "text"; }
  // Returns whether a file has the name of one that this reads: .csv or .tsv, with or without .gz;
  // or .txt too, of a model that reads texts.
  bool Reads(const std::string& path) const;

  // "tables (.csv, .tsv) with the columns of its training data": what can be predicted, for inputs
  // that are these.
  std::string TakenText(const std::vector<DataField>& inputs) const;

  // Opens the samples of a file, whose fields feed `inputs`: those of their names, or where an
  // input has no such field, in order. The columns that the option `label` names need not be there,
  // and their values are not read.
  //
  // The findings about the training data come from the weights, else from the training data. Throws
  // TableError with the places in the file, and InputError for a fault of the whole file. Warnings
  // of unknown categories are added to `warnings`. With `part`, these rows of the file are read.
  PredictTable Open(const std::string& path, const std::vector<DataField>& inputs,
                    Diagnostics& warnings, const TablePart* part = nullptr) const;

  // Returns how a table of the model's data is read. Throws TableError for options that cannot be.
  CsvOptions Csv() const;

 private:
  bool IsOfFormat(const DataFindings& kept) const;
  bool TakeOptions(DataOptions& options) const;
  void PrepareTable(const std::string& path, DataOptions& options) const;
  void PrepareLines(const std::string& path, DataOptions& options) const;
  bool NeedsTraining(const DataOptions& options) const;
  std::shared_ptr<const Dataset> Training() const;

  const ModelSpec& model_;
  const DataFindings kept_;
  const DataSpec* spec_ = nullptr;  // of the model's data; null: they are neither
  std::string place_;               // of these: "data.train"
  std::string format_ = "csv";
};

}  // namespace cgrun

#endif  // CGRUN_PREDICT_PREDICT_TABLE_H_
