// Maps a safetensors file behind the header that the reader has checked, and reads others.
#include "src/export/weights_file.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "src/base/finite.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"
#include "src/torch/weights_file.h"

namespace cgrun {
namespace {

constexpr size_t kLengthBytes = 8;  // of the header's length, in front of it

// Other programs have weights of another floating-point type. No number becomes f16 here.
bool CanBecome(const TensorSpec& from, const TensorType& to) {
  return from.shape == to.shape && IsFloat(from.dtype) && IsFloat(to.dtype) &&
         to.dtype != DType::kF16;
}

size_t BytesOf(const TensorSpec& tensor) {
  return static_cast<size_t>(tensor.shape.Elements() * SizeOf(tensor.dtype));
}

// Says where the tensors of a safetensors file begin.
size_t BeginOfTensors(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) return bytes.size();
  return kLengthBytes + static_cast<size_t>(LoadLittle<uint64_t>(bytes.data()));
}

// The parameters and statistics of a graph that are needed, by name.
std::map<std::string, TensorType, std::less<>> WantedOf(const Graph& graph,
                                                        const IdVector<ValueId, bool>& needed) {
  std::map<std::string, TensorType, std::less<>> wanted;
  for (const ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    const bool is_weight = value.role == Role::kParameter || value.role == Role::kRunningStatistic;
    if (needed[id] && is_weight) wanted.emplace(value.name, value.type);
  }
  return wanted;
}

}  // namespace

WeightsFile::WeightsFile(const std::string& path, Rename rename)
    : path_(path),
      rename_(std::move(rename)),
      metadata_(ReadWeightsMetadata(path)),
      file_(OpenWeightsFile(path)) {
  if (dynamic_cast<const SafetensorsReader*>(file_.get()) != nullptr) mapped_.emplace(path);
}

void WeightsFile::CheckWhole() const {
  if (mapped_) mapped_->CheckWhole();
}

WeightsReport WeightsFile::Match(const Graph& graph, const IdVector<ValueId, bool>& needed) {
  const auto wanted = WantedOf(graph, needed);
  WeightsReport report;
  std::set<std::string> seen;
  size_t offset = mapped_ ? BeginOfTensors(mapped_->bytes()) : 0;
  for (const TensorSpec& tensor : file_->tensors()) {
    std::optional<std::string> name = tensor.name;
    if (rename_ && !wanted.contains(tensor.name)) name = rename_(tensor.name);
    const auto found = name ? wanted.find(*name) : wanted.end();
    if (found == wanted.end()) {
      (name ? report.unused : report.left_out).push_back(tensor.name);
      if (!mapped_) file_->Skip();
    } else if (seen.insert(*name).second) {
      Add(tensor, *name, found->second, offset, report);
    } else {
      ThrowFileError(path_, "has two tensors that become '" + *name + "'",
                     "the key `rename` of the model file gives them their names");
    }
    offset += BytesOf(tensor);
  }
  if (wanted.empty()) report.unused.clear();  // no file can fit better
  for (const auto& [name, type] : wanted) {
    if (!seen.contains(name)) report.missing.push_back(name);
  }
  return report;
}

void WeightsFile::Add(const TensorSpec& tensor, const std::string& name, const TensorType& type,
                      size_t offset, WeightsReport& report) {
  const TensorType own{tensor.dtype, tensor.shape};
  if (own != type && !CanBecome(tensor, type)) {
    report.mismatched.push_back(name + ": " + own.ToString() + " in the file, " + type.ToString() +
                                " in the model");
    if (!mapped_) file_->Skip();
    return;
  }
  std::span<const std::byte> bytes = Take(tensor, offset);
  if (own != type) {
    bytes = Converted(tensor, bytes, type.dtype);
    ++report.converted[{own.dtype, type.dtype}];
  }
  // A tensor of `parameter` may be infinite, as the masks of attention are.
  if (!name.ends_with(".value") && !AllFinite(type.dtype, bytes)) report.not_finite.push_back(name);
  report.loaded.push_back(name);
  bytes_.emplace(name, bytes);
}

std::span<const std::byte> WeightsFile::Take(const TensorSpec& tensor, size_t offset) {
  const size_t size = BytesOf(tensor);
  if (!mapped_) {
    HostTensor& read = owned_.emplace_back(tensor.dtype, tensor.shape);
    file_->ReadTo(read.bytes());
    return read.bytes();
  }
  const std::span<const std::byte> all = mapped_->bytes();
  if (offset > all.size() || size > all.size() - offset) {
    ThrowFileError(path_, "has changed while it was read");
  }
  return all.subspan(offset, size);
}

std::span<const std::byte> WeightsFile::Converted(const TensorSpec& tensor,
                                                  std::span<const std::byte> bytes, DType dtype) {
  HostTensor& converted = owned_.emplace_back(dtype, tensor.shape);
  for (int64_t i = 0; i < converted.elements(); ++i) {
    const double number = NumberAt(tensor.dtype, bytes.data() + i * SizeOf(tensor.dtype));
    converted.Set(i, number);
    if (!std::isfinite(number) || std::isfinite(converted.At(i))) continue;
    ThrowFileError(path_,
                   "holds " + std::to_string(number) + " in tensor '" + tensor.name +
                       "', which is too large for " + std::string(Name(dtype)),
                   "these are hardly weights that were learned: look at what wrote the file");
  }
  return converted.bytes();
}

}  // namespace cgrun
