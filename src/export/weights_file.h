// WeightsFile maps the safetensors file that has the weights of an exported model.
#ifndef CGRUN_EXPORT_WEIGHTS_FILE_H_
#define CGRUN_EXPORT_WEIGHTS_FILE_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "src/base/host_tensor.h"
#include "src/io/mapped_file.h"
#include "src/io/safetensors.h"
#include "src/ir/graph.h"
#include "src/results/loaded_weights.h"

namespace cgrun {

class WeightsFile {
 public:
  // UserError as of SafetensorsReader, also where the file's checksum is another one.
  explicit WeightsFile(const std::string& path);

  const SafetensorsMetadata& metadata() const { return metadata_; }

  // Compares the file with the parameters and statistics of `graph` that are `needed`. The bytes of
  // each are looked at: UserError where a number is too large for the type of the model.
  WeightsReport Match(const Graph& graph, const IdVector<ValueId, bool>& needed);

  // Returns the row-major elements of a tensor that Match() has found, in the type of the model.
  // Those of another type were converted, and have memory of their own; others are views of the
  // file.
  std::span<const std::byte> Bytes(const std::string& name) const;

  // UserError where the file has become shorter meanwhile. Call it after the last look at the
  // bytes.
  void CheckWhole() const { file_.CheckWhole(); }

 private:
  struct Entry {
    TensorSpec spec;
    std::span<const std::byte> bytes;
  };

  void Convert(const Entry& entry, const TensorType& type);

  MappedFile file_;
  SafetensorsMetadata metadata_;
  std::map<std::string, Entry> entries_;  // by name
  std::map<std::string, HostTensor> converted_;
};

}  // namespace cgrun

#endif  // CGRUN_EXPORT_WEIGHTS_FILE_H_
