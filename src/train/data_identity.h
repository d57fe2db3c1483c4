// By what training data are known again: weights keep it, so that a run goes on with the same data
// alone, and an evaluation of a part of them knows whether it is the part that was left out.
#ifndef CGRUN_TRAIN_DATA_IDENTITY_H_
#define CGRUN_TRAIN_DATA_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/data/dataset.h"
#include "src/io/safetensors.h"

namespace cgrun {

struct DataIdentity {
  int64_t samples = 0;
  // HashText() of all samples where they are at hand, else of the names and the sizes of their
  // files, and of all labels. One of the two is "".
  std::string of_samples, of_files;
};

// Of a set with the samples that are split off it. What is at hand is read once, or of more than
// 1 GiB a part; of many files the sizes of some. Throws UserError where a sample cannot be read.
DataIdentity IdentityOf(const Dataset& whole);

// As metadata: "data.samples": "400", "data.checksum": "0123456789abcdef".
SafetensorsMetadata IdentityMetadata(const DataIdentity& identity);
// Nothing where the metadata have none, as those of earlier versions.
std::optional<DataIdentity> ReadIdentity(const SafetensorsMetadata& metadata);

// In what data differ from what they were: "222 samples are left, of 400"; "" where they are the
// same, and where that is not known.
std::string DifferenceOf(const DataIdentity& before, const DataIdentity& now);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_DATA_IDENTITY_H_
