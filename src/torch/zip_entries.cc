// minizip reads the directory of the archive from the mapping.
#include "src/torch/zip_entries.h"

#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "src/io/file_error.h"

namespace cgrun::torch {
namespace {

constexpr size_t kMostEntryName = 1024;

// The callbacks of minizip see this as their stream.
struct Stream {
  std::span<const std::byte> bytes;
  uint64_t position = 0;
};

void* Open(void* stream, const void*, int) { return stream; }

uLong Read(void*, void* of, void* to, uLong size) {
  auto& stream = *static_cast<Stream*>(of);
  const auto left = stream.bytes.subspan(static_cast<size_t>(stream.position));
  const auto part = left.first(std::min<size_t>(size, left.size()));
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  stream.position += part.size();
  return part.size();
}

ZPOS64_T Tell(void*, void* of) { return static_cast<Stream*>(of)->position; }

long Seek(void*, void* of, ZPOS64_T offset, int origin) {
  auto& stream = *static_cast<Stream*>(of);
  ZPOS64_T from = 0;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) from = stream.position;
  if (origin == ZLIB_FILEFUNC_SEEK_END) from = stream.bytes.size();
  if (__builtin_add_overflow(from, offset, &from) || from > stream.bytes.size()) return -1;
  stream.position = from;
  return 0;
}

int Close(void*, void*) { return 0; }

struct CloseArchive {
  void operator()(void* archive) const { unzClose(archive); }
};
using Archive = std::unique_ptr<void, CloseArchive>;

class DirectoryReader {
 public:
  explicit DirectoryReader(const MappedFile& file) : path_(file.path()), stream_{file.bytes()} {
    zlib_filefunc64_def functions = {Open, Read, nullptr, Tell, Seek, Close, Close, &stream_};
    archive_.reset(unzOpen2_64(path_.c_str(), &functions));
    if (archive_ == nullptr) Damaged();
  }

  std::map<std::string, ZipEntry> ReadAll() {
    std::map<std::string, ZipEntry> entries;
    int state = unzGoToFirstFile(archive_.get());
    for (; state == UNZ_OK; state = unzGoToNextFile(archive_.get())) {
      std::string name;
      const ZipEntry entry = ReadEntry(&name);
      if (!entries.emplace(name, entry).second) Fail("has two entries '" + name + "'");
    }
    if (state != UNZ_END_OF_LIST_OF_FILE) Damaged();
    return entries;
  }

 private:
  [[noreturn]] void Fail(const std::string& what, const std::string& help = "") const {
    ThrowFileError(path_, what, help);
  }
  [[noreturn]] void Damaged() const {
    Fail("is no whole zip archive", "the file is cut off or damaged");
  }

  ZipEntry ReadEntry(std::string* name) {
    std::array<char, kMostEntryName> text;
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(archive_.get(), &info, text.data(), text.size(), nullptr, 0,
                                nullptr, 0) != UNZ_OK) {
      Damaged();
    }
    if (info.size_filename >= text.size()) Fail("has an entry whose name is too long");
    name->assign(text.data(), info.size_filename);
    if (info.compression_method != 0 || info.compressed_size != info.uncompressed_size) {
      Fail("has the compressed entry '" + *name + "'",
           "`torch.save` compresses nothing: unpack the archive, and save the tensors again");
    }
    constexpr uLong kEncrypted = 1;
    if ((info.flag & kEncrypted) != 0) Fail("has the encrypted entry '" + *name + "'");
    return {BytesOfCurrent(info.uncompressed_size), static_cast<uint32_t>(info.crc)};
  }

  // Opening an entry reads the header in front of its contents, whose length only that header says.
  std::span<const std::byte> BytesOfCurrent(ZPOS64_T size) {
    int method = 0, level = 0;
    if (unzOpenCurrentFile2(archive_.get(), &method, &level, 1) != UNZ_OK) Damaged();
    const ZPOS64_T begin = unzGetCurrentFileZStreamPos64(archive_.get());
    unzCloseCurrentFile(archive_.get());
    const size_t all = stream_.bytes.size();
    if (begin > all || size > all - begin) Damaged();
    return stream_.bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
  }

  std::string path_;
  Stream stream_;
  Archive archive_;
};

}  // namespace

std::map<std::string, ZipEntry> ZipEntries(const MappedFile& file) {
  return DirectoryReader(file).ReadAll();
}

void CheckContents(const ZipEntry& entry, const std::string& name, const std::string& path) {
  const auto* bytes = reinterpret_cast<const Bytef*>(entry.bytes.data());
  if (crc32_z(0, bytes, entry.bytes.size()) == entry.crc) return;
  ThrowFileError(path, "is damaged: its entry '" + name + "' is not as its checksum says",
                 "if it was saved without checksums (`set_crc32_options(False)`), save it again "
                 "with them");
}

}  // namespace cgrun::torch
