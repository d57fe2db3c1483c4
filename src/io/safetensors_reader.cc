// Reading safetensors: the JSON header is checked in full before the first tensor is read.
#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/io/endian.h"
#include "src/io/file_error.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/io/safetensors.h"
#include "src/io/safetensors_checksum.h"
#include "src/io/safetensors_dtype.h"

namespace cgrun {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostHeader = 100'000'000;  // bytes, the reference reader's limit
constexpr size_t kMostDepth = 3;              // {tensor: {shape: [ ]}}

struct Entry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  int64_t begin = 0, end = 0;  // bytes from the end of the header
};

// Refuses a key that stands twice, which the JSON library would let win silently, and depth. The
// library's own callbacks would look through all keys of an object at the end of each value in it.
class HeaderChecker : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderChecker(std::string_view path) : path_(path) {}

  bool start_object(size_t) override { return Open(); }
  bool start_array(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    ThrowFileError(path_, ": '" + key + "' stands twice in the header");
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  // The parser that comes after reports it.
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  bool Open() {
    if (keys_.size() >= kMostDepth) ThrowFileError(path_, ": the header is nested too deeply");
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  std::string_view path_;
  std::vector<std::set<std::string>> keys_;  // of each object or list that is open
};

[[noreturn]] void RefuseOtherFormat(const std::string& path) {
  const bool of_pytorch = path.ends_with(".pt") || path.ends_with(".pth");
  ThrowFileError(path, "is not a safetensors file",
                 of_pytorch ? "nor is it one that `torch.save` wrote: in PyTorch, "
                              "`torch.save(model.state_dict(), 'FILE.pth')` writes one"
                            : "`cgrun train` leaves such files: RUN/checkpoint-STEP.safetensors");
}

Json ReadHeader(FileReader& reader, int64_t* data_bytes) {
  std::array<std::byte, 8> length;
  if (reader.ReadSome(length) < length.size()) RefuseOtherFormat(reader.path());
  const uint64_t size = LoadLittle<uint64_t>(length.data());
  const int64_t left = reader.max_bytes() - reader.position();
  if (size > static_cast<uint64_t>(std::max<int64_t>(std::min(left, kMostHeader), 0))) {
    std::byte first{};
    reader.ReadSome({&first, 1});
    if (first != std::byte{'{'}) RefuseOtherFormat(reader.path());
    ThrowFileError(reader.path(),
                   "declares a header of " + std::to_string(size) + " bytes, but " +
                       (left < kMostHeader ? "has " + std::to_string(left)
                                           : "one takes at most " + std::to_string(kMostHeader)),
                   "the file is cut off");
  }
  CheckRoom(reader.path(), static_cast<int64_t>(size), "its header");
  std::string text(static_cast<size_t>(size), '\0');
  reader.Read(std::as_writable_bytes(std::span(text)), "its header");
  *data_bytes = left - static_cast<int64_t>(size);
  CheckJsonRoom(reader.path(), text);
  try {
    HeaderChecker checker(reader.path());
    Json::sax_parse(text, &checker);
    Json header = Json::parse(text);
    if (!header.is_object()) ThrowFileError(reader.path(), ": the header is not a JSON object");
    return header;
  } catch (const Json::exception&) {
    if (text.empty() || text[0] != '{') RefuseOtherFormat(reader.path());
    ThrowFileError(reader.path(), ": the header is not valid JSON", "the file is damaged");
  }
}

SafetensorsMetadata ParseMetadata(std::string_view path, const Json& json) {
  if (!json.is_object()) ThrowFileError(path, ": __metadata__ is not a JSON object");
  SafetensorsMetadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) ThrowFileError(path, ": __metadata__ of '" + key + "' is not a text");
    CheckJsonRoom(path, value.get_ref<const std::string&>());  // lists of names are read as JSON
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// A damaged key of the checksum would leave the file without one. No other program writes a key
// that is so nearly the same.
void CheckChecksumKey(std::string_view path, const SafetensorsMetadata& metadata) {
  constexpr std::string_view kKey = kChecksumKey;
  constexpr int kMostWrong = 3;  // bytes
  for (const auto& [key, text] : metadata) {
    if (key.size() != kKey.size() || key == kKey) continue;
    const auto same = std::inner_product(key.begin(), key.end(), kKey.begin(), 0, std::plus<>(),
                                         std::equal_to<>());
    if (static_cast<int>(kKey.size()) - same > kMostWrong) continue;
    ThrowFileError(path, "is damaged: its metadata have the key `" + key + "`, where `" +
                             std::string(kKey) + "` was written");
  }
}

// An array of integers from 0 to 2⁶³−1.
std::optional<std::vector<int64_t>> ParseSizes(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Json& item : json) {
    if (!item.is_number_unsigned()) return std::nullopt;
    const uint64_t size = item.get<uint64_t>();
    if (size > static_cast<uint64_t>(kNoLimit)) return std::nullopt;
    sizes.push_back(static_cast<int64_t>(size));
  }
  return sizes;
}

DType ParseDType(std::string_view path, const std::string& name, const Json& json) {
  std::string known;
  for (const auto& [dtype, text] : kSafetensorsTypes) {
    if (json.is_string() && json.get_ref<const std::string&>() == text) return dtype;
    known += (known.empty() ? "known: " : ", ") + std::string(text);
  }
  ThrowFileError(
      path, ": tensor '" + name + "' has the type " + JsonText(json) + ", which is not supported",
      known);
}

