// Walks through the dicts, and checks each tensor against its storage.
#include "src/torch/state_tensors.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/host_tensor.h"
#include "src/io/file_error.h"

namespace cgrun::torch {
namespace {

constexpr int kMostDepth = 64;
constexpr size_t kMostName = 512, kMostNameBytes = 64 << 20;  // of one, of all

constexpr std::pair<std::string_view, DType> kStorageTypes[] = {
    {"torch.DoubleStorage", DType::kF64},    {"torch.FloatStorage", DType::kF32},
    {"torch.BFloat16Storage", DType::kBF16}, {"torch.HalfStorage", DType::kF16},
    {"torch.LongStorage", DType::kI64},      {"torch.IntStorage", DType::kI32},
    {"torch.ShortStorage", DType::kI16},     {"torch.CharStorage", DType::kI8},
    {"torch.ByteStorage", DType::kU8},       {"torch.BoolStorage", DType::kBool}};

Storage StorageOf(const Pickle& pickle, const PickleValue& value, const std::string& path) {
  const std::string& type = pickle[value.items[0]].text;
  for (const auto& [name, dtype] : kStorageTypes) {
    if (type == name) return {value.text, dtype, value.number};
  }
  ThrowFileError(path, "holds numbers of the type '" + type + "', which is not supported",
                 "convert its tensors to floating-point numbers");
}

// Returns whether every element of the tensor lies in its storage.
bool IsInside(const StateTensor& tensor) {
  if (!CheckedByteSize(tensor.storage.dtype, tensor.sizes) || tensor.offset < 0) return false;
  int64_t last = tensor.offset;
  for (size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
    int64_t reach = 0;
    if (tensor.sizes[axis] == 0) return tensor.offset <= tensor.storage.elements;
    if (tensor.strides[axis] < 0 ||
        __builtin_mul_overflow(tensor.sizes[axis] - 1, tensor.strides[axis], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  return last < tensor.storage.elements;
}

class Walker {
 public:
  Walker(const Pickle& pickle, const std::string& path)
      : pickle_(pickle), path_(path), visited_(pickle.values.size()) {}

  std::vector<StateTensor> Run() {
    Walk(pickle_.root, "", 1);
    return std::move(tensors_);
  }

 private:
  void Walk(PickleId id, const std::string& name, int depth) {
    const PickleValue& value = pickle_[id];
    if (value.kind == PickleKind::kTensor) return Add(value, name);
    if (value.kind != PickleKind::kDict && value.kind != PickleKind::kList) return;
    // A dict that stands at two places could stand at very many.
    if (visited_[id]) ThrowFileError(path_, "holds a part twice, as '" + name + "'");
    visited_[id] = true;
    if (depth > kMostDepth) ThrowFileError(path_, "is nested too deeply");
    const bool is_dict = value.kind == PickleKind::kDict;
    for (size_t i = 0; i < value.items.size(); i += is_dict ? 2 : 1) {
      const std::string key = is_dict ? KeyText(pickle_[value.items[i]]) : std::to_string(i);
      Walk(value.items[is_dict ? i + 1 : i], name.empty() ? key : name + "." + key, depth + 1);
    }
  }

  static std::string KeyText(const PickleValue& key) {
    return key.kind == PickleKind::kInt ? std::to_string(key.number) : key.text;
  }

  std::vector<int64_t> NumbersOf(PickleId tuple) const {
    std::vector<int64_t> numbers;
    for (const PickleId id : pickle_[tuple].items) numbers.push_back(pickle_[id].number);
    return numbers;
  }

  void Add(const PickleValue& value, const std::string& name) {
    name_bytes_ += name.size();
    if (name.size() > kMostName || name_bytes_ > kMostNameBytes) {
      ThrowFileError(path_, "has tensors whose names are too long");
    }
    if (!names_.insert(name).second) ThrowFileError(path_, "has two tensors '" + name + "'");
    StateTensor tensor{name, StorageOf(pickle_, pickle_[value.items[0]], path_), value.number,
                       NumbersOf(value.items[1]), NumbersOf(value.items[2])};
    if (tensor.sizes.size() != tensor.strides.size() || !IsInside(tensor)) {
      ThrowFileError(path_, "has the tensor '" + name + "', which does not lie in its storage",
                     "the file is damaged");
    }
    tensors_.push_back(std::move(tensor));
  }

  const Pickle& pickle_;
  const std::string& path_;
  std::vector<bool> visited_;
  std::set<std::string> names_;
  size_t name_bytes_ = 0;
  std::vector<StateTensor> tensors_;
};

}  // namespace

std::vector<StateTensor> TensorsOf(const Pickle& pickle, const std::string& path) {
  return Walker(pickle, path).Run();
}

std::vector<Storage> StoragesOf(const Pickle& pickle, const std::string& path) {
  std::map<std::string, Storage> storages;
  for (const PickleValue& value : pickle.values) {
    if (value.kind != PickleKind::kStorage) continue;
    storages.emplace(value.text, StorageOf(pickle, value, path));
  }
  std::vector<Storage> list;
  for (auto& [key, storage] : storages) list.push_back(std::move(storage));
  return list;
}

}  // namespace cgrun::torch
