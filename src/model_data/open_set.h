// How one set of a model's data is opened, checked and split. OpenModelData() opens all of them,
// and GroupOpener parts of their tables.
#ifndef CGRUN_MODEL_DATA_OPEN_SET_H_
#define CGRUN_MODEL_DATA_OPEN_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/model/model_spec.h"
#include "src/model_data/model_data.h"

namespace cgrun {

// The inputs that data feeds: not those that a step leaves for the next one, nor those without a
// batch.
std::vector<InputSpec> FedInputs(const ModelSpec& model);

// Says how much of a set is checked: only its options, if its files are not there; only its files,
// if the training data that it is read by have failed; or all.
enum class Look { kOptions, kFiles, kAll };

bool IsSamePlace(const SourceMark& a, const SourceMark& b);

// The options of a set that do not depend on other sets or on the memory that is left. Errors of
// their values go to `of_values`.
DataOptions OptionsOfSet(const ModelSpec& model, const DataSpec& spec, Diagnostics& of_values);

// Returns null after an error, and if not all is checked.
std::shared_ptr<const Dataset> OpenSet(const ModelSpec& model, const DataSpec& spec, Look look,
                                       const Dataset* train, const std::optional<DataSplit>& split,
                                       const DataFindings* kept, const MemoryLeft& left,
                                       int64_t most_in_memory, Diagnostics& diagnostics);

// Reports numbers of a set that are not finite: a single NaN makes all that is learned from it NaN.
void CheckFinite(const Dataset& dataset, Diagnostics& diagnostics);

// Returns how `valid` and `test` are split off the training data.
std::optional<DataSplit> SplitOf(const ModelSpec& model);
// Takes from the training data what `valid` and `test` ask for.
void SplitTrain(const ModelSpec& model, const DataSplit& split, ModelData& data,
                Diagnostics& diagnostics);

// With `update`, the rows of a batch are streams that go on from step to step.
void WalkInStreams(const ModelSpec& model, ModelData& data, Diagnostics& diagnostics);

// Adds what a set takes that has just been opened beside the others.
void CountSet(const Dataset& set, ModelData& data);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_OPEN_SET_H_
