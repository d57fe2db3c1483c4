// The tensors of a file that `torch.save` wrote, a .pth or .pt file.
#ifndef CGRUN_TORCH_TORCH_FILE_H_
#define CGRUN_TORCH_TORCH_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "src/io/mapped_file.h"
#include "src/io/tensor_file.h"
#include "src/torch/state_tensors.h"
#include "src/torch/zip_entries.h"

namespace cgrun::torch {

// Returns whether a file begins as `torch.save` writes: a zip archive, or a pickle, as PyTorch
// wrote before version 1.6. Returns false for a file that cannot be read.
bool BeginsAsTorchFile(const std::string& path);

// Maps the file. Its tensors keep the order of the pickle; other values in it have no place here.
// Nothing of the pickle is ever called. The constructor throws InputError for what is no such file,
// is damaged, or holds more than tensors, numbers and texts. Reading a tensor compares the checksum
// of its bytes, which archives alone have.
class TorchFile : public TensorFile {
 public:
  explicit TorchFile(const std::string& path);

  const std::vector<TensorSpec>& tensors() const override { return specs_; }
  void Skip() override;
  void ReadTo(std::span<std::byte> plain) override;
  void ReadParts(const std::function<void(std::span<const std::byte> part)>& take) override;

 private:
  // The bytes of a storage.
  struct Place {
    ZipEntry entry;
    std::string name;     // of the entry
    bool checked = true;  // needs no comparison with a checksum
  };

  void ReadArchive();
  void ReadOldFile();
  void Locate(const std::vector<StateTensor>& tensors);
  const std::byte* StorageOf(const StateTensor& tensor);

  MappedFile file_;
  std::map<std::string, Place> places_;  // by the key of the storage
  std::vector<StateTensor> tensors_;
  std::vector<TensorSpec> specs_;
  size_t next_ = 0;
};

}  // namespace cgrun::torch

#endif  // CGRUN_TORCH_TORCH_FILE_H_
