// A whole safetensors file, for tests that compare all that it holds.
#ifndef CGRUN_TESTS_IO_SAFETENSORS_FILE_H_
#define CGRUN_TESTS_IO_SAFETENSORS_FILE_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/safetensors.h"

namespace cgrun {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

struct SafetensorsFile {
  std::vector<NamedTensor> tensors;  // in the order of their bytes in the file
  SafetensorsMetadata metadata;

  // Returns null where there is none of that name.
  const HostTensor* Find(std::string_view name) const {
    const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
    return found == tensors.end() ? nullptr : &found->tensor;
  }
};

inline SafetensorsFile ReadSafetensors(const std::string& path) {
  SafetensorsReader reader(path);
  SafetensorsFile file{{}, reader.metadata()};
  for (const TensorSpec& tensor : reader.tensors()) {
    file.tensors.push_back({tensor.name, reader.Read()});
  }
  return file;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_IO_SAFETENSORS_FILE_H_
