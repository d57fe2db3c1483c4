// The data of a model: its sets, opened and matched with the model's inputs.
#ifndef CGRUN_MODEL_DATA_MODEL_DATA_H_
#define CGRUN_MODEL_DATA_MODEL_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/model/model_spec.h"
#include "src/results/train_result.h"

namespace cgrun {

class GroupTable;

struct ModelData {
  std::shared_ptr<const Dataset> train;  // null where the file has none
  std::shared_ptr<const Dataset> valid;
  std::shared_ptr<const Dataset> test;
  std::shared_ptr<const Dataset> whole;  // `train` with the samples that are split off it
  int64_t decoded_bytes = 0;             // host memory of all of them
  int64_t opening_bytes = 0;             // the most that opening them took, what stays included
  int64_t streamable_bytes = 0;          // of decoded_bytes, what could lie in files instead
  std::vector<std::string> missing;      // a text each: "cannot open 'x.gz': No such …"
  // Inputs that are not what the data have for them: reported, and what reads them is not to be
  // judged by their types.
  std::vector<std::string> misfits;
  std::vector<std::string> notes;  // say what became of the files: Dataset::Notes() of all sets
  LeftOut left_out;
  // The groups of its rows, where the model's data have `group_by`; else null.
  std::shared_ptr<const GroupTable> groups = nullptr;
};

enum class MissingFiles { kAreErrors, kAreListed };

// Says whether the cap on the memory of training binds the data. A set that is only evaluated need
// not obey it.
enum class DataCap { kOfRun, kNone };

// Opens the sets that the model names, and checks that they have the fields of its inputs and that
// all their numbers are finite. No set is open after an error of `update`, as `update` decides
// which inputs need no data. Errors go to `diagnostics`.
//
// If the training data have an error, only the options of the other sets are checked: these sets
// are read by the findings of the training data. If the files of a set are absent, only its options
// are checked.
//
// If the data have `group_by`, the sets hold the rows of all groups, and `groups` tells them apart.
//
// If the file has `update`, all sets walk in streams, as many as a batch has samples: see
// src/data/streams.h. `kept` is what the weights keep for reading the data; null without weights.
// No set takes more memory than is free, or left of the cap.
ModelData OpenModelData(const ModelSpec& model, Diagnostics& diagnostics,
                        MissingFiles missing = MissingFiles::kAreErrors,
                        const DataFindings* kept = nullptr, DataCap cap = DataCap::kOfRun);

// The model without the types of its misfits, for which operators that read them would be reported.
ModelSpec WithoutMisfits(ModelSpec model, const ModelData& data);

// The set of `train` with the samples that are split off it, which have no part in what the format
// finds out of it, such as the means of columns. Returns null after an error, and where its files
// are not there.
std::shared_ptr<const Dataset> OpenTrainWhole(const ModelSpec& model, Diagnostics& diagnostics);

// Checks what can be told of the sets without opening any: their formats and options, and whether
// their files are there.
void CheckModelData(const ModelSpec& model, Diagnostics& diagnostics);

// Checks of these only whether the files are there.
void CheckDataFiles(const ModelSpec& model, Diagnostics& diagnostics);

// Returns for each field of `dataset` the name of the input that takes it. It is the input of that
// name, or, if some field has no such input, the input in the same place. They agree in number type
// and shape, as ShapesAgree() says (an image of [28, 28] goes into [1, 28, 28], or into [784]).
// Returns nothing after an error.
std::vector<std::string> MatchInputs(const ModelSpec& model, const Dataset& dataset,
                                     const SourceMark& mark, Diagnostics& diagnostics);

// Warns where the file asks for batches of more samples than there are: they are cut.
void WarnOfLargeBatch(const ModelSpec& model, const Dataset& train, Diagnostics& diagnostics);

// An option of a data set: a value, or a list of values.
DataOption ToDataOption(const Attribute& option, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_MODEL_DATA_H_
