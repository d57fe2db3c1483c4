// A bank in a file is a shared mapping of it; one that was loaded is private memory.
#include "src/groups/group_bank.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/data/unnamed_file.h"
#include "src/io/checksum.h"
#include "src/io/file_error.h"
#include "src/io/safetensors.h"
#include "src/ir/graph.h"
#include "src/run/weights.h"

namespace cgrun {
namespace {

// Whether a state belongs to a model, and not to its run or to its evaluations.
bool IsOfModel(const EngineState& state) {
  return !IsRunState(state.role) && !IsOwnState(state.name);
}

// The type of the tensor that holds the state of all groups.
TensorSpec OfAll(const TensorSpec& of_group, int64_t groups) {
  std::vector<int64_t> sizes = of_group.shape.Sizes();
  sizes.insert(sizes.begin(), groups);
  return {of_group.name, of_group.dtype, Shape::Of(sizes)};
}

[[noreturn]] void RefuseModel(const std::string& path, const std::string& what) {
  throw InputError("'" + path + "' does not fit this model: " + what,
                   "train it again, or give its own model file");
}

}  // namespace

// Gives the tensors of all groups.
class GroupBank::Source final : public TensorSource {
 public:
  explicit Source(const GroupBank& bank) : bank_(bank) {}
  std::span<const std::byte> BytesOf(size_t index) override {
    const Part& part = bank_.parts_[index];
    return {bank_.memory_ + part.offset, part.bytes * static_cast<size_t>(bank_.groups_)};
  }

 private:
  const GroupBank& bank_;
};

GroupBank::GroupBank(const Engine& engine, int64_t groups, const std::string& path)
    : groups_(groups), path_(path) {
  for (const EngineState& state : engine.model().states) {
    if (IsOfModel(state)) AddPart({state.name, state.type.dtype, state.type.shape});
  }
  Map(path);
}

GroupBank::GroupBank(GroupBank&& other) noexcept
    : groups_(other.groups_),
      path_(std::move(other.path_)),
      parts_(std::move(other.parts_)),
      bytes_(other.bytes_),
      memory_(std::exchange(other.memory_, nullptr)) {}

GroupBank::~GroupBank() {
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(bytes_));
}

void GroupBank::AddPart(TensorSpec of_group) {
  constexpr size_t kAlignment = 64;
  const auto bytes = static_cast<size_t>(of_group.shape.Elements() * SizeOf(of_group.dtype));
  const auto offset = static_cast<size_t>(bytes_);
  parts_.push_back({std::move(of_group), bytes, offset});
  const size_t end = offset + bytes * static_cast<size_t>(groups_);
  bytes_ = static_cast<int64_t>((end + kAlignment - 1) / kAlignment * kAlignment);
}

// Memory of its own without a path.
void GroupBank::Map(const std::string& path) {
  const int64_t bytes = std::max<int64_t>(1, bytes_);
  int file = -1;
  if (!path.empty()) {
    file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) ThrowSystemError("write", path, errno);
    const int error = ReserveFile(file, bytes);
    if (error != 0) {
      close(file);
      ThrowSystemError("write", path, error);
    }
  }
  void* const mapped = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                            path.empty() ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
  const int error = errno;
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) ThrowSystemError("map", path_, error);
  bytes_ = bytes;
  memory_ = static_cast<std::byte*>(mapped);
}

GroupBank GroupBank::Load(const std::string& path, int64_t groups) {
  SafetensorsReader reader(path);
  GroupBank bank;
  bank.groups_ = groups;
  bank.path_ = path;
  for (const TensorSpec& tensor : reader.tensors()) {
    const std::vector<int64_t> sizes = tensor.shape.Sizes();
    if (sizes.empty() || sizes[0] != groups) {
      ThrowFileError(
          path, ": its tensor '" + tensor.name + "' is not that of " + CountText(groups, "group"));
    }
    const std::vector<int64_t> of_group(sizes.begin() + 1, sizes.end());
    bank.AddPart({tensor.name, tensor.dtype, Shape::Of(of_group)});
  }
  bank.Map("");
  for (const Part& part : bank.parts_) {
    reader.ReadTo({bank.memory_ + part.offset, part.bytes * static_cast<size_t>(groups)});
  }
  return bank;
}

std::span<std::byte> GroupBank::PlaceOf(const Part& part, int64_t group) const {
  return {memory_ + part.offset + part.bytes * static_cast<size_t>(group), part.bytes};
}

void GroupBank::Put(int64_t group, const Engine& engine) {
  const std::vector<EngineState>& states = engine.model().states;
  size_t part = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (IsOfModel(states[i])) engine.ReadState(i, PlaceOf(parts_[part++], group));
  }
}

void GroupBank::Get(int64_t group, Engine& engine) const {
  const std::vector<EngineState>& states = engine.model().states;
  for (size_t i = 0; i < states.size(); ++i) {
    const EngineState& state = states[i];
    if (!IsOfModel(state)) continue;
    const auto part =
        std::ranges::find_if(parts_, [&](const Part& p) { return p.of_group.name == state.name; });
    if (part == parts_.end()) RefuseModel(path_, "it has no '" + state.name + "'");
    const TensorType type{part->of_group.dtype, part->of_group.shape};
    if (type != state.type) {
      RefuseModel(path_, "'" + state.name + "' is " + type.ToString() + " in the file, " +
                             state.type.ToString() + " in the model");
    }
    const std::span<const std::byte> bytes = PlaceOf(*part, group);
    engine.FillState(i,
                     [&](std::span<std::byte> plain) { std::ranges::copy(bytes, plain.begin()); });
  }
}

void GroupBank::Copy(int64_t group, const GroupBank& from) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    std::ranges::copy(from.PlaceOf(from.parts_[i], group), PlaceOf(parts_[i], group).begin());
  }
}

uint64_t GroupBank::HashOf(int64_t group) const {
  std::vector<const Part*> parts;
  for (const Part& part : parts_) parts.push_back(&part);
  std::ranges::sort(parts, {}, [](const Part* part) { return part->of_group.name; });
  uint64_t hash = 0;
  for (const Part* part : parts) {
    hash = HashBytes(std::as_bytes(std::span(part->of_group.name)), hash);
    hash = HashBytes(PlaceOf(*part, group), hash);
  }
  return hash;
}

void GroupBank::Write(const std::string& path) const {
  constexpr size_t kChecksumDigits = 16;
  std::vector<TensorSpec> specs;
  for (const Part& part : parts_) specs.push_back(OfAll(part.of_group, groups_));
  SafetensorsWriter writer(std::move(specs));
  Source source(*this);
  writer.WriteWithChecksum(path, source, {{kChecksumKey, std::string(kChecksumDigits, '0')}});
}

}  // namespace cgrun
