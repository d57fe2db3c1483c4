// Safetensors files: read whole, and with every other tensor passed over.
// In an accepted file the tensors fill what the header leaves, and both ways give the same bytes.
#include <algorithm>

#include "src/base/check.h"
#include "src/io/endian.h"
#include "src/io/safetensors.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/safetensors_file.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

bool SameBytes(const HostTensor& a, const HostTensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

// The tensors fill what the header leaves of the file.
void CheckSizes(std::span<const std::byte> input, const SafetensorsFile& file) {
  uint64_t bytes = sizeof(uint64_t) + LoadLittle<uint64_t>(input.data());
  for (const NamedTensor& tensor : file.tensors) bytes += tensor.tensor.bytes().size();
  CGRUN_CHECK(bytes == input.size());
}

void CheckSkipping(const std::string& path, const SafetensorsFile& file) {
  SafetensorsReader reader(path);
  CGRUN_CHECK(reader.metadata() == file.metadata);
  CGRUN_CHECK(reader.tensors().size() == file.tensors.size());
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    if (i % 2 == 0) {
      reader.Skip();
    } else {
      CGRUN_CHECK(SameBytes(reader.Read(), file.tensors[i].tensor));
    }
  }
}

std::string File(const std::string& header, size_t tensor_bytes) {
  std::string file(sizeof(uint64_t), '\0');
  StoreLittle<uint64_t>(header.size(), reinterpret_cast<std::byte*>(file.data()));
  return file + header + std::string(tensor_bytes, '\1');
}

// As a search for slow readers has it: names without bytes.
std::string ManyEmptyTensors() {
  std::string header;
  for (int i = 0; i < 500; ++i) {
    header += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  return File("{" + header + "}", 0);
}

// The numbers of the one tensor that WithChecksum() writes.
class TwoNumbers final : public TensorSource {
 public:
  std::span<const std::byte> BytesOf(size_t) override { return std::as_bytes(std::span(numbers_)); }

 private:
  float numbers_[2] = {1, 2};
};

// As a checkpoint of this program is written: one changed bit anywhere is found.
std::string WithChecksum() {
  static const TempFolder folder;
  const SafetensorsMetadata metadata = {{"data.names.features", "[\"a\",\"b\"]"},
                                        {"format", "cgrun"},
                                        {kChecksumKey, std::string(16, '0')}};
  TwoNumbers source;
  SafetensorsWriter({{"w", DType::kF32, {2}}}).WriteWithChecksum(folder / "x", source, metadata);
  return ReadBytes(folder / "x");
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    try {
      const SafetensorsFile file = ReadSafetensors(path);
      CheckSizes(input, file);
      CheckSkipping(path, file);
      accepted = true;
    } catch (const UserError& error) {
      CheckError(error, path);
    }
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  return {File(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
               R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[24,30]},)"
               R"("__metadata__":{"step":"12","classes.label":"[\"a\",\"b\"]"}})",
               30),
          File(R"({"empty":{"dtype":"I64","shape":[0,9],"data_offsets":[0,0]},)"
               R"("one":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}  )",
               1),
          File(R"({"half":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},)"
               R"("double":{"dtype":"F64","shape":[2,1],"data_offsets":[6,22]}})",
               22),
          WithChecksum(),
          ManyEmptyTensors(),
          File("{}", 0)};
}

}  // namespace cgrun
