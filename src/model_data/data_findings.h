// Keeps the findings about training data by which other data are read. They stand in the metadata
// of weights, so that evaluations and predictions need not compute them again.
#ifndef CGRUN_MODEL_DATA_DATA_FINDINGS_H_
#define CGRUN_MODEL_DATA_DATA_FINDINGS_H_

#include <string>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/io/safetensors.h"

namespace cgrun {

// Returns the findings of a data set, and the names of its classes.
DataFindings FindingsOf(const Dataset& dataset);

// Metadata look like this: "data.names.vocabulary": "[\"the\",\"a\"]", "data.numbers.mean":
// "[0.5]". Names that are not UTF-8 stand under "data.bytes.", a character a byte. Reading skips a
// text that is no such list.
SafetensorsMetadata FindingsMetadata(const DataFindings& findings);
DataFindings ReadFindings(const SafetensorsMetadata& metadata);

// Returns the findings in a file of weights. Throws UserError where it cannot be read.
DataFindings FindingsIn(const std::string& weights);

// Host memory that checkpoints take for them: what is written, where it is written from, and room
// for characters that JSON writes as six.
int64_t CheckpointBytes(const DataFindings& findings);

// Names the first finding of data that differs from the one that weights keep: "the vocabulary".
// Returns "" where they agree, and ignores findings that either does not have.
std::string DifferenceOf(const DataFindings& kept, const DataFindings& data);

// Reports where the training data at `mark` differ from what the weights in `file` have kept: an
// error where a run goes on from them, else a warning.
void CheckFindings(const DataFindings& kept, const std::string& file, const DataFindings& data,
                   bool goes_on, const SourceMark& mark, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_DATA_FINDINGS_H_
