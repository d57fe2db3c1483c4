// Named tensors in a file of the safetensors format (Hugging Face, format of safetensors 0.3 to
// 0.8).
#ifndef CGRUN_IO_SAFETENSORS_H_
#define CGRUN_IO_SAFETENSORS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/io/atomic_file.h"
#include "src/io/read_file.h"
#include "src/io/tensor_file.h"

namespace cgrun {

using SafetensorsMetadata = std::map<std::string, std::string>;

// The key of the metadata under which our own files keep a checksum of all that they say.
inline constexpr char kChecksumKey[] = "cgrun:checksum";

class SafetensorsChecksum;

// Reads a file tensor by tensor. UserError names the file and the fault. The constructor refuses a
// header that is too long or not the JSON it should be, and a name or key that stands twice. It
// refuses a type that we do not have, and sizes that do not fit the offsets. It refuses tensors
// that overlap, leave a hole or lie outside the file. If the file has a checksum, reading the last
// tensor compares it.
class SafetensorsReader : public TensorFile {
 public:
  explicit SafetensorsReader(const std::string& path);
  ~SafetensorsReader() override;

  // They are in the order of their bytes in the file.
  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }

  HostTensor Read();
  void Skip() override;
  void ReadTo(std::span<std::byte> plain) override;
  void ReadParts(const std::function<void(std::span<const std::byte> part)>& take) override;

 private:
  // Ends a tensor.
  void Compare();

  FileReader reader_;
  std::vector<TensorSpec> tensors_;
  SafetensorsMetadata metadata_;
  size_t next_ = 0;
  std::unique_ptr<SafetensorsChecksum> checksum_;  // null where the file has none
};

// Reads only the metadata. If the file has a checksum, all of the file is read and compared first,
// because the caller uses the metadata before it looks at the tensors. Throws the errors of
// SafetensorsReader.
SafetensorsMetadata ReadSafetensorsMetadata(const std::string& path);

// Gives the elements of tensors, row by row, one tensor after the other.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // Returns the bytes of tensor `index`, valid until the next call.
  virtual std::span<const std::byte> BytesOf(size_t index) = 0;
};

// Writes files of one set of tensors, as checkpoints need. After its construction Write() does not
// allocate while the metadata takes less than `metadata_room` bytes.
class SafetensorsWriter {
 public:
  // UserError for a name that is not UTF-8. Names are distinct and not "__metadata__".
  explicit SafetensorsWriter(std::vector<TensorSpec> specs, size_t metadata_room = 4096);

  // Writes `path` atomically: the same bytes for the same input, those of the reference writer
  // (wider types first, then by name). `data[i]` are the row-major elements of `specs[i]`.
  // UserError for a file that cannot be written and for metadata that is not UTF-8.
  void Write(std::string_view path, std::span<const std::span<const std::byte>> data,
             const SafetensorsMetadata& metadata = {});
  // Writes the tensors of `source` likewise, with a checksum; `source` is asked once for each
  // tensor of `specs`. `metadata` has sixteen characters under kChecksumKey; the file has the
  // checksum there.
  void WriteWithChecksum(std::string_view path, TensorSource& source,
                         const SafetensorsMetadata& metadata);

 private:
  // Begins `path` with the header.
  void Begin(std::string_view path, const SafetensorsMetadata& metadata);
  void Add(size_t index, std::span<const std::byte> bytes);

  std::vector<TensorSpec> specs_;
  std::vector<size_t> order_;  // indices of specs_ as they lie in the file
  std::string entries_;        // the header's part that does not change
  std::string header_;
  AtomicFile file_;
};

}  // namespace cgrun

#endif  // CGRUN_IO_SAFETENSORS_H_
