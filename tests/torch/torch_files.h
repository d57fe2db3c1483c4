// Files as `torch.save` writes them, by hand: pickles opcode by opcode, archives by minizip.
#ifndef CGRUN_TESTS_TORCH_TORCH_FILES_H_
#define CGRUN_TESTS_TORCH_TORCH_FILES_H_

#include <minizip/zip.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/io/endian.h"

namespace cgrun::torch {

template <class T>
std::string Little(T value) {
  std::string text(sizeof(T), '\0');
  StoreLittle(value, reinterpret_cast<std::byte*>(text.data()));
  return text;
}

// --- opcodes

inline std::string Text(const std::string& text) {
  return "X" + Little(static_cast<uint32_t>(text.size())) + text;
}
inline std::string Int(int32_t value) { return "J" + Little(value); }
inline std::string Name(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string Tuple(const std::string& items) { return "(" + items + "t"; }
inline std::string Ints(const std::vector<int32_t>& values) {
  std::string items;
  for (const int32_t value : values) items += Int(value);
  return Tuple(items);
}
inline std::string OrderedDict(const std::string& pairs) {
  return Name("collections", "OrderedDict") + ")R(" + pairs + "u";
}
inline std::string Pickled(const std::string& opcodes) { return "\x80\x02" + opcodes + "."; }

// --- tensors

struct PickledTensor {
  std::string key = "0";  // of its storage
  std::vector<int32_t> sizes = {2, 3}, strides = {3, 1};
  int32_t offset = 0, elements = 6;
  std::string type = "FloatStorage";
};

inline std::string Opcodes(const PickledTensor& tensor, bool is_old = false) {
  const std::string storage =
      Tuple(Text("storage") + Name("torch", tensor.type) + Text(tensor.key) + Text("cpu") +
            Int(tensor.elements) + (is_old ? "N" : "")) +
      "Q";
  return Name("torch._utils", "_rebuild_tensor_v2") +
         Tuple(storage + Int(tensor.offset) + Ints(tensor.sizes) + Ints(tensor.strides) + "\x89" +
               OrderedDict("")) +
         "R";
}

// --- files

using Entries = std::vector<std::pair<std::string, std::string>>;  // names and contents

inline void WriteZip(const std::string& path, const Entries& entries, bool compress = false) {
  const zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  CGRUN_CHECK(zip != nullptr) << path;
  for (const auto& [name, contents] : entries) {
    const zip_fileinfo info = {};
    CGRUN_CHECK(zipOpenNewFileInZip64(zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                      compress ? 8 : 0, 6, 0) == ZIP_OK);
    zipWriteInFileInZip(zip, contents.data(), static_cast<unsigned>(contents.size()));
    zipCloseFileInZip(zip);
  }
  zipClose(zip, nullptr);
}

inline std::string Floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += Little(value);
  return bytes;
}

inline Entries ArchiveOf(const std::string& pairs, const std::string& storage) {
  return {{"model/data.pkl", Pickled(OrderedDict(pairs))},
          {"model/byteorder", "little"},
          {"model/data/0", storage},
          {"model/version", "3\n"}};
}

// As PyTorch wrote before version 1.6. The magic number has ten bytes.
inline std::string OldFile(const std::string& pairs, const Entries& storages) {
  std::string file = Pickled("\x8a\x0a" + std::string("l\xfc\x9c\x46\xf9\x20\x6a\xa8P\x19", 10)) +
                     Pickled("M\xe9\x03") + Pickled("}") + Pickled(OrderedDict(pairs));
  std::string keys;
  for (const auto& [key, bytes] : storages) keys += Text(key);
  file += Pickled("](" + keys + "e");
  for (const auto& [key, bytes] : storages) file += Little(int64_t(bytes.size()) / 4) + bytes;
  return file;
}

}  // namespace cgrun::torch

#endif  // CGRUN_TESTS_TORCH_TORCH_FILES_H_