Entry ParseEntry(std::string_view path, const std::string& name, const Json& json) {
  const auto fail = [&](const std::string& what) {
    ThrowFileError(path, ": tensor '" + name + "' " + what);
  };
  const bool keys = json.is_object() && json.size() == 3 && json.contains("dtype") &&
                    json.contains("shape") && json.contains("data_offsets");
  if (!keys) fail("has not just the keys dtype, shape and data_offsets");
  Entry entry{name, ParseDType(path, name, json["dtype"]), {}, 0, 0};
  const auto sizes = ParseSizes(json["shape"]);
  if (!sizes) fail("has a shape that is not a list of sizes");
  const auto offsets = ParseSizes(json["data_offsets"]);
  if (!offsets || offsets->size() != 2) fail("has data_offsets that are not two numbers");
  entry.sizes = *sizes;
  entry.begin = (*offsets)[0];
  entry.end = (*offsets)[1];
  const std::optional<int64_t> bytes = CheckedByteSize(entry.dtype, entry.sizes);
  if (!bytes) fail("has more elements than can be counted");
  if (entry.end < entry.begin || entry.end - entry.begin != *bytes) {
    fail("lies at bytes " + std::to_string(entry.begin) + " to " + std::to_string(entry.end) +
         ", but " + Shape::Of(entry.sizes).ToString() + " of " + std::string(Name(entry.dtype)) +
         " take " + std::to_string(*bytes));
  }
  return entry;
}

// The tensors must lie one after the other and fill the file.
void CheckOffsets(std::string_view path, const std::vector<Entry>& entries, int64_t data_bytes) {
  int64_t end = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.begin < end) {
      ThrowFileError(path,
                     ": tensors '" + entries[i - 1].name + "' and '" + entry.name + "' overlap");
    }
    if (entry.begin > end) {
      ThrowFileError(path, ": " + std::to_string(entry.begin - end) + " bytes before tensor '" +
                               entry.name + "' belong to none");
    }
    end = entry.end;
  }
  if (end != data_bytes) {
    ThrowFileError(path,
                   "has " + std::to_string(data_bytes) + " bytes of tensors, but the header " +
                       "declares " + std::to_string(end),
                   end > data_bytes ? "the file is cut off" : "");
  }
}

std::vector<Entry> ParseEntries(std::string_view path, const Json& header,
                                SafetensorsMetadata* metadata) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == kSafetensorsMetadataKey) {
      *metadata = ParseMetadata(path, json);
    } else {
      entries.push_back(ParseEntry(path, name, json));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  return entries;
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::string& path)
    : reader_(path, FileReader::Gzip::kNever) {
  int64_t data_bytes = 0;
  const Json header = ReadHeader(reader_, &data_bytes);
  const std::vector<Entry> entries = ParseEntries(path, header, &metadata_);
  CheckOffsets(path, entries, data_bytes);
  for (const Entry& entry : entries) {
    tensors_.push_back({entry.name, entry.dtype, Shape::Of(entry.sizes)});
  }
  CheckChecksumKey(path, metadata_);
  if (!metadata_.contains(kChecksumKey)) return;
  checksum_ = std::make_unique<SafetensorsChecksum>(metadata_);
  if (tensors_.empty()) Compare();
}

SafetensorsReader::~SafetensorsReader() = default;

void SafetensorsReader::Compare() {
  if (next_ < tensors_.size() || metadata_[kChecksumKey] == checksum_->Text().data()) return;
  ThrowFileError(reader_.path(), "is damaged: it is not as its checksum says",
                 "a file that was changed on purpose must not keep `" + std::string(kChecksumKey) +
                     "` in its metadata");
}

HostTensor SafetensorsReader::Read() {
  CGRUN_CHECK(next_ < tensors_.size()) << "no tensor is left";
  const TensorSpec& tensor = tensors_[next_++];
  HostTensor read =
      ReadTensor(reader_, tensor.dtype, tensor.shape.Sizes(), "tensor '" + tensor.name + "'");
  if (checksum_ != nullptr) {
    checksum_->AddTensor(tensor);
    checksum_->AddBytes(read.bytes());
    Compare();
  }
  return read;
}

void SafetensorsReader::ReadTo(std::span<std::byte> plain) {
  CGRUN_CHECK(next_ < tensors_.size()) << "no tensor is left";
  const TensorSpec& tensor = tensors_[next_++];
  reader_.Read(plain, "tensor '" + tensor.name + "'");
  if (checksum_ == nullptr) return;
  checksum_->AddTensor(tensor);
  checksum_->AddBytes(plain);
  Compare();
}

void SafetensorsReader::Skip() {
  ReadParts([](std::span<const std::byte>) {});
}

void SafetensorsReader::ReadParts(
    const std::function<void(std::span<const std::byte> part)>& take) {
  CGRUN_CHECK(next_ < tensors_.size()) << "no tensor is left";
  const TensorSpec& tensor = tensors_[next_++];
  if (checksum_ != nullptr) checksum_->AddTensor(tensor);
  std::array<std::byte, SafetensorsChecksum::kBlock> room;
  for (int64_t left = tensor.shape.Elements() * SizeOf(tensor.dtype); left > 0;) {
    const auto part = std::min<int64_t>(left, room.size());
    const std::span<std::byte> block = std::span(room).first(static_cast<size_t>(part));
    reader_.Read(block, "tensor '" + tensor.name + "'");
    if (checksum_ != nullptr) checksum_->AddBytes(block);
    take(block);
    left -= part;
  }
  if (checksum_ != nullptr) Compare();
}

SafetensorsMetadata ReadSafetensorsMetadata(const std::string& path) {
  SafetensorsReader reader(path);
  if (!reader.metadata().contains(kChecksumKey)) return reader.metadata();
  for (size_t i = 0; i < reader.tensors().size(); ++i) reader.Skip();
  return reader.metadata();
}

}  // namespace cgrun
