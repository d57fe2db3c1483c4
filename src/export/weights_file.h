// WeightsFile gives an exported model its weights: those of a safetensors file are mapped.
#ifndef CGRUN_EXPORT_WEIGHTS_FILE_H_
#define CGRUN_EXPORT_WEIGHTS_FILE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/host_tensor.h"
#include "src/io/mapped_file.h"
#include "src/io/safetensors.h"
#include "src/io/tensor_file.h"
#include "src/ir/graph.h"
#include "src/results/loaded_weights.h"

namespace cgrun {

class WeightsFile {
 public:
  // Gives a tensor of the file its name in the model; nothing where it is left out.
  using Rename = std::function<std::optional<std::string>(const std::string& tensor)>;

  // The file is of safetensors or of PyTorch. UserError as of OpenWeightsFile() and
  // ReadWeightsMetadata().
  explicit WeightsFile(const std::string& path, Rename rename = {});

  const SafetensorsMetadata& metadata() const { return metadata_; }

  // Compares the file with the parameters and statistics of `graph` that are `needed`; call it
  // once. A tensor with the name of one of these keeps it; others are renamed. The bytes of each
  // are looked at. UserError where two tensors get one name, and where a number is too large for
  // the type of the model.
  WeightsReport Match(const Graph& graph, const IdVector<ValueId, bool>& needed);

  // Returns the row-major elements of a tensor that Match() has found, in the type of the model.
  // They are a view of a safetensors file, unless they were converted. Others have memory of their
  // own.
  std::span<const std::byte> Bytes(const std::string& name) const { return bytes_.at(name); }

  // UserError where the file has become shorter meanwhile. Call it after the last look at the
  // bytes.
  void CheckWhole() const;

 private:
  // Adds the next tensor of the file under its name in the model, where it has `type`.
  void Add(const TensorSpec& tensor, const std::string& name, const TensorType& type, size_t offset,
           WeightsReport& report);
  // Returns the elements of the next tensor, which is at `offset` of the mapped bytes.
  std::span<const std::byte> Take(const TensorSpec& tensor, size_t offset);
  std::span<const std::byte> Converted(const TensorSpec& tensor, std::span<const std::byte> bytes,
                                       DType dtype);

  std::string path_;
  Rename rename_;
  SafetensorsMetadata metadata_;
  std::unique_ptr<TensorFile> file_;
  std::optional<MappedFile> mapped_;                         // of safetensors
  std::map<std::string, std::span<const std::byte>> bytes_;  // by name in the model
  std::list<HostTensor> owned_;
};

}  // namespace cgrun

#endif  // CGRUN_EXPORT_WEIGHTS_FILE_H_
