// An archive has an entry for the pickle and one for each storage. An older file has three pickles
// in front, then the state, a list of keys, and the storages, each with its number of elements.
#include "src/torch/torch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/check.h"
#include "src/base/host_tensor.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"
#include "src/torch/pickle.h"

namespace cgrun::torch {
namespace {

constexpr std::string_view kArchive = "PK\x03\x04";
// PyTorch's magic number has these low 64 bits, and these opcodes in front of it.
constexpr uint64_t kMagic = 0xa86a20f9469cfc6c;
constexpr std::string_view kOldFile = "\x80\x02\x8a\x0a";
constexpr size_t kPart = 16 << 10;  // bytes

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Passes the elements of a tensor to `take`, one after the other in row-major order, as offsets in
// its storage.
template <class Take>
void ForEachElement(const StateTensor& tensor, const Take& take) {
  const size_t rank = tensor.sizes.size();
  if (std::ranges::find(tensor.sizes, 0) != tensor.sizes.end()) return;
  std::vector<int64_t> index(rank);
  for (int64_t at = tensor.offset;;) {
    take(at);
    size_t axis = rank;
    while (axis > 0 && index[axis - 1] + 1 == tensor.sizes[axis - 1]) {
      --axis;
      at -= index[axis] * tensor.strides[axis];
      index[axis] = 0;
    }
    if (axis == 0) return;
    ++index[axis - 1];
    at += tensor.strides[axis - 1];
  }
}

bool IsContiguous(const StateTensor& tensor) {
  int64_t stride = 1;
  for (size_t axis = tensor.sizes.size(); axis-- > 0; stride *= tensor.sizes[axis]) {
    if (tensor.sizes[axis] != 1 && tensor.strides[axis] != stride) return false;
  }
  return true;
}

}  // namespace

bool BeginsAsTorchFile(const std::string& path) {
  std::array<std::byte, 4> begin{};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const ssize_t count = read(fd, begin.data(), begin.size());
  close(fd);
  const std::string_view text = TextOf(begin);
  return count == std::ssize(begin) && (text == kArchive || text == kOldFile);
}

TorchFile::TorchFile(const std::string& path) : file_(path) {
  const std::string_view text = TextOf(file_.bytes());
  if (text.starts_with(kArchive)) {
    ReadArchive();
  } else if (text.starts_with(kOldFile)) {
    ReadOldFile();
  } else {
    ThrowFileError(path, "is no file that `torch.save` wrote");
  }
  file_.CheckWhole();
}

void TorchFile::ReadArchive() {
  const std::string& path = file_.path();
  std::map<std::string, ZipEntry> entries = ZipEntries(file_);
  constexpr std::string_view kPickle = "/data.pkl";
  const auto pickled = std::ranges::find_if(
      entries, [&](const auto& entry) { return entry.first.ends_with(kPickle); });
  if (pickled == entries.end()) {
    ThrowFileError(path, "is a zip archive that `torch.save` did not write",
                   "it has no entry 'data.pkl'");
  }
  const std::string folder = pickled->first.substr(0, pickled->first.size() - kPickle.size()) + "/";
  const auto order = entries.find(folder + "byteorder");
  if (order != entries.end() && TextOf(order->second.bytes) != "little") {
    ThrowFileError(path, "has numbers whose first byte is the highest, which is not supported");
  }
  CheckContents(pickled->second, pickled->first, path);
  const auto begin = static_cast<size_t>(pickled->second.bytes.data() - file_.bytes().data());
  const Pickle pickle = ReadPickle(pickled->second.bytes, path, begin);
  for (const auto& [name, entry] : entries) {
    const std::string data = folder + "data/";
    if (name.starts_with(data)) places_[name.substr(data.size())] = {entry, name, false};
  }
  Locate(TensorsOf(pickle, path));
}

void TorchFile::ReadOldFile() {
  const std::string& path = file_.path();
  size_t at = 0;
  const auto next = [&] {
    Pickle pickle = ReadPickle(file_.bytes().subspan(at), path, at);
    at += pickle.size;
    return pickle;
  };
  const Pickle magic = next();
  if (magic[magic.root].kind != PickleKind::kInt ||
      static_cast<uint64_t>(magic[magic.root].number) != kMagic) {
    ThrowFileError(path, "is no file that `torch.save` wrote");
  }
  next();  // the version of the format, which never changed
  next();  // the sizes of C's types, which tensors do without
  const Pickle state = next(), keys = next();
  std::map<std::string, Storage> storages;
  for (Storage& storage : StoragesOf(state, path)) storages.emplace(storage.key, storage);
  for (const PickleId key : keys[keys.root].items) {
    const auto storage = storages.find(keys[key].text);
    if (storage == storages.end()) ThrowFileError(path, "has a storage that no tensor uses");
    const auto rest = file_.bytes().subspan(at);
    const auto size = CheckedByteSize(storage->second.dtype, std::array{storage->second.elements});
    if (rest.size() < 8 || !size || static_cast<uint64_t>(*size) > rest.size() - 8 ||
        LoadLittle<int64_t>(rest.data()) != storage->second.elements) {
      ThrowFileError(path, "has a storage that is not as long as its tensors say",
                     "the file is cut off");
    }
    places_[storage->first].entry.bytes = rest.subspan(8, static_cast<size_t>(*size));
    at += 8 + static_cast<size_t>(*size);
  }
  Locate(TensorsOf(state, path));
}

// Every tensor must have its storage in the file.
void TorchFile::Locate(const std::vector<StateTensor>& tensors) {
  tensors_ = tensors;
  for (const StateTensor& tensor : tensors_) {
    const auto place = places_.find(tensor.storage.key);
    const auto size = CheckedByteSize(tensor.storage.dtype, std::array{tensor.storage.elements});
    if (place == places_.end() || !size ||
        static_cast<uint64_t>(*size) > place->second.entry.bytes.size()) {
      ThrowFileError(file_.path(), "does not have all bytes of the tensor '" + tensor.name + "'",
                     "the file is cut off or damaged");
    }
    specs_.push_back({tensor.name, tensor.storage.dtype, Shape::Of(tensor.sizes)});
  }
}

const std::byte* TorchFile::StorageOf(const StateTensor& tensor) {
  Place& place = places_.find(tensor.storage.key)->second;
  if (!place.checked) CheckContents(place.entry, place.name, file_.path());
  place.checked = true;
  return place.entry.bytes.data();
}

void TorchFile::Skip() {
  CGRUN_CHECK(next_ < tensors_.size()) << "no tensor is left";
  ++next_;
}

void TorchFile::ReadTo(std::span<std::byte> plain) {
  ReadParts([&](std::span<const std::byte> part) {
    std::ranges::copy(part, plain.begin());
    plain = plain.subspan(part.size());
  });
}

void TorchFile::ReadParts(const std::function<void(std::span<const std::byte> part)>& take) {
  CGRUN_CHECK(next_ < tensors_.size()) << "no tensor is left";
  const StateTensor& tensor = tensors_[next_++];
  const auto width = static_cast<size_t>(SizeOf(tensor.storage.dtype));
  const std::byte* storage = StorageOf(tensor);
  if (IsContiguous(tensor)) {
    std::span<const std::byte> rest = {storage + static_cast<size_t>(tensor.offset) * width,
                                       static_cast<size_t>(*CheckedElements(tensor.sizes)) * width};
    for (; !rest.empty(); rest = rest.subspan(std::min(kPart, rest.size()))) {
      take(rest.first(std::min(kPart, rest.size())));
    }
  } else {
    std::array<std::byte, kPart> part;
    size_t filled = 0;
    ForEachElement(tensor, [&](int64_t at) {
      std::memcpy(part.data() + filled, storage + static_cast<size_t>(at) * width, width);
      filled += width;
      if (filled < part.size()) return;
      take(part);
      filled = 0;
    });
    if (filled > 0) take(std::span(part).first(filled));
  }
  file_.CheckWhole();
}

}  // namespace cgrun::torch
