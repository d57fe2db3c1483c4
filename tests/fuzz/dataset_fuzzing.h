// Holds the code that the fuzz targets of data sets share: TryDataset() is the entry point.
#ifndef CGRUN_TESTS_FUZZ_DATASET_FUZZING_H_
#define CGRUN_TESTS_FUZZ_DATASET_FUZZING_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// The most bytes that a data set may take here.
inline constexpr int64_t kDatasetLimit = 1 << 20;

// Opens a data set of format `format` and reads its first samples; null where it is refused.
// `values` are its options. Checks that an error has a text and names the file, one of the values,
// and that a data set that is accepted keeps the limit.
std::unique_ptr<Dataset> TryDataset(const std::string& format,
                                    const std::map<std::string, std::string>& values,
                                    std::vector<DataField> fields = {});

// Sample `index`: the bytes of each field.
std::vector<std::vector<std::byte>> ReadSample(const Dataset& dataset, int64_t index);

}  // namespace cgrun

#endif  // CGRUN_TESTS_FUZZ_DATASET_FUZZING_H_
