// Recognises training data. Weights keep their identity, so that a run goes on only with the same
// data. An evaluation of a part of them knows whether that part was left out.
#ifndef CGRUN_MODEL_DATA_DATA_IDENTITY_H_
#define CGRUN_MODEL_DATA_DATA_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/data/dataset.h"
#include "src/io/safetensors.h"

namespace cgrun {

struct DataIdentity {
  int64_t samples = 0;
  // HashText() of all labels that are integers, "" without any; and of all samples where they are
  // at hand, else of the names and the sizes of their files. One of the last two is "".
  std::string of_labels, of_samples, of_files;
};

// Identifies a set, with the samples that are split off it. If its samples are at hand, each is
// read once. Beyond 1 GiB, only every second, third … sample is read, so that less is. If there are
// many files, only the sizes of some are read. Throws UserError where a sample cannot be read.
DataIdentity IdentityOf(const Dataset& whole);

// Metadata look like this: "data.samples": "400", "data.labels_checksum": "fedcba9876543210",
// "data.checksum": "0123456789abcdef".
SafetensorsMetadata IdentityMetadata(const DataIdentity& identity);
// Returns nothing if the metadata have none, as those of earlier versions.
std::optional<DataIdentity> ReadIdentity(const SafetensorsMetadata& metadata);

struct DataDifference {
  std::string text;  // "222 samples are left, of 400"; "" without one
  // The number of samples or their labels. Else the samples or their files alone, and samples may
  // be the same but for a last bit: another processor or library decodes and scales otherwise.
  bool is_certain = false;
};

// Returns how data differ from those before; no difference where that is not known.
DataDifference DifferenceOf(const DataIdentity& before, const DataIdentity& now);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_DATA_IDENTITY_H_
