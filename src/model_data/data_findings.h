// What training data had that other data are read by: kept in the metadata of weights, so that
// evaluations and predictions need not find it out again.
#ifndef CGRUN_MODEL_DATA_DATA_FINDINGS_H_
#define CGRUN_MODEL_DATA_DATA_FINDINGS_H_

#include <string>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/io/safetensors.h"

namespace cgrun {

// What a data set has found out, and the names of its classes.
DataFindings FindingsOf(const Dataset& dataset);

// As metadata: "data.names.vocabulary": "[\"the\",\"a\"]", "data.numbers.mean": "[0.5]". Names that
// are no UTF-8 stand under "data.bytes.", a character a byte. Reading passes over what is no such
// list.
SafetensorsMetadata FindingsMetadata(const DataFindings& findings);
DataFindings ReadFindings(const SafetensorsMetadata& metadata);

// Those of a file of weights. UserError where it cannot be read.
DataFindings FindingsIn(const std::string& weights);

// Host memory that checkpoints take for them: what is written, where it is written from, and room
// for characters that JSON writes as six.
int64_t CheckpointBytes(const DataFindings& findings);

// In what the findings of data differ from those that weights keep: "the vocabulary"; "" where
// they agree, and of what either does not know.
std::string DifferenceOf(const DataFindings& kept, const DataFindings& data);

// Reports where the training data at `mark` differ from what the weights in `file` have kept: an
// error where a run goes on from them, else a warning.
void CheckFindings(const DataFindings& kept, const std::string& file, const DataFindings& data,
                   bool goes_on, const SourceMark& mark, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_DATA_FINDINGS_H_
