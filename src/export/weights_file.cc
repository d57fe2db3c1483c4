// Maps the file behind the header that the reader has checked.
#include "src/export/weights_file.h"

#include <cmath>
#include <cstdint>

#include "src/base/check.h"
#include "src/base/finite.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr size_t kLengthBytes = 8;  // of the header's length, in front of it

// Other programs have weights of another floating-point type. No number becomes f16 here.
bool CanBecome(const TensorSpec& from, const TensorType& to) {
  return from.shape == to.shape && IsFloat(from.dtype) && IsFloat(to.dtype) &&
         to.dtype != DType::kF16;
}

bool IsWeight(Role role) { return role == Role::kParameter || role == Role::kRunningStatistic; }

}  // namespace

WeightsFile::WeightsFile(const std::string& path)
    : file_(path), metadata_(ReadSafetensorsMetadata(path)) {
  const SafetensorsReader reader(path);
  const std::span<const std::byte> all = file_.bytes();
  uint64_t header = 0;
  if (all.size() >= kLengthBytes) header = LoadLittle<uint64_t>(all.data());
  size_t begin = kLengthBytes + header;
  for (const TensorSpec& spec : reader.tensors()) {
    const auto bytes = static_cast<size_t>(spec.shape.Elements() * SizeOf(spec.dtype));
    if (begin > all.size() || bytes > all.size() - begin) {
      ThrowFileError(path, "has changed while it was read");
    }
    entries_.emplace(spec.name, Entry{spec, all.subspan(begin, bytes)});
    begin += bytes;
  }
}

WeightsReport WeightsFile::Match(const Graph& graph, const IdVector<ValueId, bool>& needed) {
  WeightsReport report;
  for (const ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    if (!needed[id] || !IsWeight(value.role)) continue;
    const auto found = entries_.find(value.name);
    if (found == entries_.end()) {
      report.missing.push_back(value.name);
      continue;
    }
    const Entry& entry = found->second;
    const TensorType type{entry.spec.dtype, entry.spec.shape};
    if (type != value.type && !CanBecome(entry.spec, value.type)) {
      report.mismatched.push_back(value.name + ": " + type.ToString() + " in the file, " +
                                  value.type.ToString() + " in the model");
      continue;
    }
    if (type != value.type) {
      Convert(entry, value.type);
      ++report.converted[{type.dtype, value.type.dtype}];
    }
    if (!AllFinite(value.type.dtype, Bytes(value.name))) report.not_finite.push_back(value.name);
    report.loaded.push_back(value.name);
  }
  return report;
}

void WeightsFile::Convert(const Entry& entry, const TensorType& type) {
  HostTensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double number =
        NumberAt(entry.spec.dtype, entry.bytes.data() + i * SizeOf(entry.spec.dtype));
    tensor.Set(i, number);
    if (!std::isfinite(number) || std::isfinite(tensor.At(i))) continue;
    ThrowFileError(file_.path(),
                   "holds " + std::to_string(number) + " in tensor '" + entry.spec.name +
                       "', which is too large for " + std::string(Name(type.dtype)),
                   "these are hardly weights that were learned: look at what wrote the file");
  }
  converted_.insert_or_assign(entry.spec.name, std::move(tensor));
}

std::span<const std::byte> WeightsFile::Bytes(const std::string& name) const {
  const auto converted = converted_.find(name);
  if (converted != converted_.end()) return converted->second.bytes();
  const auto found = entries_.find(name);
  CGRUN_CHECK(found != entries_.end()) << "no weight " << name;
  return found->second.bytes;
}

}  // namespace cgrun
