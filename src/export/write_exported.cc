// Writes the model, with many weights in a file beside it.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "src/export/export.h"
#include "src/io/atomic_file.h"
#include "src/onnx/write.h"

namespace cgrun {
namespace {

constexpr size_t kAlignment = 64;          // of weights in their file, in bytes
constexpr size_t kSmallestOutside = 1024;  // bytes: smaller tensors stay in the model
constexpr int64_t kIrWithExternalData = 4;

onnx::Entry EntryOf(std::string key, std::string value) {
  onnx::Entry entry;
  entry.key = std::move(key);
  entry.value = std::move(value);
  return entry;
}

// Writes weights one after the other, each at an aligned offset.
class ExternalFile {
 public:
  explicit ExternalFile(const std::string& path) { file_.Open(path); }

  // Returns where the bytes lie.
  size_t Add(onnx::ByteSpan bytes) {
    constexpr std::array<std::byte, kAlignment> kZeros = {};
    const size_t gap = (kAlignment - size_ % kAlignment) % kAlignment;
    file_.Write(onnx::ByteSpan(kZeros).first(gap));
    const size_t offset = size_ + gap;
    file_.Write(bytes);
    size_ = offset + bytes.size();
    return offset;
  }
  void Commit() { file_.Commit(); }

 private:
  AtomicFile file_;
  size_t size_ = 0;
};

// External data needs version 4, in which an input may not be a constant, too.
void RaiseIrVersion(onnx::Model& model) {
  if (model.ir_version >= kIrWithExternalData) return;
  model.ir_version = kIrWithExternalData;
  std::set<std::string_view> weights;
  for (const onnx::Tensor& tensor : model.graph->initializers) weights.insert(tensor.name);
  std::erase_if(model.graph->inputs,
                [&](const onnx::ValueInfo& input) { return weights.contains(input.name); });
}

}  // namespace

std::string ExternalPathOf(const std::string& path) { return path + ".data"; }

int64_t WeightBytes(const onnx::Model& model) {
  int64_t bytes = 0;
  for (const onnx::Tensor& tensor : model.graph->initializers) {
    if (tensor.raw_data) bytes += std::ssize(*tensor.raw_data);
  }
  return bytes;
}

void WriteExported(onnx::Model& model, const std::string& path, int64_t inline_bytes) {
  if (WeightBytes(model) > inline_bytes) {
    const std::string outside = ExternalPathOf(path);
    const size_t slash = outside.rfind('/');
    const std::string location = slash == outside.npos ? outside : outside.substr(slash + 1);
    ExternalFile file(outside);
    for (onnx::Tensor& tensor : model.graph->initializers) {
      if (!tensor.raw_data || tensor.raw_data->size() < kSmallestOutside) continue;
      const size_t offset = file.Add(*tensor.raw_data);
      tensor.external_data = {EntryOf("location", location),
                              EntryOf("offset", std::to_string(offset)),
                              EntryOf("length", std::to_string(tensor.raw_data->size()))};
      tensor.data_location = onnx::DataLocation::kExternal;
      tensor.raw_data.reset();
    }
    file.Commit();
    RaiseIrVersion(model);
  }
  onnx::WriteModel(path, model);
}

}  // namespace cgrun
